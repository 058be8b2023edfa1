//! Outputs of reads: splits them into members, and compares them with the expected output.

use crate::rows::quote;
use hedgerow::json::{skip_value, unquote};
use hedgerow::output::{Mark, Output};
use hedgerow::tree::Parts;
use hedgerow::value::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// A change of a diff: the key, the old value and the new one.
pub type Change<V = String> = (String, Option<V>, Option<V>);

/// A value: its kind and its bytes.
pub type Value = (Kind, Vec<u8>);

/// Splits an output into its members, in their order: keys, values and others.
pub fn members(out: &Output) -> Vec<String> {
    let values = array(&out.text);
    if out.keys.is_empty() {
        return values;
    }
    let mut values = values.into_iter();
    let members: Vec<_> = array(&out.keys)
        .into_iter()
        .map(|member| if member == "null" { values.next().expect("a value") } else { member })
        .collect();
    assert_eq!(values.next(), None, "a value without a place");
    members
}

/// Splits an array with the core's scanner, which has unit tests of its own.
fn array(text: &[u8]) -> Vec<String> {
    let mut values = Vec::new();
    let mut at = 1;
    while text[at] != b']' {
        let end = skip_value(text, at).expect("output is JSON");
        values.push(String::from_utf8(text[at..end].to_vec()).expect("output is text"));
        at = if text[end] == b',' { end + 1 } else { end };
    }
    assert_eq!(at + 1, text.len());
    values
}

fn unquoted(quoted: &str) -> String {
    let mut key = Vec::new();
    unquote(quoted.as_bytes(), &mut key).expect("a string");
    String::from_utf8(key).expect("a key is text")
}

/// Reads the rows in the output of a scan of keys and values.
pub fn entries(out: &Output) -> Vec<(String, String)> {
    members(out).chunks(2).map(|pair| (unquoted(&pair[0]), pair[1].clone())).collect()
}

/// Reads the changes in the output of a diff.
pub fn changes(out: &Output) -> Vec<Change> {
    let mut members = members(out).into_iter();
    let mut changes = Vec::new();
    while let Some(code) = members.next() {
        let mut next = || members.next().expect("a member");
        let key = unquoted(&next());
        changes.push(match &*code {
            "0" => (key, None, Some(next())),
            "1" => (key, Some(next()), Some(next())),
            "2" => (key, Some(next()), None),
            other => panic!("change {other}"),
        });
    }
    changes
}

/// Finds the changes that lead from `old` to `new`, which are entries in the order of keys.
pub fn changes_between<'r, K, V>(
    old: impl IntoIterator<Item = (&'r K, &'r V)>,
    new: impl IntoIterator<Item = (&'r K, &'r V)>,
) -> Vec<(K, Option<V>, Option<V>)>
where
    K: Ord + Clone + 'r,
    V: Eq + Clone + 'r,
{
    let old: BTreeMap<_, _> = old.into_iter().collect();
    let new: BTreeMap<_, _> = new.into_iter().collect();
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).copied().collect();
    keys.into_iter()
        .map(|key| (key.clone(), old.get(key).copied(), new.get(key).copied()))
        .filter(|(_, old, new)| old != new)
        .map(|(key, old, new)| (key, old.cloned(), new.cloned()))
        .collect()
}

/// The expected output of a read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Expected {
    keys: Vec<String>,
    values: Vec<u8>,
    bytes: Vec<u8>,
    marks: Vec<Mark>,
    count: u32,
}

impl Expected {
    /// Adds a member that the core writes itself.
    pub fn say(&mut self, text: &str) {
        assert!(self.count == 0 || !self.keys.is_empty(), "something said after values alone");
        self.keys.push(text.to_owned());
    }

    /// Adds a key.
    pub fn key(&mut self, key: &str) {
        self.say(&quote(key));
    }

    /// Adds a value.
    pub fn value(&mut self, (kind, value): &Value) {
        if !self.keys.is_empty() {
            self.keys.push("null".to_owned());
        }
        self.values.push(if self.count == 0 { b'[' } else { b',' });
        self.count += 1;
        if *kind == Kind::Json {
            self.values.extend_from_slice(value);
            return;
        }
        self.values.push(b'0');
        let (start, len) = (self.bytes.len() as u32, value.len() as u32);
        self.marks.push(Mark { value: self.count - 1, start, len });
        self.bytes.extend_from_slice(value);
    }

    /// Adds a change.
    pub fn change(&mut self, (key, old, new): &Change<Value>) {
        self.say(match (old, new) {
            (None, _) => "0",
            (Some(_), Some(_)) => "1",
            (Some(_), None) => "2",
        });
        self.key(key);
        old.iter().chain(new).for_each(|value| self.value(value));
    }

    /// Returns the expected output of a scan of `entries`.
    pub fn entries<'v>(
        entries: impl Iterator<Item = (&'v String, &'v Value)>,
        parts: Parts,
    ) -> Self {
        let mut expected = Self::default();
        for (key, value) in entries {
            if parts.keys {
                expected.key(key);
            }
            if parts.values {
                expected.value(value);
            }
        }
        expected
    }

    /// Compares with a closed output.
    pub fn check(mut self, out: &Output, context: &dyn Debug) {
        self.values.extend_from_slice(if self.count == 0 { b"[]" } else { b"]" });
        let members = if self.keys.is_empty() { self.count } else { self.keys.len() as u32 };
        let keys =
            if self.keys.is_empty() { String::new() } else { format!("[{}]", self.keys.join(",")) };
        assert!(keys.as_bytes() == out.keys, "keys of {context:?}");
        assert!(self.values == out.text, "values of {context:?}");
        assert!(self.bytes == out.bytes, "bytes of {context:?}");
        assert_eq!(self.marks, out.marks, "marks of {context:?}");
        assert_eq!((members, self.count), (out.members(), out.values()), "members of {context:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Value {
        (Kind::Bytes, text.as_bytes().to_vec())
    }

    fn json(text: &str) -> Value {
        (Kind::Json, text.as_bytes().to_vec())
    }

    #[test]
    fn an_output_is_split_into_members() {
        let mut out = Output::new();
        for member in ["a\"b", "c"] {
            out.key(member.as_bytes());
            out.value(Kind::Json, |text| text.extend_from_slice(b"[1,{}]"));
        }
        out.close();
        let value = || "[1,{}]".to_owned();
        assert_eq!(members(&out), ["\"a\\\"b\"", "[1,{}]", "\"c\"", "[1,{}]"]);
        assert_eq!(entries(&out), [("a\"b".to_owned(), value()), ("c".to_owned(), value())]);
    }

    #[test]
    fn expected_changes_are_those_of_a_diff() {
        let rows = |rows: &[(&str, Value)]| -> BTreeMap<String, Value> {
            rows.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
        };
        let old = rows(&[("a", json("1")), ("b", json("1")), ("c", json("1"))]);
        let new = rows(&[("b", bytes("1")), ("c", json("1")), ("d", bytes("23"))]);
        let mut expected = Expected::default();
        let changes = changes_between(&old, &new);
        for change in &changes {
            expected.change(change);
        }
        let keys = r#"2,"a",null,1,"b",null,null,0,"d",null"#;
        assert_eq!(expected.keys.join(","), keys);
        assert_eq!(expected.values, b"[1,1,0,0");
        assert_eq!(expected.bytes, b"123");
        let places: Vec<_> = expected.marks.iter().map(|m| (m.value, m.start, m.len)).collect();
        assert_eq!(places, [(2, 0, 1), (3, 1, 2)]);
    }

    #[test]
    #[should_panic(expected = "bytes of")]
    fn a_difference_is_found() {
        let mut out = Output::new();
        out.value(Kind::Bytes, |bytes| bytes.extend_from_slice(b"x"));
        out.close();
        let key = String::new();
        let values = Parts { keys: false, values: true };
        Expected::entries([(&key, &bytes("x"))].into_iter(), values).check(&out, &"the same");
        Expected::entries([(&key, &bytes("y"))].into_iter(), values).check(&out, &"others");
    }
}

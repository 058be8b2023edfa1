//! Secondary indexes: further trees of a store, made of its rows and of nothing else.
//!
//! An entry of an index is `secondary key | primary key`, with an empty value: no value is copied.
//! The secondary key is encoded so that the order of bytes is that of values
//! ([`push_scalar`]). What a row yields is told by a [`Definition`] alone, so that an index follows
//! from its rows, and its root with it. The name of its tree *is* its definition: whoever writes
//! keeps all indexes of a store, also those that it was not opened with.

mod check;
mod encode;
mod entries;
mod keeper;
mod scan;

pub use check::CheckIndex;
pub use encode::{push_scalar, secondary_end, write_secondary};
pub use entries::Entries;
pub use keeper::Keeper;
pub use scan::{IndexScan, Wanted};

use crate::forest::{INDEX, PARTIAL_INDEX, TreeName};
use crate::json::{Pointer, push_string, skip_space, skip_value, unquote};
use crate::limits::MAX_COLUMNS;
use crate::tree::Range as KeyRange;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// What the entries of an index are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    text: String,
    prefix: Vec<u8>,
    columns: Vec<Pointer>,
}

impl Definition {
    /// Reads a definition, a JSON array of strings: the prefix of the keys of its rows, and the
    /// pointers to its columns. `None` unless it is in normal form and short enough for the name of
    /// a tree.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut members = Vec::new();
        let mut again = Vec::from([b'[']);
        let mut at = 1;
        while bytes.get(at) == Some(&b'"') {
            let end = skip_value(bytes, at).ok()?;
            let mut member = Vec::new();
            unquote(&bytes[at..end], &mut member).ok()?;
            if !members.is_empty() {
                again.push(b',');
            }
            push_string(&mut again, &member);
            members.push(member);
            at = skip_space(bytes, end) + 1;
        }
        again.push(b']');
        let (prefix, paths) = members.split_first()?;
        let mut columns = Vec::new();
        for path in paths {
            columns.push(Pointer::parse(core::str::from_utf8(path).ok()?)?);
        }
        let fits = (1..=MAX_COLUMNS).contains(&columns.len());
        // Both of its names are as long.
        TreeName::of(INDEX, text).filter(|_| fits && again == bytes)?;
        Some(Self { text: text.into(), prefix: prefix.clone(), columns })
    }

    /// The definition of the tree `name`, and whether it is complete; `None` if it is no index.
    #[must_use]
    pub fn of_tree(name: &TreeName) -> Option<(Self, bool)> {
        let (text, complete) = match name.rest(INDEX) {
            Some(text) => (text, true),
            None => (name.rest(PARTIAL_INDEX)?, false),
        };
        Some((Self::parse(text)?, complete))
    }

    /// The definition as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of its tree, which begins with `first`: [`INDEX`] or [`PARTIAL_INDEX`].
    #[must_use]
    pub fn name(&self, first: u8) -> TreeName {
        TreeName::of(first, &self.text).unwrap_or_default()
    }

    /// Number of columns of its secondary keys.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The keys of the rows that may be in the index.
    #[must_use]
    pub fn range(&self) -> KeyRange {
        KeyRange::prefix(&self.prefix)
    }

    /// Whether rows with this key are in the index.
    #[must_use]
    pub fn takes(&self, key: &[u8]) -> bool {
        key.starts_with(&self.prefix)
    }

    /// Adds the entries of a row, whose value is JSON in normal form: one, or as many as an array
    /// in one of its columns has members; none where a column cannot be indexed, where two hold
    /// arrays, or where an entry would be longer than a key. Costs a pass over the value for
    /// each column.
    pub fn entries(&self, key: &[u8], value: &[u8], out: &mut Entries) {
        let mut array = None;
        let mut places: [Range<usize>; MAX_COLUMNS] = [const { 0..0 }; MAX_COLUMNS];
        for (at, column) in self.columns.iter().enumerate() {
            let Some(found) = column.find(value) else { return };
            if value[found.start] == b'[' && array.replace(at).is_some() {
                return;
            }
            places[at] = found;
        }
        let places = &mut places[..self.columns.len()];
        let Some(column) = array else {
            Self::push(key, value, places, out);
            return;
        };
        let end = places[column].end - 1;
        let mut at = places[column].start + 1;
        while at < end {
            let Ok(next) = skip_value(value, at) else { return };
            places[column] = at..next;
            Self::push(key, value, places, out);
            at = next + 1;
        }
    }

    fn push(key: &[u8], value: &[u8], places: &[Range<usize>], out: &mut Entries) {
        out.push(|entry| {
            let indexable = places.iter().all(|place| push_scalar(&value[place.clone()], entry));
            entry.extend_from_slice(key);
            indexable
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{MAX_KEY_BYTES, MAX_TREE_NAME_BYTES};
    use alloc::vec;

    fn entries(definition: &str, key: &str, value: &str) -> Vec<Vec<u8>> {
        let mut out = Entries::default();
        Definition::parse(definition).unwrap().entries(key.as_bytes(), value.as_bytes(), &mut out);
        out.iter().map(|entry| entry.to_vec()).collect()
    }

    #[test]
    fn a_definition_is_the_name_of_its_tree() {
        let text = r#"["issue/","/owner","/a\"b"]"#;
        let definition = Definition::parse(text).unwrap();
        assert_eq!(definition.text(), text);
        assert_eq!(definition.columns(), 2);
        assert!(definition.takes(b"issue/1") && !definition.takes(b"issu"));
        let (name, partial) = (definition.name(INDEX), definition.name(PARTIAL_INDEX));
        assert_eq!(Definition::of_tree(&name), Some((definition.clone(), true)));
        assert_eq!(Definition::of_tree(&partial), Some((definition, false)));
        assert_eq!(Definition::of_tree(&TreeName::default()), None);
    }

    #[test]
    fn what_is_no_definition_is_refused() {
        let of_length = |len: usize| alloc::format!(r#"["","/{}"]"#, "x".repeat(len - 8));
        let longest = of_length(MAX_TREE_NAME_BYTES - 1);
        assert!(Definition::parse(&longest).is_some_and(|read| read.text() == longest));
        let long = of_length(MAX_TREE_NAME_BYTES);
        let wide = alloc::format!(r#"[""{}]"#, r#","/a""#.repeat(MAX_COLUMNS + 1));
        for text in [
            "",
            "[",
            "[]",
            r#"[""]"#,
            r#"["","a"]"#,
            r#"["", "/a"]"#,
            r#"["","\u002fa"]"#,
            r#"["","/a"] "#,
            r#"["","/a"#,
            r#"["","/a",]"#,
            r#"["","/a",1]"#,
            &long,
            &wide,
        ] {
            assert_eq!(Definition::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_row_yields_its_entries() {
        let owner = r#"["","/owner"]"#;
        assert_eq!(entries(owner, "k", r#"{"owner":"ann"}"#), vec![b"\x05ann\0k".to_vec()]);
        assert_eq!(entries(owner, "k", r#"{"owner":true}"#), vec![b"\x03k".to_vec()]);
        for value in [
            "{}",
            "null",
            r#""owner""#,
            r#"{"owner":null}"#,
            r#"{"owner":{}}"#,
            r#"{"owner":[]}"#,
            r#"{"owner":"\ud800"}"#,
            r#"{"owner":[[1],{},null]}"#,
        ] {
            assert_eq!(entries(owner, "k", value), Vec::<Vec<u8>>::new(), "{value}");
        }
        let tags = entries(r#"["","/a/tags"]"#, "k", r#"{"a":{"tags":["x",null,"","x",false]}}"#);
        let expected: [&[u8]; 4] = [b"\x05x\0k", b"\x05\0k", b"\x05x\0k", b"\x02k"];
        assert_eq!(tags, expected);
    }

    #[test]
    fn an_array_in_one_of_several_columns_yields_an_entry_for_each_member() {
        let two = r#"["","/a","/b"]"#;
        let expected: [&[u8]; 2] = [b"\x05x\0\x02k", b"\x05x\0\x03k"];
        assert_eq!(entries(two, "k", r#"{"a":"x","b":[false,true]}"#), expected);
        assert_eq!(entries(two, "k", r#"{"a":["x"],"b":[true]}"#).len(), 0);
        assert_eq!(entries(two, "k", r#"{"a":"x"}"#).len(), 0);
    }

    #[test]
    fn an_entry_is_no_longer_than_a_key() {
        let value = |len: usize| alloc::format!(r#"{{"a":"{}"}}"#, "x".repeat(len));
        let one = r#"["","/a"]"#;
        assert_eq!(entries(one, "k", &value(MAX_KEY_BYTES - 3)).len(), 1);
        assert_eq!(entries(one, "k", &value(MAX_KEY_BYTES - 2)).len(), 0);
    }

    #[test]
    fn a_value_that_is_not_utf8_makes_no_entry() {
        let mut out = Entries::default();
        let definition = Definition::parse(r#"["","/a"]"#).unwrap();
        definition.entries(b"k", b"{\"a\":\"\xff\"}", &mut out);
        definition.entries(b"k", b"{\"a\":[\"x\",\"\xc3\"]}", &mut out);
        assert_eq!(out.iter().map(|entry| entry.to_vec()).collect::<Vec<_>>(), [b"\x05x\0k"]);
    }
}

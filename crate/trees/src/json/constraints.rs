//! Applies the `constrain` lists of several updates to an object into which members were merged.
//!
//! A list of names has a place in the text of the object. It keeps the members before that place that
//! it names, and does not affect later members. So a member is kept if every list after it names it, and
//! all lists are applied in one pass over the object.

use crate::json::members::Members;
use crate::json::token::JsonFault;
use crate::json::walk::skip_value;
use crate::order::sorted;
use alloc::vec::Vec;

/// The `constrain` lists of several updates of an object.
#[derive(Debug, Default)]
pub struct Constraints {
    /// Arrays of names in normal form, one after the other.
    names: Vec<u8>,
    /// For each array: its place in the text of the object, and its start in `names`.
    lists: Vec<(usize, usize)>,
}

impl Constraints {
    /// Removes all lists.
    pub fn clear(&mut self) {
        self.names.clear();
        self.lists.clear();
    }

    /// Whether there are no lists.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Bytes of all lists.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.names.len()
    }

    /// Adds a list for the members before `place`. Places must not descend.
    pub fn add(&mut self, place: usize, names: &[u8]) {
        self.lists.push((place, self.names.len()));
        self.names.extend_from_slice(names);
    }

    /// All names in order, each with the number of lists up to the last one that lacks the name. That list
    /// drops the members before its place.
    fn kept(&self) -> Result<Vec<(&[u8], usize)>, JsonFault> {
        let mut names = Vec::new();
        for (list, (_, start)) in self.lists.iter().enumerate() {
            let mut elements =
                Members::of(&self.names, *start, b'[').ok_or(JsonFault::Syntax(0))?;
            while let Some(name) = elements.element()? {
                names.push((&self.names[name], list));
            }
        }
        let mut kept: Vec<(&[u8], usize)> = Vec::new();
        // Equal names are in descending order of their lists.
        for at in sorted(names.len(), &|a, b| names[a].0.cmp(names[b].0).then(b.cmp(&a))) {
            let (name, list) = names[at];
            match kept.last_mut() {
                Some((last, lists)) if *last == name => *lists -= usize::from(list + 1 == *lists),
                _ => {
                    let lists = self.lists.len();
                    kept.push((name, lists - usize::from(list + 1 == lists)));
                }
            }
        }
        Ok(kept)
    }

    /// Sets `out` to an object of the members of `object` that are kept. Both are in normal form except
    /// for repeated names, so that equal names are equal texts. Costs a pass over the object and the
    /// sorting of all lists.
    ///
    /// # Errors
    /// If `object` is not an object.
    pub fn keep(&self, object: &[u8], out: &mut Vec<u8>) -> Result<(), JsonFault> {
        let kept = self.kept()?;
        let place = |name: &[u8]| {
            let found = kept.binary_search_by(|(other, _)| (*other).cmp(name));
            let lists = found.map_or(self.lists.len(), |at| kept[at].1);
            lists.checked_sub(1).map_or(0, |list| self.lists[list].0)
        };
        out.clear();
        out.push(b'{');
        let mut members = Members::of(object, 0, b'{').ok_or(JsonFault::Syntax(0))?;
        while let Some(start) = members.start()? {
            let name = skip_value(object, start)?;
            members.at = skip_value(object, name + 1)?;
            if start >= place(&object[start..name]) {
                if out.len() > 1 {
                    out.push(b',');
                }
                out.extend_from_slice(&object[start..members.at]);
            }
        }
        out.push(b'}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    fn kept(object: &str, lists: &[(usize, &str)]) -> String {
        let mut constraints = Constraints::default();
        for (place, names) in lists {
            constraints.add(*place, names.as_bytes());
        }
        let mut out = Vec::new();
        constraints.keep(object.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn named_members_are_kept_in_their_order() {
        let object = r#"{"1":[],"b":{"a":1},"a":"\ud800","\ud800":2,"é":3}"#;
        let kept = |names: &str| kept(object, &[(object.len(), names)]);
        assert_eq!(kept(r#"["a","b","none"]"#), r#"{"b":{"a":1},"a":"\ud800"}"#);
        assert_eq!(kept(r#"["é","\ud800","1","1"]"#), r#"{"1":[],"\ud800":2,"é":3}"#);
        assert_eq!(kept(r#"["none"]"#), "{}");
    }

    #[test]
    fn a_list_affects_the_members_before_it() {
        let object = r#"{"a":1,"b":2,"c":3,"a":4}"#;
        let place = |name: &str| object.find(name).unwrap();
        let last = object.rfind("\"a\"").unwrap();
        assert_eq!(kept(object, &[(place("\"c\""), r#"["b"]"#)]), r#"{"b":2,"c":3,"a":4}"#);
        assert_eq!(kept(object, &[(last, r#"["b","c"]"#)]), r#"{"b":2,"c":3,"a":4}"#);
        let both = [(place("\"c\""), r#"["a"]"#), (last, r#"["b","c"]"#)];
        assert_eq!(kept(object, &both), r#"{"c":3,"a":4}"#);
        assert_eq!(kept(object, &[(1, "[]")]), object);
    }

    #[test]
    fn one_pass_with_all_lists_is_equal_to_one_pass_for_each() {
        let mut state = 7_u64;
        let mut below = |end: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize % end
        };
        for _ in 0..5000 {
            let (mut text, mut lists) = (String::from("{"), Vec::new());
            // The members by a model: names with their values, in their order.
            let mut model: Vec<(char, usize)> = Vec::new();
            for step in 0..=below(12) {
                if below(3) == 0 {
                    let names: Vec<char> = "abcdef".chars().filter(|_| below(2) == 0).collect();
                    model.retain(|(name, _)| names.contains(name));
                    let quoted: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
                    lists.push((text.len(), format!("[{}]", quoted.join(","))));
                } else {
                    let name = "abcdef".as_bytes()[below(6)] as char;
                    if text.len() > 1 {
                        text.push(',');
                    }
                    text = format!("{text}\"{name}\":{step}");
                    model.push((name, step));
                }
            }
            text.push('}');
            let lists: Vec<_> = lists.iter().map(|(place, names)| (*place, &**names)).collect();
            let members: Vec<_> =
                model.iter().map(|(name, step)| format!("\"{name}\":{step}")).collect();
            let expected = format!("{{{}}}", members.join(","));
            let got = if lists.is_empty() { text.clone() } else { kept(&text, &lists) };
            assert_eq!(got, expected, "{text} {lists:?}");
        }
    }
}

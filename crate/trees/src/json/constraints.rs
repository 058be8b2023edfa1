//! Applies the `constrain` and `unset` lists of several updates to an object into which members were merged.
//!
//! A list of names has a place in the text of the object. It keeps only the named members before that place, or
//! drops them, and does not affect later members. So a member stays if no list after it drops it, and all lists
//! are applied in one pass over the object.

use crate::json::members::Members;
use crate::json::token::JsonFault;
use crate::json::walk::skip_value;
use crate::order::sorted;
use alloc::vec::Vec;

/// A list of names.
#[derive(Clone, Copy, Debug)]
struct List {
    /// Its place in the text of the object.
    place: usize,
    /// Where its array starts.
    start: usize,
    /// The number of lists up to the last one that keeps its names, this one included.
    keeping: usize,
}

/// The lists of several updates of an object.
#[derive(Debug, Default)]
pub struct Constraints {
    /// Arrays of names in normal form, one after the other.
    names: Vec<u8>,
    lists: Vec<List>,
}

impl Constraints {
    /// Removes all lists.
    pub fn clear(&mut self) {
        self.names.clear();
        self.lists.clear();
    }

    /// Returns whether there are no lists.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Counts the bytes of all lists.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.names.len()
    }

    /// Adds a list for the members before `place`: it `keeps` only the members that it names, or drops
    /// them. Places must not descend.
    pub fn add(&mut self, place: usize, names: &[u8], keeps: bool) {
        let keeping = if keeps { self.lists.len() + 1 } else { self.keeping(self.lists.len()) };
        self.lists.push(List { place, start: self.names.len(), keeping });
        self.names.extend_from_slice(names);
    }

    /// Returns how many of the first `count` lists there are up to the last one that keeps its names.
    fn keeping(&self, count: usize) -> usize {
        count.checked_sub(1).map_or(0, |last| self.lists[last].keeping)
    }

    /// Returns all names in order, each with the number of lists up to the last one that drops the name. That
    /// list drops the members of the name before its place.
    fn kept(&self) -> Result<Vec<(&[u8], usize)>, JsonFault> {
        let mut names = Vec::new();
        for (list, List { start, .. }) in self.lists.iter().enumerate() {
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
            if kept.last().is_none_or(|(last, _)| *last != name) {
                kept.push((name, self.keeping(self.lists.len())));
            }
            let Some((_, lists)) = kept.last_mut() else { continue };
            if self.lists[list].keeping <= list {
                // It drops the name, so earlier lists do not matter for it.
                *lists = (*lists).max(list + 1);
            } else if *lists == list + 1 {
                *lists = self.keeping(list);
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
            let lists = found.map_or_else(|_| self.keeping(self.lists.len()), |at| kept[at].1);
            lists.checked_sub(1).map_or(0, |list| self.lists[list].place)
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
        applied(object, &lists.iter().map(|(at, names)| (*at, *names, true)).collect::<Vec<_>>())
    }

    fn applied(object: &str, lists: &[(usize, &str, bool)]) -> String {
        let mut constraints = Constraints::default();
        for (place, names, keeps) in lists {
            constraints.add(*place, names.as_bytes(), *keeps);
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
    fn a_list_that_drops_affects_the_members_before_it() {
        let object = r#"{"a":1,"b":2,"c":3,"a":4}"#;
        let (c, last) = (object.find("\"c\"").unwrap(), object.rfind("\"a\"").unwrap());
        let end = object.len();
        assert_eq!(applied(object, &[(c, r#"["a","a","none"]"#, false)]), r#"{"b":2,"c":3,"a":4}"#);
        assert_eq!(applied(object, &[(end, r#"["a"]"#, false)]), r#"{"b":2,"c":3}"#);
        let both = [(end, r#"["a","b"]"#, true), (end, r#"["b"]"#, false)];
        assert_eq!(applied(object, &both), r#"{"a":1,"a":4}"#);
        let twice = [(c, r#"["a"]"#, false), (last, r#"["a","b"]"#, true), (last, "[]", false)];
        assert_eq!(applied(object, &twice), r#"{"b":2,"a":4}"#);
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
                    let mut names: Vec<char> = "abcdef".chars().filter(|_| below(2) == 0).collect();
                    if below(4) == 0 {
                        names.extend(names.clone());
                    }
                    let keeps = below(2) == 0;
                    model.retain(|(name, _)| names.contains(name) == keeps);
                    let quoted: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
                    lists.push((text.len(), format!("[{}]", quoted.join(",")), keeps));
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
            let lists: Vec<_> =
                lists.iter().map(|(place, names, keeps)| (*place, &**names, *keeps)).collect();
            let members: Vec<_> =
                model.iter().map(|(name, step)| format!("\"{name}\":{step}")).collect();
            let expected = format!("{{{}}}", members.join(","));
            let got = if lists.is_empty() { text.clone() } else { applied(&text, &lists) };
            assert_eq!(got, expected, "{text} {lists:?}");
        }
    }
}

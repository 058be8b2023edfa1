//! Secondary indexes: further trees of a store, derived from its rows only.
//!
//! An entry of an index is `secondary key | primary key`, with an empty value: no value is copied.
//! The secondary key is encoded so that its bytes have the order of values ([`push_scalar`]). The entries
//! of a row depend on the [`Definition`] alone, so that equal rows have equal indexes, with equal roots.
//! The name of an index's tree *is* its definition, so that every writer can maintain all indexes of a
//! store, also those that it was not opened with.

mod check;
mod encode;
mod entries;
mod gather;
mod maintainer;
mod pending;
mod scan;

pub use check::CheckIndex;
pub use encode::{push_scalar, secondary_end, write_secondary};
pub use entries::{Entries, Members};
pub use maintainer::IndexMaintainer;
pub use scan::{IndexScan, Wanted};

use crate::forest::{INDEX, PARTIAL_INDEX, TreeName};
use crate::json::{Pointer, push_string, skip_space, skip_value, unquote};
use crate::limits::{
    FREE_ROW_ENTRIES_BYTES, MAX_COLUMNS, MAX_KEY_BYTES, MAX_ROW_ENTRIES_BYTES, ROW_ENTRIES_FACTOR,
};
use crate::tree::Range as KeyRange;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The cost of a member of an array, besides its bytes.
const MEMBER_COST: usize = 16;

/// Defines an index: the rows that are in it, and the columns of their values that order it.
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
        // The name of the partial index has the same length.
        TreeName::of(INDEX, text).filter(|_| fits && again == bytes)?;
        Some(Self { text: text.into(), prefix: prefix.clone(), columns })
    }

    /// The definition of the tree `name`, and whether the index is complete; `None` if it is not an index.
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

    /// Sets `out` to the entries of a row, whose value is JSON in normal form. That is one entry, or one for
    /// each different member if a column holds an array. There are none if a column cannot be indexed, if two
    /// columns hold arrays, or if the entries of an array exceed `most_bytes`. An entry that is longer than a
    /// key is left out. Costs a pass over the value for each column, and the bytes of the entries; returns
    /// the cost. `members` is memory that is reused for each row.
    pub fn entries(
        &self,
        key: &[u8],
        value: &[u8],
        members: &mut Members,
        out: &mut Entries,
    ) -> usize {
        out.clear();
        let (mut array, mut cost) = (None, 0);
        let mut places: [Range<usize>; MAX_COLUMNS] = [const { 0..0 }; MAX_COLUMNS];
        for (at, column) in self.columns.iter().enumerate() {
            let Some(found) = column.find(value) else { return cost + value.len() };
            cost += found.end;
            if value[found.start] == b'[' && array.replace(at).is_some() {
                return cost;
            }
            places[at] = found;
        }
        let scalar =
            |place: &Range<usize>, out: &mut Vec<u8>| push_scalar(&value[place.clone()], out);
        let places = &places[..self.columns.len()];
        let Some(column) = array else {
            out.push(|entry| {
                let indexable = places.iter().all(|place| scalar(place, entry));
                entry.extend_from_slice(key);
                indexable
            });
            return cost + out.bytes();
        };
        let Range { start, end } = places[column];
        let (before, after) = members.begin(end - start);
        let indexable = places[..column].iter().all(|place| scalar(place, before))
            && places[column + 1..].iter().all(|place| scalar(place, after));
        after.extend_from_slice(key);
        let may_fit = indexable && before.len() + after.len() < MAX_KEY_BYTES;
        let mut at = if may_fit { start + 1 } else { end };
        while at + 1 < end {
            let Ok(next) = skip_value(value, at) else { break };
            members.push(out, |member| scalar(&(at..next), member));
            cost += MEMBER_COST;
            if out.bytes() > most_bytes(key.len() + value.len()) {
                out.clear();
                break;
            }
            at = next + 1;
        }
        cost + (end - start) + out.bytes()
    }
}

/// The most bytes that the entries of an array may take in an index, if its row has `row` bytes: so that
/// an index does not grow much larger than the rows.
const fn most_bytes(row: usize) -> usize {
    let most = ROW_ENTRIES_FACTOR.saturating_mul(row).saturating_add(FREE_ROW_ENTRIES_BYTES);
    if most < MAX_ROW_ENTRIES_BYTES { most } else { MAX_ROW_ENTRIES_BYTES }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_TREE_NAME_BYTES;
    use alloc::vec;

    fn entries(definition: &str, key: &str, value: &str) -> Vec<Vec<u8>> {
        let mut out = Entries::default();
        let definition = Definition::parse(definition).unwrap();
        let mut members = Members::default();
        definition.entries(key.as_bytes(), value.as_bytes(), &mut members, &mut out);
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
    fn an_invalid_definition_is_refused() {
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
        let expected: [&[u8]; 3] = [b"\x05x\0k", b"\x05\0k", b"\x02k"];
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
    fn the_entries_of_an_array_are_limited_by_the_size_of_its_row() {
        let row = |members: usize| {
            let members: Vec<_> = (0..members).map(|at| alloc::format!("{at}")).collect();
            alloc::format!(r#"{{"a":"{}","b":[{}]}}"#, "x".repeat(400), members.join(","))
        };
        let two = r#"["","/a","/b"]"#;
        let entry = 2 + 400 + 11 + 1;
        // The most members whose entries fit the limit of their row.
        let fits = |count: usize| entry * count <= most_bytes(1 + row(count).len());
        let most = (1..10_000).take_while(|count| fits(*count)).count();
        assert!(most > 40 && !fits(most + 1));
        assert_eq!(entries(two, "k", &row(most)).len(), most);
        assert_eq!(entries(two, "k", &row(most + 1)).len(), 0);
        // Repeated members take no space.
        let twice = row(most).replace("0,1,", &"0,1,".repeat(1000));
        assert_eq!(entries(two, "k", &twice).len(), most);
        // The limit for rows of any size.
        let one = r#"["","/b"]"#;
        let most = MAX_ROW_ENTRIES_BYTES / 12;
        assert_eq!(entries(one, "k", &row(most)).len(), most);
        assert_eq!(entries(one, "k", &row(most + 1)).len(), 0);
    }

    #[test]
    fn the_parts_of_an_entry_come_in_their_order_wherever_the_array_is() {
        for (columns, expected) in [
            (r#"["","/t","/a","/b"]"#, [&b"\x02\x05x\0\x03k"[..], b"\x03\x05x\0\x03k"]),
            (r#"["","/a","/t","/b"]"#, [b"\x05x\0\x02\x03k", b"\x05x\0\x03\x03k"]),
            (r#"["","/a","/b","/t"]"#, [b"\x05x\0\x03\x02k", b"\x05x\0\x03\x03k"]),
        ] {
            let value = r#"{"a":"x","b":true,"t":[false,true,false]}"#;
            assert_eq!(entries(columns, "k", value), expected, "{columns}");
        }
    }

    #[test]
    fn repeated_members_of_a_long_array_yield_one_entry_each() {
        let members: Vec<_> = (0..3000).map(|at| alloc::format!("\"m{}\"", at % 1000)).collect();
        let value = alloc::format!(r#"{{"a":[{}]}}"#, members.join(","));
        let got = entries(r#"["","/a"]"#, "k", &value);
        assert_eq!(got.len(), 1000);
        assert!((0..1000).all(|at| got[at] == alloc::format!("\x05m{at}\0k").into_bytes()));
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
        let definition = Definition::parse(r#"["","/a"]"#).unwrap();
        let made = |value: &[u8]| {
            let (mut out, mut members) = (Entries::default(), Members::default());
            definition.entries(b"k", value, &mut members, &mut out);
            out.iter().map(|entry| entry.to_vec()).collect::<Vec<_>>()
        };
        assert!(made(b"{\"a\":\"\xff\"}").is_empty());
        assert_eq!(made(b"{\"a\":[\"x\",\"\xc3\"]}"), [b"\x05x\0k"]);
    }
}

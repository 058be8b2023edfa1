//! Definitions of indexes: their text, and the entries that they make of rows.

use super::encode::{push_scalar, secondary_end};
use super::words::push_word;
use super::{Entries, Members};

use crate::forest::{INDEX, PARTIAL_INDEX, TreeName};
use crate::json::{Pointer, normalize_string, skip_space, skip_value, unquote};
use crate::limits::{
    FREE_ROW_ENTRIES_BYTES, MAX_COLUMNS, MAX_KEY_BYTES, MAX_ROW_ENTRIES_BYTES, ROW_ENTRIES_FACTOR,
};
use crate::tree::Range as KeyRange;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The cost of a member of an array, besides its bytes.
const MEMBER_COST: usize = 16;

/// Defines an index: the rows that are in it, and the columns of their values that order it.
#[derive(Clone, Debug)]
pub struct Definition(Rc<Parts>);

#[derive(Debug)]
struct Parts {
    text: String,
    prefix: Vec<u8>,
    columns: Vec<Pointer>,
    /// The column whose texts are split into words.
    words: Option<usize>,
    /// Missing members and nulls are listed as null.
    nulls: bool,
    /// Only entries that come before this scalar are listed; empty if all are.
    below: Vec<u8>,
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Definition {}

impl Definition {
    /// Reads a definition, a JSON array of strings: the prefix of the keys of its rows, and the
    /// pointers to its columns; `w` before one of them means words. `?` for nulls may follow, and `<`
    /// with an encoded scalar that all entries are below. `None` unless it is in normal form and short
    /// enough for the name of a tree.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut again = Vec::from([b'[']);
        let (mut prefix, mut columns, mut words) = (None, Vec::new(), None);
        let (mut nulls, mut below) = (false, Vec::new());
        let mut at = 1;
        while bytes.get(at) == Some(&b'"') {
            let end = skip_value(bytes, at).ok()?;
            let mut member = Vec::new();
            unquote(&bytes[at..end], &mut member).ok()?;
            if prefix.is_some() {
                again.push(b',');
            }
            normalize_string(&bytes[at..end], &mut again);
            at = skip_space(bytes, end) + 1;
            match &member[..] {
                _ if prefix.is_none() => prefix = Some(member),
                // The limit comes last.
                _ if !below.is_empty() => return None,
                [b'<', scalar @ ..] if secondary_end(scalar, 1)? == scalar.len() => {
                    below.extend_from_slice(scalar);
                }
                _ if nulls => return None,
                b"?" => nulls = true,
                path => {
                    let path = core::str::from_utf8(path).ok()?;
                    let of_words = path.strip_prefix('w');
                    if of_words.is_some() && words.replace(columns.len()).is_some() {
                        return None;
                    }
                    columns.push(Pointer::parse(of_words.unwrap_or(path))?);
                }
            }
        }
        again.push(b']');
        let fits = (1..=MAX_COLUMNS).contains(&columns.len());
        // The name of the partial index has the same length.
        TreeName::of(INDEX, text).filter(|_| fits && again == bytes)?;
        let text = text.into();
        Some(Self(Rc::new(Parts { text, prefix: prefix?, columns, words, nulls, below })))
    }

    /// Returns the definition of the tree `name`, and whether the index is complete; `None` if it is not an index.
    #[must_use]
    pub fn of_tree(name: &TreeName) -> Option<(Self, bool)> {
        let (text, complete) = match name.rest(INDEX) {
            Some(text) => (text, true),
            None => (name.rest(PARTIAL_INDEX)?, false),
        };
        Some((Self::parse(text)?, complete))
    }

    /// Returns the definition as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the name of its tree, which begins with `first`: [`INDEX`] or [`PARTIAL_INDEX`].
    #[must_use]
    pub fn name(&self, first: u8) -> TreeName {
        TreeName::of(first, &self.0.text).unwrap_or_default()
    }

    /// Returns the number of columns of its secondary keys.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.0.columns.len()
    }

    /// Returns the keys of the rows that may be in the index.
    #[must_use]
    pub fn range(&self) -> KeyRange {
        KeyRange::prefix(&self.0.prefix)
    }

    /// Returns whether rows with this key are in the index.
    #[must_use]
    pub fn takes(&self, key: &[u8]) -> bool {
        key.starts_with(&self.0.prefix)
    }

    /// Returns whether the entries that begin with these scalars are below the limit of the index.
    fn lists(&self, scalars: &[u8]) -> bool {
        self.0.below.is_empty() || scalars < &self.0.below[..]
    }

    /// Sets `out` to the entries of a row, whose value is JSON in normal form. That is one entry, or one for
    /// each different member if a column holds an array, or for each different word. A row has no entries if a
    /// column cannot be indexed, if two columns hold several, or if the entries of several exceed `most_bytes`.
    /// An entry that is longer than a key, or not below the limit of the index, is left out. Costs a pass over
    /// the value for each column, and the bytes of the entries; returns the cost. `members` is memory that is
    /// reused for each row.
    pub fn entries(
        &self,
        key: &[u8],
        value: &[u8],
        members: &mut Members,
        out: &mut Entries,
    ) -> usize {
        out.clear();
        let (mut several, mut cost) = (None, 0);
        // A missing member is an empty text.
        let mut places: [Range<usize>; MAX_COLUMNS] = [const { 0..0 }; MAX_COLUMNS];
        for (at, column) in self.0.columns.iter().enumerate() {
            let Some(found) = column.find(value) else {
                cost += value.len();
                if self.0.nulls {
                    continue;
                }
                return cost;
            };
            cost += found.end;
            let first = value[found.start];
            let is_several = first == b'[' || first == b'"' && self.0.words == Some(at);
            if is_several && several.replace(at).is_some() {
                return cost;
            }
            places[at] = found;
        }
        let places = &places[..self.0.columns.len()];
        // Without several, the entry has all columns before its member, which is empty.
        let column = several.unwrap_or(places.len());
        let (own, rest) = places.split_at(column);
        let (own_place, rest) = rest.split_first().unwrap_or((&(0..0), rest));
        let Range { start, end } = *own_place;
        cost += end - start;
        let (before, after) = members.begin(end - start);
        let scalars = |places: &[Range<usize>], out: &mut Vec<u8>| {
            places.iter().all(|place| push_scalar(&value[place.clone()], self.0.nulls, out))
        };
        let is_listed =
            scalars(own, before) && scalars(rest, after) && (column == 0 || self.lists(before));
        after.extend_from_slice(key);
        if !is_listed || before.len() + after.len() > MAX_KEY_BYTES {
            return cost;
        }
        let most = most_bytes(key.len() + value.len());
        let mut add = |members: &mut Members, out: &mut Entries| {
            cost += MEMBER_COST;
            if out.bytes() <= most && (column > 0 || self.lists(members.member())) {
                members.push(out);
            }
        };
        let is_array = end > start && value[start] == b'[';
        let (mut at, close) = if is_array { (start + 1, end - 1) } else { (start, end) };
        // Without several; or an empty array, which counts as missing.
        if at >= close
            && (several.is_none() || push_scalar(b"", self.0.nulls, members.begin_member()))
        {
            add(members, out);
        }
        let mut plain = Vec::new();
        while at < close {
            let Ok(next) = skip_value(value, at) else { break };
            let mut text = &value[at..next];
            let mut has_words = false;
            if self.0.words == several && text[0] == b'"' {
                plain.clear();
                let is_text = unquote(text, &mut plain).is_ok();
                let plain = core::str::from_utf8(&plain).unwrap_or_default();
                let mut chars = if is_text { plain } else { "" }.chars();
                while push_word(&mut chars, members.begin_member()) {
                    has_words = true;
                    add(members, out);
                }
                // A text without words counts as missing.
                text = b"";
            }
            if !has_words && push_scalar(text, self.0.nulls, members.begin_member()) {
                add(members, out);
            }
            if out.bytes() > most {
                out.clear();
                break;
            }
            at = next + 1;
        }
        cost + out.bytes()
    }
}

/// Returns the most bytes that the entries of an array may take in an index, if its row has `row` bytes.
/// The limit keeps an index from growing much larger than the rows.
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

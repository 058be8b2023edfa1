//! Names of trees, and the one check of them. The first letter is the kind of the tree.

use crate::limits::MAX_TREE_NAME_BYTES;
use alloc::string::String;
use core::fmt;
use core::ops::Deref;

/// The name of the tree of rows; the trees of indexes and sums have longer names.
pub const ROWS: &str = "r";

/// The first letter of the name of a complete index.
pub const INDEX: u8 = b'i';

/// The first letter of the name of a partial index.
pub const PARTIAL_INDEX: u8 = b'j';

/// The first letter of the name of a sum tree.
pub const SUMS: u8 = b's';

/// The name of a tree: text of at most [`MAX_TREE_NAME_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeName(String);

impl TreeName {
    /// Checks `text` as a name; `None` if it is too long.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::of_string(text.into())
    }

    /// Returns the name that consists of the letter `first`, the kind of the tree, and `rest`; `None` if too long.
    #[must_use]
    pub fn of(first: u8, rest: &str) -> Option<Self> {
        let mut text = String::from(char::from(first));
        text.push_str(rest);
        Self::of_string(text)
    }

    /// Returns the letter that is the kind of the tree.
    #[must_use]
    pub fn kind(&self) -> Option<u8> {
        self.0.as_bytes().first().copied()
    }

    /// Returns the name without its first letter, if that is `first`.
    #[must_use]
    pub fn rest(&self, first: u8) -> Option<&str> {
        if self.kind() == Some(first) { self.0.get(1..) } else { None }
    }

    fn of_string(text: String) -> Option<Self> {
        (text.len() <= MAX_TREE_NAME_BYTES).then_some(Self(text))
    }
}

impl Default for TreeName {
    fn default() -> Self {
        Self(ROWS.into())
    }
}

impl Deref for TreeName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TreeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

// The length field has one byte.
const _: () = assert!(MAX_TREE_NAME_BYTES == u8::MAX as usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_as_long_as_its_length_field_allows() {
        let longest = "n".repeat(MAX_TREE_NAME_BYTES);
        assert_eq!(TreeName::parse(&longest).as_deref(), Some(&*longest));
        assert_eq!(TreeName::parse(&(longest.clone() + "n")), None);
        assert_eq!(TreeName::of(SUMS, &longest[1..]).map(|name| name.len()), Some(longest.len()));
        assert_eq!(TreeName::of(SUMS, &longest), None);
    }

    #[test]
    fn the_first_letter_of_a_name_is_its_kind() {
        let name = TreeName::of(SUMS, "total").unwrap();
        assert_eq!((&*name, name.kind()), ("stotal", Some(SUMS)));
        assert_eq!((name.rest(SUMS), name.rest(INDEX)), (Some("total"), None));
        assert_eq!(TreeName::default().kind(), Some(b'r'));
        assert_eq!(TreeName::parse("").unwrap().kind(), None);
    }
}

//! Names of trees, and the one rule of what may be one. The first letter tells the kind of a tree.

use crate::limits::MAX_TREE_NAME_BYTES;
use alloc::string::String;
use core::fmt;
use core::ops::Deref;

/// The name of the tree of rows; the trees of indexes and sums have longer names.
pub const ROWS: &str = "r";

/// What the names of trees of indexes begin with.
pub const INDEX: u8 = b'i';

/// What the names of trees of indexes in the making begin with.
pub const PARTIAL_INDEX: u8 = b'j';

/// What the names of sum trees begin with.
pub const SUMS: u8 = b's';

/// The name of a tree: text of at most [`MAX_TREE_NAME_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeName(String);

impl TreeName {
    /// Takes `text` as a name; `None` when it is too long for one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::of_string(text.into())
    }

    /// The name of a tree of the kind that `first` tells, of which `rest` is all that follows.
    #[must_use]
    pub fn of(first: u8, rest: &str) -> Option<Self> {
        let mut text = String::from(char::from(first));
        text.push_str(rest);
        Self::of_string(text)
    }

    /// The letter that tells the kind of the tree.
    #[must_use]
    pub fn kind(&self) -> Option<u8> {
        self.0.as_bytes().first().copied()
    }

    /// What follows that letter, if it is `first`.
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

// As long as a length of one byte can tell.
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

//! A list of entries of an index, in one arena. Each is a key.

use crate::batch::Edit;
use crate::key::Key;
use crate::value::{Kind, Value};
use alloc::vec::Vec;

/// See the module's text.
#[derive(Debug, Default)]
pub struct Entries {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Entries {
    /// Puts an entry into an index: its value is empty.
    pub const PUT: Edit<'static> = Edit::Put(Value::kept(Kind::Bytes, &[]));

    /// Makes it empty, keeping its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the entry that `write` appends, unless that returns `false`, or the entry is no key.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let start = self.bytes.len();
        if write(&mut self.bytes) && Key::parse(&self.bytes[start..]).is_ok() {
            self.ends.push(self.bytes.len());
        } else {
            self.bytes.truncate(start);
        }
    }

    /// Number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The entry at `index`, below [`Entries::len`].
    #[must_use]
    pub fn get(&self, index: usize) -> Key<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Key::kept(&self.bytes[start..self.ends[index]])
    }

    /// The entries in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Key<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Whether both lists are the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.ends == other.ends && self.bytes == other.bytes
    }
}

//! A list of entries of an index, in one arena. Each is a key.

use crate::batch::Edit;
use crate::key::Key;
use crate::limits::{MAX_KEY_BYTES, MAX_ROW_ENTRIES_BYTES};
use crate::secret::Secret;
use crate::value::{Kind, Value};
use alloc::vec::Vec;

/// A list of entries of an index, in one arena.
#[derive(Debug, Default)]
pub struct Entries {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Makes the entries of an array: their common parts, and a hash table that drops repeated members.
#[derive(Debug, Default)]
pub struct Members {
    secret: Secret,
    /// The bytes before the member in each entry, and the bytes after it.
    before: Vec<u8>,
    after: Vec<u8>,
    /// The current member.
    member: Vec<u8>,
    /// A hash table of entries: their numbers from 1, and 0 for a free place. Its size is a power of two.
    places: Vec<u32>,
}

impl Members {
    /// Begins without an array. Without knowledge of the `secret`, members cannot be chosen so that
    /// their hashes collide.
    #[must_use]
    pub fn new(secret: Secret) -> Self {
        Self { secret, ..Self::default() }
    }

    /// Begins the entries of a text of `text_len` bytes, with an empty member. Returns two empty buffers, which the
    /// caller fills with the bytes before and after the member of each entry.
    pub fn begin(&mut self, text_len: usize) -> (&mut Vec<u8>, &mut Vec<u8>) {
        let Self { before, after, member, places, .. } = self;
        member.clear();
        before.clear();
        after.clear();
        places.clear();
        // At least two places for each member, which takes two bytes with its comma, up to the limit of a row.
        places.resize(text_len.min(MAX_ROW_ENTRIES_BYTES).next_power_of_two(), 0);
        (before, after)
    }

    /// Begins a member; returns an empty buffer for it.
    pub fn begin_member(&mut self) -> &mut Vec<u8> {
        self.member.clear();
        &mut self.member
    }

    /// Returns the current member.
    #[must_use]
    pub fn member(&self) -> &[u8] {
        &self.member
    }

    /// Adds the entry of the current member, unless it exists already or is too long. `out` has entries of
    /// this array only. If it adds no entry, it costs no more than the member.
    pub fn push(&mut self, out: &mut Entries) {
        let fits = self.before.len() + self.member.len() + self.after.len() <= MAX_KEY_BYTES;
        if fits && let Some(place) = self.place(out) {
            let Self { before, member, after, places, .. } = self;
            let write = |entry: &mut Vec<u8>| {
                for part in [before, member, after] {
                    entry.extend_from_slice(part);
                }
                true
            };
            // `write` fails if the text is damaged.
            if out.push(write) {
                places[place] = out.len() as u32;
            }
        }
    }

    /// Returns the free place of the current member; `None` if the member has an entry already.
    fn place(&self, out: &Entries) -> Option<usize> {
        let mut place = self.secret.hash(&self.member) as usize;
        loop {
            place &= self.places.len() - 1;
            let Some(at) = self.places[place].checked_sub(1) else { return Some(place) };
            let entry = out.get(at as usize).bytes();
            if entry[self.before.len()..entry.len() - self.after.len()] == self.member {
                return None;
            }
            place += 1;
        }
    }
}

impl Entries {
    /// Puts an entry into an index: its value is empty.
    pub const PUT: Edit<'static> = Edit::Put(Value::trusted(Kind::Bytes, &[]));

    /// Empties the list, and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the entry that `write` appends, unless `write` returns `false` or the entry is not a valid key;
    /// returns whether it was added.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let start = self.bytes.len();
        let is_key = write(&mut self.bytes) && Key::parse(&self.bytes[start..]).is_ok();
        if is_key {
            self.ends.push(self.bytes.len());
        } else {
            self.bytes.truncate(start);
        }
        is_key
    }

    /// Counts the bytes of all entries.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether it has no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the entry at `index`, below [`Entries::len`].
    #[must_use]
    pub fn get(&self, index: usize) -> Key<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Key::trusted(&self.bytes[start..self.ends[index]])
    }

    /// Returns the entries in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Key<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Returns whether both lists are the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.ends == other.ends && self.bytes == other.bytes
    }
}

//! A list of entries of an index, in one arena.

use crate::limits::MAX_KEY_BYTES;
use crate::secret::Secret;
use alloc::vec;
use alloc::vec::Vec;

/// Places for members of an array, at first.
const FIRST_PLACES: usize = 32;

/// See the module's text.
#[derive(Debug, Default)]
pub struct Entries {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    members: Members,
}

/// What the entries of an array are made of: what they have in common, and which members there are.
#[derive(Debug, Default)]
struct Members {
    secret: Secret,
    /// What comes before a member in each entry, and what comes after it.
    before: Vec<u8>,
    after: Vec<u8>,
    /// The member at hand.
    member: Vec<u8>,
    /// By their hashes: the numbers of entries from 1, and 0 for none. Of two to a power.
    places: Vec<u32>,
}

impl Entries {
    /// No entries; members of arrays are hashed with `secret`.
    #[must_use]
    pub fn new(secret: Secret) -> Self {
        Self { members: Members { secret, ..Members::default() }, ..Self::default() }
    }

    /// Makes it empty, keeping its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the entry that `write` appends, unless that returns `false`.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let start = self.bytes.len();
        if write(&mut self.bytes) {
            self.ends.push(self.bytes.len());
        } else {
            self.bytes.truncate(start);
        }
    }

    /// Begins an array, of which each member makes an entry. `write` appends what the entries have in
    /// common before the member and after it; whether it did, and an entry may fit. There are no
    /// other entries.
    pub fn begin(&mut self, write: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>) -> bool) -> bool {
        let Members { before, after, places, .. } = &mut self.members;
        before.clear();
        after.clear();
        places.clear();
        places.resize(FIRST_PLACES, 0);
        write(before, after) && before.len() + after.len() < MAX_KEY_BYTES
    }

    /// Adds the entry of the member that `write` appends, unless that returns `false`, it is there
    /// already, or is too long. Costs no more than the member, where it adds nothing.
    pub fn push_member(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        self.members.member.clear();
        if !write(&mut self.members.member) {
            return;
        }
        let Members { before, after, member, .. } = &self.members;
        if before.len() + member.len() + after.len() > MAX_KEY_BYTES {
            return;
        }
        if let Some(place) = self.place() {
            let Self { bytes, ends, members: Members { before, after, member, places, .. } } = self;
            [before, member, after].into_iter().for_each(|part| bytes.extend_from_slice(part));
            ends.push(bytes.len());
            places[place] = ends.len() as u32;
            if 2 * ends.len() > places.len() {
                self.grow();
            }
        }
    }

    /// The place of the member at hand; none when it is taken by the same member.
    fn place(&self) -> Option<usize> {
        let Members { secret, member, places, .. } = &self.members;
        let mut place = secret.hash(member) as usize;
        loop {
            place &= places.len() - 1;
            match places[place].checked_sub(1) {
                None => return Some(place),
                Some(at) if self.member(at as usize) == &member[..] => return None,
                Some(_) => place += 1,
            }
        }
    }

    /// The member of the entry at `index`.
    fn member(&self, index: usize) -> &[u8] {
        let entry = self.get(index);
        &entry[self.members.before.len()..entry.len() - self.members.after.len()]
    }

    fn grow(&mut self) {
        let mut places = vec![0; 2 * self.members.places.len()];
        for index in 0..self.len() {
            let mut place = self.members.secret.hash(self.member(index)) as usize;
            while places[place & (places.len() - 1)] != 0 {
                place += 1;
            }
            let mask = places.len() - 1;
            places[place & mask] = index as u32 + 1;
        }
        self.members.places = places;
    }

    /// Bytes of all entries.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes.len()
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
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// The entries in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Whether both lists are the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.ends == other.ends && self.bytes == other.bytes
    }
}

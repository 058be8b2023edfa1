//! The commit chunk, which names every tree of a store.
//!
//! ```text
//! commit   0xc0 | version | n:u16 | n x tree, in ascending order of names
//! tree     name length:u8 | name | count:u64 | root:32
//! ```
//!
//! Trees without entries are not named, and a forest without trees has no commit chunk: its
//! root is [`Hash::ZERO`].

use crate::chunk::{ChunkKind, HEADER_BYTES};
use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::limits::{MAX_ENTRIES, MAX_TREE_NAME_BYTES, MAX_TREES};
use crate::segment::{Packer, Stream};
use crate::tree::Tree;
use alloc::string::String;
use alloc::vec::Vec;

/// The name of the tree of rows; the trees of indexes and sums have longer names.
pub const ROWS: &str = "r";

/// All trees of a store, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forest {
    trees: Vec<(String, Tree)>,
}

impl Forest {
    /// A forest without trees.
    #[must_use]
    pub const fn new() -> Self {
        Self { trees: Vec::new() }
    }

    /// The tree `name`; the empty tree when there is none.
    #[must_use]
    pub fn tree(&self, name: &str) -> Tree {
        let found = self.trees.iter().find(|(other, _)| other == name);
        found.map_or(Tree::EMPTY, |(_, tree)| *tree)
    }

    /// The roots of all trees.
    pub fn roots(&self) -> impl Iterator<Item = Hash> {
        self.trees.iter().map(|(_, tree)| tree.root)
    }

    /// Sets the tree `name`, which is at most [`MAX_TREE_NAME_BYTES`] long.
    pub fn set(&mut self, name: &str, tree: Tree) {
        self.trees.retain(|(other, _)| other != name);
        if !tree.is_empty() {
            let at = self.trees.partition_point(|(other, _)| &**other < name);
            self.trees.insert(at, (name.into(), tree));
        }
    }

    /// Packs the commit chunk, if there is one; its hash is the root of the store.
    pub fn commit(&self, packer: &mut Packer) -> Hash {
        if self.trees.is_empty() {
            return Hash::ZERO;
        }
        packer.put(Stream::Inner, |out| self.encode(out))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&ChunkKind::Commit.header());
        out.extend_from_slice(&(self.trees.len() as u16).to_le_bytes());
        for (name, tree) in &self.trees {
            out.push(name.len() as u8);
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&tree.count.to_le_bytes());
            out.extend_from_slice(&tree.root.0);
        }
    }

    /// Reads a commit chunk.
    ///
    /// # Errors
    /// The first fault: kind, version, count, lengths, UTF-8 and order of names, a root that
    /// does not fit its count, bytes left over.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if ChunkKind::decode(bytes)? != ChunkKind::Commit {
            return Err(DecodeError::new(Field::Kind, 0, 0xc0, bytes[0].into()));
        }
        let short = |at: usize, need: usize| {
            DecodeError::new(Field::Length, at, need as u64, bytes.len() as u64)
        };
        let &[low, high] = bytes.get(HEADER_BYTES..HEADER_BYTES + 2).unwrap_or_default() else {
            return Err(short(HEADER_BYTES, HEADER_BYTES + 2));
        };
        let count = usize::from(u16::from_le_bytes([low, high]));
        if count == 0 || count > MAX_TREES {
            return Err(DecodeError::new(
                Field::Count,
                HEADER_BYTES,
                MAX_TREES as u64,
                count as u64,
            ));
        }
        let mut at = HEADER_BYTES + 2;
        let mut trees: Vec<(String, Tree)> = Vec::new();
        for _ in 0..count {
            let name_len = usize::from(*bytes.get(at).ok_or_else(|| short(at, at + 1))?);
            let end = at + 1 + name_len + 8 + HASH_BYTES;
            let Some(tree) = bytes.get(at + 1..end) else { return Err(short(at, end)) };
            let (name, tree) = tree.split_at(name_len);
            let name = core::str::from_utf8(name).map_err(|error| {
                let valid = error.valid_up_to();
                DecodeError::new(Field::KeyText, at + 1 + valid, name_len as u64, valid as u64)
            })?;
            if trees.last().is_some_and(|(previous, _)| &**previous >= name) {
                return Err(DecodeError::new(Field::KeyOrder, at + 1, 0, name_len as u64));
            }
            let mut word = [0; 8];
            word.copy_from_slice(&tree[..8]);
            let tree = Tree { count: u64::from_le_bytes(word), root: Hash::read(&tree[8..]) };
            if tree.is_empty() || tree.count > MAX_ENTRIES || tree.root == Hash::ZERO {
                return Err(DecodeError::new(
                    Field::EntryCount,
                    end - HASH_BYTES - 8,
                    0,
                    tree.count,
                ));
            }
            trees.push((name.into(), tree));
            at = end;
        }
        if at != bytes.len() {
            return Err(short(at, at));
        }
        Ok(Self { trees })
    }
}

const _: () = assert!(MAX_TREE_NAME_BYTES <= u8::MAX as usize);

#[cfg(test)]
mod tests {
    use super::*;

    fn forest() -> Forest {
        let mut forest = Forest::new();
        forest.set("s", Tree { root: Hash([7; 32]), count: 3 });
        forest.set(ROWS, Tree { root: Hash([9; 32]), count: 1 });
        forest.set("empty", Tree::EMPTY);
        forest
    }

    fn encoded() -> Vec<u8> {
        let mut bytes = Vec::new();
        forest().encode(&mut bytes);
        bytes
    }

    #[test]
    fn a_commit_reads_back() {
        assert_eq!(Forest::decode(&encoded()), Ok(forest()));
        assert_eq!(forest().tree(ROWS).count, 1);
        assert_eq!(forest().tree("none"), Tree::EMPTY);
    }

    #[test]
    fn the_order_of_setting_does_not_matter() {
        let mut other = Forest::new();
        other.set("empty", Tree { root: Hash([1; 32]), count: 1 });
        other.set("empty", Tree::EMPTY);
        other.set(ROWS, Tree::EMPTY);
        other.set("s", Tree { root: Hash([7; 32]), count: 3 });
        other.set(ROWS, Tree { root: Hash([9; 32]), count: 1 });
        assert_eq!(other, forest());
    }

    #[test]
    fn a_forest_without_entries_has_no_chunk() {
        let mut packer = Packer::new();
        let mut forest = Forest::new();
        forest.set(ROWS, Tree::EMPTY);
        assert_eq!(forest.commit(&mut packer), Hash::ZERO);
        assert_eq!(packer.chunks(), 0);
    }

    #[test]
    fn a_malformed_commit_is_refused() {
        let good = encoded();
        let field = |bytes: &[u8]| Forest::decode(bytes).map(|_| ()).map_err(|error| error.field);
        for end in 0..good.len() {
            assert_eq!(field(&good[..end]), Err(Field::Length), "cut at {end}");
        }
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            field(&bytes)
        };
        assert_eq!(changed(0, 0), Err(Field::Kind));
        assert_eq!(changed(1, 2), Err(Field::Version));
        assert_eq!(changed(3, 255), Err(Field::Count));
        assert_eq!(changed(5, 0xff), Err(Field::KeyText));
        assert_eq!(changed(5, b'z'), Err(Field::KeyOrder));
        assert_eq!(changed(6, 0), Err(Field::EntryCount));
        let mut long = good.clone();
        long.push(0);
        assert_eq!(field(&long), Err(Field::Length));
    }
}

//! The commit chunk, which names every tree of a store.
//!
//! ```text
//! commit   0xc0 | version | n:u16 | n x tree, in ascending order of names
//! tree     name length:u8 | name | count:u64 | root:32 | reach, for names that begin with "j" or "s"
//! reach    length:u16 | key of a row, of an index in the making ("j")
//!          length:u16 | hash:32 | sum:u64 | definition, of a sum tree ("s")
//! ```
//!
//! A forest without trees has no commit chunk: its root is [`Hash::ZERO`]. Trees without entries
//! are not named, but for those of indexes ("i" or "j"), which are named as long as there are
//! rows: that tells an index without entries from one that is not there. A "j" is in the making,
//! made so far of the rows up to a key, its reach. A sum tree with a definition is made of the rows,
//! and is named like an index; one without a definition is what it was made by hand.

use crate::chunk::{ChunkKind, HEADER_BYTES};
use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::limits::{MAX_ENTRIES, MAX_KEY_BYTES, MAX_TREE_NAME_BYTES, MAX_TREES};
use crate::segment::{Packer, Stream};
use crate::tree::Tree;
use alloc::string::String;
use alloc::vec::Vec;

/// The name of the tree of rows; the trees of indexes and sums have longer names.
pub const ROWS: &str = "r";

/// What the names of trees of indexes begin with.
pub const INDEX: char = 'i';

/// What the names of trees of indexes in the making begin with.
pub const PARTIAL_INDEX: char = 'j';

/// What the names of sum trees begin with.
pub const SUMS: char = 's';

/// Bytes of what is told of a sum tree before its definition: hash and sum of its root.
pub const SUM_ROOT_BYTES: usize = 40;

/// A tree by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The tree.
    pub tree: Tree,
    /// Of an index in the making: the last row that it is made of. Of a sum tree: hash and sum of
    /// its root, and its definition.
    pub reach: Option<Vec<u8>>,
}

/// All trees of a store, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forest {
    trees: Vec<Named>,
}

fn is_index(name: &str) -> bool {
    name.starts_with([INDEX, PARTIAL_INDEX])
}

impl Named {
    /// Of a sum tree, what its leaves are made of; empty when they are put by hand.
    #[must_use]
    pub fn sum_definition(&self) -> &[u8] {
        if !self.name.starts_with(SUMS) {
            return &[];
        }
        self.reach.as_deref().and_then(|reach| reach.get(SUM_ROOT_BYTES..)).unwrap_or_default()
    }

    /// Whether it is made of the rows.
    fn is_bound(&self) -> bool {
        is_index(&self.name) || !self.sum_definition().is_empty()
    }
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
        self.named(name).map_or(Tree::EMPTY, |named| named.tree)
    }

    /// The tree `name` and what is told of it.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Named> {
        self.trees.iter().find(|named| named.name == name)
    }

    /// The trees of indexes, those in the making too.
    pub fn indexes(&self) -> impl Iterator<Item = &Named> {
        self.trees.iter().filter(|named| is_index(&named.name))
    }

    /// The sum trees.
    pub fn sums(&self) -> impl Iterator<Item = &Named> {
        self.trees.iter().filter(|named| named.name.starts_with(SUMS))
    }

    /// Whether a sum tree follows the rows.
    #[must_use]
    pub fn has_followers(&self) -> bool {
        self.sums().any(Named::is_bound)
    }

    /// Sets the sum tree `name`, of which `reach` tells. One without leaves is kept as long as it
    /// follows rows.
    pub fn set_sum(&mut self, name: &str, tree: Tree, reach: Vec<u8>) {
        self.set(name, Tree::EMPTY);
        let named = Named { name: name.into(), tree, reach: Some(reach) };
        if !tree.is_empty() || named.is_bound() {
            self.insert(named);
        }
    }

    /// All trees.
    pub fn trees(&self) -> impl Iterator<Item = &Named> {
        self.trees.iter()
    }

    /// Sets the tree `name`, which is at most [`MAX_TREE_NAME_BYTES`] long.
    pub fn set(&mut self, name: &str, tree: Tree) {
        self.trees.retain(|named| named.name != name);
        if !tree.is_empty() {
            self.insert(Named { name: name.into(), tree, reach: None });
        }
    }

    fn insert(&mut self, named: Named) {
        let at = self.trees.partition_point(|other| other.name < named.name);
        self.trees.insert(at, named);
    }

    /// Sets all indexes: of a forest without rows there are none.
    pub fn set_indexes(&mut self, indexes: impl IntoIterator<Item = Named>) {
        self.trees.retain(|named| !is_index(&named.name));
        if !self.tree(ROWS).is_empty() {
            indexes.into_iter().for_each(|named| self.insert(named));
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
        for Named { name, tree, reach } in &self.trees {
            out.push(name.len() as u8);
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&tree.count.to_le_bytes());
            out.extend_from_slice(&tree.root.0);
            if let Some(reach) = reach {
                out.extend_from_slice(&(reach.len() as u16).to_le_bytes());
                out.extend_from_slice(reach);
            }
        }
    }

    /// Reads a commit chunk.
    ///
    /// # Errors
    /// The first fault: kind, version, count, lengths, UTF-8 and order of names, a root that
    /// does not fit its count, an index without rows, bytes left over.
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
        let mut trees: Vec<Named> = Vec::new();
        for _ in 0..count {
            let name_len = usize::from(*bytes.get(at).ok_or_else(|| short(at, at + 1))?);
            let end = at + 1 + name_len + 8 + HASH_BYTES;
            let Some(tree) = bytes.get(at + 1..end) else { return Err(short(at, end)) };
            let (name, tree) = tree.split_at(name_len);
            let name = core::str::from_utf8(name).map_err(|error| {
                let valid = error.valid_up_to();
                DecodeError::new(Field::KeyText, at + 1 + valid, name_len as u64, valid as u64)
            })?;
            if trees.last().is_some_and(|previous| &*previous.name >= name) {
                return Err(DecodeError::new(Field::KeyOrder, at + 1, 0, name_len as u64));
            }
            let mut word = [0; 8];
            word.copy_from_slice(&tree[..8]);
            let tree = Tree { count: u64::from_le_bytes(word), root: Hash::read(&tree[8..]) };
            at = end;
            let is_sum = name.starts_with(SUMS);
            let reach = if is_sum || name.starts_with(PARTIAL_INDEX) {
                let &[low, high] = bytes.get(at..at + 2).unwrap_or_default() else {
                    return Err(short(at, at + 2));
                };
                let len = usize::from(u16::from_le_bytes([low, high]));
                if len > MAX_KEY_BYTES {
                    let most = MAX_KEY_BYTES as u64;
                    return Err(DecodeError::new(Field::KeyLength, at, most, len as u64));
                }
                at += 2 + len;
                let key = bytes.get(at - len..at).ok_or_else(|| short(at - len, at))?;
                let told = if is_sum { SUM_ROOT_BYTES } else { 0 };
                let Some(text) = key.get(told..) else { return Err(short(at - len, at)) };
                if core::str::from_utf8(text).is_err() {
                    return Err(DecodeError::new(Field::KeyText, at - len, 0, 0));
                }
                Some(key.to_vec())
            } else {
                None
            };
            let named = Named { name: name.into(), tree, reach };
            if (tree.is_empty() && !named.is_bound())
                || tree.count > MAX_ENTRIES
                || tree.is_empty() != (tree.root == Hash::ZERO)
            {
                return Err(DecodeError::new(
                    Field::EntryCount,
                    end - HASH_BYTES - 8,
                    0,
                    tree.count,
                ));
            }
            trees.push(named);
        }
        if at != bytes.len() {
            return Err(short(at, at));
        }
        let forest = Self { trees };
        if forest.tree(ROWS).is_empty() && forest.trees.iter().any(Named::is_bound) {
            return Err(DecodeError::new(Field::Count, HEADER_BYTES, 0, count as u64));
        }
        Ok(forest)
    }
}

const _: () = assert!(MAX_TREE_NAME_BYTES <= u8::MAX as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn forest() -> Forest {
        let mut forest = Forest::new();
        forest.set("x", Tree { root: Hash([7; 32]), count: 3 });
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
        other.set("x", Tree { root: Hash([7; 32]), count: 3 });
        other.set(ROWS, Tree { root: Hash([9; 32]), count: 1 });
        assert_eq!(other, forest());
    }

    fn indexed() -> Forest {
        let mut forest = forest();
        let some = Tree { root: Hash([5; 32]), count: 2 };
        forest.set_indexes([
            Named { name: "j[b]".into(), tree: some, reach: Some(b"key".to_vec()) },
            Named { name: "i[a]".into(), tree: Tree::EMPTY, reach: None },
        ]);
        forest
    }

    #[test]
    fn indexes_are_named_without_entries_as_long_as_there_are_rows() {
        let mut forest = indexed();
        let mut bytes = Vec::new();
        forest.encode(&mut bytes);
        assert_eq!(Forest::decode(&bytes), Ok(forest.clone()));
        let names: Vec<_> = forest.indexes().map(|named| &*named.name).collect();
        assert_eq!(names, ["i[a]", "j[b]"]);
        assert_eq!(forest.trees().count(), 4);
        for end in 0..bytes.len() {
            assert!(Forest::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        let named: Vec<_> = forest.indexes().cloned().collect();
        forest.set(ROWS, Tree::EMPTY);
        bytes.clear();
        forest.encode(&mut bytes);
        assert_eq!(Forest::decode(&bytes).unwrap_err().field, Field::Count);
        forest.set_indexes(named);
        assert_eq!(forest.indexes().count(), 0);
    }

    #[test]
    fn a_sum_tree_tells_its_root_and_its_definition() {
        let mut forest = forest();
        let some = Tree { root: Hash([5; 32]), count: 2 };
        let told = |definition: &[u8]| [&[1; SUM_ROOT_BYTES], definition].concat();
        forest.set_sum("shand", some, told(b""));
        forest.set_sum("sgone", Tree::EMPTY, told(b""));
        forest.set_sum("srows", Tree::EMPTY, told(b"[]"));
        let names: Vec<_> = forest.sums().map(|named| &*named.name).collect();
        assert_eq!(names, ["shand", "srows"]);
        assert!(forest.has_followers());
        let mut bytes = Vec::new();
        forest.encode(&mut bytes);
        assert_eq!(Forest::decode(&bytes), Ok(forest.clone()));
        assert_eq!(forest.named("srows").unwrap().sum_definition(), b"[]");
        for end in 0..bytes.len() {
            assert!(Forest::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        // What follows rows is not there without them, and one made by hand not without leaves.
        let refused = |mut forest: Forest| {
            let mut bytes = Vec::new();
            forest.set("x", Tree::EMPTY);
            forest.encode(&mut bytes);
            Forest::decode(&bytes).unwrap_err().field
        };
        let mut without = forest.clone();
        without.set(ROWS, Tree::EMPTY);
        assert_eq!(refused(without), Field::Count);
        let mut empty = forest.clone();
        empty.insert(Named { name: "sz".into(), tree: Tree::EMPTY, reach: Some(told(b"")) });
        assert_eq!(refused(empty), Field::EntryCount);
        let mut short = forest.clone();
        short.insert(Named { name: "sz".into(), tree: some, reach: Some(vec![0; 39]) });
        assert_eq!(refused(short), Field::Length);
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

//! All trees of a store, which a commit chunk names.
//!
//! A forest without trees has no commit chunk: its root is [`Hash::ZERO`]. A commit names no trees
//! without entries, except for indexes ("i" or "j"): it names these as long as the store has rows, so
//! that an empty index differs from a missing one. A "j" is a partial index: it covers the rows up to a
//! key, its reach. A sum tree with a definition follows the rows, and is named like an index; one
//! without a definition is edited by hand.

mod commit;
mod name;
mod named;

pub use name::{INDEX, PARTIAL_INDEX, ROWS, SUMS, TreeName};
pub use named::{Named, SUM_ROOT_BYTES};

use crate::error::{DecodeError, Error};
use crate::hash::Hash;
use crate::segment::{Packer, Stream};
use crate::tree::Tree;
use alloc::vec::Vec;
use named::is_index;

/// All trees of a store, by name.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::cache::Fetch;
/// use hedgerow::chunk::ChunkKind;
/// use hedgerow::forest::{Forest, ROWS};
/// use hedgerow_support::host::Host;
/// use hedgerow_support::rows::issue;
///
/// let host = Host::of(Shape::STORED, &(0..100).map(issue).collect());
/// let Fetch::Here(chunk) = host.cache.chunk(&host.root, ChunkKind::Commit)? else {
///     panic!("the commit is in memory");
/// };
/// assert_eq!(Forest::decode(chunk)?.tree(ROWS).count, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forest {
    trees: Vec<Named>,
}

impl Forest {
    /// Makes a forest without trees.
    #[must_use]
    pub const fn new() -> Self {
        Self { trees: Vec::new() }
    }

    /// Reads a commit chunk.
    ///
    /// # Errors
    /// The first fault: kind, version, count, lengths, UTF-8 and order of names, a root that
    /// does not fit its count, an index without rows, bytes left over.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        commit::decode(bytes).map(|trees| Self { trees })
    }

    /// Returns the tree `name`; the empty tree if the commit does not name it.
    #[must_use]
    pub fn tree(&self, name: &str) -> Tree {
        self.named(name).map_or(Tree::EMPTY, |named| named.tree)
    }

    /// Returns the tree `name`, as the commit names it.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Named> {
        self.trees.iter().find(|named| &*named.name == name)
    }

    /// Returns the trees of indexes, partial ones too.
    pub fn indexes(&self) -> impl Iterator<Item = &Named> {
        self.trees.iter().filter(|named| is_index(&named.name))
    }

    /// Returns the sum trees.
    pub fn sums(&self) -> impl Iterator<Item = &Named> {
        self.trees.iter().filter(|named| named.name.kind() == Some(SUMS))
    }

    /// Returns whether a sum tree follows the rows.
    #[must_use]
    pub fn has_followers(&self) -> bool {
        self.sums().any(Named::is_bound)
    }

    /// Sets the sum tree `name`; `reach` is its root and definition. A tree without leaves is kept only
    /// if it follows rows.
    pub fn set_sum(&mut self, name: &TreeName, tree: Tree, reach: Vec<u8>) {
        self.remove(name);
        let named = Named { name: name.clone(), tree, reach: Some(reach) };
        if !tree.is_empty() || named.is_bound() {
            self.insert(named);
        }
    }

    /// Returns all trees.
    pub fn trees(&self) -> impl Iterator<Item = &Named> {
        self.trees.iter()
    }

    /// Sets the tree of rows.
    pub fn set_rows(&mut self, tree: Tree) {
        self.remove(ROWS);
        if !tree.is_empty() {
            self.insert(Named { name: TreeName::default(), tree, reach: None });
        }
    }

    fn remove(&mut self, name: &str) {
        self.trees.retain(|named| &*named.name != name);
    }

    fn insert(&mut self, named: Named) {
        let at = self.trees.partition_point(|other| other.name < named.name);
        self.trees.insert(at, named);
    }

    /// Sets all indexes. A forest without rows has no indexes.
    pub fn set_indexes(&mut self, indexes: impl IntoIterator<Item = Named>) {
        self.trees.retain(|named| !is_index(&named.name));
        if !self.tree(ROWS).is_empty() {
            indexes.into_iter().for_each(|named| self.insert(named));
        }
    }

    /// Packs the commit chunk, if there is one; its hash is the root of the store.
    ///
    /// # Errors
    /// [`Error::CommitTooLarge`]; discard the packer then.
    pub fn commit(&self, packer: &mut Packer) -> Result<Hash, Error> {
        if self.trees.is_empty() {
            return Ok(Hash::ZERO);
        }
        let before = packer.bytes();
        let hash = packer.put(Stream::Inner, |out| commit::encode(&self.trees, out));
        let len = (packer.bytes() - before) as usize;
        commit::check_size(self.trees.len(), len).map_err(|_| Error::CommitTooLarge)?;
        Ok(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::commit::{MAX_REACH_BYTES, encode};
    use super::*;
    use crate::error::Field;
    use crate::limits::{MAX_COMMIT_BYTES, MAX_TREES};
    use alloc::vec;

    fn forest() -> Forest {
        let mut forest = Forest::new();
        forest.insert(named("x", Tree { root: Hash([7; 32]), count: 3 }, None));
        forest.set_rows(Tree { root: Hash([9; 32]), count: 1 });
        forest
    }

    fn named(name: &str, tree: Tree, reach: Option<&[u8]>) -> Named {
        let name = TreeName::parse(name).unwrap();
        Named { name, tree, reach: reach.map(<[u8]>::to_vec) }
    }

    fn encoded() -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&forest().trees, &mut bytes);
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
        other.set_rows(Tree { root: Hash([1; 32]), count: 1 });
        other.set_rows(Tree::EMPTY);
        assert_eq!(other, Forest::new());
        other.set_rows(Tree { root: Hash([9; 32]), count: 1 });
        other.insert(named("x", Tree { root: Hash([7; 32]), count: 3 }, None));
        assert_eq!(other, forest());
    }

    fn indexed() -> Forest {
        let mut forest = forest();
        let some = Tree { root: Hash([5; 32]), count: 2 };
        forest.set_indexes([named("j[b]", some, Some(b"key")), named("i[a]", Tree::EMPTY, None)]);
        forest
    }

    #[test]
    fn indexes_are_named_without_entries_as_long_as_there_are_rows() {
        let mut forest = indexed();
        let mut bytes = Vec::new();
        encode(&forest.trees, &mut bytes);
        assert_eq!(Forest::decode(&bytes), Ok(forest.clone()));
        let names: Vec<_> = forest.indexes().map(|named| &*named.name).collect();
        assert_eq!(names, ["i[a]", "j[b]"]);
        assert_eq!(forest.trees().count(), 4);
        for end in 0..bytes.len() {
            assert!(Forest::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        let indexes: Vec<_> = forest.indexes().cloned().collect();
        forest.set_rows(Tree::EMPTY);
        bytes.clear();
        encode(&forest.trees, &mut bytes);
        assert_eq!(Forest::decode(&bytes).unwrap_err().field, Field::Count);
        forest.set_indexes(indexes);
        assert_eq!(forest.indexes().count(), 0);
    }

    #[test]
    fn a_commit_stores_the_root_and_the_definition_of_a_sum_tree() {
        let mut forest = forest();
        let some = Tree { root: Hash([5; 32]), count: 2 };
        let reach = |definition: &[u8]| [&[1; SUM_ROOT_BYTES], definition].concat();
        let name = |name: &str| TreeName::of(SUMS, name).unwrap();
        forest.set_sum(&name("hand"), some, reach(b""));
        forest.set_sum(&name("gone"), some, reach(b""));
        forest.set_sum(&name("gone"), Tree::EMPTY, reach(b""));
        forest.set_sum(&name("rows"), Tree::EMPTY, reach(b"[]"));
        let names: Vec<_> = forest.sums().map(|named| &*named.name).collect();
        assert_eq!(names, ["shand", "srows"]);
        assert!(forest.has_followers());
        let mut bytes = Vec::new();
        encode(&forest.trees, &mut bytes);
        assert_eq!(Forest::decode(&bytes), Ok(forest.clone()));
        assert_eq!(forest.named("srows").unwrap().sum_definition(), b"[]");
        for end in 0..bytes.len() {
            assert!(Forest::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        // A follower without rows is refused, and so is a hand-edited tree without leaves.
        let refused = |mut forest: Forest| {
            let mut bytes = Vec::new();
            forest.trees.retain(|named| &*named.name != "x");
            encode(&forest.trees, &mut bytes);
            Forest::decode(&bytes).unwrap_err().field
        };
        let mut without = forest.clone();
        without.set_rows(Tree::EMPTY);
        assert_eq!(refused(without), Field::Count);
        let mut empty = forest.clone();
        empty.insert(named("sz", Tree::EMPTY, Some(&reach(b""))));
        assert_eq!(refused(empty), Field::EntryCount);
        let mut short = forest.clone();
        short.insert(named("sz", some, Some(&[0; 39])));
        assert_eq!(refused(short), Field::Length);
    }

    #[test]
    fn a_forest_without_entries_has_no_chunk() {
        let mut packer = Packer::new();
        assert_eq!(Forest::new().commit(&mut packer), Ok(Hash::ZERO));
        assert_eq!(packer.chunks(), 0);
    }

    /// Makes a forest of `trees` trees: the rows and sum trees, each with a reach of `reach_len` bytes.
    fn wide(trees: usize, reach_len: usize) -> Forest {
        let some = Tree { root: Hash([5; 32]), count: 2 };
        let reach = vec![b'a'; reach_len];
        let sums = |nth| named(&alloc::format!("s{nth:0254}"), some, Some(&reach));
        let rows = named(ROWS, some, None);
        Forest { trees: [rows].into_iter().chain((1..trees).map(sums)).collect() }
    }

    #[test]
    fn each_commit_that_is_made_can_be_read() {
        let check = |forest: &Forest| {
            let mut packer = Packer::new();
            let committed = forest.commit(&mut packer);
            let mut bytes = Vec::new();
            encode(&forest.trees, &mut bytes);
            let read = Forest::decode(&bytes);
            match committed {
                Ok(hash) => {
                    assert_eq!((read.as_ref(), hash), (Ok(forest), Hash::of(&bytes)));
                    true
                }
                Err(error) => {
                    assert_eq!(error, Error::CommitTooLarge);
                    assert!(read.is_err() || bytes.len() > usize::from(u16::MAX));
                    false
                }
            }
        };
        assert!(check(&wide(MAX_TREES, SUM_ROOT_BYTES)));
        assert!(!check(&wide(MAX_TREES + 1, SUM_ROOT_BYTES)));
        assert!(!check(&wide(u16::MAX.into(), SUM_ROOT_BYTES)));
        // A sum tree takes 298 bytes and its reach, the rows take 42, the header and count 4.
        let most = (MAX_COMMIT_BYTES - 46) / (298 + MAX_REACH_BYTES);
        assert!(check(&wide(1 + most, MAX_REACH_BYTES)));
        assert!(!check(&wide(2 + most, MAX_REACH_BYTES)));
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

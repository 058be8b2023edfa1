//! Makes proofs of keys; [`proof`](super::proof) describes them.

use crate::piece::ref_and_hash;
use crate::proof::{Climb, Side};
use crate::rules::{DEPTH, Rules, State, bit, bytes, common, leaf, path, sort};
use crate::trie::{Held, Kind, NONE, Node, Root, Trie};
use alloc::vec::Vec;
use hedgerow_trees::cache::Cache;
use hedgerow_trees::error::{DecodeError, Error, Field};
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::Tree;

/// Bytes hashed for a key.
const KEY_WORK: usize = 128 * DEPTH as usize;

/// Makes a proof of keys.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_sums::{Rules, SumProve, key_of, verify};
/// use hedgerow_trees::step::{Budget, Step};
///
/// let (cache, [(tree, root)]) = store([&[("ann", 41), ("bob", 35)]]);
/// let (rules, key) = (Rules::new(), key_of(b"bob"));
/// let mut prove = SumProve::new(&rules, tree, &key);
/// assert_eq!(prove.step(&cache, &mut Budget::of(1 << 20)), Ok(Step::Done(())));
/// let (_, proof) = prove.proof();
/// assert_eq!(verify(&rules, &root, &key, Some((b"bob", 35)), &proof), Ok(()));
/// ```
#[derive(Debug)]
pub struct SumProve {
    trie: Trie,
    tree: Tree,
    paths: Vec<[u8; 32]>,
    climb: Climb,
    at: usize,
    /// Whether all pieces that the keys lead into are open.
    is_open: bool,
    is_many: bool,
    nodes: Vec<u8>,
    bitmap: Vec<u8>,
    bits: usize,
}

impl SumProve {
    fn of(rules: &Rules, tree: Tree, keys: &[[u8; 32]], is_many: bool) -> Self {
        let mut paths: Vec<_> = keys.iter().map(|key| (path(key), 0)).collect();
        sort(&mut paths);
        let mut paths: Vec<_> = paths.into_iter().map(|(path, _)| path).collect();
        paths.dedup();
        Self {
            trie: Trie::new(rules.clone()),
            tree,
            paths,
            climb: Climb::default(),
            at: 0,
            is_open: false,
            is_many,
            nodes: Vec::new(),
            bitmap: Vec::new(),
            bits: 0,
        }
    }

    /// Begins a proof of one key, present or absent.
    #[must_use]
    pub fn new(rules: &Rules, tree: Tree, key: &[u8; 32]) -> Self {
        Self::of(rules, tree, core::slice::from_ref(key), false)
    }

    /// Begins one proof of many keys.
    #[must_use]
    pub fn many(rules: &Rules, tree: Tree, keys: &[[u8; 32]]) -> Self {
        Self::of(rules, tree, keys, true)
    }

    /// Returns the root of the tree and the proof, once it is done.
    #[must_use]
    pub fn proof(&self) -> (Root, Vec<u8>) {
        let count = (self.nodes.len() / 40) as u32;
        let count = count.to_be_bytes();
        let mut proof = Vec::with_capacity(4 + self.nodes.len() + self.bitmap.len());
        proof.extend_from_slice(if self.is_many { &count } else { &count[2..] });
        proof.extend_from_slice(&self.nodes);
        proof.extend_from_slice(&self.bitmap);
        (self.trie.total(), proof)
    }

    /// Continues. Costs the pieces on the path to each key, and 512 compressions for each key, because the
    /// proof is verified while it is made.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        if !self.is_open {
            match self.trie.reach(cache, budget, self.tree, &self.paths)? {
                Step::Done(()) => self.is_open = true,
                waiting => return Ok(waiting),
            }
        }
        let Self { trie, paths, climb, at, nodes, bitmap, bits, .. } = self;
        while let Some(path) = paths.get(*at) {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            budget.spend(KEY_WORK);
            let mut siblings = [NONE; DEPTH as usize];
            let leaf = trie.siblings(path, &mut siblings);
            let mut sibling = |depth: u16| {
                if *bits % 8 == 0 {
                    bitmap.push(0);
                }
                let sibling = siblings[usize::from(depth)];
                let side = if sibling == NONE {
                    if let Some(last) = bitmap.last_mut() {
                        *last |= 1 << (*bits % 8);
                    }
                    (trie.rules.empty(depth + 1), 0)
                } else {
                    let node = trie.node(sibling);
                    let hash = trie.hash_below(node, depth + 1);
                    nodes.extend_from_slice(&bytes(&hash));
                    nodes.extend_from_slice(&node.sum.to_be_bytes());
                    (hash, node.sum)
                };
                *bits += 1;
                Ok(side)
            };
            let next = paths.get(*at + 1);
            let (hash, sum) = climb.leaf(path, next, leaf, &mut sibling)?;
            *at += 1;
            // Stored hashes of leaves are checked only now.
            if next.is_none() && trie.total() != (Root { hash: bytes(&hash), sum }) {
                let cause = Some(DecodeError::new(Field::SumHash, 2, 0, 0));
                return Err(Error::CorruptChunk { hash: self.tree.root, cause });
            }
        }
        Ok(Step::Done(()))
    }
}

impl Trie {
    /// Returns the leaf at the end of a path, and all siblings on the path.
    fn siblings(&self, path: &[u8; 32], siblings: &mut [u32; DEPTH as usize]) -> Side {
        let mut at = self.root;
        while at != NONE {
            let node = self.node(at);
            let parts = common(&node.path, path);
            if parts < node.depth {
                siblings[usize::from(parts)] = at;
                break;
            }
            match node.kind {
                Kind::Branch { left, right } => {
                    let (below, other) =
                        if bit(path, node.depth) { (right, left) } else { (left, right) };
                    siblings[usize::from(node.depth)] = other;
                    at = below;
                }
                _ => return (self.leaf_hash(node), node.sum),
            }
        }
        (self.rules.empty(DEPTH), 0)
    }

    fn leaf_hash(&self, node: &Node) -> State {
        match self.value(node) {
            (Held::Ref, rest) => ref_and_hash(rest).1,
            (_, value) => leaf(value, node.sum),
        }
    }

    /// Returns the hash as [`Trie::hash_at`], also if the stored hash of the leaf is for a higher place than `depth`.
    fn hash_below(&self, node: &Node, depth: u16) -> State {
        if node.at >= depth {
            return self.hash_at(node, depth);
        }
        self.rules.fold(self.leaf_hash(node), node.sum, &node.path, DEPTH, depth)
    }
}

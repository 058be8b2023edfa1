//! The changed nodes of a trie: computes their hashes, and then makes their chunks.

use crate::piece::{LINK, REF, REF_BYTES, ref_and_hash};
use crate::rules::{Chain, DEPTH, bytes, leaf, prefix};
use crate::trie::{Held, Kind, NONE, Node, Root, Trie, UNKNOWN};
use alloc::vec::Vec;
use hedgerow_trees::chunk::ChunkKind;
use hedgerow_trees::hash::Hash;
use hedgerow_trees::segment::{Packer, Stream};
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::{Tree, put_value};

/// Chains that are hashed between two checks of the budget.
const CHAINS: usize = 8;
/// The cost of listing the leaves of a branch.
const LIST_WORK: usize = 16;
/// Bytes hashed for a branch.
const BRANCH_BYTES: usize = 128;

/// The nodes that a merge has changed in a trie.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    /// New branches, lower ones before higher ones.
    pub(crate) branches: Vec<u32>,
    /// Leaves that need a hash, and the depth of that hash.
    leaves: Vec<(u32, u16)>,
    /// The next branch or leaf of the current phase.
    pub(crate) next: usize,
    /// The tree, once it is packed.
    pub(crate) tree: Tree,
}

impl Fresh {
    /// Lists the leaves that are new, or now at another depth.
    pub(crate) fn list_leaves(&mut self, trie: &Trie, budget: &mut Budget) -> Step<()> {
        let Self { leaves, branches, next, .. } = self;
        let mut list = |at: u32, depth: u16| {
            let node = trie.node(at);
            if node.depth == DEPTH && node.at != depth {
                leaves.push((at, depth));
            }
        };
        while let Some(at) = branches.get(*next) {
            if budget.is_spent() {
                return Step::Yield;
            }
            budget.spend(LIST_WORK);
            *next += 1;
            let node = trie.node(*at);
            if let Kind::Branch { left, right } = node.kind {
                list(left, node.depth + 1);
                list(right, node.depth + 1);
            }
        }
        if trie.root != NONE {
            list(trie.root, 0);
        }
        Step::Done(())
    }

    /// Hashes leaves and the chains above them.
    pub(crate) fn hash_leaves(&mut self, trie: &mut Trie, budget: &mut Budget) -> Step<()> {
        let Self { leaves, next, .. } = self;
        while *next < leaves.len() {
            if budget.is_spent() {
                return Step::Yield;
            }
            let some = &leaves[*next..leaves.len().min(*next + CHAINS)];
            let mut chains = [Chain { path: [0; 32], sum: 0, to: DEPTH, hash: [0; 8] }; CHAINS];
            for ((at, to), chain) in some.iter().zip(&mut chains) {
                let node = trie.node(*at);
                let Node { path, sum, .. } = *node;
                budget.spend(BRANCH_BYTES * usize::from(DEPTH - to));
                if node.at != UNKNOWN && node.at > *to {
                    // It has moved up: its chain continues.
                    chain.hash = trie.hash_at(node, *to);
                    continue;
                }
                let (held, value) = trie.value(node);
                let hash = if held == Held::Ref { ref_and_hash(value).1 } else { leaf(value, sum) };
                budget.spend(value.len());
                *chain = Chain { path, sum, to: *to, hash };
            }
            trie.rules.follow(&mut chains);
            for ((at, to), chain) in some.iter().zip(&chains) {
                let node = &mut trie.nodes[*at as usize];
                (node.hash, node.at) = (chain.hash, *to);
            }
            *next += some.len();
        }
        Step::Done(())
    }

    /// Hashes branches, lower ones first.
    pub(crate) fn hash_branches(&mut self, trie: &mut Trie, budget: &mut Budget) -> Step<()> {
        while let Some(at) = self.branches.get(self.next) {
            if budget.is_spent() {
                return Step::Yield;
            }
            trie.hash_branch(*at);
            budget.spend(BRANCH_BYTES * 2);
            self.next += 1;
        }
        Step::Done(())
    }

    /// Packs the new chunks, each after the chunks that it names.
    pub(crate) fn pack(
        &mut self,
        trie: &mut Trie,
        budget: &mut Budget,
        packer: &mut Packer,
    ) -> Step<()> {
        let Self { leaves, branches, next, .. } = self;
        while let Some((at, _)) = leaves.pop() {
            if budget.is_spent() {
                leaves.push((at, 0));
                return Step::Yield;
            }
            let node = *trie.node(at);
            if let (Held::New, value) = trie.value(&node) {
                budget.spend(2 * value.len());
                let address = put_value(packer, value).bytes();
                let hash = bytes(&leaf(value, node.sum));
                let start = trie.bytes.len() as u32;
                trie.bytes.extend_from_slice(&address);
                trie.bytes.extend_from_slice(&hash);
                let held = Held::Ref;
                trie.nodes[at as usize].kind = Kind::Leaf { held, start, len: REF_BYTES as u32 };
            }
        }
        while let Some(at) = branches.get(*next) {
            if budget.is_spent() {
                return Step::Yield;
            }
            budget.spend(64);
            if let Kind::Branch { left, right } = trie.node(*at).kind {
                let cuts = trie.cuts(left, right);
                for (at, cut) in [(left, cuts.0), (right, cuts.1)] {
                    if cut && trie.node(at).chunk == Hash::ZERO {
                        budget.spend(trie.node(at).size.into());
                        let header = ChunkKind::SumPiece.header();
                        trie.nodes[at as usize].chunk = trie.pack(at, &header, packer);
                    }
                }
            }
            *next += 1;
        }
        self.tree = Tree::EMPTY;
        if trie.root != NONE {
            let mut header = Vec::from(ChunkKind::SumTop.header());
            let Root { hash, sum } = trie.total();
            header.extend_from_slice(&hash);
            header.extend_from_slice(&sum.to_le_bytes());
            let root = trie.pack(trie.root, &header, packer);
            self.tree = Tree { root, count: trie.node(trie.root).count };
        }
        Step::Done(())
    }
}

impl Trie {
    /// Packs the piece whose first node is at `at`.
    fn pack(&self, at: u32, header: &[u8], packer: &mut Packer) -> Hash {
        packer.put(Stream::Inner, |out| {
            out.extend_from_slice(header);
            let mut rest = Vec::from([(at, false)]);
            while let Some((at, is_cut)) = rest.pop() {
                let node = self.node(at);
                if let (Kind::Branch { left, right }, false) = (node.kind, is_cut) {
                    let cuts = self.cuts(left, right);
                    rest.extend([(right, cuts.1), (left, cuts.0)]);
                    continue;
                }
                out.extend_from_slice(&prefix(&node.path, node.depth));
                out.extend_from_slice(&bytes(&node.hash));
                out.extend_from_slice(&node.sum.to_le_bytes());
                let (held, value) = self.value(node);
                let head = match (held, is_cut) {
                    (_, true) => LINK + node.depth,
                    (Held::Inline, _) => value.len() as u16,
                    _ => REF,
                };
                out.extend_from_slice(&head.to_le_bytes());
                out.extend_from_slice(value);
                if is_cut {
                    out.extend_from_slice(&node.count.to_le_bytes());
                    out.extend_from_slice(&node.size.to_le_bytes());
                    out.extend_from_slice(&node.chunk.0);
                }
            }
        })
    }
}

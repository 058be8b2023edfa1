//! Verifies a sum tree: every piece, every hash up to the root, every value.

use crate::leaves::SumLeaves;
use crate::piece::{
    Form, ROOT_BYTES, Record, Records, address_of, fetch, ref_and_hash, root_at, stated,
};
use crate::rules::{Chain, DEPTH, Rules, State, bytes, leaf, words};
use crate::trie::{Held, Kind, Trie};
use alloc::vec::Vec;
use hedgerow_trees::cache::{Cache, Fetch};
use hedgerow_trees::error::{DecodeError, Error, Field};
use hedgerow_trees::hash::Hash;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::Tree;

/// Bytes hashed for a leaf, up to the branch above it.
const LEAF_WORK: usize = 128 * DEPTH as usize;

/// Verifies a sum tree: every piece, every hash up to the root, every value.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_sums::{Rules, SumVerify};
/// use hedgerow_trees::step::{Budget, Step};
///
/// let (cache, [(tree, root)]) = store([&[("ann", 41), ("bob", 35)]]);
/// let claim = [&root.hash[..], &root.sum.to_le_bytes()].concat();
/// let mut verify = SumVerify::new(&Rules::new(), tree, &claim);
/// assert_eq!(verify.step(&cache, &mut Budget::of(1 << 20)), Ok(Step::Done(())));
/// assert_eq!(verify.tally()[0], 2);
/// ```
#[derive(Debug)]
pub struct SumVerify {
    rules: Rules,
    tree: Tree,
    /// Hash and sum of the root, as the commit claims them.
    claim: Option<(State, u64)>,
    /// Links to pieces that are not read yet; `None` is the top.
    pieces: Vec<Option<Record<'static>>>,
    /// The offsets in the last piece of leaves whose longer values are not read yet.
    value_refs: Vec<usize>,
    last: Option<Record<'static>>,
    value: SumLeaves,
    counts: [u64; 3],
}

const fn wrong(hash: Hash, field: Field) -> Error {
    Error::CorruptChunk { hash, cause: Some(DecodeError::new(field, 0, 0, 0)) }
}

impl SumVerify {
    /// Begins to verify `tree`. The first 40 bytes of `claim` are the hash and the sum of its root, as its
    /// commit claims them.
    #[must_use]
    pub fn new(rules: &Rules, tree: Tree, claim: &[u8]) -> Self {
        Self {
            rules: rules.clone(),
            tree,
            claim: claim.get(..ROOT_BYTES).map(root_at),
            pieces: if tree.is_empty() { Vec::new() } else { Vec::from([None]) },
            value_refs: Vec::new(),
            last: None,
            value: SumLeaves::default(),
            counts: [0; 3],
        }
    }

    /// Counts the leaves, pieces and values out of line that were found sound so far.
    #[must_use]
    pub const fn tally(&self) -> [u64; 3] {
        self.counts
    }

    /// Continues. Costs the hashes of all leaves, as putting them does.
    ///
    /// # Errors
    /// As [`Cache::node`], at the first fault.
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        loop {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            if let Some(at) = self.value_refs.last() {
                let step = match fetch(cache, self.tree.root, self.last.as_ref(), false)? {
                    Fetch::At(want) => Step::Need(Vec::from([want.whole()])),
                    Fetch::Here(chunk) => {
                        let mut records = Records::of(chunk);
                        records.at = *at;
                        let Some(record) = records.next() else { return Ok(Step::Yield) };
                        self.value.add(cache, budget, &record, 0)?
                    }
                };
                if step != Step::Done(()) {
                    return Ok(step);
                }
                self.value.clear();
                self.counts[2] += 1;
                self.value_refs.pop();
                continue;
            }
            let Some(link) = self.pieces.last() else {
                if self.counts[0] != self.tree.count {
                    return Err(wrong(self.tree.root, Field::EntryCount));
                }
                // The claim about any other tree was checked with its top.
                let nothing = (words(&self.rules.empty_hash(0)), 0);
                if self.tree.is_empty() && self.claim.is_some_and(|claim| claim != nothing) {
                    return Err(wrong(self.tree.root, Field::SumHash));
                }
                return Ok(Step::Done(()));
            };
            let chunk = match fetch(cache, self.tree.root, link.as_ref(), true)? {
                Fetch::At(want) => return Ok(Step::Need(Vec::from([want.whole()]))),
                Fetch::Here(chunk) => chunk,
            };
            let link = self.pieces.pop().flatten();
            self.piece(chunk, link, budget)?;
        }
    }

    fn piece(
        &mut self,
        chunk: &[u8],
        link: Option<Record<'static>>,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        let hash = address_of(self.tree.root, link.as_ref());
        let mut trie = Trie::new(self.rules.clone());
        let bad = |cause| Error::CorruptChunk { hash, cause: Some(cause) };
        trie.root = trie.build(chunk).map_err(bad)?;
        if let Some(link) = &link {
            if bytes(&trie.node(trie.root).hash) != link.hash {
                return Err(wrong(hash, Field::SumHash));
            }
        } else {
            let root = &mut trie.nodes[trie.root as usize];
            if root.depth == DEPTH {
                // The only leaf of a tree has the hash of the whole tree.
                root.at = 0;
            }
            let (total, said) = (trie.total(), stated(chunk));
            let is_claimed = self.claim.is_none_or(|claim| claim == said);
            if !is_claimed || words(&total.hash) != said.0 || total.sum != said.1 {
                return Err(wrong(hash, Field::SumHash));
            }
        }
        self.last = link;
        let mut records = Records::of(chunk);
        loop {
            let at = records.at;
            let Some(record) = records.next() else { break };
            match record.form {
                Form::Link(_) => self.pieces.push(record.link()),
                Form::Ref(_) => self.value_refs.push(at),
                Form::Inline(_) => {}
            }
        }
        let mut chains = Vec::new();
        let mut expected = Vec::new();
        for node in &trie.nodes {
            if let Kind::Leaf { .. } = node.kind {
                let (held, value) = trie.value(node);
                let start =
                    if held == Held::Ref { ref_and_hash(value).1 } else { leaf(value, node.sum) };
                budget.spend(LEAF_WORK);
                chains.push(Chain { path: node.path, sum: node.sum, to: node.at, hash: start });
                expected.push(node.hash);
            }
        }
        self.rules.follow(&mut chains);
        if chains.iter().zip(&expected).any(|(chain, hash)| chain.hash != *hash) {
            return Err(wrong(hash, Field::SumHash));
        }
        self.counts[0] += chains.len() as u64;
        self.counts[1] += 1;
        Ok(())
    }
}

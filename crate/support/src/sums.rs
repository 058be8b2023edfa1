//! Sum trees in a [`Host`]: edits, reads, proofs and forgeries.

use crate::host::Host;
pub use crate::sum_models::Leaf as Held;
use hedgerow::cache::Fetch;
use hedgerow::chunk::piece_list;
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::segment::Packer;
use hedgerow::step::{Budget, Step};
use hedgerow::sum_tree::{
    Name, Root, Rules, SumBatch, SumDiff, SumLeaves, SumMerge, SumMultiGet, SumProve, SumScan,
    names, verify,
};
use hedgerow::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// Leaves by their keys.
pub type Leaves = BTreeMap<[u8; 32], Held>;

/// A sum tree in a host.
pub struct Sums {
    /// The host that stores its chunks.
    pub host: Host,
    /// The tree.
    pub tree: Tree,
    /// Its root.
    pub root: Root,
    /// The rules.
    pub rules: Rules,
}

/// Makes a batch of puts; an empty value with the sum 0 deletes.
pub fn batch<'l>(edits: impl IntoIterator<Item = (&'l [u8; 32], &'l Held)>) -> SumBatch {
    let mut batch = SumBatch::new();
    for (key, (value, sum)) in edits {
        batch.put(key, value, *sum).expect("a value that is not too long");
    }
    batch
}

impl Sums {
    /// Makes an empty tree in a host.
    pub fn new(host: Host) -> Self {
        let rules = Rules::new();
        let root = Root { hash: rules.empty_hash(0), sum: 0 };
        Self { host, tree: Tree::EMPTY, root, rules }
    }

    /// Makes a tree of these leaves, put at once.
    pub fn of(host: Host, leaves: &Leaves) -> Self {
        let mut sums = Self::new(host);
        sums.merge(batch(leaves)).expect("leaves that fit");
        sums
    }

    /// Merges a batch.
    ///
    /// # Errors
    /// The errors of [`SumMerge::step`]; no chunk was packed then.
    pub fn merge(&mut self, batch: SumBatch) -> Result<(), Error> {
        let mut merge = SumMerge::new(&self.rules, self.tree, batch);
        let mut packer = Packer::new();
        let done = self.host.run(|cache, budget| merge.step(cache, budget, &mut packer));
        if done.is_err() {
            assert_eq!(packer.chunks(), 0, "a failed batch packs nothing");
        }
        done?;
        packer.seal();
        self.host.store(packer.take_sealed());
        (self.tree, self.root) = merge.made();
        Ok(())
    }

    /// Reads the sum of a leaf.
    ///
    /// # Errors
    /// The errors of [`hedgerow::sum_tree::get`].
    pub fn get(&mut self, key: &[u8; 32]) -> Result<Option<u64>, Error> {
        let tree = self.tree;
        self.host.fetch(|cache| {
            Ok(match hedgerow::sum_tree::get(cache, tree, key)? {
                Fetch::Here(sum) => Fetch::Here(sum),
                Fetch::At(want) => Fetch::At(want),
            })
        })
    }

    /// Reads the leaves of some keys, in the order of the keys.
    ///
    /// # Errors
    /// The errors of [`SumMultiGet::step`].
    pub fn find(&mut self, keys: &[[u8; 32]]) -> Result<Vec<Option<Held>>, Error> {
        let mut find = SumMultiGet::new(self.tree, keys);
        let mut out = SumLeaves::default();
        self.host.run(|cache, budget| find.step(cache, budget, &mut out))?;
        let mut found = vec![None; keys.len()];
        for leaf in &out.leaves {
            assert_eq!(leaf.key, keys[leaf.mark as usize]);
            found[leaf.mark as usize] = Some((out.value(leaf).to_vec(), leaf.sum));
        }
        Ok(found)
    }

    /// Reads all leaves from a key, or from the first, from left to right.
    ///
    /// # Errors
    /// The errors of [`SumScan::step`].
    pub fn scan(&mut self, from: Option<&[u8; 32]>) -> Result<Vec<Leaf>, Error> {
        let mut scan = SumScan::new(self.tree, from);
        let mut out = SumLeaves::default();
        self.host.run(|cache, budget| scan.step(cache, budget, &mut out))?;
        Ok(out.leaves.iter().map(|leaf| (leaf.key, (out.value(leaf).to_vec(), leaf.sum))).collect())
    }

    /// Reads all leaves.
    ///
    /// # Errors
    /// The errors of [`SumScan::step`].
    pub fn contents(&mut self) -> Result<Leaves, Error> {
        let scanned = self.scan(None)?;
        let paths: Vec<_> = scanned.iter().map(|(key, _)| hedgerow::sum_tree::path(key)).collect();
        assert!(paths.is_sorted_by(|a, b| a < b), "from left to right");
        Ok(scanned.into_iter().collect())
    }

    /// Reads the changes from `old`: for each key the old leaf and the new one.
    ///
    /// # Errors
    /// The errors of [`SumDiff::step`].
    pub fn diff(&mut self, old: Tree) -> Result<BTreeMap<[u8; 32], Change>, Error> {
        let mut diff = SumDiff::new(old, self.tree);
        let mut out = SumLeaves::default();
        self.host.run(|cache, budget| diff.step(cache, budget, &mut out))?;
        let mut changes: BTreeMap<[u8; 32], Change> = BTreeMap::new();
        for leaf in &out.leaves {
            let change = changes.entry(leaf.key).or_default();
            let side = if leaf.mark == 0 { &mut change.0 } else { &mut change.1 };
            assert!(side.is_none(), "told of twice");
            *side = Some((out.value(leaf).to_vec(), leaf.sum));
        }
        Ok(changes)
    }

    /// Finds all chunks that the tree reaches, including values, and the length of the longest path of pieces.
    pub fn reached(&self) -> (BTreeSet<Hash>, usize) {
        let stored: BTreeMap<Hash, Vec<u8>> =
            self.host.chunks().map(|(_, hash, bytes)| (hash, bytes)).collect();
        let (mut reached, mut longest) = (BTreeSet::new(), 0);
        let mut open = if self.tree.is_empty() { vec![] } else { vec![(self.tree.root, 1)] };
        while let Some((hash, depth)) = open.pop() {
            longest = longest.max(depth);
            if reached.insert(hash) {
                names(&stored[&hash], |name| match name {
                    Name::Piece(hash) => open.push((hash, depth + 1)),
                    Name::Value(far) => {
                        reached.insert(far.hash);
                        if let Ok(pieces) = piece_list(&stored[&far.hash], far.len as usize) {
                            reached.extend(pieces);
                        }
                    }
                });
            }
        }
        (reached, longest)
    }
}

/// A leaf and its key.
pub type Leaf = ([u8; 32], Held);

/// An old leaf and a new one.
pub type Change = (Option<Held>, Option<Held>);
impl Sums {
    /// Makes a proof of keys: of many, or of the first one only.
    ///
    /// # Errors
    /// The errors of [`SumProve::step`].
    pub fn prove(&mut self, keys: &[[u8; 32]], is_many: bool) -> Result<Vec<u8>, Error> {
        let mut prove = if is_many {
            SumProve::many(&self.rules, self.tree, keys)
        } else {
            SumProve::new(&self.rules, self.tree, &keys[0])
        };
        self.host.run(|cache, budget| prove.step(cache, budget))?;
        let (root, proof) = prove.proof();
        assert_eq!(self.root, root);
        Ok(proof)
    }
}

/// Pseudorandom numbers.
struct Choices(u64);

impl Choices {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % end
    }
}

/// Changes honest proofs and their claims in `count` ways, drawn from `seed`. Returns how many verified
/// although the claim is false, or the proof is not the honest one.
pub fn forge_sum_proofs(seed: u64, count: usize) -> usize {
    let mut choices = Choices(seed);
    let random_key =
        |choices: &mut Choices| -> [u8; 32] { std::array::from_fn(|_| choices.below(256) as u8) };
    let mut all = Leaves::new();
    while all.len() < 200 {
        let key = random_key(&mut choices);
        let value = vec![choices.below(256) as u8; choices.below(40)];
        all.insert(key, (value, 1 + choices.below(1 << 20) as u64));
    }
    let mut sums = Sums::of(Host::new(hedgerow::boundary::Shape::STORED), &all);
    let mut keys: Vec<_> = all.keys().copied().collect();
    for _ in 0..200 {
        keys.push(random_key(&mut choices));
    }
    let proofs: Vec<_> =
        keys.iter().map(|key| sums.prove(&[*key], false).expect("a proof")).collect();
    let mut verified = 0;
    for _ in 0..count {
        let at = choices.below(keys.len());
        let (mut key, mut leaf) = (keys[at], all.get(&keys[at]).cloned());
        let mut proof = proofs[at].clone();
        let other = choices.below(keys.len());
        for _ in 0..=choices.below(3) {
            let place = choices.below(proof.len());
            match choices.below(10) {
                0 => proof[place] = choices.below(256) as u8,
                1 => proof.truncate(place.max(1)),
                2 => proof.insert(place, choices.below(256) as u8),
                3 => proof.clone_from(&proofs[other]),
                4 => key = keys[other],
                5 => leaf = all.get(&keys[other]).cloned(),
                6 => {
                    let len = 40.min(proof.len() - place);
                    let part = proof[place..place + len].to_vec();
                    let to = choices.below(proof.len() - len + 1);
                    proof[to..to + len].copy_from_slice(&part);
                }
                7 => {
                    if let Some((_, sum)) = &mut leaf {
                        *sum ^= 1 << choices.below(64);
                    }
                }
                8 => key[choices.below(32)] ^= 1 << choices.below(8),
                _ => proof[place] ^= 1 << choices.below(8),
            }
        }
        // The result may be an honest proof of a true claim.
        let honest = keys.iter().position(|known| *known == key);
        let is_true = leaf.as_ref() == all.get(&key);
        if honest.is_some_and(|at| proofs[at] == proof) && is_true {
            continue;
        }
        let claim = leaf.as_ref().map(|(value, sum)| (value.as_slice(), *sum));
        if verify(&sums.rules, &sums.root, &key, claim, &proof).is_ok() {
            // Another absent key may have the same siblings, byte for byte.
            let same = sums.prove(&[key], false).expect("a proof") == proof;
            verified += usize::from(!is_true || !same);
        }
    }
    verified
}

/// Merges a batch into a tree in memory; returns the new tree and the bytes of its new chunks.
pub fn merged(sums: &Sums, batch: SumBatch) -> (Tree, u64) {
    let mut merge = SumMerge::new(&sums.rules, sums.tree, batch);
    let mut packer = Packer::new();
    let step = merge.step(&sums.host.cache, &mut Budget::of(usize::MAX), &mut packer);
    assert_eq!(step, Ok(Step::Done(())));
    packer.seal();
    (merge.made().0, packer.bytes())
}

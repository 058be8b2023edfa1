//! Proofs of the leaves of keys in a sum tree, for a verifier that knows only the root; and their
//! verification.
//!
//! ```text
//! of one key    n:u16 | n x ( hash:32 | sum:u64 ) | bitmap:32
//! of many       n:u32 | n x ( hash:32 | sum:u64 ) | bitmap           all numbers big-endian
//! ```
//!
//! A proof lists the siblings on the path from the leaf up to the root. Bit `i` of the bitmap, the
//! lowest of each byte first, is set if the `i`-th sibling is empty; the others are listed in order.
//! A key is absent if its leaf is the empty one.
//!
//! With many keys, each leaf from the left is hashed up to the branch with the next one. Where two
//! meet, they continue as one. So each sibling is listed once, and siblings that follow from the
//! leaves are left out. The bitmap is as short as possible; its unused last bits are zero.

use crate::rules::{DEPTH, Rules, State, bit, branch, bytes, common, leaf, path, sort, words};
use crate::trie::Root;
use alloc::vec::Vec;
use hedgerow_trees::error::Error;
use hedgerow_trees::step::{Budget, Step};

/// The most bytes that are hashed for a key.
const KEY_WORK: usize = 128 * DEPTH as usize;

/// A hash and a sum.
pub(crate) type Side = (State, u64);

/// Computes the root from leaves, from left to right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Climb {
    /// Subtrees that wait for the next leaf, each with the depth of the branch where they meet.
    waiting: Vec<(Side, u16)>,
}

impl Climb {
    /// Hashes a leaf up to the branch with the next one, or to the root. `sibling` returns the sibling
    /// at a depth.
    pub(crate) fn leaf(
        &mut self,
        path: &[u8; 32],
        next: Option<&[u8; 32]>,
        leaf: Side,
        sibling: &mut impl FnMut(u16) -> Result<Side, Error>,
    ) -> Result<Side, Error> {
        let parts = next.map(|next| common(path, next));
        let mut node = leaf;
        for depth in (parts.map_or(0, |parts| parts + 1)..DEPTH).rev() {
            let other = match self.waiting.pop_if(|(_, parts)| *parts == depth) {
                Some((other, _)) => other,
                None => sibling(depth)?,
            };
            let sum = node.1.checked_add(other.1).ok_or(Error::InvalidProof)?;
            let (left, right) = if bit(path, depth) { (other, node) } else { (node, other) };
            node = (branch(&left.0, &right.0, sum), sum);
        }
        if let Some(parts) = parts {
            self.waiting.push((node, parts));
        }
        Ok(node)
    }
}

/// Reads the siblings of an untrusted proof.
#[derive(Clone, Copy, Debug)]
struct Siblings {
    /// The offsets of the next node and of the bitmap, and the index of the next bit.
    node: usize,
    bitmap: usize,
    bit: usize,
}

impl Siblings {
    fn new(proof: &[u8], width: usize) -> Result<Self, Error> {
        let count = proof.get(..width).ok_or(Error::InvalidProof)?;
        let count = count.iter().fold(0, |count, byte| count << 8 | usize::from(*byte));
        let bitmap = count.checked_mul(40).map_or(usize::MAX, |len| len.saturating_add(width));
        if bitmap > proof.len() {
            return Err(Error::InvalidProof);
        }
        Ok(Self { node: width, bitmap, bit: 0 })
    }

    fn next(&mut self, rules: &Rules, proof: &[u8], depth: u16) -> Result<Side, Error> {
        let byte = proof.get(self.bitmap + self.bit / 8).ok_or(Error::InvalidProof)?;
        let is_empty = byte >> (self.bit % 8) & 1 == 1;
        self.bit += 1;
        let empty = (rules.empty(depth + 1), 0);
        if is_empty {
            return Ok(empty);
        }
        let end = self.node + 40;
        if end > self.bitmap {
            return Err(Error::InvalidProof);
        }
        let (hash, sum) = proof[self.node..end].split_at(32);
        let sum = sum.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        self.node = end;
        let side = (words(hash), sum);
        // A claim must have only one proof: an empty sibling must be in the bitmap.
        if side == empty { Err(Error::InvalidProof) } else { Ok(side) }
    }

    /// Checks that no bytes are left over.
    fn end(self, proof: &[u8]) -> Result<(), Error> {
        let rest = &proof[self.bitmap..];
        let last = self.bit % 8;
        let padding = if last == 0 { 0 } else { rest.last().map_or(0, |byte| byte >> last) };
        let is_whole = self.node == self.bitmap && rest.len() == self.bit.div_ceil(8);
        if is_whole && padding == 0 { Ok(()) } else { Err(Error::InvalidProof) }
    }
}

/// Verifies that the tree of `root` has `leaf`, a value and a sum, under `key`; `None` if the key is
/// absent. Costs 514 compressions; does not allocate.
///
/// # Errors
/// [`Error::InvalidProof`].
pub fn verify(
    rules: &Rules,
    root: &Root,
    key: &[u8; 32],
    leaf: Option<(&[u8], u64)>,
    proof: &[u8],
) -> Result<(), Error> {
    let mut siblings = Siblings::new(proof, 2)?;
    let leaf = claimed(leaf)?;
    let mut next = |depth| siblings.next(rules, proof, depth);
    let made = Climb::default().leaf(&path(key), None, leaf, &mut next)?;
    siblings.end(proof)?;
    is_root(made, root)
}

/// Returns the leaf of a claim; the empty leaf for an absent key.
fn claimed(leaf_of: Option<(&[u8], u64)>) -> Result<Side, Error> {
    match leaf_of {
        Some(([], 0)) => Err(Error::InvalidProof),
        Some((value, sum)) => Ok((leaf(value, sum), sum)),
        None => Ok((leaf(&[], 0), 0)),
    }
}

fn is_root((hash, sum): Side, root: &Root) -> Result<(), Error> {
    let is_it = root.sum == sum && root.hash == bytes(&hash);
    if is_it { Ok(()) } else { Err(Error::InvalidProof) }
}

/// A claim about a key.
#[derive(Clone, Copy, Debug)]
pub struct SumClaim {
    path: [u8; 32],
    leaf: Side,
}

impl SumClaim {
    /// Claims that `key` has this value and this sum; `None` claims that it is absent.
    ///
    /// # Errors
    /// [`Error::InvalidProof`] for the empty value with the sum 0, which cannot be a leaf.
    pub fn new(key: &[u8; 32], leaf: Option<(&[u8], u64)>) -> Result<Self, Error> {
        Ok(Self { path: path(key), leaf: claimed(leaf)? })
    }
}

/// Verifies a proof of many keys.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_sums::{Rules, SumClaim, SumProve, VerifySums, key_of};
/// use hedgerow_trees::step::{Budget, Step};
///
/// let (cache, [(tree, root)]) = store([&[("ann", 41), ("bob", 35)]]);
/// let (rules, keys) = (Rules::new(), [key_of(b"ann"), key_of(b"cy")]);
/// let mut prove = SumProve::many(&rules, tree, &keys);
/// assert_eq!(prove.step(&cache, &mut Budget::of(1 << 20))?, Step::Done(()));
///
/// let claims = [SumClaim::new(&keys[0], Some((b"ann", 41)))?, SumClaim::new(&keys[1], None)?];
/// let mut verify = VerifySums::new(&rules, root, &claims, prove.proof().1)?;
/// assert_eq!(verify.step(&mut Budget::of(1 << 20))?, Step::Done(()));
/// # Ok::<(), hedgerow_trees::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VerifySums {
    rules: Rules,
    root: Root,
    claims: Vec<SumClaim>,
    proof: Vec<u8>,
    siblings: Siblings,
    climb: Climb,
    at: usize,
}

impl VerifySums {
    /// Begins to verify claims about the tree of `root`.
    ///
    /// # Errors
    /// [`Error::InvalidProof`] if there are no claims, as then no root would be checked, if two claims
    /// have the same key, or if the proof is too short.
    pub fn new(
        rules: &Rules,
        root: Root,
        claims: &[SumClaim],
        proof: Vec<u8>,
    ) -> Result<Self, Error> {
        let mut order: Vec<_> =
            claims.iter().enumerate().map(|(at, claim)| (claim.path, at as u32)).collect();
        sort(&mut order);
        if order.is_empty() || order.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::InvalidProof);
        }
        let claims = order.iter().map(|(_, at)| claims[*at as usize]).collect();
        let siblings = Siblings::new(&proof, 4)?;
        let climb = Climb::default();
        Ok(Self { rules: rules.clone(), root, claims, proof, siblings, climb, at: 0 })
    }

    /// Continues. The claims are verified when it is done.
    ///
    /// # Errors
    /// [`Error::InvalidProof`].
    pub fn step(&mut self, budget: &mut Budget) -> Result<Step<()>, Error> {
        let Self { rules, root, claims, proof, siblings, climb, at } = self;
        while let Some(claim) = claims.get(*at) {
            if budget.is_spent() {
                return Ok(Step::Yield);
            }
            budget.spend(KEY_WORK);
            let next = claims.get(*at + 1).map(|claim| &claim.path);
            let mut sibling = |depth| siblings.next(rules, proof, depth);
            let made = climb.leaf(&claim.path, next, claim.leaf, &mut sibling)?;
            *at += 1;
            if next.is_none() {
                is_root(made, root)?;
            }
        }
        siblings.end(proof).map(Step::Done)
    }
}

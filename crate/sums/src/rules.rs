//! The hashes of the Merkle-sum sparse Merkle tree of taproot-assets.
//!
//! ```text
//! leaf     SHA-256( value | sum:u64 )              sums are big-endian
//! branch   SHA-256( left:32 | right:32 | left sum + right sum:u64 )
//! ```
//!
//! A tree has 256 levels of branches. At depth `d` a key goes to the right if the bit `d % 8` of
//! its byte `d / 8` is set, the lowest bit first. Internally keys are *paths*: the bits of each byte
//! are reversed, so that the order of bytes is the order of leaves from left to right.

use crate::chain::START;
pub(crate) use crate::chain::{Chain, State, bit};
use alloc::rc::Rc;
use alloc::vec::Vec;
use hedgerow_trees::step::Budget;
pub use hedgerow_trees::sum_piece::DEPTH;
pub(crate) use hedgerow_trees::sum_piece::{common, prefix};

/// Returns the path of a key, or the key of a path.
#[must_use]
pub fn path(key: &[u8; 32]) -> [u8; 32] {
    key.map(u8::reverse_bits)
}

/// Sorts paths, each with a number, in place: splits them at the first bit in which any of them differ,
/// and so on. Each sort of the standard library would take ten kilobytes of code.
pub(crate) fn sort(items: &mut [([u8; 32], u32)]) {
    let mut ranges = Vec::from([(0, items.len())]);
    sort_some(items, &mut ranges, &mut Budget::of(usize::MAX));
}

/// Sorts the `ranges` that are not sorted yet, as far as the budget allows. At first, `ranges` must have
/// the range of all items. Returns whether everything is sorted.
pub(crate) fn sort_some(
    items: &mut [([u8; 32], u32)],
    ranges: &mut Vec<(usize, usize)>,
    budget: &mut Budget,
) -> bool {
    while let Some((from, to)) = ranges.pop() {
        if budget.is_spent() {
            ranges.push((from, to));
            return false;
        }
        budget.spend(2 * (to - from) + 1);
        let Some(first) = items[from..to].first().map(|item| item.0) else { continue };
        let parts = items[from..to].iter().map(|item| common(&item.0, &first)).min();
        let Some(depth) = parts.filter(|depth| *depth < DEPTH) else { continue };
        let (mut middle, mut end) = (from, to);
        while middle < end {
            if bit(&items[middle].0, depth) {
                end -= 1;
                items.swap(middle, end);
            } else {
                middle += 1;
            }
        }
        ranges.extend([(from, middle), (middle, to)]);
    }
    true
}

/// Returns a hash as bytes.
pub(crate) fn bytes(state: &State) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

/// Returns the words of a hash of 32 bytes.
pub(crate) fn words(bytes: &[u8]) -> State {
    let mut state = [0; 8];
    for (word, bytes) in state.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    state
}

#[cfg(not(target_arch = "wasm32"))]
fn compress(state: &mut State, blocks: &[[u8; 64]]) {
    sha2::block_api::compress256(state, blocks);
}

#[cfg(target_arch = "wasm32")]
fn compress(state: &mut State, blocks: &[[u8; 64]]) {
    for block in blocks {
        let (left, right) = block.split_at(32);
        let (left, right) = (words(left), words(right));
        let words = core::array::from_fn(|at| if at < 8 { left[at] } else { right[at - 8] });
        crate::lanes::compress(state, &words);
    }
}

/// Returns the hash of bytes and a tail of at most 8.
fn hash(value: &[u8], tail: &[u8]) -> State {
    let mut state = START;
    let (blocks, rest) = value.as_chunks();
    compress(&mut state, blocks);
    let mut last = [[0; 64]; 2];
    let end = last.as_flattened_mut();
    let len = rest.len() + tail.len();
    end[..rest.len()].copy_from_slice(rest);
    end[rest.len()..len].copy_from_slice(tail);
    end[len] = 0x80;
    let blocks = (len + 9).div_ceil(64);
    let bits = (value.len() as u64 + tail.len() as u64) * 8;
    end[64 * blocks - 8..64 * blocks].copy_from_slice(&bits.to_be_bytes());
    compress(&mut state, &last[..blocks]);
    state
}

/// Returns the hash of a leaf.
pub(crate) fn leaf(value: &[u8], sum: u64) -> State {
    hash(value, &sum.to_be_bytes())
}

/// Returns the key of a text: its SHA-256.
#[must_use]
pub fn key_of(text: &[u8]) -> [u8; 32] {
    bytes(&hash(text, &[]))
}

/// Returns the hash of a branch with this sum.
pub(crate) fn branch(left: &State, right: &State, sum: u64) -> State {
    let mut blocks = [[0; 64]; 2];
    blocks[0][..32].copy_from_slice(&bytes(left));
    blocks[0][32..].copy_from_slice(&bytes(right));
    blocks[1][..8].copy_from_slice(&sum.to_be_bytes());
    blocks[1][8] = 0x80;
    blocks[1][56..].copy_from_slice(&(72u64 * 8).to_be_bytes());
    let mut state = START;
    compress(&mut state, &blocks);
    state
}

/// The hashes of empty subtrees of every height, computed once and shared.
#[derive(Clone, Debug)]
pub struct Rules {
    empty: Rc<[State]>,
}

impl Default for Rules {
    fn default() -> Self {
        Self::new()
    }
}

impl Rules {
    /// Costs 513 compressions and 8 KiB.
    #[must_use]
    pub fn new() -> Self {
        let mut empty = Vec::from([leaf(&[], 0)]);
        for depth in 0..usize::from(DEPTH) {
            empty.push(branch(&empty[depth], &empty[depth], 0));
        }
        empty.reverse();
        Self { empty: empty.into() }
    }

    /// Returns the hash of an empty subtree at `depth`, at most [`DEPTH`].
    #[must_use]
    pub fn empty_hash(&self, depth: u16) -> [u8; 32] {
        bytes(&self.empty[usize::from(depth)])
    }

    pub(crate) fn empty(&self, depth: u16) -> State {
        self.empty[usize::from(depth)]
    }

    #[cfg(test)]
    pub(crate) fn all_empty(&self) -> &[State] {
        &self.empty
    }

    /// Returns the hash at the depth `to` of a subtree whose only content is a subtree at `from` with this hash.
    pub(crate) fn fold(
        &self,
        mut hash: State,
        sum: u64,
        path: &[u8; 32],
        from: u16,
        to: u16,
    ) -> State {
        for depth in (to..from).rev() {
            let empty = &self.empty[usize::from(depth) + 1];
            hash = if bit(path, depth) {
                branch(empty, &hash, sum)
            } else {
                branch(&hash, empty, sum)
            };
        }
        hash
    }

    /// Hashes any number of chains that start at leaves.
    pub(crate) fn follow(&self, chains: &mut [Chain]) {
        #[cfg(target_arch = "wasm32")]
        {
            use crate::lanes::{Lanes, Wide, follow};
            for chains in chains.chunks_mut(Wide::COUNT) {
                follow::<Wide>(&self.empty, chains, DEPTH);
            }
        }
        #[cfg(not(target_arch = "wasm32"))]
        for chain in chains {
            chain.hash = self.fold(chain.hash, chain.sum, &chain.path, DEPTH, chain.to);
        }
    }
}

//! Sum trees: Merkle-sum sparse Merkle trees (MS-SMT), byte for byte those of taproot-assets. Use
//! them through the crate `hedgerow`.
//!
//! They are a package of their own to be compiled for speed, and because a page loads their part
//! of the module only when it uses them: nothing outside may call it. It has no trait objects
//! either, since those are reached through the table, which is all in the first part.

#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod batch;
mod chain;
mod diff;
mod follow;
mod fresh;
#[cfg(any(target_arch = "wasm32", test))]
mod lanes;
mod leaves;
mod merge;
mod multi_get;
mod piece;
mod proof;
mod prove;
mod rules;
mod scan;
mod trie;
mod verify;

pub use batch::SumBatch;
pub use diff::SumDiff;
pub use follow::{Definition, Follow};
pub use leaves::{SumLeaf, SumLeaves};
pub use merge::SumMerge;
pub use multi_get::{SumMultiGet, get};
pub use piece::{Name, names};
pub use proof::{SumClaim, VerifySums, verify};
pub use prove::SumProve;
pub use rules::{DEPTH, Rules, key_of, path};
pub use scan::SumScan;
pub use trie::Root;
pub use verify::SumVerify;

/// The hash of a leaf.
#[must_use]
pub fn leaf_hash(value: &[u8], sum: u64) -> [u8; 32] {
    rules::bytes(&rules::leaf(value, sum))
}

/// The hash of a branch over two subtrees with these hashes, and this sum of theirs.
#[must_use]
pub fn branch_hash(left: &[u8; 32], right: &[u8; 32], sum: u64) -> [u8; 32] {
    rules::bytes(&rules::branch(&rules::words(left), &rules::words(right), sum))
}

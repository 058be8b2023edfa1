//! Sum trees: Merkle-sum sparse Merkle trees (MS-SMT), byte for byte as in taproot-assets. Use them
//! through the crate `hedgerow`.
//!
//! They are a package of their own, compiled for speed. A page loads them with the later part of the
//! module, when it first uses them, so the first part may not call them. There are no trait objects,
//! because these are called through the table, which would put them in the first part.

#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;
#[cfg(all(test, target_arch = "wasm32"))]
#[macro_use]
extern crate hedgerow_wasm_test as wasm_bindgen_test;

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

/// Returns the hash of a leaf.
#[must_use]
pub fn leaf_hash(value: &[u8], sum: u64) -> [u8; 32] {
    rules::bytes(&rules::leaf(value, sum))
}

/// Returns the hash of a branch over two subtrees with these hashes and this total.
#[must_use]
pub fn branch_hash(left: &[u8; 32], right: &[u8; 32], sum: u64) -> [u8; 32] {
    rules::bytes(&rules::branch(&rules::words(left), &rules::words(right), sum))
}

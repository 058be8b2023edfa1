//! The core of Hedgerow: an ordered key/value map in content-addressed trees.
//!
//! This crate does no I/O, has no clock and needs no standard library. A host feeds it
//! rows and stored segments as bytes, and persists the segments that it makes. The host
//! uses these, in the order in which a store needs them:
//!
//! - [`Cache`](cache::Cache): where chunks are stored, and which are in memory.
//! - [`Forest`](forest::Forest): reads the commit chunk, which names the trees.
//! - [`tree::get`], [`tree::MultiGet`], [`tree::Scan`], [`tree::Count`]: reads.
//! - [`Ingest`](ingest::Ingest): takes rows and makes the segments of a new commit.
//! - [`Collect`](collect::Collect): frees the space of chunks that no commit reaches.
//! - [`MakeDelta`](delta::MakeDelta), [`ApplyDelta`](delta::ApplyDelta): the edits between two commits, as bytes.
//! - [`Leaves`](lazy::Leaves), [`NewNodes`](lazy::NewNodes): trees that are partly at a remote.
//! - [`Prove`](proof::Prove), [`VerifyProof`](proof::VerifyProof): proofs of rows.
//! - [`SumMerge`](sum_tree::SumMerge), [`SumProve`](sum_tree::SumProve): sum trees, and proofs
//!   of their leaves and totals.
//!
//! Operations that may wait or take long follow the [`Step`](step::Step) protocol.
//! `docs/format.md` describes the formats, `docs/architecture.md` the modules.

#![no_std]

extern crate alloc;
// Only for its allocator and panic handler, which a cdylib needs.
#[cfg(feature = "std")]
extern crate std;
#[cfg(all(test, target_arch = "wasm32"))]
#[macro_use]
extern crate hedgerow_wasm_test as wasm_bindgen_test;

pub mod collect;
pub mod delta;
pub mod forest;
pub mod index;
pub mod ingest;
pub mod lazy;
pub mod proof;
pub mod sum_update;

pub use hedgerow_sums as sum_tree;
pub use hedgerow_trees::{
    batch, boundary, cache, chunk, chunk_check, error, hash, json, key, le, limits, node, order,
    output, rows, secret, segment, step, sum_piece, tree, value,
};

#[cfg(target_arch = "wasm32")]
mod wasm;

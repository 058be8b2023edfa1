//! The parts of Hedgerow's core that decide its speed: nodes, trees, segments, and readers of rows.
//! Use them through the crate `hedgerow`, which re-exports all of them.
//!
//! They are a package of their own so that they are compiled for speed. Code that runs rarely, such
//! as once for a commit, is compiled for size, because a page waits for every byte of the module.

#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;
#[cfg(all(test, target_arch = "wasm32"))]
#[macro_use]
extern crate hedgerow_wasm_test as wasm_bindgen_test;

pub mod batch;
pub mod boundary;
pub mod cache;
pub mod chunk;
pub mod chunk_check;
pub mod error;
pub mod hash;
pub mod json;
pub mod key;
pub mod le;
pub mod limits;
pub mod node;
pub mod order;
pub mod output;
pub mod rows;
pub mod secret;
pub mod segment;
pub mod step;
pub mod sum_piece;
pub mod tree;
pub mod value;

//! The parts of Hedgerow's core whose speed is the store's: nodes, trees, segments, and rows as
//! they are read. Use them through the crate `hedgerow`, which names all of them.
//!
//! They are a package of their own to be compiled for speed, while what is called once for a
//! commit, or seldom, is compiled for size: a page waits for every byte of the module.

#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod batch;
pub mod boundary;
pub mod cache;
pub mod chunk;
pub mod error;
pub mod form;
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

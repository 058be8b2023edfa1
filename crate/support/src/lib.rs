//! Shared by tests, fuzz targets and benches of Hedgerow's core: a host that steps operations,
//! sample rows, the expected output of reads, and an encoder of chunks that is independent of the
//! core's.

// Every fault panics here, so that the test or the fuzz target fails.
#![allow(clippy::missing_panics_doc)]

mod absent;
pub mod blake3;
pub mod census;
pub mod collections;
pub mod deltas;
mod edits;
pub mod faults;
pub mod host;
pub mod inputs;
pub mod layout;
pub mod limits;
pub mod output;
pub mod pace;
pub mod proofs;
pub mod property;
mod reads;
pub mod rows;
pub mod store;
pub mod sum_commits;
pub mod sum_models;
pub mod sums;
pub mod values;

//! What tests, fuzz targets and benches of Hedgerow's core share: a host that steps
//! operations, sample rows, what reads should hand out, and an encoder of chunks that owes
//! nothing to the core's.

// Whatever is wrong here panics: a test fails, a fuzz target has found something.
#![allow(clippy::missing_panics_doc)]

pub mod collections;
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

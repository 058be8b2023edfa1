//! Exported functions of sum trees. They are in the later part of the module, which the host loads when
//! it first needs it: the names of its exports begin with `sum_`, and the first part does not call
//! them. `commit.rs` is about commits, `reads.rs` about reads.

mod commit;
mod reads;
mod state;

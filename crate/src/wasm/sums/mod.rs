//! What exported functions do with sum trees. All of it is in the second part of the module, which
//! the host loads when it first needs it: the names of its exports begin with `sum_`, and nothing
//! in the first part calls any of it. `commit.rs` is about commits, `reads.rs` about reads.

mod commit;
mod reads;
mod state;

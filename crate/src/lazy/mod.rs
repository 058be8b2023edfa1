//! Trees that are only partly here: the rest is at a remote. See `docs/lazy.md`.
//!
//! Leaves travel as rows: trees are canonical, so the rows of a leaf, which its parent tells by its last key and their
//! number, make exactly that leaf ([`Leaves`]). Internal nodes travel as they are ([`NewNodes`] finds them), each with the
//! lengths of its children: they are stored in segments whose tables name those children, too, as chunks at the
//! remote ([`land_nodes`]). From then on the cache knows of each that it is there, and reads ask for it as for any other.

mod land;
mod leaves;
mod walk;

pub use land::{Taken, land_nodes};
pub use leaves::{Leaves, NodeAt};
pub use walk::NewNodes;

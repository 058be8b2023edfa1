//! Trees that are only partly here: the rest is at a remote. See `docs/lazy.md`.
//!
//! Leaves travel as rows. A parent gives the last key and the number of rows of a leaf. Trees are canonical, so these
//! rows make exactly that leaf ([`Leaves`]). Internal nodes travel as they are ([`NewNodes`] finds them), each with the
//! lengths of its children: they are stored in segments whose tables also name the children, as chunks at the remote
//! ([`land_nodes`]). From then on the cache knows these chunks, and reads ask for them as for any other.

mod land;
mod leaves;
mod walk;

pub use land::{Taken, land_nodes};
pub use leaves::{Leaves, NodeAt};
pub use walk::NewNodes;

//! The check of a chunk by its kind, at its first use.
//!
//! It checks a chunk alone. Readers check the rest: a child against its parent, the length of the value
//! of a list, and the hashes of a sum tree.

use crate::chunk::{self, ChunkKind};
use crate::error::DecodeError;
use crate::node::Node;

/// Checks a chunk by the kind in its first byte. Afterwards a node may be viewed. For a commit and a
/// piece of a sum tree it checks the header only: their readers decode them completely each time
/// ([`sum_piece::check`](crate::sum_piece::check)). Does not allocate.
///
/// # Errors
/// The first fault.
pub fn check(bytes: &[u8]) -> Result<ChunkKind, DecodeError> {
    let kind = ChunkKind::decode(bytes)?;
    match kind {
        ChunkKind::Node(_) => drop(Node::decode(bytes)?),
        ChunkKind::Piece => drop(chunk::piece(bytes)?),
        ChunkKind::PieceList => drop(chunk::listed(bytes)?),
        ChunkKind::Commit | ChunkKind::SumPiece | ChunkKind::SumTop => {}
    }
    Ok(kind)
}

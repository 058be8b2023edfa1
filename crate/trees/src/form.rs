//! What a chunk must be by its kind, whoever asks for it.
//!
//! This is all that can be seen in a chunk alone. What a parent says of a child, how long a value is
//! that a list belongs to, or whether the hashes of a sum tree are right, is checked where that is known.

use crate::chunk::{self, ChunkKind};
use crate::error::DecodeError;
use crate::node::Node;

/// Checks a chunk by the kind that its first byte tells. Afterwards a node may be viewed. Of a commit,
/// and of a piece of a sum tree, only the header is checked here: whoever reads one decodes it whole
/// ([`sum_piece::check`](crate::sum_piece::check)), whatever was read before. Allocates nothing.
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

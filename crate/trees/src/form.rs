//! What a chunk must be by its kind, whoever asks for it.
//!
//! This is all that can be seen in a chunk alone. What a parent says of a child, how long a value is
//! that a list belongs to, or whether the hashes of a sum tree are right, is checked where that is known.

use crate::chunk::{self, ChunkKind};
use crate::error::DecodeError;
use crate::node::Node;
use crate::sum_piece;

/// Checks a chunk by the kind that its first byte tells. Afterwards a node may be viewed, and the
/// records of a piece of a sum tree may be read; of a commit only the header is checked, since it
/// is decoded whole whenever it is read. Allocates nothing.
///
/// # Errors
/// The first fault.
pub fn check(bytes: &[u8]) -> Result<ChunkKind, DecodeError> {
    let kind = ChunkKind::decode(bytes)?;
    match kind {
        ChunkKind::Node(_) => drop(Node::decode(bytes)?),
        ChunkKind::SumPiece | ChunkKind::SumTop => sum_piece::check(bytes)?,
        ChunkKind::Piece => drop(chunk::piece(bytes)?),
        ChunkKind::PieceList => drop(chunk::listed(bytes)?),
        ChunkKind::Commit => {}
    }
    Ok(kind)
}

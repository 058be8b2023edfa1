//! The kinds of chunk, and strict decoders of the pieces of values.
//!
//! Every chunk begins with a byte for its kind and one for the version of its format. The
//! kind of a node is its level. `docs/format.md` describes all of them.

use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::limits::{MAX_LEVEL, MAX_VALUE_BYTES, PIECE_BYTES};
use alloc::vec::Vec;

/// The version of every format in this library.
pub const VERSION: u8 = 1;

/// Bytes of kind and version at the start of a chunk.
pub const HEADER_BYTES: usize = 2;

/// The kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// A node of a tree, with its level: 0 for a leaf.
    Node(u8),
    /// A commit.
    Commit,
    /// A piece of a sum tree.
    SumPiece,
    /// The first piece of a sum tree.
    SumTop,
    /// Part of a value that is stored out of line, or all of it.
    Piece,
    /// The hashes of a value's pieces.
    PieceList,
}

const COMMIT: u8 = 0xc0;
const SUM_PIECE: u8 = 0xd0;
const SUM_TOP: u8 = 0xd1;
const PIECE: u8 = 0xe0;
const PIECE_LIST: u8 = 0xe1;

impl ChunkKind {
    /// Returns the first two bytes of a chunk of this kind.
    #[must_use]
    pub const fn header(self) -> [u8; HEADER_BYTES] {
        let kind = match self {
            Self::Node(level) => level,
            Self::Commit => COMMIT,
            Self::SumPiece => SUM_PIECE,
            Self::SumTop => SUM_TOP,
            Self::Piece => PIECE,
            Self::PieceList => PIECE_LIST,
        };
        [kind, VERSION]
    }

    /// Reads the header of a chunk.
    ///
    /// # Errors
    /// `Length` if it is too short, `Version` for another version, `Kind` for an unknown kind.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let &[kind, version, ..] = bytes else {
            return Err(DecodeError::new(Field::Length, 0, 2, bytes.len() as u64));
        };
        if version != VERSION {
            return Err(DecodeError::new(Field::Version, 1, VERSION.into(), version.into()));
        }
        match kind {
            level if level <= MAX_LEVEL => Ok(Self::Node(level)),
            COMMIT => Ok(Self::Commit),
            SUM_PIECE => Ok(Self::SumPiece),
            SUM_TOP => Ok(Self::SumTop),
            PIECE => Ok(Self::Piece),
            PIECE_LIST => Ok(Self::PieceList),
            _ => Err(DecodeError::new(Field::Kind, 0, MAX_LEVEL.into(), kind.into())),
        }
    }
}

fn expect_kind(bytes: &[u8], kind: ChunkKind) -> Result<&[u8], DecodeError> {
    let got = ChunkKind::decode(bytes)?;
    if got != kind {
        let expected = u64::from(kind.header()[0]);
        return Err(DecodeError::new(Field::Kind, 0, expected, bytes[0].into()));
    }
    Ok(&bytes[HEADER_BYTES..])
}

/// Returns the part of a value that the piece chunk `bytes` holds.
///
/// # Errors
/// If it is not a piece, or is empty or larger than [`PIECE_BYTES`].
pub fn piece(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let part = expect_kind(bytes, ChunkKind::Piece)?;
    if part.is_empty() || part.len() > PIECE_BYTES {
        let got = part.len() as u64;
        return Err(DecodeError::new(Field::Length, HEADER_BYTES, PIECE_BYTES as u64, got));
    }
    Ok(part)
}

/// Returns the number of pieces of a value of `len` bytes.
#[must_use]
pub const fn pieces_of(len: usize) -> usize {
    len.div_ceil(PIECE_BYTES)
}

/// Returns the bytes of the hashes that the chunk `bytes` lists.
///
/// # Errors
/// If it is not a list of pieces, or has fewer than two or more than the largest value needs.
pub fn listed(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let hashes = expect_kind(bytes, ChunkKind::PieceList)?;
    let (count, most) = (hashes.len() / HASH_BYTES, pieces_of(MAX_VALUE_BYTES));
    if hashes.len() % HASH_BYTES != 0 || !(2..=most).contains(&count) {
        let (expected, got) = (most * HASH_BYTES, hashes.len());
        return Err(DecodeError::new(Field::Length, HEADER_BYTES, expected as u64, got as u64));
    }
    Ok(hashes)
}

/// Returns the hashes of the pieces that the chunk `bytes` lists, for a value of `len` bytes.
///
/// # Errors
/// If it is not a list of pieces, or not as long as a value of `len` bytes needs.
pub fn piece_list(bytes: &[u8], len: usize) -> Result<Vec<Hash>, DecodeError> {
    let hashes = expect_kind(bytes, ChunkKind::PieceList)?;
    let expected = pieces_of(len.min(MAX_VALUE_BYTES)) * HASH_BYTES;
    if hashes.len() != expected {
        let got = hashes.len() as u64;
        return Err(DecodeError::new(Field::Length, HEADER_BYTES, expected as u64, got));
    }
    Ok(hashes.chunks_exact(HASH_BYTES).map(Hash::read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back() {
        for kind in
            [ChunkKind::Node(0), ChunkKind::Node(MAX_LEVEL), ChunkKind::Commit, ChunkKind::Piece]
        {
            assert_eq!(ChunkKind::decode(&kind.header()), Ok(kind));
        }
    }

    #[test]
    fn a_malformed_header_is_refused_with_its_first_fault() {
        let field = |bytes: &[u8]| ChunkKind::decode(bytes).map_err(|error| error.field);
        assert_eq!(field(&[]), Err(Field::Length));
        assert_eq!(field(&[0]), Err(Field::Length));
        assert_eq!(field(&[0, 2]), Err(Field::Version));
        assert_eq!(field(&[MAX_LEVEL + 1, VERSION]), Err(Field::Kind));
        assert_eq!(field(&[0xff, VERSION]), Err(Field::Kind));
    }

    #[test]
    fn a_piece_is_neither_empty_nor_too_large() {
        let mut chunk = ChunkKind::Piece.header().to_vec();
        assert_eq!(piece(&chunk).map_err(|error| error.field), Err(Field::Length));
        chunk.resize(HEADER_BYTES + PIECE_BYTES, 7);
        assert_eq!(piece(&chunk).map(<[u8]>::len), Ok(PIECE_BYTES));
        chunk.push(7);
        assert_eq!(piece(&chunk).map_err(|error| error.field), Err(Field::Length));
    }

    #[test]
    fn a_piece_list_must_fit_the_length_of_its_value() {
        let mut chunk = ChunkKind::PieceList.header().to_vec();
        chunk.resize(HEADER_BYTES + 2 * HASH_BYTES, 7);
        assert_eq!(piece_list(&chunk, PIECE_BYTES + 1).map(|hashes| hashes.len()), Ok(2));
        assert!(piece_list(&chunk, PIECE_BYTES).is_err());
        assert!(piece_list(&chunk, 2 * PIECE_BYTES + 1).is_err());
    }
}

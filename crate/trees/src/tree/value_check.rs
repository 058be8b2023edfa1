//! Checks a value out of line: its list of pieces, its pieces, and its text if it is JSON.

use crate::cache::{Cache, Fetch, Want};
use crate::chunk::{self, ChunkKind};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::json::Scanner;
use crate::limits::PIECE_BYTES;
use crate::node::Entry;
use crate::value::{Kind, Value, ValueFault, ValueRef};
use alloc::vec::Vec;

/// The check of one value out of line.
#[derive(Debug)]
pub(super) struct ValueCheck {
    /// The key of its row.
    pub(super) key: Vec<u8>,
    /// The reference to it.
    pub(super) value_ref: ValueRef,
    kind: Kind,
    pieces: Option<Vec<Hash>>,
    next: usize,
    /// The text of a JSON value so far.
    text: Vec<u8>,
    is_sound: bool,
}

/// The result of a step.
#[derive(Debug)]
pub(super) enum Checked {
    /// This segment must be loaded first.
    Need(Want),
    /// A chunk of this many bytes is sound.
    Read(usize),
    /// A chunk is damaged; the check continues with the others.
    Lost(Hash, Error),
    /// All chunks were checked; some are lost.
    Parts,
    /// All chunks are sound; the fault of the whole value, if any.
    Whole(Option<ValueFault>),
}

impl ValueCheck {
    /// Begins the check of the value of `entry`, which is at `value_ref`.
    pub(super) fn new(entry: &Entry<'_>, value_ref: ValueRef) -> Self {
        let is_list = chunk::pieces_of(value_ref.len as usize) > 1;
        Self {
            key: entry.key.to_vec(),
            value_ref,
            kind: entry.tag.kind,
            pieces: (!is_list).then(|| Vec::from([value_ref.hash])),
            next: 0,
            text: Vec::new(),
            is_sound: true,
        }
    }

    /// Returns the pieces that are not checked yet, as far as they are known.
    pub(super) fn pieces_left(&self) -> &[Hash] {
        self.pieces.as_deref().and_then(|pieces| pieces.get(self.next..)).unwrap_or_default()
    }

    /// Checks the list of pieces, or the next piece, or at the end the whole value.
    pub(super) fn step(&mut self, cache: &Cache, scanner: &mut Scanner) -> Checked {
        let len = self.value_ref.len as usize;
        let Some(pieces) = &self.pieces else {
            let hash = self.value_ref.hash;
            let list = match cache.chunk(&hash, ChunkKind::PieceList) {
                Ok(Fetch::At(want)) => return Checked::Need(want),
                Ok(Fetch::Here(bytes)) => chunk::piece_list(bytes, len)
                    .map(|pieces| (pieces, bytes.len()))
                    .map_err(|cause| Error::CorruptChunk { hash, cause: Some(cause) }),
                Err(error) => Err(error),
            };
            return match list {
                Ok((pieces, bytes)) => {
                    self.pieces = Some(pieces);
                    Checked::Read(bytes)
                }
                Err(error) => {
                    self.pieces = Some(Vec::new());
                    self.lose(hash, error)
                }
            };
        };
        let Some(hash) = pieces.get(self.next).copied() else { return self.end(scanner) };
        let expected = (len - self.next * PIECE_BYTES).min(PIECE_BYTES);
        let piece = match cache.chunk(&hash, ChunkKind::Piece) {
            Ok(Fetch::At(want)) => return Checked::Need(want),
            Ok(Fetch::Here(bytes)) => Ok(chunk::piece(bytes).unwrap_or_default()),
            Err(error) => Err(error),
        };
        self.next += 1;
        match piece {
            Ok(piece) if piece.len() != expected => {
                let got = piece.len() as u64;
                let cause = Some(DecodeError::new(Field::Length, 2, expected as u64, got));
                self.lose(hash, Error::CorruptChunk { hash, cause })
            }
            Ok(piece) => {
                if self.kind == Kind::Json && self.is_sound {
                    self.text.extend_from_slice(piece);
                }
                Checked::Read(chunk::HEADER_BYTES + piece.len())
            }
            Err(error) => self.lose(hash, error),
        }
    }

    fn lose(&mut self, hash: Hash, error: Error) -> Checked {
        self.is_sound = false;
        self.text = Vec::new();
        Checked::Lost(hash, error)
    }

    fn end(&self, scanner: &mut Scanner) -> Checked {
        if self.is_sound {
            Checked::Whole(Value::parse(self.kind, &self.text, scanner).err())
        } else {
            Checked::Parts
        }
    }
}

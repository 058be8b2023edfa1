//! The reply of a call, besides its status.

use super::abi::need::NO_SEGMENT;
use super::abi::size::REPLY_WORDS;
use super::abi::{
    Bytes, ChunkFault, FormatFault, Numbers, Output as OutputReply, RowFault, SumFault, status,
};
use super::words::Words;
use crate::cache::{Source, Want};
use crate::error::{DecodeError, Error};
use crate::hash::Hash;
use crate::output::Output;
use crate::step::Step;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Returns whether a status is an error of a sum tree.
pub fn is_of_sums(status: u32) -> bool {
    (status::SUM_OVERFLOW..=status::SUM_VALUE_TOO_LARGE).contains(&status)
}

/// Returns an address as a word of a reply.
pub fn address<T>(pointer: *const T) -> f64 {
    f64::from(pointer as u32)
}

/// The text of an empty output.
static NOTHING: &[u8] = b"[]";

/// The reply of a call, besides its status. Its address never changes.
pub struct Reply {
    words: Box<[f64; REPLY_WORDS]>,
    wanted: Vec<f64>,
    hash: Box<[u8; 32]>,
}

impl Default for Reply {
    fn default() -> Self {
        Self { words: Box::new([0.0; REPLY_WORDS]), wanted: Vec::new(), hash: Box::new([0; 32]) }
    }
}

impl Reply {
    pub fn address(&self) -> u32 {
        self.words.as_ptr() as u32
    }

    /// Sets the words of a reply; other words stay as they are.
    #[inline]
    pub fn tell<T: Words>(&mut self, told: T) {
        self.set(T::AT, told.words().as_ref());
    }

    fn set(&mut self, at: usize, words: &[f64]) {
        self.words[at..at + words.len()].copy_from_slice(words);
    }

    /// Sets the reply to the address of bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.tell(Bytes { address: address(bytes.as_ptr()), length: bytes.len() as f64 });
    }

    /// Sets the reply to the address of numbers.
    pub fn numbers(&mut self, numbers: &[f64]) {
        self.tell(Numbers { address: address(numbers.as_ptr()), count: numbers.len() as f64 });
    }

    /// Sets the reply to the parts of an output, and the positions of the keys that a search has found.
    pub fn output(&mut self, out: &Output, found: &[u32]) {
        self.tell(OutputReply {
            text: address(out.text.as_ptr()),
            text_length: out.text.len() as f64,
            bytes: address(out.bytes.as_ptr()),
            marks: address(out.marks.as_ptr()),
            mark_count: out.marks.len() as f64,
            value_count: f64::from(out.values()),
            positions: address(found.as_ptr()),
            position_count: found.len() as f64,
            keys: address(out.keys.as_ptr()),
            keys_length: out.keys.len() as f64,
        });
    }

    /// Sets the reply to an output without members.
    pub fn no_output(&mut self) {
        self.tell(OutputReply {
            text: address(NOTHING.as_ptr()),
            text_length: NOTHING.len() as f64,
            ..OutputReply::default()
        });
    }

    pub fn need(&mut self, wanted: &[Want]) -> u32 {
        self.wanted.clear();
        for want in wanted {
            let (segment, from, to) = match want.source() {
                Source::Segment(segment) => (segment as f64, 0, 0.0),
                Source::Chunk { segment, from, to } => (segment as f64, from, f64::from(to)),
                Source::Remote { segment, from, to } => (segment as f64, from, -f64::from(to)),
                Source::Table { hash_start } => (f64::from(NO_SEGMENT), hash_start, 1.0),
                Source::AllTables => (f64::from(NO_SEGMENT), 0, 0.0),
            };
            self.wanted.extend([segment, from.into(), to]);
        }
        self.tell(Numbers {
            address: address(self.wanted.as_ptr()),
            count: self.wanted.len() as f64,
        });
        status::NEED
    }

    /// Keeps a hash for the host to read; returns its address.
    pub fn hash(&mut self, hash: &Hash) -> f64 {
        *self.hash = hash.0;
        address(self.hash.as_ptr())
    }

    /// Keeps the name of a sum tree and the key of a row for the host to read, in `out`.
    pub fn sum_fault(&mut self, out: &mut Vec<u8>, name: &[u8], key: &[u8]) {
        *out = [name, key].concat();
        let (name_length, key_length) = (name.len() as f64, key.len() as f64);
        self.tell(SumFault { name: address(out.as_ptr()), name_length, key_length });
    }

    pub fn decode_error(&mut self, error: &DecodeError) -> u32 {
        self.chunk_fault(0.0, Some(error));
        status::MALFORMED
    }

    /// Sets the reply to a fault of a chunk; without a `cause`, its hash is wrong.
    fn chunk_fault(&mut self, hash: f64, cause: Option<&DecodeError>) {
        let nowhere = ChunkFault { hash, field: -1.0, offset: 0.0, expected: 0.0, got: 0.0 };
        self.tell(cause.map_or(nowhere, |cause| ChunkFault {
            hash,
            field: f64::from(cause.field as u8),
            offset: cause.offset as f64,
            expected: cause.expected as f64,
            got: cause.got as f64,
        }));
    }

    /// Returns the status of a step. If it is done or yields, the reply is set already.
    pub fn step(&mut self, step: Result<Step<()>, Error>) -> u32 {
        match step {
            Ok(Step::Done(())) => status::DONE,
            Ok(Step::Yield) => status::YIELD,
            Ok(Step::Need(wanted)) => self.need(&wanted),
            Err(error) => self.error(&error),
        }
    }

    pub fn error(&mut self, error: &Error) -> u32 {
        match error {
            Error::Row { row, offset, fault } => {
                let (row, offset, fault) = (*row as f64, *offset as f64, f64::from(*fault as u8));
                self.tell(RowFault { row, offset, fault });
                status::ROW
            }
            Error::MissingChunk(hash) => {
                let hash = self.hash(hash);
                self.chunk_fault(hash, None);
                status::MISSING_CHUNK
            }
            Error::CorruptChunk { hash, cause } => {
                let hash = self.hash(hash);
                self.chunk_fault(hash, cause.as_ref());
                status::CORRUPT_CHUNK
            }
            Error::UnsupportedFormat { version } => {
                self.tell(FormatFault { version: f64::from(*version) });
                status::UNSUPPORTED_FORMAT
            }
            Error::InvalidProof => status::INVALID_PROOF,
            Error::ProofTooLarge => status::PROOF_TOO_LARGE,
            Error::SumOverflow => status::SUM_OVERFLOW,
            Error::SumKeyTwice => status::SUM_KEY_TWICE,
            Error::SumNotWhole => status::SUM_NOT_WHOLE,
            Error::SumKeyNotText => status::SUM_KEY_NOT_TEXT,
            Error::SumValueTooLarge => status::SUM_VALUE_TOO_LARGE,
            Error::CommitTooLarge => status::COMMIT_TOO_LARGE,
            // `Error` is of another package and non-exhaustive.
            _ => status::MALFORMED,
        }
    }
}

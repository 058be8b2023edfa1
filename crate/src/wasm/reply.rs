//! What a call tells the host besides its status.

use crate::cache::SegmentId;
use crate::error::{DecodeError, Error};
use crate::hash::Hash;
use crate::step::Step;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Doubles in a reply.
pub const REPLY_WORDS: usize = 16;

/// The meanings of a status; `js/src/core/engine.ts` has the same list.
pub mod status {
    /// Finished.
    pub const DONE: u32 = 0;
    /// Segments must be loaded first.
    pub const NEED: u32 = 1;
    /// The budget is spent.
    pub const YIELD: u32 = 2;
    /// The value is out of line.
    pub const FAR: u32 = 3;
    /// There is a segment.
    pub const SEGMENT: u32 = 4;
    /// A row was refused. Reply: row, offset, fault.
    pub const ROW: u32 = 16;
    /// No segment has a chunk. Reply: address of its hash.
    pub const MISSING_CHUNK: u32 = 17;
    /// A chunk is damaged. Reply: address of its hash, then as for a malformed table, or -1.
    pub const CORRUPT_CHUNK: u32 = 18;
    /// A chunk is of a later format. Reply: its version.
    pub const UNSUPPORTED_FORMAT: u32 = 19;
    /// A table is malformed. Reply: 0, field, offset, expected, got.
    pub const MALFORMED: u32 = 20;
    /// A proof does not verify.
    pub const INVALID_PROOF: u32 = 21;
    /// A proof would be too large.
    pub const PROOF_TOO_LARGE: u32 = 22;
    /// The sums of a sum tree do not fit.
    pub const SUM_OVERFLOW: u32 = 23;
    /// Two rows have the same key in a sum tree.
    pub const SUM_KEY_TWICE: u32 = 24;
    /// A row has no whole number where its sum is.
    pub const SUM_NOT_WHOLE: u32 = 25;
    /// A row has half of a surrogate pair in the key of its sum.
    pub const SUM_KEY_NOT_TEXT: u32 = 26;
    /// A row has too large a value for a sum tree.
    pub const SUM_VALUE_TOO_LARGE: u32 = 27;
    /// A commit would name too many trees.
    pub const COMMIT_TOO_LARGE: u32 = 28;
    /// No operation was started.
    pub const NO_OP: u32 = u32::MAX;

    /// Whether a sum tree is at fault.
    pub fn is_of_sums(status: u32) -> bool {
        (SUM_OVERFLOW..=SUM_VALUE_TOO_LARGE).contains(&status)
    }
}

/// What a call tells the host besides its status. Its address never changes.
pub struct Reply {
    words: Box<[f64; REPLY_WORDS]>,
    ids: Vec<f64>,
    hash: Box<[u8; 32]>,
}

impl Default for Reply {
    fn default() -> Self {
        Self { words: Box::new([0.0; REPLY_WORDS]), ids: Vec::new(), hash: Box::new([0; 32]) }
    }
}

impl Reply {
    pub fn address(&self) -> u32 {
        self.words.as_ptr() as u32
    }

    pub fn set(&mut self, words: &[f64]) {
        self.words[..words.len()].copy_from_slice(words);
    }

    /// Sets words from `at` on beside those set before.
    pub fn add(&mut self, at: usize, words: &[f64]) {
        self.words[at..at + words.len()].copy_from_slice(words);
    }

    pub fn need(&mut self, ids: &[SegmentId]) -> u32 {
        self.ids.clear();
        self.ids.extend(ids.iter().map(|id| *id as f64));
        self.set(&[f64::from(self.ids.as_ptr() as u32), ids.len() as f64]);
        status::NEED
    }

    /// Keeps a hash for the host to read; returns its address.
    pub fn hash(&mut self, hash: &Hash) -> f64 {
        *self.hash = hash.0;
        f64::from(self.hash.as_ptr() as u32)
    }

    /// Keeps the name of a sum tree and the key of a row for the host to read, in `out`.
    pub fn fault(&mut self, out: &mut Vec<u8>, name: &[u8], key: &[u8]) {
        *out = [name, key].concat();
        self.set(&[f64::from(out.as_ptr() as u32), name.len() as f64, key.len() as f64]);
    }

    pub fn decode_error(&mut self, error: &DecodeError) -> u32 {
        let DecodeError { field, offset, expected, got, .. } = *error;
        self.set(&[0.0, f64::from(field as u8), offset as f64, expected as f64, got as f64]);
        status::MALFORMED
    }

    /// What a step came to; of one that is done or yields, the rest is already told.
    pub fn step(&mut self, step: Result<Step<()>, Error>) -> u32 {
        match step {
            Ok(Step::Done(())) => status::DONE,
            Ok(Step::Yield) => status::YIELD,
            Ok(Step::Need(ids)) => self.need(&ids),
            Err(error) => self.error(&error),
        }
    }

    pub fn error(&mut self, error: &Error) -> u32 {
        match error {
            Error::Row { row, offset, fault } => {
                self.set(&[*row as f64, *offset as f64, f64::from(*fault as u8)]);
                status::ROW
            }
            Error::MissingChunk(hash) => {
                let hash = self.hash(hash);
                self.set(&[hash]);
                status::MISSING_CHUNK
            }
            Error::CorruptChunk { hash, cause } => {
                match cause {
                    Some(cause) => drop(self.decode_error(cause)),
                    None => self.set(&[0.0, -1.0]),
                }
                let hash = self.hash(hash);
                self.set(&[hash]);
                status::CORRUPT_CHUNK
            }
            Error::UnsupportedFormat { version } => {
                self.set(&[f64::from(*version)]);
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
            // Of another package, where there may be more of them.
            _ => status::MALFORMED,
        }
    }
}

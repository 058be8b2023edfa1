//! Reads the bytes of a delta, which may be hostile and are cut anywhere into parts.

use super::{HEADER_BYTES, MAGIC, MAX_VARINT_BYTES, VERSION, op};
use crate::batch::Edit;
use crate::error::{DecodeError, Field};
use crate::json::Scanner;
use crate::key::{Key, KeyFault};
use crate::limits::{MAX_DELTA_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::value::{Kind, Value};
use alloc::vec::Vec;
use core::ops::Range;

/// The largest buffer that is kept from one part to the next, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// The next item of a delta.
#[derive(Debug)]
pub enum Next<'a> {
    /// An edit: a put of a checked value, or a delete.
    Edit(Key<'a>, Edit<'a>),
    /// No complete edit, until it is fed again.
    More,
    /// The delta is at its end.
    End,
}

/// Where the parts of an edit are in the buffer.
#[derive(Debug)]
struct Found {
    code: u32,
    shared: usize,
    rest: Range<usize>,
    value: Range<usize>,
}

/// Reads the bytes of a delta, which are cut anywhere into parts. Feed it through [`Decoder::room`], and
/// call [`Decoder::end`] after the last part. It keeps one edit and one part in memory. After a fault it
/// must not be used.
#[derive(Debug, Default)]
pub struct Decoder {
    /// `buffer[at..filled]` is not read yet.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Offset in the delta of the first byte of the buffer.
    base: usize,
    /// There are no further bytes.
    is_whole: bool,
    has_header: bool,
    has_end: bool,
    /// The key of the last edit.
    key: Vec<u8>,
    edits: u32,
    scanner: Scanner,
    cost: usize,
}

impl Decoder {
    /// Begins to decode a delta.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a buffer for the next `len` bytes, which the caller must fill at once.
    pub fn room(&mut self, len: usize) -> &mut [u8] {
        if self.at > 0 {
            self.buffer.copy_within(self.at..self.filled, 0);
            self.base += self.at;
            self.filled -= self.at;
            self.at = 0;
            // Frees the memory of a large value once it is read.
            if self.buffer.len() > KEPT_BYTES.max(2 * (self.filled + len)) {
                self.buffer.truncate(self.filled);
                self.buffer.shrink_to_fit();
            }
        }
        let start = self.filled;
        self.filled += len;
        if self.buffer.len() < self.filled {
            self.buffer.resize(self.filled, 0);
        }
        &mut self.buffer[start..self.filled]
    }

    /// Says that there are no further bytes.
    pub const fn end(&mut self) {
        self.is_whole = true;
    }

    /// Counts the edits read so far.
    #[must_use]
    pub const fn edits(&self) -> u32 {
        self.edits
    }

    /// Takes the cost of reading since the last call, in bytes of work.
    pub const fn take_cost(&mut self) -> usize {
        core::mem::replace(&mut self.cost, 0) + self.scanner.take_cost()
    }

    /// Reads the next edit, and checks it: its key, and its value as verifications do.
    ///
    /// # Errors
    /// The first fault, with its offset in the delta.
    pub fn read(&mut self) -> Result<Next<'_>, DecodeError> {
        let total = self.base + self.filled;
        if total > MAX_DELTA_BYTES {
            let (most, got) = (MAX_DELTA_BYTES as u64, total as u64);
            return Err(DecodeError::new(Field::Length, MAX_DELTA_BYTES, most, got));
        }
        if !self.has_header && !self.header()? {
            return Ok(Next::More);
        }
        if self.has_end {
            return self.after_end();
        }
        let Some(found) = self.find()? else { return Ok(Next::More) };
        if found.code == op::END {
            self.has_end = true;
            self.at = found.rest.end;
            return self.after_end();
        }
        self.take_key(&found)?;
        self.cost += found.value.end - self.at;
        self.at = found.value.end;
        self.edits += 1;
        let offset = self.base + found.value.start;
        let Self { buffer, scanner, key, .. } = self;
        let kind = match found.code {
            op::DELETE => return Ok(Next::Edit(Key::trusted(key), Edit::Delete)),
            op::PUT_JSON => Kind::Json,
            _ => Kind::Bytes,
        };
        let len = found.value.len() as u64;
        match Value::parse(kind, &buffer[found.value], scanner) {
            Ok(value) => Ok(Next::Edit(Key::trusted(key), Edit::Put(value))),
            Err(_) => Err(DecodeError::new(Field::ValueText, offset, 0, len)),
        }
    }

    /// Reads the header; `false` if it is not complete.
    fn header(&mut self) -> Result<bool, DecodeError> {
        let there = &self.buffer[..self.filled.min(HEADER_BYTES)];
        for (at, (got, expected)) in there.iter().zip(&MAGIC).enumerate() {
            if got != expected {
                return Err(DecodeError::new(Field::Kind, at, (*expected).into(), (*got).into()));
            }
        }
        if there.len() < HEADER_BYTES {
            return self.more(HEADER_BYTES).map(|()| false);
        }
        let got = there[MAGIC.len()];
        if got != VERSION {
            let (at, expected) = (MAGIC.len(), VERSION.into());
            return Err(DecodeError::new(Field::Version, at, expected, got.into()));
        }
        self.at = HEADER_BYTES;
        self.has_header = true;
        Ok(true)
    }

    /// Refuses bytes after the end.
    fn after_end(&self) -> Result<Next<'_>, DecodeError> {
        if self.at < self.filled {
            let end = self.base + self.at;
            return Err(DecodeError::new(Field::Length, end, end as u64, end as u64 + 1));
        }
        Ok(if self.is_whole { Next::End } else { Next::More })
    }

    /// Refuses a delta that ended before the place `end` of the buffer, up to which it must go.
    fn more(&self, end: usize) -> Result<(), DecodeError> {
        let (expected, got) = (self.base + end, self.base + self.filled);
        if self.is_whole {
            return Err(DecodeError::new(Field::Length, got, expected as u64, got as u64));
        }
        Ok(())
    }

    /// Reads the number at `at`; returns it and its end, or `None` if it is not complete.
    fn varint(&self, field: Field, at: usize) -> Result<Option<(u32, usize)>, DecodeError> {
        let bytes = &self.buffer[at..self.filled];
        let mut number = 0_u64;
        for (index, byte) in bytes.iter().take(MAX_VARINT_BYTES).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 != 0 {
                continue;
            }
            let offset = self.base + at;
            // A last byte of 0: fewer bytes would do.
            if *byte == 0 && index > 0 {
                return Err(DecodeError::new(field, offset, index as u64, index as u64 + 1));
            }
            let Ok(number) = u32::try_from(number) else {
                return Err(DecodeError::new(field, offset, u32::MAX.into(), number));
            };
            return Ok(Some((number, at + index + 1)));
        }
        if bytes.len() >= MAX_VARINT_BYTES {
            let (most, got) = (MAX_VARINT_BYTES as u64, MAX_VARINT_BYTES as u64 + 1);
            return Err(DecodeError::new(field, self.base + at, most, got));
        }
        self.more(self.filled + 1).map(|()| None)
    }

    /// Finds the next edit, and checks its lengths; returns `None` if it is not complete.
    fn find(&self) -> Result<Option<Found>, DecodeError> {
        let fault = |field, at: usize, expected: usize, got: usize| {
            Err(DecodeError::new(field, self.base + at, expected as u64, got as u64))
        };
        let Some((head, second)) = self.varint(Field::KeyLength, self.at)? else { return Ok(None) };
        let (code, rest) = (head & ((1 << op::BITS) - 1), (head >> op::BITS) as usize);
        let of_second = if code == op::END { Field::Count } else { Field::KeyLength };
        if code == op::END && rest > 0 {
            return fault(Field::KeyLength, self.at, 0, rest);
        }
        let Some((shared, start)) = self.varint(of_second, second)? else { return Ok(None) };
        if code == op::END {
            if shared != self.edits {
                return fault(Field::Count, second, self.edits as usize, shared as usize);
            }
            return Ok(Some(Found { code, shared: 0, rest: start..start, value: start..start }));
        }
        let shared = shared as usize;
        if shared > self.key.len() {
            return fault(Field::KeyLength, second, self.key.len(), shared);
        }
        if rest > MAX_KEY_BYTES - shared {
            return fault(Field::KeyLength, self.at, MAX_KEY_BYTES - shared, rest);
        }
        let end = start + rest;
        if end > self.filled {
            return self.more(end).map(|()| None);
        }
        if code == op::DELETE {
            return Ok(Some(Found { code, shared, rest: start..end, value: end..end }));
        }
        let Some((len, from)) = self.varint(Field::ValueLength, end)? else { return Ok(None) };
        let len = len as usize;
        if len > MAX_VALUE_BYTES {
            return fault(Field::ValueLength, end, MAX_VALUE_BYTES, len);
        }
        if from + len > self.filled {
            return self.more(from + len).map(|()| None);
        }
        Ok(Some(Found { code, shared, rest: start..end, value: from..from + len }))
    }

    /// Makes the key of an edit the current one, and checks that it sorts after the one before and shares no
    /// more bytes with it.
    fn take_key(&mut self, found: &Found) -> Result<(), DecodeError> {
        let (shared, start) = (found.shared, self.base + found.rest.start);
        let rest = &self.buffer[found.rest.clone()];
        if self.edits > 0 {
            let before = self.key.get(shared).map_or(-1, |byte| i32::from(*byte));
            let after = rest.first().map_or(-1, |byte| i32::from(*byte));
            if after <= before {
                let (before, got) = (self.key.len() as u64, (shared + rest.len()) as u64);
                return Err(DecodeError::new(Field::KeyOrder, start, before, got));
            }
        }
        self.key.truncate(shared);
        self.key.extend_from_slice(rest);
        match Key::parse(&self.key) {
            Ok(_) => Ok(()),
            Err(KeyFault::TooLong) => {
                let (most, got) = (MAX_KEY_BYTES as u64, self.key.len() as u64);
                Err(DecodeError::new(Field::KeyLength, start, most, got))
            }
            Err(KeyFault::NotText(at)) => {
                let (whole, got) = (self.key.len() as u64, at as u64);
                Err(DecodeError::new(Field::KeyText, start, whole, got))
            }
        }
    }
}

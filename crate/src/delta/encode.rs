//! Writes the bytes of a delta.

use super::{MAGIC, VERSION, op};
use crate::key::Key;
use crate::value::Kind;
use alloc::vec::Vec;

/// Writes the bytes of a delta: the header, edits whose keys ascend, and the end.
#[derive(Clone, Debug)]
pub struct Encoder {
    out: Vec<u8>,
    /// Bytes that were taken before.
    taken: usize,
    /// The last key, which the next one shares bytes with.
    key: Vec<u8>,
    edits: u32,
}

impl Default for Encoder {
    fn default() -> Self {
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        Self { out, taken: 0, key: Vec::new(), edits: 0 }
    }
}

impl Encoder {
    /// Begins a delta without edits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the delete of a key, which sorts after the one before.
    pub fn delete(&mut self, key: Key<'_>) {
        self.begin(key, op::DELETE);
    }

    /// Adds the put of a key, which sorts after the one before. The `len` bytes of its value follow: append
    /// them to [`Encoder::out`].
    pub fn put(&mut self, key: Key<'_>, kind: Kind, len: usize) {
        let code = match kind {
            Kind::Json => op::PUT_JSON,
            Kind::Bytes => op::PUT_BYTES,
        };
        self.begin(key, code);
        push_varint(&mut self.out, len as u32);
    }

    fn begin(&mut self, key: Key<'_>, code: u32) {
        debug_assert!(self.edits == 0 || self.key[..] < *key, "keys ascend");
        let shared = self.key.iter().zip(&*key).take_while(|(a, b)| a == b).count();
        push_varint(&mut self.out, ((key.len() - shared) as u32) << op::BITS | code);
        push_varint(&mut self.out, shared as u32);
        self.out.extend_from_slice(&key[shared..]);
        self.key.truncate(shared);
        self.key.extend_from_slice(&key[shared..]);
        self.edits += 1;
    }

    /// Adds the end.
    pub fn end(&mut self) {
        push_varint(&mut self.out, op::END);
        push_varint(&mut self.out, self.edits);
    }

    /// Returns the bytes since [`Encoder::take`].
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Takes the bytes, and keeps their memory: the next ones overwrite them.
    pub fn take(&mut self) {
        self.taken += self.out.len();
        self.out.clear();
    }

    /// Counts the bytes of the delta so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.taken + self.out.len()
    }

    /// Returns whether it has no edits so far.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.edits == 0
    }

    /// Counts the edits so far.
    #[must_use]
    pub const fn edits(&self) -> u32 {
        self.edits
    }
}

fn push_varint(out: &mut Vec<u8>, number: u32) {
    let mut left = number;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn varint(number: u32) -> Vec<u8> {
        let mut out = Vec::new();
        push_varint(&mut out, number);
        out
    }

    #[test]
    fn a_varint_has_as_few_bytes_as_possible() {
        assert_eq!(varint(0), [0]);
        assert_eq!(varint(127), [127]);
        assert_eq!(varint(128), [0x80, 1]);
        assert_eq!(varint(300), [0xac, 2]);
        assert_eq!(varint(u32::MAX), [0xff, 0xff, 0xff, 0xff, 15]);
    }

    #[test]
    fn a_key_is_written_without_what_it_shares_with_the_one_before() {
        let mut encoder = Encoder::new();
        assert!(encoder.is_empty());
        encoder.put(Key::trusted(b""), Kind::Json, 4);
        encoder.out().extend_from_slice(b"null");
        encoder.put(Key::trusted(b"a/1"), Kind::Bytes, 0);
        encoder.delete(Key::trusted(b"a/22"));
        encoder.end();
        let mut expected = vec![];
        expected.extend_from_slice(b"HDGD\x01");
        expected.extend_from_slice(b"\x01\x00\x04null");
        expected.extend_from_slice(b"\x0e\x00a/1\x00");
        expected.extend_from_slice(b"\x0b\x0222");
        expected.extend_from_slice(b"\x00\x03");
        assert_eq!(*encoder.out(), expected);
        assert_eq!((encoder.edits(), encoder.len()), (3, expected.len()));
        encoder.take();
        assert_eq!((encoder.out().len(), encoder.len()), (0, expected.len()));
    }
}

//! Reads choices from the bytes of an input. Reading never fails: after the end all bytes are zero,
//! so that a shorter input does less.

use hedgerow::key::Key;

/// The bytes of an input that are not read yet.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// Begins at the start of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns whether all bytes are read.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads the next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// Reads the next two bytes, as a number.
    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Reads a number below `end`, which is at most 65,536; 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let number: usize = if end <= 256 { self.byte().into() } else { self.word().into() };
        if end == 0 { 0 } else { number % end }
    }

    /// Reads one of `choices`.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Reads one of `choices`, as a key.
    pub fn one_key(&mut self, choices: &[&'static str]) -> Key<'static> {
        Key::trusted(self.one_of(choices).as_bytes())
    }

    /// Reads the rest.
    pub const fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes;
        self.bytes = &[];
        rest
    }

    /// Takes the last `len` bytes away, or all if there are fewer.
    pub fn split_tail(&mut self, len: usize) -> &'a [u8] {
        let (head, tail) = self.bytes.split_at(self.bytes.len() - len.min(self.bytes.len()));
        self.bytes = head;
        tail
    }
}

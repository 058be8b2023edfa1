//! Shared by all readers of JSON text: faults, the limit of depth, white space, words (RFC 8259).

use crate::limits::MAX_JSON_DEPTH;

/// The reason for which a text is not a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// The byte at this offset is not allowed there, or the text ends there.
    Syntax(usize),
    /// A container at this offset is nested deeper than
    /// [`MAX_JSON_DEPTH`](crate::limits::MAX_JSON_DEPTH).
    TooDeep(usize),
    /// The number at this offset is too large for a double.
    TooLarge(usize),
}

/// Returns the depth inside a container at the offset `at`, which is itself at `depth`. Only this limits depth.
#[inline]
pub(super) const fn deeper(depth: usize, at: usize) -> Result<usize, JsonFault> {
    if depth == MAX_JSON_DEPTH { Err(JsonFault::TooDeep(at)) } else { Ok(depth + 1) }
}

/// Returns the offset of the first byte, not before `at`, that is not white space.
#[must_use]
pub fn skip_space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// Returns the offset after `byte`, which must be at `at`.
pub(super) fn expect(text: &[u8], at: usize, byte: u8) -> Result<usize, JsonFault> {
    if text.get(at) == Some(&byte) { Ok(at + 1) } else { Err(JsonFault::Syntax(at)) }
}

/// Returns the offset after `word`, which must be at `at`.
pub(super) fn skip_word(text: &[u8], at: usize, word: &[u8]) -> Result<usize, JsonFault> {
    let equal = text[at..].iter().zip(word).take_while(|(byte, other)| byte == other).count();
    if equal == word.len() { Ok(at + equal) } else { Err(JsonFault::Syntax(at + equal)) }
}

/// Returns the eight bytes at `at`, the first one lowest.
#[inline]
pub(super) fn word_at(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..at + 8)?.try_into().map(u64::from_le_bytes).ok()
}

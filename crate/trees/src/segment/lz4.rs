//! LZ4 blocks of little more than 64 KiB at most: <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>.
//!
//! A block is a sequence of literals and matches: bytes as they are, and copies of earlier bytes. The encoder is
//! greedy, like LZ4's own: it remembers where each four bytes were last, and looks less often after a while without a
//! match.

use crate::le::u32_at;

/// A match has at least this many bytes.
const MIN_MATCH: usize = 4;
/// The last bytes are literals.
const LAST_LITERALS: usize = 5;
/// No match begins in the last bytes.
const LAST_MATCH: usize = 12;
/// Bits of a place in the encoder's table.
const PLACE_BITS: u32 = 12;
/// After two to this power literals without a match the encoder looks at every second byte, then at every third.
const SKIP_BITS: usize = 6;
/// Short copies are made in pieces of this many bytes.
const PIECE: usize = 16;

/// The last places of four bytes, by their hash. Positions are below 64 KiB.
pub type Places = [u16; 1 << PLACE_BITS];

/// The longest input: so that each position at which a match may begin is a `u16`.
pub const MAX_INPUT: usize = u16::MAX as usize + LAST_MATCH;

/// Counts the equal bytes from `a` and from `b` on, `a` before `b`, with `b` below `end`.
#[inline]
fn equal(bytes: &[u8], a: usize, b: usize, end: usize) -> usize {
    let (ours, theirs) = (&bytes[b..end], &bytes[a..a + (end - b)]);
    let (words, their_words) = (ours.chunks_exact(8), theirs.chunks_exact(8));
    let mut len = 0;
    for (ours, theirs) in words.zip(their_words) {
        let differs = u64::from_le_bytes(ours.try_into().unwrap_or_default())
            ^ u64::from_le_bytes(theirs.try_into().unwrap_or_default());
        if differs != 0 {
            return len + (differs.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    while len < ours.len() && ours[len] == theirs[len] {
        len += 1;
    }
    len
}

/// Returns the length of the longest block of `len` bytes, and of the bytes that a short copy may write after it.
pub const fn longest(len: usize) -> usize {
    len + len / 255 + 2 * PIECE
}

/// A block that is being made.
struct Block<'b> {
    bytes: &'b mut [u8],
    len: usize,
}

impl Block<'_> {
    #[inline]
    fn push(&mut self, byte: usize) {
        self.bytes[self.len] = byte as u8;
        self.len += 1;
    }

    /// Appends the part of a length that does not fit in a token.
    fn push_rest(&mut self, mut rest: usize) {
        while rest >= 255 {
            self.push(255);
            rest -= 255;
        }
        self.push(rest);
    }

    /// Appends the literals `from..to` of the input, and a match of `len` bytes as far back as `offset`. The end has
    /// no match: its length is [`MIN_MATCH`].
    #[inline]
    fn put(&mut self, input: &[u8], from: usize, to: usize, offset: usize, len: usize) {
        let (literals, more) = (to - from, len - MIN_MATCH);
        self.push(literals.min(15) << 4 | more.min(15));
        if literals >= 15 {
            self.push_rest(literals - 15);
        }
        let at = self.len;
        if literals <= PIECE && from + PIECE <= input.len() {
            // Excess bytes are overwritten later.
            self.bytes[at..at + PIECE].copy_from_slice(&input[from..from + PIECE]);
        } else {
            self.bytes[at..at + literals].copy_from_slice(&input[from..to]);
        }
        self.len += literals;
        if offset > 0 {
            self.push(offset);
            self.push(offset >> 8);
            if more >= 15 {
                self.push_rest(more - 15);
            }
        }
    }
}

/// Writes the block of `input`, at most [`MAX_INPUT`] bytes, to the beginning of `out`, which has [`longest`] bytes,
/// and returns its length. The contents of `out` and `places` do not matter.
pub fn compress(input: &[u8], out: &mut [u8], places: &mut Places) -> usize {
    places.fill(0);
    let mut block = Block { bytes: out, len: 0 };
    let (mut literals, mut at) = (0, 1);
    // The first four bytes are at 0, as all places say.
    while at + LAST_MATCH <= input.len() {
        let here = u32_at(input, at);
        let place = &mut places[(here.wrapping_mul(0x9e37_79b1) >> (32 - PLACE_BITS)) as usize];
        let mut before = usize::from(core::mem::replace(place, at as u16));
        if before >= at || u32_at(input, before) != here {
            at += 1 + ((at - literals) >> SKIP_BITS);
            continue;
        }
        let (from, end) = (at + MIN_MATCH, input.len() - LAST_LITERALS);
        let len = MIN_MATCH + equal(input, before + MIN_MATCH, from, end);
        // It may have begun before, at a byte that was skipped.
        let mut from = at;
        while from > literals && before > 0 && input[from - 1] == input[before - 1] {
            (from, before) = (from - 1, before - 1);
        }
        block.put(input, literals, from, from - before, len + at - from);
        at += len;
        literals = at;
    }
    block.put(input, literals, input.len(), 0, MIN_MATCH);
    block.len
}

/// Reads the rest of a length.
fn rest(block: &[u8], at: &mut usize) -> Option<usize> {
    let mut sum = 0_usize;
    loop {
        let byte = *block.get(*at)?;
        *at += 1;
        sum += usize::from(byte);
        if byte != 255 {
            return Some(sum);
        }
    }
}

/// Fills `out` from a block; returns `None` if its length is different or it is malformed.
pub fn decompress(block: &[u8], out: &mut [u8]) -> Option<()> {
    let (mut at, mut to) = (0, 0);
    loop {
        let token = usize::from(*block.get(at)?);
        at += 1;
        let mut len = token >> 4;
        if len == 15 {
            len += rest(block, &mut at)?;
        }
        if len <= PIECE && at + PIECE <= block.len() && to + PIECE <= out.len() {
            // Excess bytes are overwritten later.
            out[to..to + PIECE].copy_from_slice(&block[at..at + PIECE]);
        } else {
            out.get_mut(to..to + len)?.copy_from_slice(block.get(at..at + len)?);
        }
        (at, to) = (at + len, to + len);
        if at == block.len() {
            return (to == out.len()).then_some(());
        }
        let offset = usize::from(*block.get(at)?) | usize::from(*block.get(at + 1)?) << 8;
        at += 2;
        let mut len = MIN_MATCH + (token & 15);
        if len == MIN_MATCH + 15 {
            len += rest(block, &mut at)?;
        }
        if offset == 0 || offset > to || len > out.len() - to {
            return None;
        }
        let end = to + len;
        if offset >= PIECE && end + PIECE <= out.len() {
            while to < end {
                let piece: [u8; PIECE] = out[to - offset..to - offset + PIECE].try_into().ok()?;
                out[to..to + PIECE].copy_from_slice(&piece);
                to += PIECE;
            }
        } else {
            // The copy may overlap its source.
            for to in to..end {
                out[to] = out[to - offset];
            }
        }
        to = end;
    }
}

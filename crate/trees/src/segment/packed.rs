//! The packed form of a chunk in a segment: an LZ4 block. The table of the segment has the length of the chunk, and a
//! chunk that takes less in the segment is packed.
//!
//! A chunk is addressed by the hash of its own bytes: so no root depends on whether, or how, a chunk was packed. LZ4:
//! <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>.

use super::lz4::{MAX_INPUT, Places, compress, decompress, longest};
use crate::limits::MAX_PACKED_CHUNK_BYTES;
use alloc::vec::Vec;
use core::fmt;

const _: () = assert!(MAX_PACKED_CHUNK_BYTES <= MAX_INPUT);

/// Shorter chunks are not packed: that would not save space.
const MIN_PACKED_CHUNK_BYTES: usize = 128;

/// Packs chunks. Keeps its memory for the next one.
#[derive(Default)]
pub struct Compressor {
    /// Empty until the first chunk is packed.
    places: Vec<Places>,
    block: Vec<u8>,
}

impl fmt::Debug for Compressor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Compressor")
    }
}

impl Compressor {
    /// Appends `chunk` to a segment: packed, if that saves an eighth of its bytes. Without the feature `pack` it stays
    /// as it is.
    pub fn pack(&mut self, chunk: &[u8], segment: &mut Vec<u8>) {
        let fits = (MIN_PACKED_CHUNK_BYTES..=MAX_PACKED_CHUNK_BYTES).contains(&chunk.len());
        if cfg!(feature = "pack") && fits {
            if self.places.is_empty() {
                self.places.push([0; _]);
            }
            let longest = longest(chunk.len());
            if self.block.len() < longest {
                self.block.resize(longest, 0);
            }
            let len = compress(chunk, &mut self.block, &mut self.places[0]);
            if len <= chunk.len() - chunk.len() / 8 {
                segment.extend_from_slice(&self.block[..len]);
                return;
            }
        }
        segment.extend_from_slice(chunk);
    }
}

/// Unpacks a chunk of `len` bytes, at most [`MAX_PACKED_CHUNK_BYTES`]; returns `None` if `stored` is not the packed
/// form of one.
#[must_use]
pub fn unpack(stored: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut chunk = alloc::vec![0; len];
    decompress(stored, &mut chunk)?;
    Some(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn packed(chunk: &[u8]) -> Vec<u8> {
        let mut segment = vec![7];
        Compressor::default().pack(chunk, &mut segment);
        assert_eq!(segment.remove(0), 7, "what was there stays");
        segment
    }

    /// Makes bytes that do not repeat.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
            (state >> 24) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn a_packed_chunk_is_unpacked() {
        for len in [128, 129, 4096, MAX_PACKED_CHUNK_BYTES] {
            let chunk: Vec<u8> = (0..len).map(|at| (at % 50) as u8).collect();
            let stored = packed(&chunk);
            assert!(stored.len() < len * 7 / 8, "{len}: {}", stored.len());
            assert_eq!(unpack(&stored, len), Some(chunk));
        }
    }

    #[test]
    fn what_saves_little_and_what_is_short_or_long_stays_as_it_is() {
        let long = vec![0; MAX_PACKED_CHUNK_BYTES + 1];
        for chunk in [&[0; 127][..], &noise(4096), &noise(MAX_PACKED_CHUNK_BYTES), &long, &[]] {
            assert_eq!(packed(chunk), chunk);
        }
        // A tenth of it repeats.
        let mut tenth = noise(4096);
        tenth.extend_from_slice(&[0; 400]);
        assert_eq!(packed(&tenth), tenth);
    }

    #[test]
    fn what_is_no_packed_form_of_that_length_is_refused() {
        let chunk = vec![1; 1000];
        let stored = packed(&chunk);
        for len in [0, 999, 1001, MAX_PACKED_CHUNK_BYTES] {
            assert_eq!(unpack(&stored, len), None, "{len}");
        }
        for end in 0..stored.len() {
            assert_eq!(unpack(&stored[..end], 1000), None, "cut off at {end}");
        }
        for seed in 0..2000_usize {
            // The result may be wrong, but not longer, and there is no panic.
            let mut bad = stored.clone();
            bad[seed % stored.len()] ^= (seed >> 4) as u8 | 1;
            assert!(unpack(&bad, 1000).is_none_or(|chunk| chunk.len() == 1000));
        }
    }
}

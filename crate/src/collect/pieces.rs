//! What a piece of a sum tree names. The package of sum trees reads all of it; a collection, which
//! is in the part of the module that every page loads, reads no more than this.

use crate::chunk::{ChunkKind, HEADER_BYTES};
use crate::forest::SUM_ROOT_BYTES;
use crate::hash::Hash;
use crate::value::Far;

/// Bytes of a record before its rest.
const FIXED_BYTES: usize = 74;
/// Of a leaf with a longer value: its address and hash.
const FAR: u16 = 0x4000;
const FAR_BYTES: usize = 68;
/// Of a link: leaves and bytes below, and the hash of the piece.
const LINK: u16 = 0x8000;
const LAST_LINK: u16 = 0x80ff;
const LINK_BYTES: usize = 42;
/// The longest value that is in its record.
const INLINE: u16 = 256;

/// Calls `each` with every piece (`None`) and value that the piece names, up to the first record that
/// is none.
pub fn names(piece: &[u8], mut each: impl FnMut(Hash, Option<Far>)) {
    let is_top = piece.starts_with(&ChunkKind::SumTop.header());
    let mut at = HEADER_BYTES + if is_top { SUM_ROOT_BYTES } else { 0 };
    while let Some(&[low, high]) = piece.get(at + FIXED_BYTES - 2..at + FIXED_BYTES) {
        at += FIXED_BYTES;
        let rest = &piece[at..];
        at += match u16::from_le_bytes([low, high]) {
            FAR if rest.len() >= FAR_BYTES => {
                let far = Far::read(&rest[..36]);
                each(far.hash, Some(far));
                FAR_BYTES
            }
            LINK..=LAST_LINK if rest.len() >= LINK_BYTES => {
                each(Hash::read(&rest[10..LINK_BYTES]), None);
                LINK_BYTES
            }
            len @ ..=INLINE => len.into(),
            _ => return,
        };
    }
}

//! Moves the live chunks of segments into new ones, in the order of trees.

use super::marks::{Marked, Marks};
use crate::cache::{Cache, SegmentId};
use crate::chunk::ChunkKind;
use crate::hash::Hash;
use crate::segment::{Packer, Sealed, Stream};
use crate::step::Budget;
use alloc::vec::Vec;

/// So many bytes are moved, and so many segments go, in one transaction.
const BATCH_BYTES: usize = 2 << 20;
const BATCH_SEGMENTS: usize = 256;

/// The position of values whose place in the order is not known: behind all others.
const LAST: u32 = u32::MAX;

#[derive(Debug)]
struct Moved {
    stream: Stream,
    ordinal: u32,
    hash: Hash,
    start: usize,
    len: usize,
}

/// See the module's text.
#[derive(Debug, Default)]
pub struct Moving {
    bytes: Vec<u8>,
    chunks: Vec<Moved>,
    gone: Vec<SegmentId>,
}

impl Moving {
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= BATCH_BYTES || self.gone.len() >= BATCH_SEGMENTS
    }

    /// Takes what is live of a segment, which then may go. Where `exact` is false nobody knows
    /// which values are live: all are. The segment's id when it must be loaded first.
    ///
    /// A segment with a damaged chunk, or one that cannot be read, stays as it is.
    pub fn take(
        &mut self,
        cache: &Cache,
        marks: &Marks,
        id: SegmentId,
        exact: bool,
        budget: &mut Budget,
    ) -> Option<SegmentId> {
        let marked = marks.find(id)?;
        if exact && marked.live == 0 {
            self.gone.push(id);
            return None;
        }
        if cache.wants(id) {
            return Some(id);
        }
        let (bytes, table) = cache.segment_bytes(id)?;
        budget.spend(bytes.len());
        let before = (self.bytes.len(), self.chunks.len());
        for at in 0..table.len() {
            let chunk = bytes.get(table.range(at)).unwrap_or_default();
            let hash = table.hash(at);
            let is_whole = Hash::of(chunk) == hash;
            if is_whole && !self.take_chunk(marked, at, chunk, hash, exact) {
                continue;
            }
            if !is_whole {
                self.bytes.truncate(before.0);
                self.chunks.truncate(before.1);
                return None;
            }
        }
        self.gone.push(id);
        None
    }

    /// Whether the chunk is live.
    fn take_chunk(
        &mut self,
        marked: &Marked,
        at: usize,
        chunk: &[u8],
        hash: Hash,
        exact: bool,
    ) -> bool {
        let stream = match ChunkKind::decode(chunk) {
            Ok(ChunkKind::Node(0)) => Stream::Leaf,
            Ok(ChunkKind::Node(_) | ChunkKind::Commit) => Stream::Inner,
            // Of a later format, perhaps: as little is known of it as of a value.
            Ok(ChunkKind::Piece | ChunkKind::PieceList) | Err(_) => Stream::Value,
        };
        let ordinal = match marked.ordinal(at) {
            Some(ordinal) => ordinal,
            None if exact || stream != Stream::Value => return false,
            None => LAST,
        };
        let start = self.bytes.len();
        self.bytes.extend_from_slice(chunk);
        self.chunks.push(Moved { stream, ordinal, hash, start, len: chunk.len() });
        true
    }

    /// The segments that may go, and those that take their place; nothing is left.
    pub fn finish(&mut self) -> (Vec<SegmentId>, Vec<Sealed>) {
        self.chunks.sort_by_key(|moved| (moved.stream as u8, moved.ordinal));
        let mut packer = Packer::new();
        for Moved { stream, hash, start, len, .. } in self.chunks.drain(..) {
            packer.put_known(stream, hash, &self.bytes[start..start + len]);
        }
        self.bytes.clear();
        packer.seal_apart();
        (core::mem::take(&mut self.gone), packer.take_sealed())
    }
}

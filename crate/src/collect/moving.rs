//! Moves the live chunks of segments into new ones, in the order of trees.

use super::marks::Marks;
use crate::cache::{Cache, SegmentId};
use crate::chunk::ChunkKind;
use crate::hash::Hash;
use crate::limits::SMALL_SEGMENT_BYTES;
use crate::segment::{Packer, Sealed, Stream, Table};
use crate::step::Budget;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;

/// About this many bytes are moved, and at most this many segments deleted, in one transaction.
const BATCH_BYTES: usize = 2 << 20;
const BATCH_SEGMENTS: usize = 256;
/// Bytes that are moved at a time when little space is left: one segment, or some small ones.
const SPARING_BATCH_BYTES: usize = SMALL_SEGMENT_BYTES;

/// The position of values whose place in the order is not known: after all others.
const LAST: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Moved {
    stream: Stream,
    hash: Hash,
    start: usize,
    /// Its bytes in the segment, and unpacked.
    stored: usize,
    len: usize,
}

/// Moves the live chunks of segments into new ones, in the order of trees.
#[derive(Debug, Default)]
pub struct Moving {
    bytes: Vec<u8>,
    chunks: Vec<Moved>,
    /// For each chunk: its position among the live ones (high 32 bits), and in `chunks` (low).
    order: BinaryHeap<u64>,
    gone: Vec<SegmentId>,
    /// Little space is left: one segment is copied at a time.
    spares_room: bool,
    /// The position of each chunk of the current segment among the live ones, so far.
    ordinals: Vec<Option<u32>>,
}

impl Moving {
    pub fn spare_room(&mut self) {
        self.spares_room = true;
    }

    pub fn is_full(&self) -> bool {
        let most = if self.spares_room { SPARING_BATCH_BYTES } else { BATCH_BYTES };
        self.bytes.len() >= most || self.gone.len() >= BATCH_SEGMENTS
    }

    /// Returns whether segments can be deleted without a copy.
    pub fn frees_only(&self) -> bool {
        self.bytes.is_empty() && !self.gone.is_empty()
    }

    /// Copies the live chunks of a segment, which may then be deleted. Where `exact` is false, all
    /// values count as live. Returns the id of a segment that must be loaded first.
    ///
    /// Skips a segment that has a damaged chunk or cannot be read.
    pub fn take(
        &mut self,
        cache: &Cache,
        marks: &Marks,
        id: SegmentId,
        exact: bool,
        budget: &mut Budget,
    ) -> Option<SegmentId> {
        if marks.find(id).is_some_and(|marked| marked.has_remote) {
            // It was chosen, so all of its chunks are dead.
            self.gone.push(id);
            return None;
        }
        if let Some(needed) = self.find_ordinals(cache, marks, id) {
            return Some(needed);
        }
        if exact && self.ordinals.iter().all(Option::is_none) {
            self.ordinals.clear();
            self.gone.push(id);
            return None;
        }
        if cache.wants(id) {
            return Some(id);
        }
        let ordinals = core::mem::take(&mut self.ordinals);
        let (bytes, table) = cache.segment_bytes(id)?;
        budget.spend(bytes.len());
        let mut streams = Vec::with_capacity(table.len());
        for at in 0..table.len() {
            let chunk = table.chunk(bytes, at);
            if Hash::of(&chunk) != table.hash(at) {
                return None;
            }
            streams.push(stream_of(&chunk));
        }
        for (at, (ordinal, stream)) in ordinals.into_iter().zip(streams).enumerate() {
            self.take_chunk((bytes, table, at), stream, ordinal, exact);
        }
        self.gone.push(id);
        None
    }

    /// Finds the live chunks of a segment: marked chunks, and chunks whose marked copy, in another
    /// segment, is damaged. Returns the id of a segment that must be loaded first.
    fn find_ordinals(&mut self, cache: &Cache, marks: &Marks, id: SegmentId) -> Option<SegmentId> {
        let (marked, table) = (marks.find(id)?, cache.table(id)?);
        while self.ordinals.len() < table.len() {
            let at = self.ordinals.len();
            let ordinal = match (marked.ordinal(at), table.hash(at)) {
                (None, hash) => match marks.live_copy(cache, &hash) {
                    Some((other, ..)) if cache.wants(other) => return Some(other),
                    Some((other, chunk, ordinal)) => {
                        let copy = cache.segment_bytes(other);
                        let is_whole = copy.is_some_and(|(bytes, table)| {
                            Hash::of(&table.chunk(bytes, chunk)) == hash
                        });
                        (!is_whole).then_some(ordinal)
                    }
                    None => None,
                },
                (ordinal, _) => ordinal,
            };
            self.ordinals.push(ordinal);
        }
        None
    }

    /// Takes a chunk of a segment as it is stored there.
    fn take_chunk(
        &mut self,
        (bytes, table, at): (&[u8], &Table, usize),
        stream: Stream,
        ordinal: Option<u32>,
        exact: bool,
    ) {
        let may_live = !exact && stream == Stream::Value;
        let Some(ordinal) = ordinal.or(may_live.then_some(LAST)) else { return };
        self.order.push(u64::from(ordinal) << 32 | self.chunks.len() as u64);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&bytes[table.range(at)]);
        let (hash, len) = (table.hash(at), table.chunk_len(at));
        self.chunks.push(Moved { stream, hash, start, stored: table.range(at).len(), len });
    }

    /// Takes the segments to delete, and their replacements; empties this.
    pub fn finish(&mut self) -> (Vec<SegmentId>, Vec<Sealed>) {
        let mut packer = Packer::new();
        for number in core::mem::take(&mut self.order).into_sorted_vec() {
            let Moved { stream, hash, start, stored, len } = self.chunks[number as u32 as usize];
            packer.put_known(stream, hash, &self.bytes[start..start + stored], len);
        }
        self.chunks.clear();
        self.bytes.clear();
        packer.seal_apart();
        (core::mem::take(&mut self.gone), packer.take_sealed())
    }
}

fn stream_of(chunk: &[u8]) -> Stream {
    match ChunkKind::decode(chunk) {
        Ok(ChunkKind::Node(0)) => Stream::Leaf,
        Ok(ChunkKind::Node(_) | ChunkKind::Commit | ChunkKind::SumPiece | ChunkKind::SumTop) => {
            Stream::Inner
        }
        // A kind of chunk that this version does not know is treated like a value.
        Ok(ChunkKind::Piece | ChunkKind::PieceList) | Err(_) => Stream::Value,
    }
}

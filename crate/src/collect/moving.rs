//! Moves the live chunks of segments into new ones, in the order of trees.

use super::marks::Marks;
use crate::cache::{Cache, SegmentId, Want};
use crate::chunk::ChunkKind;
use crate::hash::Hash;
use crate::limits::SMALL_SEGMENT_BYTES;
use crate::segment::{Packer, Sealed, Stream, Table};
use crate::step::{Budget, Step};
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;

/// About this many bytes are moved, and at most this many segments deleted, in one transaction.
const BATCH_BYTES: usize = 2 << 20;
const BATCH_SEGMENTS: usize = 256;
/// Bytes that are moved at a time when little space is left: one segment, or some small ones.
const SPARING_BATCH_BYTES: usize = SMALL_SEGMENT_BYTES;

/// The work of a chunk besides its bytes.
const CHUNK_WORK: usize = 64;

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
    order: Vec<u64>,
    gone: Vec<SegmentId>,
    /// Little space is left: one segment is copied at a time.
    spares_room: bool,
    /// The position of each chunk of the current segment among the live ones, so far.
    ordinals: Vec<Option<u32>>,
    /// How many chunks of the current segment are copied or left out.
    at: usize,
    /// The lengths of `bytes` and `chunks` before the current segment.
    before: (usize, usize),
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

    /// Returns whether some chunks of a segment are copied, and others are not yet.
    pub const fn is_midway(&self) -> bool {
        self.at > 0
    }

    /// Copies the live chunks of a segment, which may then be deleted. Where `exact` is false, all values count as live,
    /// and every chunk is unpacked to know what it is. Call it with the same segment until it is done.
    ///
    /// Skips a segment that has a damaged live chunk or cannot be read.
    pub fn take(
        &mut self,
        cache: &Cache,
        marks: &Marks,
        id: SegmentId,
        exact: bool,
        budget: &mut Budget,
    ) -> Step<()> {
        // Of a chosen segment with chunks at a remote all chunks are dead.
        let mut goes = marks.find(id).is_some_and(|marked| marked.has_remote);
        if !goes {
            match self.find_ordinals(cache, marks, id, budget) {
                Step::Done(()) => {}
                waiting => return waiting,
            }
            goes = exact && self.ordinals.iter().all(Option::is_none);
        }
        if !goes {
            if cache.wants(id) {
                return Step::Need(Vec::from([Want::whole_of(id)]));
            }
            match self.copy(cache, id, exact, budget) {
                Step::Done(is_whole) => goes = is_whole,
                Step::Need(wanted) => return Step::Need(wanted),
                Step::Yield => return Step::Yield,
            }
        }
        self.ordinals.clear();
        self.at = 0;
        if goes {
            self.gone.push(id);
        }
        Step::Done(())
    }

    /// Copies the rest of the live chunks of a segment; returns `false`, and takes back its copies, if one is damaged.
    fn copy(
        &mut self,
        cache: &Cache,
        id: SegmentId,
        exact: bool,
        budget: &mut Budget,
    ) -> Step<bool> {
        let Some((bytes, table)) = cache.segment_bytes(id) else { return Step::Done(false) };
        if !self.is_midway() {
            self.before = (self.bytes.len(), self.chunks.len());
        }
        while self.at < table.len() {
            if budget.is_over(cache) {
                return Step::Yield;
            }
            let at = self.at;
            self.at += 1;
            budget.spend(CHUNK_WORK);
            if exact && self.ordinals[at].is_none() {
                continue;
            }
            let chunk = table.chunk(bytes, at);
            budget.spend(2 * chunk.len());
            if Hash::of(&chunk) != table.hash(at) {
                self.bytes.truncate(self.before.0);
                self.chunks.truncate(self.before.1);
                self.order.truncate(self.before.1);
                return Step::Done(false);
            }
            self.take_chunk((bytes, table, at), stream_of(&chunk), self.ordinals[at], exact);
        }
        Step::Done(true)
    }

    /// Finds the live chunks of a segment: marked chunks, and chunks whose marked copy, in another segment, is damaged.
    fn find_ordinals(
        &mut self,
        cache: &Cache,
        marks: &Marks,
        id: SegmentId,
        budget: &mut Budget,
    ) -> Step<()> {
        let (Some(marked), Some(table)) = (marks.find(id), cache.table(id)) else {
            return Step::Done(());
        };
        while self.ordinals.len() < table.len() {
            if budget.is_over(cache) {
                return Step::Yield;
            }
            let at = self.ordinals.len();
            budget.spend(CHUNK_WORK);
            let ordinal = match (marked.ordinal(at), table.hash(at)) {
                (None, hash) => match marks.live_copy(cache, &hash) {
                    Some((other, ..)) if cache.wants(other) => {
                        return Step::Need(Vec::from([Want::whole_of(other)]));
                    }
                    Some((other, chunk, ordinal)) => {
                        let copy = cache.segment_bytes(other);
                        let is_whole = copy.is_some_and(|(bytes, table)| {
                            let copy = table.chunk(bytes, chunk);
                            budget.spend(2 * copy.len());
                            Hash::of(&copy) == hash
                        });
                        (!is_whole).then_some(ordinal)
                    }
                    None => None,
                },
                (ordinal, _) => ordinal,
            };
            self.ordinals.push(ordinal);
        }
        Step::Done(())
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
        for number in BinaryHeap::from(core::mem::take(&mut self.order)).into_sorted_vec() {
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

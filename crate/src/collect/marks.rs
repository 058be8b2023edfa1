//! Which stored chunks are live, and their positions in the order of trees.

use crate::cache::{Cache, SegmentId};
use crate::error::Error;
use crate::hash::Hash;
use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;

/// A stored segment, as of the start of the collection.
#[derive(Debug)]
pub struct Marked {
    pub id: SegmentId,
    /// Bytes of all its chunks.
    pub bytes: u64,
    /// Bytes of its live chunks.
    pub live: u64,
    /// Its table says that it holds only values.
    pub only_values: bool,
    /// A change that is not committed yet may need it.
    pub kept: bool,
    /// It names chunks that are at a remote: it goes as a whole, once all of its chunks are dead.
    pub has_remote: bool,
    /// For each chunk: its position among the live ones, from 1; 0 for a dead chunk.
    ordinals: Vec<u32>,
}

impl Marked {
    /// Returns the position of a chunk among the live ones; `None` when it is not live.
    pub fn ordinal(&self, chunk: usize) -> Option<u32> {
        self.ordinals.get(chunk).copied().filter(|ordinal| *ordinal > 0)
    }

    /// Returns whether any of its chunks is live.
    pub fn is_used(&self) -> bool {
        self.ordinals.iter().any(|ordinal| *ordinal > 0)
    }

    pub const fn dead(&self) -> u64 {
        self.bytes - self.live
    }
}

/// Which stored chunks are live, and their positions in the order of trees.
#[derive(Debug)]
pub struct Marks {
    /// In ascending order of ids.
    pub segments: Vec<Marked>,
    /// The chunks marked now may have been deleted: missing ones are left out.
    pub may_miss: bool,
    marked: u32,
}

impl Marks {
    /// Lists the segments that are stored now, with no chunk live yet.
    pub fn new(cache: &Cache) -> Self {
        // A heap sorts in a tenth of the code that `sort` takes.
        let ids = cache.stored_segments().collect::<BinaryHeap<_>>().into_sorted_vec();
        let mut marks = Self { segments: Vec::new(), may_miss: false, marked: 0 };
        for id in ids {
            marks.insert(cache, marks.segments.len(), id, false);
        }
        marks
    }

    /// Adds a segment without live chunks.
    fn insert(&mut self, cache: &Cache, at: usize, id: SegmentId, kept: bool) {
        let Some(table) = cache.table(id) else { return };
        let marked = Marked {
            id,
            bytes: table.segment_len() as u64,
            live: 0,
            only_values: table.only_values(),
            kept,
            has_remote: table.has_remote(),
            ordinals: vec![0; table.len()],
        };
        self.segments.insert(at, marked);
    }

    /// Keeps the segments `from..to` as they are.
    pub fn keep(&mut self, from: SegmentId, to: SegmentId) {
        let range = |id: SegmentId| (from..to).contains(&id);
        self.segments.iter_mut().filter(|segment| range(segment.id)).for_each(|s| s.kept = true);
    }

    pub fn find(&self, id: SegmentId) -> Option<&Marked> {
        let at = self.segments.binary_search_by_key(&id, |segment| segment.id).ok()?;
        self.segments.get(at)
    }

    /// Returns where the live copy of a chunk is, and its position among the live chunks.
    pub fn live_copy(&self, cache: &Cache, hash: &Hash) -> Option<(SegmentId, usize, u32)> {
        let marked = |(id, chunk, _)| Some((id, chunk, self.find(id)?.ordinal(chunk)?));
        cache.copies(hash).find_map(marked)
    }

    /// Marks a chunk; returns whether it was new. Of several copies one is live: the newest outside the
    /// segments that are kept for uncommitted changes, or else the newest inside them. A copy at a remote
    /// is live only if there is no other.
    ///
    /// # Errors
    /// [`Error::MissingChunk`].
    pub fn mark(&mut self, cache: &Cache, hash: &Hash) -> Result<bool, Error> {
        let mut best: Option<(bool, bool, usize, usize, usize)> = None;
        for (id, chunk, len) in cache.copies(hash) {
            let at = match self.segments.binary_search_by_key(&id, |segment| segment.id) {
                Ok(at) => at,
                Err(_) if best.is_some() => continue,
                // Another collection may have moved it: add its segment, but do not collect that.
                Err(at) => {
                    self.insert(cache, at, id, true);
                    at
                }
            };
            let is_here = cache.table(id).is_some_and(|table| !table.is_remote(chunk));
            let copy = (is_here, !self.segments[at].kept, at, chunk, len);
            best = best.max(Some(copy));
        }
        let Some((is_here, _, at, chunk, len)) = best else {
            return if self.may_miss { Ok(false) } else { Err(Error::MissingChunk(*hash)) };
        };
        let segment = &mut self.segments[at];
        if segment.ordinals[chunk] > 0 {
            return Ok(false);
        }
        self.marked += 1;
        segment.ordinals[chunk] = self.marked;
        segment.live += if is_here { len as u64 } else { 0 };
        Ok(true)
    }
}

//! Which chunks are stored where, and which segments are in memory.
//!
//! The cache owns the bytes of segments and lends out checked chunks. When segments take more than the
//! budget, the least recently used leave memory first; those that are not stored yet never do.

mod catalogue;
mod marks;
mod places;
mod reads;
mod residents;

pub use catalogue::SegmentId;

use crate::error::Error;
use crate::hash::Hash;
use crate::secret::Secret;
use crate::segment::{Sealed, Table};
use alloc::vec::Vec;
use catalogue::{Catalogue, Segment};
use core::cell::Cell;
use marks::Marks;
use residents::Residents;

/// A chunk, or where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch<T> {
    /// In memory.
    Here(T),
    /// In a segment that must be loaded first.
    At(SegmentId),
}

/// Which chunks are stored where, and which segments are in memory.
pub struct Cache {
    catalogue: Catalogue,
    residents: Residents,
    secret: Secret,
    /// See [`Cache::take_checked`].
    checked_bytes: Cell<usize>,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl Cache {
    /// An empty cache that holds about `budget` bytes of stored segments, for trusted tables only: see
    /// [`Cache::keyed`].
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self::keyed(budget, Secret::PUBLIC)
    }

    /// An empty cache that holds about `budget` bytes of stored segments. Without knowledge of the
    /// `secret`, tables cannot be forged so that adding or searching them takes long.
    #[must_use]
    pub fn keyed(budget: usize, secret: Secret) -> Self {
        let (catalogue, residents) = (Catalogue::new(&secret), Residents::new(budget));
        Self { catalogue, residents, secret, checked_bytes: Cell::new(0) }
    }

    /// The secret that was passed to [`Cache::keyed`].
    #[must_use]
    pub const fn secret(&self) -> Secret {
        self.secret
    }

    /// Reserves memory for `chunks` more chunks.
    pub fn reserve(&mut self, chunks: usize) {
        self.catalogue.reserve(chunks);
    }

    /// Adds a stored segment by its table. Does nothing if the segment is known.
    pub fn add_table(&mut self, id: SegmentId, table: Table) {
        if !self.catalogue.contains(id) {
            self.catalogue.insert(Segment::new(id, table));
        }
    }

    /// Adds a segment that was made here, under a new id. It stays in memory until [`Cache::stored`].
    pub fn add_fresh(&mut self, id: SegmentId, sealed: Sealed) {
        self.residents.enter(sealed.bytes.len());
        let mut segment = Segment::new(id, sealed.table);
        segment.marks = Marks::fresh(segment.table.len());
        segment.bytes = Some(sealed.bytes);
        segment.used.set(self.residents.tick());
        segment.fresh = true;
        self.catalogue.insert(segment);
    }

    /// Bytes of the chunks that were checked since the last call. A chunk is checked at its first use.
    pub fn take_checked(&self) -> usize {
        self.checked_bytes.take()
    }

    /// Records that the segment is stored: from now on it may leave memory.
    pub fn stored(&mut self, id: SegmentId) {
        if let Some(segment) = self.catalogue.segment_mut(id) {
            segment.fresh = false;
        }
        self.residents.evict(&mut self.catalogue, None);
    }

    /// Removes a segment and its chunks.
    pub fn remove(&mut self, id: SegmentId) {
        if let Some(bytes) = self.catalogue.remove(id).and_then(|segment| segment.bytes) {
            self.residents.leave(bytes.len());
        }
    }

    /// Whether the segment is known and not in memory.
    #[must_use]
    pub fn wants(&self, id: SegmentId) -> bool {
        self.catalogue.segment(id).is_some_and(|segment| segment.bytes.is_none())
    }

    /// Loads the stored bytes of a known segment; other segments may leave memory for it. Bytes of the
    /// wrong length are accepted: each chunk is checked on its own.
    pub fn load(&mut self, id: SegmentId, bytes: Vec<u8>) {
        if !self.wants(id) {
            return;
        }
        self.residents.enter(bytes.len());
        if let Some(segment) = self.catalogue.segment_mut(id) {
            segment.marks = Marks::read(segment.table.len());
            segment.bytes = Some(bytes);
            segment.used.set(self.residents.tick());
        }
        self.residents.evict(&mut self.catalogue, Some(id));
    }

    /// The bytes and the table of a segment in memory.
    #[must_use]
    pub fn segment_bytes(&self, id: SegmentId) -> Option<(&[u8], &Table)> {
        let segment = self.catalogue.segment(id)?;
        Some((segment.bytes.as_deref()?, &segment.table))
    }

    /// How many segments may be asked for at once without one of them evicting another.
    #[must_use]
    pub const fn window(&self) -> usize {
        let fit = self.residents.budget() / (2 * crate::limits::SEGMENT_BYTES);
        if fit == 0 { 1 } else { fit }
    }

    /// Bytes of segments in memory.
    #[must_use]
    pub const fn held_bytes(&self) -> usize {
        self.residents.held()
    }

    /// Bytes of all known segments.
    #[must_use]
    pub fn known_bytes(&self) -> u64 {
        self.catalogue.segments().map(|segment| segment.table.segment_len() as u64).sum()
    }

    /// Number of known segments below `bytes`.
    #[must_use]
    pub fn known_below(&self, bytes: usize) -> usize {
        let lens = self.catalogue.segments().map(|segment| segment.table.segment_len());
        lens.filter(|len| *len < bytes).count()
    }

    /// Number of known segments.
    #[must_use]
    pub fn known_segments(&self) -> usize {
        self.catalogue.counts().0
    }

    /// Number of known chunks; each copy counts.
    #[must_use]
    pub fn known_chunks(&self) -> usize {
        self.catalogue.counts().1
    }

    /// All stored segments, in no particular order.
    pub fn stored_segments(&self) -> impl Iterator<Item = SegmentId> {
        let stored = self.catalogue.segments().filter(|segment| !segment.fresh);
        stored.map(|segment| segment.id)
    }

    /// The table of a known segment.
    pub fn table(&self, id: SegmentId) -> Option<&Table> {
        Some(&self.catalogue.segment(id)?.table)
    }

    /// Every place where the chunk `hash` is: its segment, its position there, and its length.
    pub fn copies(&self, hash: &Hash) -> impl Iterator<Item = (SegmentId, usize, usize)> {
        let copies = self.catalogue.copies(hash);
        copies.map(|(segment, chunk)| (segment.id, chunk, segment.table.range(chunk).len()))
    }

    /// The length of the chunk `hash`, in memory or not, as the table of its newest copy says.
    ///
    /// # Errors
    /// [`Error::MissingChunk`].
    pub fn chunk_len(&self, hash: &Hash) -> Result<usize, Error> {
        let copy = self.catalogue.newest(hash).ok_or(Error::MissingChunk(*hash))?;
        Ok(copy.0.table.range(copy.1).len())
    }

    /// The segment that must be loaded before the chunk `hash` can be read, if any. A read asks for the
    /// same one, unless it first finds that a copy in memory is damaged.
    ///
    /// # Errors
    /// [`Error::MissingChunk`]; [`Error::CorruptChunk`] if all copies are known to be damaged.
    pub fn missing(&self, hash: &Hash) -> Result<Option<SegmentId>, Error> {
        Ok(match self.select(hash, false)? {
            Fetch::Here(_) => None,
            Fetch::At(id) => Some(id),
        })
    }

    /// The segments to ask for: `first`, and further ones that are missing for `hashes`, which are needed
    /// next. At most [`Cache::window`].
    pub fn ahead<'h>(
        &self,
        first: SegmentId,
        hashes: impl Iterator<Item = &'h Hash>,
    ) -> Vec<SegmentId> {
        let mut wanted = Vec::from([first]);
        for hash in hashes {
            if wanted.len() >= self.window() {
                break;
            }
            // An error of one of them is returned when it is read.
            if let Ok(Some(id)) = self.missing(hash)
                && !wanted.contains(&id)
            {
                wanted.push(id);
            }
        }
        wanted
    }
}

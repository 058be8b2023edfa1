//! The places of stored chunks, and the chunks in memory.
//!
//! The cache owns the bytes of segments, or of single chunks of them, and lends out checked chunks. When
//! they take more than the budget, the least recently used leave memory first, leaves before internal
//! nodes; segments that are not stored yet never do.

mod catalogue;
mod known;
mod lengths;
mod marks;
mod parts;
mod places;
mod reads;
mod residents;
mod unpacked;
mod want;

pub use known::SegmentId;
pub use want::{REQUEST_COST, Source, Want};

use crate::error::Error;
use crate::hash::Hash;
use crate::limits::{LEAST_BYTES_FOR_PARTS, SEGMENT_BYTES};
use crate::secret::Secret;
use crate::segment::{Sealed, Table};
use alloc::vec::Vec;
use catalogue::Catalogue;
use core::cell::Cell;
use known::Segment;
use marks::Marks;
use parts::Part;
use residents::Residents;
use want::Wants;

/// A chunk, or where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch<T> {
    /// In memory.
    Here(T),
    /// This must be loaded first, from its [`Source`].
    At(Want),
}

/// The places of stored chunks, and the chunks in memory.
pub struct Cache {
    catalogue: Catalogue,
    residents: Residents,
    secret: Secret,
    /// See [`Cache::set_request_cost`].
    request_cost: usize,
    /// See [`Cache::read_parts_from`].
    least_for_parts: usize,
    /// See [`Cache::await_tables`].
    awaits_tables: bool,
    /// Reads of chunks in memory.
    hits: Cell<u64>,
    /// Reads that had to wait for storage.
    misses: Cell<u64>,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl Cache {
    /// Makes an empty cache that holds about `budget` bytes of stored segments, for trusted tables
    /// only: see [`Cache::keyed`].
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self::keyed(budget, Secret::PUBLIC)
    }

    /// Makes an empty cache that holds about `budget` bytes of stored segments. Without knowledge
    /// of the `secret`, tables cannot be forged so that adding or searching them takes long.
    #[must_use]
    pub fn keyed(budget: usize, secret: Secret) -> Self {
        let (catalogue, residents) = (Catalogue::new(&secret), Residents::new(budget));
        Self {
            catalogue,
            residents,
            secret,
            request_cost: REQUEST_COST,
            least_for_parts: LEAST_BYTES_FOR_PARTS,
            awaits_tables: false,
            hits: Cell::new(0),
            misses: Cell::new(0),
        }
    }

    /// Returns the secret that was passed to [`Cache::keyed`].
    #[must_use]
    pub const fn secret(&self) -> Secret {
        self.secret
    }

    /// Sets how many bytes of stored segments it holds, and frees the rest. The chunks that a step reads may exceed that
    /// by half: see [`Cache::begin`].
    pub fn fit(&mut self, budget: usize) {
        self.residents.set_budget(budget);
        self.residents.evict(&mut self.catalogue);
    }

    /// Sets the cost of a request to storage, in bytes that are read in the same time. It decides whether a
    /// read asks for parts of a segment or for the whole.
    pub const fn set_request_cost(&mut self, bytes: usize) {
        self.request_cost = bytes;
    }

    /// Sets the length from which segments are read in parts: [`LEAST_BYTES_FOR_PARTS`] unless this is called.
    pub const fn read_parts_from(&mut self, bytes: usize) {
        self.least_for_parts = bytes;
    }

    /// Sets whether tables are still to come: as long as they are, a read of a chunk that no table has asks for its
    /// table ([`Source::Table`]). In the meantime counts, totals and [`Cache::copies`] are of the tables that have
    /// come.
    pub const fn await_tables(&mut self, awaits: bool) {
        self.awaits_tables = awaits;
    }

    /// Returns how many reads found their chunk in memory, and how many had to load it first.
    #[must_use]
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits.get(), self.misses.get())
    }

    /// Reserves memory for `chunks` more chunks.
    pub fn reserve(&mut self, chunks: usize) {
        self.catalogue.reserve(chunks);
    }

    /// Adds a stored segment by its table. Ignores a known segment.
    pub fn add_table(&mut self, id: SegmentId, table: Table) {
        if !self.catalogue.contains(id) {
            self.catalogue.insert(Segment::new(id, table));
        }
    }

    /// Adds a segment that was made here, under a new id. It stays in memory until [`Cache::stored`].
    pub fn add_fresh(&mut self, id: SegmentId, sealed: Sealed) {
        self.residents.enter(sealed.bytes.len());
        self.residents.keep(sealed.bytes.len());
        let mut segment = Segment::new(id, sealed.table);
        segment.marks = Marks::fresh(segment.table.len());
        segment.bytes = Some(sealed.bytes);
        segment.used.set(self.residents.tick());
        segment.fresh = true;
        self.catalogue.insert(segment);
    }

    /// Begins a step of an operation: frees memory beyond the budget, and forgets the work of other operations. The chunks
    /// that the step reads stay in memory until the next one, in up to one and a half budgets, so that it finds them when
    /// its wants are loaded.
    pub fn begin(&mut self) {
        self.settle();
        self.residents.begin_step();
        self.residents.unpacked().take_work();
    }

    /// Takes the work that was done since the last call: the bytes that were unpacked and hashed. A chunk is unpacked and
    /// hashed at its first use. [`Budget::is_over`](crate::step::Budget::is_over) spends it.
    pub fn take_work(&self) -> usize {
        self.residents.unpacked().take_work()
    }

    /// Records that the segment is stored: from now on it may leave memory.
    pub fn stored(&mut self, id: SegmentId) {
        if let Some(segment) = self.catalogue.segment_mut(id)
            && core::mem::take(&mut segment.fresh)
        {
            self.residents.release(segment.whole_len());
        }
        self.residents.evict(&mut self.catalogue);
    }

    /// Removes a segment and its chunks.
    pub fn remove(&mut self, id: SegmentId) {
        if let Some(mut segment) = self.catalogue.remove(id) {
            segment.unpacked.clear(self.residents.unpacked());
            if segment.fresh {
                self.residents.release(segment.whole_len());
            }
            self.residents.leave(segment.size());
        }
    }

    /// Returns whether the segment is known, and the whole is not in memory.
    #[must_use]
    pub fn wants(&self, id: SegmentId) -> bool {
        self.lacks(Want::whole_of(id))
    }

    /// Returns whether this is known and not in memory.
    #[must_use]
    pub fn lacks(&self, want: Want) -> bool {
        let Some(segment) = self.catalogue.segment(want.segment) else { return false };
        if want.is_whole() {
            return segment.bytes.is_none();
        }
        let chunk = segment.table.chunk_at(want.from as usize);
        chunk.is_some_and(|chunk| segment.is_held(chunk).is_none())
    }

    /// Loads the bytes of a want as they are stored; other units may leave memory for it. Bytes of the wrong
    /// length are accepted: each chunk is checked on its own.
    pub fn load(&mut self, want: Want, bytes: Vec<u8>) {
        let Some(segment) = self.catalogue.segment_mut(want.segment) else { return };
        let is_here = segment.bytes.is_some();
        let used = Cell::new(self.residents.tick());
        let mut len = bytes.len();
        if want.is_whole() {
            if is_here {
                return;
            }
            let table = &segment.table;
            let mut size = (0, 0);
            segment.parts.retain(
                |part| table.is_remote(part.chunk as usize),
                |part| size = (size.0 + part.bytes.len(), size.1 + 1),
            );
            self.residents.leave(size);
            segment.marks.read_all(table.len(), segment.parts.chunks());
            segment.bytes = Some(bytes);
            segment.used = used;
        } else {
            let Some(chunk) = segment.table.chunk_at(want.from as usize) else { return };
            let table = &segment.table;
            if is_here && !table.is_remote(chunk) {
                return;
            }
            let bytes = if table.is_packed(chunk) { table.unpack(chunk, &bytes) } else { bytes };
            len = bytes.len();
            if !segment.parts.insert(Part { chunk: chunk as u32, used, bytes }) {
                return;
            }
            segment.marks.read_one(chunk, segment.table.len());
        }
        self.residents.enter(len);
        self.residents.evict(&mut self.catalogue);
    }

    /// Returns the bytes and the table of a segment in memory.
    #[must_use]
    pub fn segment_bytes(&self, id: SegmentId) -> Option<(&[u8], &Table)> {
        let segment = self.catalogue.segment(id)?;
        Some((segment.bytes.as_deref()?, &segment.table))
    }

    /// Returns how many segments may be asked for at once without evicting each other.
    #[must_use]
    pub const fn window(&self) -> usize {
        let fit = self.residents.budget() / (2 * SEGMENT_BYTES);
        if fit == 0 { 1 } else { fit }
    }

    /// Frees memory beyond the budget: call it between steps.
    pub fn settle(&mut self) {
        self.residents.settle(&mut self.catalogue);
    }

    /// Returns the bytes of chunks that are in memory packed and unpacked.
    #[must_use]
    pub const fn unpacked_bytes(&self) -> usize {
        self.residents.unpacked().held()
    }

    /// Drops unpacked chunks, first of the least recently used segments, if they take more than `most` bytes.
    pub fn unpack_at_most(&mut self, most: usize) {
        self.residents.unpack_at_most(most, &mut self.catalogue);
    }

    /// Counts the bytes in memory.
    #[must_use]
    pub const fn held_bytes(&self) -> usize {
        self.residents.held()
    }

    /// Counts the bytes of all known segments.
    #[must_use]
    pub const fn known_bytes(&self) -> u64 {
        self.catalogue.totals().bytes
    }

    /// Returns the number of known segments below [`SMALL_SEGMENT_BYTES`](crate::limits::SMALL_SEGMENT_BYTES).
    #[must_use]
    pub const fn small_segments(&self) -> usize {
        self.catalogue.totals().small
    }

    /// Returns the number of known segments.
    #[must_use]
    pub fn known_segments(&self) -> usize {
        self.catalogue.len()
    }

    /// Returns the number of known chunks; each copy counts.
    #[must_use]
    pub fn known_chunks(&self) -> usize {
        self.catalogue.totals().chunks
    }

    /// Returns all stored segments, in no particular order.
    pub fn stored_segments(&self) -> impl Iterator<Item = SegmentId> {
        let stored = self.catalogue.segments().filter(|segment| !segment.fresh);
        stored.map(|segment| segment.id)
    }

    /// Returns the table of a known segment.
    pub fn table(&self, id: SegmentId) -> Option<&Table> {
        Some(&self.catalogue.segment(id)?.table)
    }

    /// Lists every place of the chunk `hash`: its segment, its position there, and the bytes it takes there.
    pub fn copies(&self, hash: &Hash) -> impl Iterator<Item = (SegmentId, usize, usize)> {
        let copies = self.catalogue.copies(hash);
        copies.map(|(segment, chunk)| (segment.id, chunk, segment.table.range(chunk).len()))
    }

    /// Returns the want that a read of the chunk `hash` needs, if any. A read asks for the same, unless it
    /// first finds that a copy in memory is damaged. A chunk in memory counts as used, since its read is
    /// next.
    ///
    /// # Errors
    /// [`Error::MissingChunk`]; [`Error::CorruptChunk`] if all copies are known to be damaged.
    pub fn missing(&self, hash: &Hash) -> Result<Option<Want>, Error> {
        Ok(match self.select(hash, false)? {
            Fetch::Here(_) => None,
            Fetch::At(want) => Some(want),
        })
    }

    /// Returns the whole segments to ask for: the segment of `first`, and missing segments of `hashes`,
    /// which are needed next. At most [`Cache::window`], without chunks at a remote.
    pub fn ahead<'h>(&self, first: Want, hashes: impl Iterator<Item = &'h Hash>) -> Vec<Want> {
        let mut wanted = Vec::from([first.whole()]);
        for hash in hashes {
            if wanted.len() >= self.window() {
                break;
            }
            // An error of one of them is returned when it is read.
            if let Ok(Some(want)) = self.missing(hash)
                && !want.is_remote()
                && !wanted.contains(&want.whole())
            {
                wanted.push(want.whole());
            }
        }
        wanted
    }

    /// Returns what to ask for: `first`, and what `rest` lacks, as much as fits without evicting each other. Chunks in
    /// memory need room, too: they are still to be read. Takes no more from `rest` than that.
    pub fn parts(&self, first: Want, rest: &mut dyn Iterator<Item = Fetch<Hash>>) -> Vec<Want> {
        let mut wants = Wants::new(self.request_cost, self.residents.room());
        wants.add(first, self.segment_len(first.segment));
        for next in rest {
            let has_room = match next {
                Fetch::At(want) => {
                    !self.lacks(want) || wants.add(want, self.segment_len(want.segment))
                }
                Fetch::Here(hash) => wants.pass(self.chunk_len(&hash).unwrap_or(0)),
            };
            if !has_room {
                break;
            }
        }
        wants.list()
    }

    /// Returns what to ask for as [`Cache::parts`], for chunks by their hashes. Chunks in memory count as used.
    pub fn parts_ahead<'h>(
        &self,
        first: Want,
        hashes: impl Iterator<Item = &'h Hash>,
    ) -> Vec<Want> {
        // An error of one of them is returned when it is read.
        let mut found = hashes.filter_map(|hash| match self.missing(hash) {
            Ok(Some(want)) => Some(Fetch::At(want)),
            Ok(None) => Some(Fetch::Here(*hash)),
            Err(_) => None,
        });
        self.parts(first, &mut found)
    }

    fn segment_len(&self, id: SegmentId) -> usize {
        self.table(id).map_or(0, Table::segment_len)
    }
}

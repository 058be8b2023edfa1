//! Which chunks are stored where, and which segments are in memory.
//!
//! The cache owns the bytes of segments and lends out chunks. A chunk that came from
//! outside is checked against its hash and its form when it is first asked for; the answer
//! is remembered for as long as the segment stays. Segments leave, least recently used
//! first, when they take more than the budget; those not stored yet never do.

use crate::chunk;
use crate::error::{DecodeError, Error};
use crate::hash::Hash;
use crate::node::{Inner, Node};
use crate::segment::{Sealed, Table};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use hashbrown::{HashMap, HashTable};

/// So many segments stay in memory whatever the budget: a descent needs one for each level
/// of the tree at the same time.
const MIN_RESIDENT: usize = crate::limits::MAX_LEVEL as usize + 8;

/// The number under which a segment is stored: below 2^53.
pub type SegmentId = u64;

/// A chunk, or where it is.
#[derive(Clone, Copy, Debug)]
pub enum Fetch<T> {
    /// In memory.
    Here(T),
    /// In a segment that must be loaded first.
    At(SegmentId),
}

#[derive(Clone, Copy)]
struct Slot {
    segment: u32,
    chunk: u32,
}

struct Segment {
    id: SegmentId,
    table: Table,
    bytes: Option<Vec<u8>>,
    /// One bit for each chunk: it was checked, or made here.
    checked: Vec<Cell<u64>>,
    used: Cell<u64>,
    /// Not stored yet.
    fresh: bool,
}

/// See the module's text.
pub struct Cache {
    index: HashTable<Slot>,
    segments: Vec<Option<Segment>>,
    vacant: Vec<u32>,
    by_id: HashMap<SegmentId, u32, id_hash::State>,
    budget: usize,
    held: usize,
    resident: usize,
    clock: Cell<u64>,
    /// Copies of chunks that were found damaged; nearly always none.
    damaged: RefCell<Vec<(SegmentId, u32)>>,
    /// See [`Cache::take_checked`].
    checked_bytes: Cell<usize>,
}

/// Segment ids are small numbers that the store itself hands out: nothing to defend against.
mod id_hash {
    use core::hash::{BuildHasherDefault, Hasher};

    #[derive(Default)]
    pub struct Multiply(u64);

    impl Hasher for Multiply {
        fn finish(&self) -> u64 {
            self.0
        }

        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.write_u64(u64::from(*byte));
            }
        }

        fn write_u64(&mut self, word: u64) {
            let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ (mixed >> 32);
        }
    }

    pub type State = BuildHasherDefault<Multiply>;
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl Cache {
    /// An empty cache that holds about `budget` bytes of stored segments.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self {
            index: HashTable::new(),
            segments: Vec::new(),
            vacant: Vec::new(),
            by_id: HashMap::default(),
            budget,
            held: 0,
            resident: 0,
            clock: Cell::new(0),
            damaged: RefCell::new(Vec::new()),
            checked_bytes: Cell::new(0),
        }
    }

    /// Makes room for so many more chunks.
    pub fn reserve(&mut self, chunks: usize) {
        let Self { index, segments, .. } = self;
        index.reserve(chunks, |slot| short_hash(segments, *slot));
    }

    /// Makes the chunks of a stored segment known. Does nothing for a known segment.
    pub fn add_table(&mut self, id: SegmentId, table: Table) {
        if !self.by_id.contains_key(&id) {
            self.insert(Segment {
                id,
                checked: Vec::new(),
                table,
                bytes: None,
                used: Cell::new(0),
                fresh: false,
            });
        }
    }

    /// Takes a segment that was made here. It stays in memory until [`Cache::stored`].
    pub fn add_fresh(&mut self, id: SegmentId, sealed: Sealed) {
        self.held += sealed.bytes.len();
        self.resident += 1;
        let words = sealed.table.len().div_ceil(64);
        self.insert(Segment {
            id,
            checked: (0..words).map(|_| Cell::new(u64::MAX)).collect(),
            table: sealed.table,
            bytes: Some(sealed.bytes),
            used: Cell::new(self.tick()),
            fresh: true,
        });
    }

    fn insert(&mut self, segment: Segment) {
        let at = self.vacant.pop().unwrap_or(self.segments.len() as u32);
        let Self { index, segments, by_id, .. } = self;
        by_id.insert(segment.id, at);
        let count = segment.table.len();
        if at as usize == segments.len() {
            segments.push(Some(segment));
        } else {
            segments[at as usize] = Some(segment);
        }
        let rehash = |slot: &Slot| short_hash(segments, *slot);
        index.reserve(count, rehash);
        for chunk in 0..count as u32 {
            let slot = Slot { segment: at, chunk };
            index.insert_unique(rehash(&slot), slot, rehash);
        }
    }

    /// Bytes that were looked at for the first time, which checks them, since the last call.
    pub fn take_checked(&self) -> usize {
        self.checked_bytes.take()
    }

    /// The segment is stored: it may leave memory from now on.
    pub fn stored(&mut self, id: SegmentId) {
        if let Some(segment) = self.segment_mut(id) {
            segment.fresh = false;
        }
        self.evict(None);
    }

    /// Forgets a segment and its chunks.
    pub fn remove(&mut self, id: SegmentId) {
        let Some(at) = self.by_id.remove(&id) else { return };
        let Some(segment) = self.segments[at as usize].take() else { return };
        self.held -= segment.bytes.as_ref().map_or(0, Vec::len);
        self.resident -= usize::from(segment.bytes.is_some());
        for chunk in 0..segment.table.len() {
            let hash = segment.table.hash(chunk).short();
            let same = |slot: &Slot| slot.segment == at && slot.chunk as usize == chunk;
            if let Ok(entry) = self.index.find_entry(hash, same) {
                entry.remove();
            }
        }
        self.vacant.push(at);
    }

    /// Whether the segment is known and not in memory.
    #[must_use]
    pub fn wants(&self, id: SegmentId) -> bool {
        self.segment(id).is_some_and(|segment| segment.bytes.is_none())
    }

    /// Takes the stored bytes of a known segment; others may leave memory for it. Bytes of
    /// the wrong length are taken as far as they go: each chunk is checked on its own.
    pub fn load(&mut self, id: SegmentId, bytes: Vec<u8>) {
        if !self.wants(id) {
            return;
        }
        let used = Cell::new(self.tick());
        self.held += bytes.len();
        self.resident += 1;
        if let Some(segment) = self.segment_mut(id) {
            let words = segment.table.len().div_ceil(64);
            segment.checked = (0..words).map(|_| Cell::new(0)).collect();
            segment.bytes = Some(bytes);
            segment.used = used;
        }
        self.evict(Some(id));
    }

    fn evict(&mut self, keep: Option<SegmentId>) {
        while self.held > self.budget && self.resident > MIN_RESIDENT {
            let oldest = self
                .segments
                .iter_mut()
                .flatten()
                .filter(|segment| segment.bytes.is_some() && !segment.fresh)
                .filter(|segment| Some(segment.id) != keep)
                .min_by_key(|segment| segment.used.get());
            let Some(segment) = oldest else { break };
            self.held -= segment.bytes.take().map_or(0, |bytes| bytes.len());
            segment.checked = Vec::new();
            self.resident -= 1;
        }
    }

    fn tick(&self) -> u64 {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        now
    }

    fn segment(&self, id: SegmentId) -> Option<&Segment> {
        self.segments[*self.by_id.get(&id)? as usize].as_ref()
    }

    fn segment_mut(&mut self, id: SegmentId) -> Option<&mut Segment> {
        self.segments[*self.by_id.get(&id)? as usize].as_mut()
    }

    /// The bytes and the table of a segment in memory.
    #[must_use]
    pub fn segment_bytes(&self, id: SegmentId) -> Option<(&[u8], &Table)> {
        let segment = self.segment(id)?;
        Some((segment.bytes.as_deref()?, &segment.table))
    }

    /// How many of the segments that are read next may be asked for at once, so that none
    /// of them drives another out.
    #[must_use]
    pub const fn window(&self) -> usize {
        let fit = self.budget / (2 * crate::limits::SEGMENT_BYTES);
        if fit == 0 { 1 } else { fit }
    }

    /// Bytes of segments in memory.
    #[must_use]
    pub const fn held_bytes(&self) -> usize {
        self.held
    }

    /// Bytes of all known segments.
    #[must_use]
    pub fn known_bytes(&self) -> u64 {
        self.segments.iter().flatten().map(|segment| segment.table.segment_len() as u64).sum()
    }

    /// Number of known segments below `bytes`.
    #[must_use]
    pub fn known_below(&self, bytes: usize) -> usize {
        let lens = self.segments.iter().flatten().map(|segment| segment.table.segment_len());
        lens.filter(|len| *len < bytes).count()
    }

    /// Number of known segments.
    #[must_use]
    pub fn known_segments(&self) -> usize {
        self.by_id.len()
    }

    /// Number of known chunks, repeated ones counted each time.
    #[must_use]
    pub fn known_chunks(&self) -> usize {
        self.index.len()
    }

    /// All stored segments, in no order.
    pub fn stored_segments(&self) -> impl Iterator<Item = SegmentId> {
        let stored = self.segments.iter().flatten().filter(|segment| !segment.fresh);
        stored.map(|segment| segment.id)
    }

    /// The table of a known segment.
    pub fn table(&self, id: SegmentId) -> Option<&Table> {
        Some(&self.segment(id)?.table)
    }

    /// Every place where the chunk `hash` is: its segment, its position there, and its length.
    pub fn copies(&self, hash: &Hash) -> impl Iterator<Item = (SegmentId, usize, usize)> {
        self.index.iter_hash(hash.short()).filter_map(move |slot| {
            let chunk = slot.chunk as usize;
            let segment = self.segments[slot.segment as usize].as_ref()?;
            let is_it = segment.table.has_hash(chunk, hash);
            is_it.then(|| (segment.id, chunk, segment.table.range(chunk).len()))
        })
    }

    /// Where `hash` is stored, in memory if anywhere there.
    fn locate(&self, hash: &Hash) -> Result<(&Segment, usize), Error> {
        let mut found = None;
        for slot in self.index.iter_hash(hash.short()) {
            let chunk = slot.chunk as usize;
            let Some(segment) = &self.segments[slot.segment as usize] else { continue };
            if segment.table.has_hash(chunk, hash) {
                found = Some((segment, chunk));
                if segment.bytes.is_some() {
                    break;
                }
            }
        }
        found.ok_or(Error::MissingChunk(*hash))
    }

    /// The length of the chunk `hash`, in memory or not.
    ///
    /// # Errors
    /// [`Error::MissingChunk`].
    pub fn chunk_len(&self, hash: &Hash) -> Result<usize, Error> {
        let (segment, chunk) = self.locate(hash)?;
        Ok(segment.table.range(chunk).len())
    }

    /// The segment that must be loaded before the chunk `hash` can be had, if any.
    ///
    /// # Errors
    /// [`Error::MissingChunk`].
    pub fn missing(&self, hash: &Hash) -> Result<Option<SegmentId>, Error> {
        let (segment, _) = self.locate(hash)?;
        Ok(segment.bytes.is_none().then_some(segment.id))
    }

    /// What to ask for when the segment `first` is missing and `hashes` are wanted next: it
    /// and what else of theirs is missing, as much as may be asked for at once.
    ///
    /// # Errors
    /// [`Error::MissingChunk`].
    pub fn ahead<'h>(
        &self,
        first: SegmentId,
        hashes: impl Iterator<Item = &'h Hash>,
    ) -> Result<Vec<SegmentId>, Error> {
        let mut wanted = Vec::from([first]);
        for hash in hashes {
            if wanted.len() >= self.window() {
                break;
            }
            if let Some(id) = self.missing(hash)?
                && !wanted.contains(&id)
            {
                wanted.push(id);
            }
        }
        Ok(wanted)
    }

    /// Of several copies one that is in memory and whole, else one that may be.
    fn fetch(
        &self,
        hash: &Hash,
        check: &(impl Fn(&[u8]) -> Result<(), DecodeError> + ?Sized),
    ) -> Result<Fetch<&[u8]>, Error> {
        let mut damage = None;
        let mut stored = None;
        for slot in self.index.iter_hash(hash.short()) {
            let chunk = slot.chunk as usize;
            let Some(segment) = &self.segments[slot.segment as usize] else { continue };
            if !segment.table.has_hash(chunk, hash) {
                continue;
            }
            let Some(bytes) = &segment.bytes else {
                // One that was found damaged is read again only when there is no other.
                if stored.is_none() || !self.damaged.borrow().contains(&(segment.id, slot.chunk)) {
                    stored = Some((segment.id, slot.chunk));
                }
                continue;
            };
            match self.verify(segment, bytes, chunk, hash, check) {
                Ok(bytes) => return Ok(Fetch::Here(bytes)),
                Err(error) => {
                    let mut damaged = self.damaged.borrow_mut();
                    if !damaged.contains(&(segment.id, slot.chunk)) {
                        damaged.push((segment.id, slot.chunk));
                    }
                    damage = Some(error);
                }
            }
        }
        match (stored, damage) {
            (Some(copy), Some(error)) if self.damaged.borrow().contains(&copy) => Err(error),
            (Some((id, _)), _) => Ok(Fetch::At(id)),
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::MissingChunk(*hash)),
        }
    }

    fn verify<'b>(
        &self,
        segment: &Segment,
        bytes: &'b [u8],
        chunk: usize,
        hash: &Hash,
        check: &(impl Fn(&[u8]) -> Result<(), DecodeError> + ?Sized),
    ) -> Result<&'b [u8], Error> {
        segment.used.set(self.tick());
        let corrupt = |cause| Error::CorruptChunk { hash: *hash, cause };
        let bytes = bytes.get(segment.table.range(chunk)).ok_or_else(|| corrupt(None))?;
        let word = &segment.checked[chunk / 64];
        let bit = 1 << (chunk % 64);
        if word.get() & bit == 0 {
            if Hash::of(bytes) != *hash {
                return Err(corrupt(None));
            }
            if bytes.len() >= chunk::HEADER_BYTES && bytes[1] > chunk::VERSION {
                return Err(Error::UnsupportedFormat { version: bytes[1] });
            }
            check(bytes).map_err(|cause| corrupt(Some(cause)))?;
            word.set(word.get() | bit);
            self.checked_bytes.set(self.checked_bytes.get() + bytes.len());
        }
        Ok(bytes)
    }

    /// The node `hash`, verified.
    ///
    /// # Errors
    /// [`Error::MissingChunk`], [`Error::CorruptChunk`], [`Error::UnsupportedFormat`].
    pub fn node(&self, hash: &Hash) -> Result<Fetch<Node<'_>>, Error> {
        Ok(match self.fetch(hash, &|bytes| Node::decode(bytes).map(|_| ()))? {
            // A chunk may have been checked as what it is while it is asked for as what a
            // hostile parent says that it is.
            Fetch::Here(bytes) if !is_node(bytes) => {
                let cause = Node::decode(bytes).err();
                return Err(Error::CorruptChunk { hash: *hash, cause });
            }
            Fetch::Here(bytes) => Fetch::Here(Node::view(bytes)),
            Fetch::At(id) => Fetch::At(id),
        })
    }

    /// The node that `parent` names at `index`, verified to be what it says.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn child(&self, parent: &Inner<'_>, index: usize) -> Result<Fetch<Node<'_>>, Error> {
        let hash = parent.hash(index);
        let fetched = self.node(&hash)?;
        if let Fetch::Here(node) = &fetched {
            node.check_parent(parent, index)
                .map_err(|cause| Error::CorruptChunk { hash, cause: Some(cause) })?;
        }
        Ok(fetched)
    }

    /// The chunk `hash`, verified against its hash and against `check`.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn chunk(
        &self,
        hash: &Hash,
        check: impl Fn(&[u8]) -> Result<(), DecodeError>,
    ) -> Result<Fetch<&[u8]>, Error> {
        // Both before the chunk is remembered as checked and after: it may have been checked
        // as something else.
        // Called by address: compiled in at each place, this costs five kilobytes, gzipped.
        let check: &dyn Fn(&[u8]) -> Result<(), DecodeError> = &check;
        let fetched = self.fetch(hash, check)?;
        if let Fetch::Here(bytes) = fetched {
            check(bytes)
                .map_err(|cause| Error::CorruptChunk { hash: *hash, cause: Some(cause) })?;
        }
        Ok(fetched)
    }

    /// The chunk `hash`, verified against its hash and nothing else.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn any_chunk(&self, hash: &Hash) -> Result<Fetch<&[u8]>, Error> {
        self.fetch(hash, &|_| Ok(()))
    }
}

fn short_hash(segments: &[Option<Segment>], slot: Slot) -> u64 {
    let segment = segments[slot.segment as usize].as_ref();
    segment.map_or(0, |segment| segment.table.hash(slot.chunk as usize).short())
}

fn is_node(bytes: &[u8]) -> bool {
    matches!(chunk::ChunkKind::decode(bytes), Ok(chunk::ChunkKind::Node(_)))
}

//! Where each chunk is: a table from its hash to all copies of it.
//!
//! Copies of one chunk are chained, the newest first, so that a segment table that repeats one hash
//! costs no more than any other. Places depend on a keyed hash of all 32 bytes: segment tables come
//! from disk and from peers, and their hashes are not trusted.

use super::known::{Link, NONE, Segment, SegmentId, Slot};
use super::places::Places;
use crate::hash::Hash;
use crate::limits::SMALL_SEGMENT_BYTES;
use crate::secret::Secret;
use crate::segment::Table;
use alloc::vec::Vec;
use hashbrown::HashTable;

/// The most copies of one chunk in one segment that are recorded; further ones have no use.
const MOST_IN_SEGMENT: usize = 8;

/// Where each chunk is: a table from its hash to all copies of it.
pub struct Catalogue {
    /// The newest copy of each chunk.
    index: HashTable<Slot>,
    places: Places,
    segments: Vec<Option<Segment>>,
    vacant: Vec<u32>,
    /// The position of each segment, in the order of ids: new ones nearly always come last.
    by_id: Vec<(SegmentId, u32)>,
    totals: Totals,
}

/// The totals of all known segments, kept up to date because each commit asks for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Chunks; each copy counts.
    pub chunks: usize,
    pub bytes: u64,
    /// Segments below [`SMALL_SEGMENT_BYTES`].
    pub small: usize,
}

impl Totals {
    fn add(&mut self, table: &Table) {
        self.chunks += table.len();
        self.bytes += table.segment_len() as u64;
        self.small += usize::from(table.segment_len() < SMALL_SEGMENT_BYTES);
    }

    fn remove(&mut self, table: &Table) {
        self.chunks -= table.len();
        self.bytes -= table.segment_len() as u64;
        self.small -= usize::from(table.segment_len() < SMALL_SEGMENT_BYTES);
    }
}

impl Catalogue {
    pub fn new(secret: &Secret) -> Self {
        Self {
            index: HashTable::new(),
            places: Places::new(secret),
            segments: Vec::new(),
            vacant: Vec::new(),
            by_id: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// Reserves memory for `chunks` more chunks.
    pub fn reserve(&mut self, chunks: usize) {
        let Self { index, segments, places, .. } = self;
        index.reserve(chunks, |slot| place_of(places, segments, *slot));
    }

    /// Returns the position of a segment among the ids, or `Err` with the position to insert it at.
    #[inline(never)]
    fn find(&self, id: SegmentId) -> Result<usize, usize> {
        self.by_id.binary_search_by(|(other, _)| other.cmp(&id))
    }

    pub fn contains(&self, id: SegmentId) -> bool {
        self.find(id).is_ok()
    }

    /// Returns the number of segments.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns their totals.
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    pub fn segment(&self, id: SegmentId) -> Option<&Segment> {
        self.segments[self.by_id[self.find(id).ok()?].1 as usize].as_ref()
    }

    pub fn segment_mut(&mut self, id: SegmentId) -> Option<&mut Segment> {
        let at = self.by_id[self.find(id).ok()?].1;
        self.segments[at as usize].as_mut()
    }

    /// Returns all segments, in no particular order.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().flatten()
    }

    pub fn segments_mut(&mut self) -> impl Iterator<Item = &mut Segment> {
        self.segments.iter_mut().flatten()
    }

    /// Adds a segment, whose id must be new. Costs a look-up for each chunk.
    pub fn insert(&mut self, segment: Segment) {
        let at = self.vacant.pop().unwrap_or(self.segments.len() as u32);
        let count = segment.table.len();
        if let Err(place) = self.find(segment.id) {
            self.by_id.insert(place, (segment.id, at));
        }
        self.totals.add(&segment.table);
        if at as usize == self.segments.len() {
            self.segments.push(Some(segment));
        } else {
            self.segments[at as usize] = Some(segment);
        }
        self.reserve(count);
        (0..count as u32).for_each(|chunk| self.add(Slot { segment: at, chunk }));
    }

    fn add(&mut self, slot: Slot) {
        let Self { index, segments, places, .. } = self;
        let Some(segment) = &segments[slot.segment as usize] else { return };
        let hash = segment.table.hash(slot.chunk as usize);
        let place = places.of(&hash);
        let Some(newest) = index.find_mut(place, |other| has_hash(segments, *other, &hash)) else {
            index.insert_unique(place, slot, |slot| place_of(places, segments, *slot));
            return;
        };
        let head = *newest;
        let (mut at, mut own) = (head, 0);
        while at.segment == slot.segment {
            own += 1;
            if own == MOST_IN_SEGMENT {
                return;
            }
            at = link(segments, at).after;
        }
        *newest = slot;
        self.tie(slot, head);
    }

    /// Removes a segment and returns it.
    pub fn remove(&mut self, id: SegmentId) -> Option<Segment> {
        let (_, at) = self.by_id.remove(self.find(id).ok()?);
        let table = &self.segments[at as usize].as_ref()?.table;
        let count = table.len() as u32;
        self.totals.remove(table);
        (0..count).for_each(|chunk| self.unlink(Slot { segment: at, chunk }));
        self.vacant.push(at);
        self.segments[at as usize].take()
    }

    fn unlink(&mut self, slot: Slot) {
        let Link { before, after } = link(&self.segments, slot);
        if before == NONE {
            let place = place_of(&self.places, &self.segments, slot);
            // It was a copy beyond `MOST_IN_SEGMENT`, which has no place.
            let Ok(entry) = self.index.find_entry(place, |other| *other == slot) else { return };
            if after == NONE {
                entry.remove();
            } else {
                *entry.into_mut() = after;
            }
        }
        self.tie(before, after);
    }

    /// Links two copies, or a copy and an end of its chain.
    #[inline(never)]
    fn tie(&mut self, before: Slot, after: Slot) {
        if let Some(Some(segment)) = self.segments.get_mut(before.segment as usize) {
            segment.link_mut(before.chunk).after = after;
        }
        if let Some(Some(segment)) = self.segments.get_mut(after.segment as usize) {
            segment.link_mut(after.chunk).before = before;
        }
    }

    #[inline]
    fn head(&self, hash: &Hash) -> Slot {
        let is_it = |slot: &Slot| has_hash(&self.segments, *slot, hash);
        self.index.find(self.places.of(hash), is_it).copied().unwrap_or(NONE)
    }

    /// Returns the copy at a slot; `None` for [`NONE`], which no segment has as its number.
    #[inline]
    fn at(&self, slot: Slot) -> Option<(&Segment, usize)> {
        let segment = self.segments.get(slot.segment as usize)?.as_ref()?;
        Some((segment, slot.chunk as usize))
    }

    /// Returns the newest copy of a chunk: its segment, and its position there.
    #[inline]
    pub fn newest(&self, hash: &Hash) -> Option<(&Segment, usize)> {
        self.at(self.head(hash))
    }

    /// Returns every copy of a chunk, the newest first.
    pub fn copies(&self, hash: &Hash) -> impl Iterator<Item = (&Segment, usize)> {
        let mut next = self.head(hash);
        core::iter::from_fn(move || {
            let copy = self.at(next)?;
            next = copy.0.link(next.chunk).after;
            Some(copy)
        })
    }
}

fn link(segments: &[Option<Segment>], slot: Slot) -> Link {
    let segment = segments[slot.segment as usize].as_ref();
    segment.map_or(Link { before: NONE, after: NONE }, |segment| segment.link(slot.chunk))
}

/// Returns the place of the chunk at a slot.
#[inline(never)]
fn place_of(places: &Places, segments: &[Option<Segment>], slot: Slot) -> u64 {
    let segment = segments[slot.segment as usize].as_ref();
    segment.map_or(0, |segment| places.of(&segment.table.hash(slot.chunk as usize)))
}

fn has_hash(segments: &[Option<Segment>], slot: Slot, hash: &Hash) -> bool {
    #[cfg(test)]
    tests::COMPARED.with(|compared| compared.set(compared.get() + 1));
    let segment = segments[slot.segment as usize].as_ref();
    segment.is_some_and(|segment| segment.table.has_hash(slot.chunk as usize, hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Sealed;
    use alloc::collections::BTreeMap;

    std::thread_local! {
        /// The number of hashes that were compared.
        pub static COMPARED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
    }

    /// Makes a segment table of chunks of one byte each, with these hashes.
    fn table(hashes: &[Hash]) -> Table {
        let mut bytes = Sealed::of_one(&Hash::ZERO, b"x").table.bytes()[..8].to_vec();
        bytes.extend_from_slice(&(hashes.len() as u32).to_le_bytes());
        for hash in hashes {
            bytes.extend_from_slice(&hash.0);
        }
        (1..=hashes.len() as u32).for_each(|end| bytes.extend_from_slice(&end.to_le_bytes()));
        bytes.extend(hashes.iter().flat_map(|_| 1_u32.to_le_bytes()));
        Table::decode(bytes).expect("a table")
    }

    fn catalogue() -> Catalogue {
        Catalogue::new(&Secret::new(1, 2))
    }

    /// Adds and removes random segments with copies of few hashes.
    #[test]
    fn copies_are_those_of_a_model() {
        let mut state = 1_u64;
        let mut below = |end: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize % end
        };
        // Only forged hashes share their first 30 bytes.
        let pool: Vec<Hash> =
            (0..12).map(|at| Hash(core::array::from_fn(|i| if i > 29 { at } else { 7 }))).collect();
        let mut catalogue = catalogue();
        let mut model: BTreeMap<SegmentId, Vec<usize>> = BTreeMap::new();
        for id in 0..3000 {
            if below(3) == 0 && !model.is_empty() {
                let removed = *model.keys().nth(below(model.len())).unwrap();
                model.remove(&removed);
                assert_eq!(catalogue.remove(removed).map(|segment| segment.id), Some(removed));
            } else if model.len() < 9 {
                let chosen: Vec<_> = (0..=below(20)).map(|_| below(pool.len())).collect();
                let hashes: Vec<_> = chosen.iter().map(|at| pool[*at]).collect();
                catalogue.insert(Segment::new(id, table(&hashes)));
                model.insert(id, chosen);
            }
            for (number, hash) in pool.iter().enumerate() {
                let mut expected = Vec::new();
                for (id, chosen) in &model {
                    let own = (0..chosen.len()).filter(|at| chosen[*at] == number);
                    expected.extend(own.take(MOST_IN_SEGMENT).map(|at| (*id, at)));
                }
                let mut copies: Vec<_> =
                    catalogue.copies(hash).map(|(segment, at)| (segment.id, at)).collect();
                copies.sort_unstable();
                assert_eq!(copies, expected);
            }
            let chunks = model.values().map(Vec::len).sum();
            let bytes =
                catalogue.segments().map(|segment| segment.table.segment_len() as u64).sum();
            // All of these are small.
            let totals = Totals { chunks, bytes, small: model.len() };
            assert_eq!((catalogue.len(), catalogue.totals()), (model.len(), totals));
        }
    }

    /// Counts the hashes compared while these tables are added, searched and removed.
    fn compared(tables: &[Vec<Hash>]) -> usize {
        let before = COMPARED.get();
        let mut catalogue = catalogue();
        for (id, hashes) in (0..).zip(tables) {
            catalogue.insert(Segment::new(id, table(hashes)));
        }
        for hash in tables.iter().flatten().step_by(7) {
            assert!(catalogue.copies(hash).next().is_some());
        }
        for id in 0..tables.len() as u64 {
            catalogue.remove(id);
        }
        assert!(catalogue.index.is_empty());
        COMPARED.get() - before
    }

    #[test]
    fn tables_of_forged_hashes_cost_no_more_than_honest_ones() {
        const CHUNKS: u32 = 1 << 15;
        let of = |word: u32, at: usize| {
            let mut hash = Hash::ZERO;
            hash.0[at..at + 4].copy_from_slice(&word.to_le_bytes());
            hash
        };
        let honest: Vec<_> = (0..CHUNKS).map(|at| Hash::of(&at.to_le_bytes())).collect();
        let all_equal = alloc::vec![Hash([9; 32]); CHUNKS as usize];
        let one_each: Vec<_> = (0..CHUNKS).map(|_| Vec::from([Hash([9; 32])])).collect();
        let few = compared(&[honest]);
        // They differ in one word only: in its low bits, or in its high bits.
        for at in [0, 4, 8, 20, 28] {
            for shift in [0, 12, 17] {
                let alike: Vec<_> = (0..CHUNKS).map(|word| of(word << shift, at)).collect();
                let count = compared(&[alike]);
                assert!(count <= 2 * few + 64, "at {at}, {shift}: {count} against {few}");
            }
        }
        for tables in [&[all_equal][..], &one_each] {
            let count = compared(tables);
            assert!(count <= 2 * CHUNKS as usize + 64, "{count} of equal hashes");
        }
    }
}

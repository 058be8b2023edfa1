//! Wants: parts of segments, or whole segments, that must be loaded before a read can go on.

use super::known::{Segment, SegmentId};
use crate::hash::Hash;
use crate::le::u32_at;
use alloc::vec::Vec;

/// The cost of a request to storage, in bytes that are read in the same time, if the host does not set it:
/// between the costs in the engines of browsers (`js/hedgerow/src/storage/idb/blobs.ts`).
pub const REQUEST_COST: usize = 288 << 10;

/// Bytes that the host must load before a read can go on: [`Want::source`] says where they are.
///
/// It takes 16 bytes: a tag of its own would make each result of a read larger, and with it the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// The segment, or [`IN_NO_TABLE`].
    pub(super) segment: SegmentId,
    /// Where the chunk begins in the segment; 0 for the whole. For a table, the first bytes of the hash.
    pub(super) from: u32,
    /// Where the chunk ends; 0 for the whole. It has the bit [`REMOTE`] if a remote has the chunk, and the segment
    /// does not. For a table, 1.
    to: u32,
}

/// The source of what a read wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// All bytes of a stored segment.
    Segment(SegmentId),
    /// The bytes of one chunk of a stored segment.
    Chunk {
        /// The segment.
        segment: SegmentId,
        /// Where the chunk begins in it.
        from: u32,
        /// Where it ends.
        to: u32,
    },
    /// A remote: the table of the segment lists the chunk, and the segment does not have it. The table has the hash of
    /// the chunk, at [`Table::chunk_at`](crate::segment::Table::chunk_at)`(from)`.
    Remote {
        /// The segment.
        segment: SegmentId,
        /// Where the chunk begins by the table.
        from: u32,
        /// Where it ends.
        to: u32,
    },
    /// The table that lists a chunk: see [`Cache::await_tables`](super::Cache::await_tables).
    Table {
        /// The first four bytes of the hash of the chunk, little-endian.
        hash_start: u32,
    },
    /// All tables that have not come.
    AllTables,
}

/// The segment of a chunk whose table has not come: no segment has this number.
const IN_NO_TABLE: SegmentId = SegmentId::MAX;

/// A bit of [`Want::to`].
const REMOTE: u32 = 1 << 31;

impl Want {
    /// Wants all of a segment.
    #[must_use]
    pub const fn whole_of(segment: SegmentId) -> Self {
        Self { segment, from: 0, to: 0 }
    }

    /// Wants the bytes `from..to` of a segment, which are one chunk; with `0..0`, all of it.
    #[must_use]
    pub const fn part_of(segment: SegmentId, from: u32, to: u32) -> Self {
        Self { segment, from, to }
    }

    /// Returns where the wanted bytes are.
    #[must_use]
    pub const fn source(self) -> Source {
        let Self { segment, from, .. } = self;
        let to = self.end();
        match (self.is_table(), self.is_whole(), self.is_remote()) {
            (true, true, _) => Source::AllTables,
            (true, false, _) => Source::Table { hash_start: from },
            (false, true, _) => Source::Segment(segment),
            (false, false, false) => Source::Chunk { segment, from, to },
            (false, false, true) => Source::Remote { segment, from, to },
        }
    }

    /// Returns the segment; `None` for tables.
    #[must_use]
    pub const fn segment(self) -> Option<SegmentId> {
        if self.is_table() { None } else { Some(self.segment) }
    }

    /// Wants all of the segment of this; for a chunk at a remote, only that chunk.
    #[must_use]
    pub const fn whole(self) -> Self {
        // All bits for a chunk at a remote, without a branch in each read.
        let mask = (self.to.cast_signed() >> 31).cast_unsigned();
        Self { segment: self.segment, from: self.from & mask, to: self.to & mask }
    }

    /// Returns whether all of a segment is wanted, or all tables.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.to == 0
    }

    /// Returns whether the segments of the two are one; two tables count as in one.
    #[must_use]
    pub const fn shares_segment(self, other: Self) -> bool {
        self.segment == other.segment
    }

    /// Wants one chunk of a segment, or all of the segment if `is_run` or if it has no other chunk.
    pub(super) fn chunk_of(segment: &Segment, chunk: usize, is_run: bool) -> Self {
        let Segment { id, table, .. } = segment;
        let (is_remote, range) = (table.is_remote(chunk), table.range(chunk));
        // Only a forged table has a chunk so far behind.
        let is_part = !is_run && table.len() > 1 && range.end < REMOTE as usize;
        if !is_part && !is_remote {
            return Self::whole_of(*id);
        }
        let to = range.end as u32 | if is_remote { REMOTE } else { 0 };
        Self { segment: *id, from: range.start as u32, to }
    }

    /// Wants the table that has the chunk `hash`: see [`Cache::await_tables`](super::Cache::await_tables). In place of
    /// a range it has the first bytes of the hash.
    pub(super) fn table_of(hash: &Hash) -> Self {
        Self { segment: IN_NO_TABLE, from: u32_at(&hash.0, 0), to: 1 }
    }

    /// Returns whether a table is wanted; with [`Want::is_whole`] all tables that have not come.
    pub(super) const fn is_table(self) -> bool {
        self.segment == IN_NO_TABLE
    }

    /// Returns whether a remote has the chunk, and the segment does not.
    #[must_use]
    pub const fn is_remote(self) -> bool {
        self.to & REMOTE != 0
    }

    /// Returns where the chunk ends; 0 for the whole.
    const fn end(self) -> u32 {
        self.to & !REMOTE
    }

    const fn len(self) -> usize {
        self.end().saturating_sub(self.from) as usize
    }
}

/// Gathers the next wants, each once, as many as fit; whole segments where they cost less than their
/// parts.
pub struct Wants {
    request_cost: usize,
    room: usize,
    most: usize,
    list: Vec<Want>,
    /// The wants of each segment, in ascending order.
    groups: Vec<Group>,
}

struct Group {
    segment: SegmentId,
    /// Bytes of the segment.
    len: usize,
    /// Bytes of the wanted parts, and where each begins.
    bytes: usize,
    parts: Vec<u32>,
    whole: bool,
    /// It is listed as a whole already.
    told: bool,
}

impl Group {
    fn is_whole(&self, request_cost: usize) -> bool {
        self.whole || self.parts.len() * request_cost + self.bytes >= request_cost + self.len
    }

    fn memory(&self, request_cost: usize) -> usize {
        if self.is_whole(request_cost) { self.len } else { self.bytes }
    }
}

impl Wants {
    /// Gathers at most `most` wants of about `room` bytes; at least one.
    pub(super) const fn new(request_cost: usize, (room, most): (usize, usize)) -> Self {
        Self { request_cost, room, most, list: Vec::new(), groups: Vec::new() }
    }

    /// Adds a want of a segment of `len` bytes; returns `false`, without adding it, if there is no room.
    pub(super) fn add(&mut self, want: Want, len: usize) -> bool {
        if self.list.len() == self.most {
            return false;
        }
        let Want { segment, from, .. } = want;
        let cost = self.request_cost;
        let at = match self.groups.binary_search_by(|group| group.segment.cmp(&segment)) {
            Ok(at) => at,
            Err(at) => {
                let (parts, whole, told) = (Vec::new(), false, false);
                // Chunks at a remote never make their segment a whole one, and neither do tables.
                let is_apart = want.is_remote() || want.is_table();
                let len = if is_apart { REMOTE as usize } else { len };
                self.groups.insert(at, Group { segment, len, bytes: 0, parts, whole, told });
                at
            }
        };
        let group = &mut self.groups[at];
        let before = if group.bytes == 0 { 0 } else { group.memory(cost) };
        if group.whole || (!want.is_whole() && group.parts.contains(&from)) {
            return true;
        }
        group.whole = want.is_whole();
        if !group.whole {
            group.bytes += want.len();
            group.parts.push(from);
        }
        let grown = group.memory(cost).saturating_sub(before);
        if grown > self.room && !self.list.is_empty() {
            group.whole = false;
            if !want.is_whole() {
                group.bytes -= want.len();
                group.parts.pop();
            }
            return false;
        }
        self.room = self.room.saturating_sub(grown);
        self.list.push(want);
        true
    }

    /// Passes a chunk of `bytes` bytes in memory, which is needed next, too; returns `false` if there is no room left.
    pub(super) const fn pass(&mut self, bytes: usize) -> bool {
        self.room = self.room.saturating_sub(bytes);
        self.room > 0
    }

    /// Returns what to ask for.
    pub(super) fn list(self) -> Vec<Want> {
        let Self { list, mut groups, request_cost, .. } = self;
        let mut wanted = Vec::with_capacity(list.len());
        for want in list {
            let found = groups.binary_search_by(|group| group.segment.cmp(&want.segment));
            let Ok(at) = found else { continue };
            let group = &mut groups[at];
            if !group.is_whole(request_cost) {
                wanted.push(want);
            } else if !group.told {
                group.told = true;
                wanted.push(want.whole());
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 512 << 10;

    fn part(segment: SegmentId, from: u32) -> Want {
        Want { segment, from, to: from + 4096 }
    }

    fn gathered(room: usize, wants: &[Want]) -> Vec<Want> {
        let mut gathered = Wants::new(REQUEST_COST, (room, usize::MAX));
        let _ = wants.iter().all(|want| gathered.add(*want, LEN));
        gathered.list()
    }

    #[test]
    fn each_want_has_its_source_and_takes_16_bytes() {
        let (segment, from, to) = (7, 10, 20);
        let remote = Want { segment, from, to: REMOTE + to };
        let table = Want::table_of(&Hash([3; 32]));
        for (want, source, of) in [
            (Want::whole_of(7), Source::Segment(7), Some(7)),
            (Want::part_of(7, 0, 0), Source::Segment(7), Some(7)),
            (Want::part_of(7, 10, 20), Source::Chunk { segment, from, to }, Some(7)),
            (Want::part_of(7, 10, 20).whole(), Source::Segment(7), Some(7)),
            (remote, Source::Remote { segment, from, to }, Some(7)),
            (remote.whole(), Source::Remote { segment, from, to }, Some(7)),
            (table, Source::Table { hash_start: 0x0303_0303 }, None),
            (table.whole(), Source::AllTables, None),
        ] {
            assert_eq!((want.source(), want.segment()), (source, of));
        }
        assert_eq!(size_of::<Want>(), 16);
    }

    #[test]
    fn a_want_of_a_chunk_at_a_remote_is_never_a_whole_segment() {
        let remote = Want { segment: 7, from: 10, to: REMOTE + 20 };
        assert!(remote.is_remote() && !remote.is_whole() && remote.whole() == remote);
        assert_eq!((remote.end(), remote.len()), (20, 10));
        assert!(!part(7, 0).is_remote());
        let many: Vec<_> =
            (0..200).map(|at| Want { from: at, to: REMOTE + at + 1, ..remote }).collect();
        assert_eq!(gathered(LEN, &many), many);
    }

    #[test]
    fn tables_are_wanted_one_by_one_or_all_at_once() {
        let tables: Vec<_> = (0..200_u8).map(|at| Want::table_of(&Hash([at; 32]))).collect();
        assert!(tables.iter().all(|want| want.is_table() && !want.is_whole() && !want.is_remote()));
        assert_eq!((tables[3].from, part(7, 0).is_table()), (0x0303_0303, false));
        assert_eq!(gathered(LEN, &tables), tables);
        let all = tables[3].whole();
        assert!(all.is_table() && all.is_whole());
    }

    #[test]
    fn three_parts_of_a_segment_cost_more_than_the_whole() {
        let [a, b, c] = [0, 8192, 65536].map(|from| part(7, from));
        let other = part(3, 0);
        assert_eq!(gathered(LEN, &[a, other, b, a]), [a, other, b]);
        assert_eq!(gathered(2 * LEN, &[a, other, b, c]), [a.whole(), other]);
        assert_eq!(gathered(2 * LEN, &[a, a.whole(), other]), [a.whole(), other]);
    }

    #[test]
    fn where_requests_cost_nothing_parts_are_asked_for_until_they_are_the_whole() {
        let all: Vec<_> = (0..128).map(|at| part(1, at * 4096)).collect();
        for (count, is_whole) in [(127, false), (128, true)] {
            let mut gathered = Wants::new(0, (LEN, usize::MAX));
            assert!(all[..count].iter().all(|want| gathered.add(*want, LEN)));
            let list = gathered.list();
            assert_eq!(list.len(), if is_whole { 1 } else { count });
            assert_eq!(list[0].is_whole(), is_whole);
        }
    }

    #[test]
    fn the_first_is_taken_and_others_while_there_is_room() {
        let wants = [part(1, 0), part(2, 0), part(3, 0)];
        assert_eq!(gathered(0, &wants), wants[..1]);
        let mut few = Wants::new(REQUEST_COST, (LEN, 2));
        assert_eq!(wants.map(|want| few.add(want, LEN)), [true, true, false]);
        assert_eq!(gathered(8192, &wants), wants[..2]);
        // The third part of a segment makes it a whole one.
        assert_eq!(gathered(16 << 10, &[0, 8192, 65536].map(|from| part(7, from))).len(), 2);
    }
}

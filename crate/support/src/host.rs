//! A host that keeps segments in a map and steps operations to their end. It does so smoothly, or as
//! badly as the protocol allows.

use crate::pace::Pace;
use crate::rows::Rows;
use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch, SegmentId, Source, Want};
use hedgerow::error::Error;
use hedgerow::forest::{Forest, ROWS};
use hedgerow::hash::Hash;
use hedgerow::index::Definition;
use hedgerow::secret::Secret;
use hedgerow::segment::{Packer, Sealed, Stream, Table};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// The most steps that any operation needs, even with the smallest budget.
pub const MAX_STEPS: usize = 100_000;

const CACHE_BYTES: usize = 64 << 20;

/// The cost of a request: less than a node of the smallest shape.
const REQUEST_COST: usize = 64;

/// The secret, which a real host draws at random.
const SECRET: Secret = Secret::new(0x5eed_0000_5eed_0001, 0x5eed_0002_5eed_0003);

/// A host that keeps segments in a map and steps operations to their end. It does so smoothly, or as
/// badly as the protocol allows.
pub struct Host {
    /// The cache.
    pub cache: Cache,
    /// The bytes and the table of each stored segment.
    pub stored: BTreeMap<SegmentId, (Vec<u8>, Table)>,
    /// The trees of the last commit.
    pub forest: Forest,
    /// The hash of the last commit.
    pub root: Hash,
    /// The shape of nodes.
    pub shape: Shape,
    /// The budget of a step if there is no pace.
    pub slice: usize,
    /// How to step; smoothly if `None`.
    pub pace: Option<Pace>,
    /// The indexes that an empty store gets.
    pub indexes: Vec<Definition>,
    /// Segments that operations asked for, or for parts of.
    pub asked: Vec<SegmentId>,
    /// The same, with the parts.
    pub wanted: Vec<Want>,
    /// The segments whose tables are still to come.
    pub(crate) late: BTreeSet<SegmentId>,
    /// The chunks at the remote.
    pub(crate) remote: BTreeMap<[u8; 32], Vec<u8>>,
    next: SegmentId,
}

/// Packs chunks; returns their hashes and their segments.
pub fn seal(chunks: &[&[u8]]) -> (Vec<Hash>, Vec<Sealed>) {
    let mut packer = Packer::new();
    let put = |chunk: &&[u8]| packer.put(Stream::Leaf, |out| out.extend_from_slice(chunk));
    let hashes = chunks.iter().map(put).collect();
    packer.seal();
    (hashes, packer.take_sealed())
}

/// Makes a cache that reads the small segments of tests in parts, if it needs few of them.
fn cache(bytes: usize) -> Cache {
    let mut cache = Cache::keyed(bytes, SECRET);
    cache.read_parts_from(0);
    cache.set_request_cost(REQUEST_COST);
    cache
}

impl Host {
    /// Makes a host without rows.
    pub fn new(shape: Shape) -> Self {
        Self {
            cache: cache(CACHE_BYTES),
            stored: BTreeMap::new(),
            forest: Forest::new(),
            root: Hash::ZERO,
            shape,
            slice: usize::MAX,
            pace: None,
            indexes: Vec::new(),
            asked: Vec::new(),
            wanted: Vec::new(),
            late: BTreeSet::new(),
            remote: BTreeMap::new(),
            next: 1,
        }
    }

    /// Makes a host with `rows`, written at once.
    pub fn of(shape: Shape, rows: &Rows) -> Self {
        let mut host = Self::new(shape);
        let rows: Vec<_> = rows.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        host.put_blocks(&rows, usize::MAX);
        host
    }

    /// Makes a host with indexes and `rows`, written at once.
    pub fn indexed(shape: Shape, indexes: &[Definition], rows: &Rows) -> Self {
        let mut host = Self { indexes: indexes.to_vec(), ..Self::new(shape) };
        let rows: Vec<_> = rows.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        host.put_blocks(&rows, usize::MAX);
        host
    }

    /// Returns the tree of rows.
    pub fn tree(&self) -> Tree {
        self.forest.tree(ROWS)
    }

    /// Empties the cache, as a new process would.
    pub fn reopen(&mut self, cache_bytes: usize) {
        self.cache = cache(cache_bytes);
        self.late.clear();
        for (id, (_, table)) in &self.stored {
            let table = Table::decode(table.bytes().to_vec()).expect("a stored table");
            self.cache.add_table(*id, table);
        }
        self.asked.clear();
        self.wanted.clear();
    }

    /// Lists all stored chunks: where each is, its hash and its bytes.
    pub fn chunks(&self) -> impl Iterator<Item = (SegmentId, Hash, Vec<u8>)> {
        self.stored.iter().flat_map(|(id, (bytes, table))| {
            (0..table.len()).map(|at| (*id, table.hash(at), table.chunk(bytes, at).into_owned()))
        })
    }

    /// Stores one chunk in a segment of its own, which is not in memory.
    pub fn store_chunk(&mut self, bytes: &[u8]) -> Hash {
        let (hashes, sealed) = seal(&[bytes]);
        self.store_apart(sealed);
        hashes[0]
    }

    /// Stores segments that are not in memory.
    pub(crate) fn store_apart(&mut self, sealed: Vec<Sealed>) {
        for Sealed { bytes, table } in sealed {
            self.cache.add_table(self.next, table.clone());
            self.stored.insert(self.next, (bytes, table));
            self.next += 1;
        }
    }

    /// Stores segments, which stay in memory. With a pace they do not, and for some of them each chunk is in a segment
    /// of its own.
    pub fn store(&mut self, sealed: Vec<Sealed>) {
        for segment in sealed {
            if let Some(pace) = &mut self.pace {
                if pace.is_whole() {
                    self.store_apart(vec![segment]);
                    continue;
                }
                let Sealed { bytes, table } = segment;
                for at in 0..table.len() {
                    let stored = &bytes[table.range(at)];
                    let mut packer = Packer::new();
                    packer.put_known(Stream::Leaf, table.hash(at), stored, table.chunk_len(at));
                    packer.seal();
                    self.store_apart(packer.take_sealed());
                }
                continue;
            }
            self.stored.insert(self.next, (segment.bytes.clone(), segment.table.clone()));
            self.cache.add_fresh(self.next, segment);
            self.cache.stored(self.next);
            self.next += 1;
        }
    }

    /// Returns the stored segment that `choice` selects.
    fn any(&self, choice: usize) -> Option<SegmentId> {
        let nth = choice % self.stored.len().max(1);
        self.stored.keys().nth(nth).copied()
    }

    /// Removes a segment from memory.
    pub fn evict(&mut self, id: SegmentId) {
        self.cache.remove(id);
        self.cache.add_table(id, self.stored[&id].1.clone());
        self.late.remove(&id);
        self.cache.await_tables(!self.late.is_empty());
    }

    /// Loads a stored segment.
    pub fn load(&mut self, id: SegmentId) {
        self.load_part(Want::whole_of(id));
    }

    /// Loads a want; of a segment that was cut off, the bytes that exist.
    pub fn load_part(&mut self, want: Want) {
        let bytes = match want.source() {
            Source::Segment(id) => self.stored[&id].0.clone(),
            Source::Chunk { segment, from, to } => {
                let bytes = &self.stored[&segment].0;
                let to = (to as usize).min(bytes.len());
                bytes[(from as usize).min(to)..to].to_vec()
            }
            Source::Remote { segment, from, .. } => {
                let (hash, bytes) = self.remote_chunk(segment, from);
                // Some are stored, some are only in memory.
                if hash.0[0] & 1 == 0 {
                    self.store_apart(vec![Sealed::of_one(&hash, &bytes)]);
                    return;
                }
                bytes
            }
            Source::Table { hash_start } => return self.bring_tables(Some(hash_start)),
            Source::AllTables => return self.bring_tables(None),
        };
        self.cache.load(want, bytes);
    }

    fn budget(&mut self) -> Budget {
        let Some(pace) = &mut self.pace else { return Budget::of(self.slice) };
        let (budget, leaves) = pace.budget();
        if let Some(id) = leaves.and_then(|choice| self.any(choice)) {
            self.evict(id);
        }
        budget
    }

    /// Loads the wants of an operation.
    pub fn answer(&mut self, wanted: &[Want]) {
        assert!(!wanted.is_empty(), "an empty need");
        for (at, want) in wanted.iter().enumerate() {
            let is_table = want.segment().is_none() && !self.late.is_empty();
            let is_lacking = is_table || self.cache.lacks(*want);
            assert!(is_lacking, "{want:?} is asked for and in memory, or unknown");
            let is_it = |other: &Want| *other == *want || *other == want.whole();
            let before = wanted[..at].iter().any(is_it);
            assert!(!before, "{want:?} is asked for twice at once");
        }
        self.asked.extend(wanted.iter().filter_map(|want| want.segment()));
        self.wanted.extend(wanted);
        let order = match self.pace.take() {
            None => wanted.to_vec(),
            Some(mut pace) => {
                let order = pace.answer(wanted, |choice| self.any(choice));
                self.pace = Some(pace);
                order
            }
        };
        for want in order {
            self.load_part(want);
        }
    }

    /// Steps an operation to its end; `step` also returns the segments that it has made.
    pub(crate) fn steps<T>(
        &mut self,
        mut step: impl FnMut(&Cache, &mut Budget) -> (Result<Step<T>, Error>, Vec<Sealed>),
    ) -> Result<T, Error> {
        if let Some(pace) = &mut self.pace {
            pace.begin();
        }
        for _ in 0..MAX_STEPS {
            let mut budget = self.budget();
            self.cache.begin();
            let (result, sealed) = step(&self.cache, &mut budget);
            self.store(sealed);
            match result? {
                Step::Done(done) => return Ok(done),
                Step::Need(wanted) => self.answer(&wanted),
                Step::Yield => {}
            }
        }
        panic!("no end after {MAX_STEPS} steps");
    }

    /// Steps an operation that makes no segments.
    ///
    /// # Errors
    /// The errors of `step`.
    pub fn run<T>(
        &mut self,
        mut step: impl FnMut(&Cache, &mut Budget) -> Result<Step<T>, Error>,
    ) -> Result<T, Error> {
        let smooth = self.pace.is_none() && self.slice == usize::MAX;
        self.steps(|cache, budget| {
            let result = step(cache, budget);
            assert!(!smooth || !matches!(result, Ok(Step::Yield)), "a yield without need");
            (result, Vec::new())
        })
    }

    /// Runs a lookup, and loads the segments that it needs.
    ///
    /// # Errors
    /// The errors of `look`.
    pub fn fetch<T>(
        &mut self,
        mut look: impl FnMut(&Cache) -> Result<Fetch<T>, Error>,
    ) -> Result<T, Error> {
        self.run(|cache, _| {
            Ok(match look(cache)? {
                Fetch::Here(found) => Step::Done(found),
                Fetch::At(want) => Step::Need(vec![want]),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::issue;
    use hedgerow::tree::Range;

    const SMALL: Shape = Shape::with_target(128);

    #[test]
    fn a_host_reads_back_what_was_written() {
        let mut host = Host::new(SMALL);
        let rows: Rows = (0..100).map(issue).collect();
        host.put(&rows.clone().into_iter().collect::<Vec<_>>());
        host.reopen(0);
        assert_eq!(host.contents(), rows);
        let (key, value) = issue(7);
        assert_eq!(host.get(&key), Some(value.clone()));
        assert_eq!(host.get_many(&["no".to_owned(), key.clone()]), [None, Some(value)]);
        let before = host.tree();
        host.delete(std::slice::from_ref(&key));
        assert_eq!(host.diff(before, &Range::ALL), [(key, Some(issue(7).1), None)]);
        assert_eq!(host.count(&Range::ALL), 99);
        host.delete_range(&Range::prefix(b"issue"));
        assert_eq!((host.tree(), host.root), (Tree::EMPTY, Hash::ZERO));
    }

    #[test]
    fn a_host_with_a_pace_makes_the_same_commit() {
        let rows: Rows = (0..100).map(issue).collect();
        let smooth = Host::of(SMALL, &rows);
        for choices in [&[][..], &[0, 0xe0, 3, 1, 2, 7, 0xf7, 0xe1, 5], &[0xe0], &[8]] {
            let mut host = Host::new(SMALL);
            host.pace = Some(Pace::new(choices));
            host.put(&rows.clone().into_iter().collect::<Vec<_>>());
            assert_eq!(host.root, smooth.root, "{choices:?}");
            assert_eq!(host.contents(), rows, "{choices:?}");
            let is_apart = host.stored.values().all(|(_, table)| table.len() == 1);
            assert_eq!(is_apart, choices != [8], "{choices:?}");
        }
    }

    #[test]
    fn a_host_records_the_segments_that_were_asked_for() {
        let mut host = Host::of(SMALL, &(0..10).map(issue).collect());
        assert_eq!(host.asked, []);
        host.reopen(CACHE_BYTES);
        host.contents();
        let ids: Vec<_> = host.stored.keys().copied().collect();
        assert!(!host.asked.is_empty() && host.asked.iter().all(|id| ids.contains(id)));
        let (id, hash, bytes) = host.chunks().next().expect("a chunk");
        assert_eq!((id, hash), (ids[0], Hash::of(&bytes)));
    }

    #[test]
    #[should_panic(expected = "asked for and in memory")]
    fn a_host_refuses_a_need_of_a_segment_in_memory() {
        let mut host = Host::of(SMALL, &(0..10).map(issue).collect());
        let _ = host.run(|_, _| Ok(Step::<()>::Need(vec![Want::whole_of(1)])));
    }
}

//! A host that keeps segments in a map and steps operations to their end, either smoothly
//! or as badly as the protocol allows.

use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch, SegmentId};
use hedgerow::error::Error;
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::ingest::Ingest;
use hedgerow::segment::{Packer, Sealed, Stream, Table};
use hedgerow::step::{Budget, Step};
use std::collections::BTreeMap;

/// No operation of a fuzz target needs more steps, however small they are.
pub const MAX_STEPS: usize = 100_000;

/// How badly a host treats an operation; the choices are the bytes of an input, over and
/// over.
#[derive(Clone, Debug)]
pub struct Pace {
    choices: Vec<u8>,
    at: usize,
    /// How many segments may still be evicted: so many that all are, so few that it ends.
    evictions: usize,
}

impl Pace {
    /// A pace with these choices.
    pub fn new(choices: &[u8]) -> Self {
        Self { choices: choices.to_vec(), at: 0, evictions: 0 }
    }

    fn choice(&mut self) -> usize {
        self.at += 1;
        if self.choices.is_empty() { 0 } else { self.choices[self.at % self.choices.len()].into() }
    }
}

/// See the module's text.
pub struct Host {
    /// What is in memory.
    pub cache: Cache,
    /// What is stored: the bytes and the table of each segment.
    pub stored: BTreeMap<SegmentId, (Vec<u8>, Table)>,
    /// The trees of the last commit.
    pub forest: Forest,
    /// The hash of the last commit.
    pub root: Hash,
    /// The shape of nodes.
    pub shape: Shape,
    /// How to step; smoothly when `None`.
    pub pace: Option<Pace>,
    next: SegmentId,
}

impl Host {
    /// A host without rows.
    pub fn new(shape: Shape) -> Self {
        Self {
            cache: Cache::new(64 << 20),
            stored: BTreeMap::new(),
            forest: Forest::new(),
            root: Hash::ZERO,
            shape,
            pace: None,
            next: 1,
        }
    }

    /// Forgets everything in memory, as a new process would.
    pub fn reopen(&mut self, cache_bytes: usize) {
        self.cache = Cache::new(cache_bytes);
        for (id, (_, table)) in &self.stored {
            let table = Table::decode(table.bytes().to_vec()).expect("a table made here");
            self.cache.add_table(*id, table);
        }
    }

    /// Stores one chunk in a segment of its own.
    pub fn store_chunk(&mut self, bytes: &[u8]) -> Hash {
        let mut packer = Packer::new();
        let hash = packer.put(Stream::Leaf, |out| out.extend_from_slice(bytes));
        packer.seal();
        for Sealed { bytes, table } in packer.take_sealed() {
            self.cache.add_table(self.next, table.clone());
            self.stored.insert(self.next, (bytes, table));
            self.next += 1;
        }
        hash
    }

    fn store(&mut self, sealed: Vec<Sealed>) {
        for segment in sealed {
            if self.pace.is_some() {
                // As far apart as they can be.
                for at in 0..segment.table.len() {
                    let hash = self.store_chunk(&segment.bytes[segment.table.range(at)]);
                    assert_eq!(hash, segment.table.hash(at));
                }
                continue;
            }
            self.stored.insert(self.next, (segment.bytes.clone(), segment.table.clone()));
            self.cache.add_fresh(self.next, segment);
            self.cache.stored(self.next);
            self.next += 1;
        }
    }

    fn load(&mut self, id: SegmentId) {
        self.cache.load(id, self.stored[&id].0.clone());
    }

    /// Any stored segment.
    fn any(&self, choice: usize) -> Option<SegmentId> {
        let nth = choice % self.stored.len().max(1);
        self.stored.keys().nth(nth).copied()
    }

    fn evict(&mut self, id: SegmentId) {
        self.cache.remove(id);
        self.cache.add_table(id, self.stored[&id].1.clone());
    }

    fn budget(&mut self) -> Budget {
        let Some(pace) = &mut self.pace else { return Budget::of(usize::MAX) };
        let choice = pace.choice();
        if choice >= 0xe0 && pace.evictions > 0 {
            pace.evictions -= 1;
            let place = pace.choice();
            if let Some(id) = self.any(place) {
                self.evict(id);
            }
        }
        Budget::of([1, 1, 7, 64, 300, 4096, 1 << 16, usize::MAX][choice % 8])
    }

    fn answer(&mut self, ids: &[SegmentId]) {
        assert!(!ids.is_empty(), "an empty need");
        for (at, id) in ids.iter().enumerate() {
            assert!(self.cache.wants(*id), "{id} is asked for and in memory, or unknown");
            assert!(!ids[..at].contains(id), "{id} is asked for twice at once");
        }
        let Some(pace) = &mut self.pace else {
            for id in ids {
                self.load(*id);
            }
            return;
        };
        let (how, which) = (pace.choice(), pace.choice());
        let mut order = ids.to_vec();
        match how % 4 {
            0 => {}
            1 => order.reverse(),
            2 => order = vec![ids[which % ids.len()]],
            _ => order.splice(..0, self.any(which)).for_each(drop),
        }
        for id in order {
            self.load(id);
        }
    }

    /// Steps an operation to its end; `step` also hands over the segments that it has made.
    ///
    /// # Errors
    /// Those of `step`.
    pub fn run<T>(
        &mut self,
        mut step: impl FnMut(&Cache, &mut Budget) -> (Result<Step<T>, Error>, Vec<Sealed>),
    ) -> Result<T, Error> {
        if let Some(pace) = &mut self.pace {
            pace.evictions = 200;
        }
        for _ in 0..MAX_STEPS {
            let mut budget = self.budget();
            let (result, sealed) = step(&self.cache, &mut budget);
            self.store(sealed);
            match result? {
                Step::Done(done) => return Ok(done),
                Step::Need(ids) => self.answer(&ids),
                Step::Yield => {}
            }
        }
        panic!("no end after {MAX_STEPS} steps");
    }

    /// Steps an operation that makes no segments.
    ///
    /// # Errors
    /// Those of `step`.
    pub fn read<T>(
        &mut self,
        mut step: impl FnMut(&Cache, &mut Budget) -> Result<Step<T>, Error>,
    ) -> Result<T, Error> {
        self.run(|cache, budget| (step(cache, budget), Vec::new()))
    }

    /// Waits for something looked up at once.
    ///
    /// # Errors
    /// Those of `look`.
    pub fn fetch<T>(
        &mut self,
        mut look: impl FnMut(&Cache) -> Result<Fetch<T>, Error>,
    ) -> Result<T, Error> {
        self.read(|cache, _| {
            Ok(match look(cache)? {
                Fetch::Here(found) => Step::Done(found),
                Fetch::At(id) => Step::Need(vec![id]),
            })
        })
    }

    /// Goes on with an ingest until it waits for the next block.
    ///
    /// # Errors
    /// Those of [`Ingest::step`].
    pub fn ingest(&mut self, ingest: &mut Ingest) -> Result<(), Error> {
        self.run(|cache, budget| {
            let result = ingest.step(cache, budget);
            (result, ingest.sealed())
        })
    }

    /// Makes the commit of an ingest, and moves to it.
    ///
    /// # Errors
    /// Those of [`Ingest::step`].
    pub fn finish(&mut self, mut ingest: Ingest) -> Result<(), Error> {
        ingest.finish();
        self.ingest(&mut ingest)?;
        let (root, forest) = ingest.committed().expect("a commit after the last step");
        (self.root, self.forest) = (root, forest.clone());
        Ok(())
    }
}

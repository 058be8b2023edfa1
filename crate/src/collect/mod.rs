//! Collection: finds the chunks that no commit reaches, and frees their space.
//!
//! It is mark and copy, in steps. Segments whose chunks are all dead are deleted. Live chunks of mostly
//! dead segments, and of small ones if there are many, move into new segments. To know which nodes are
//! live, it reads internal nodes. To know which values are live, it must read leaves: it does so only
//! when dead values may take much space, and keeps all values until then.
//!
//! A chunk that is dead when the collection begins stays dead: a writer reuses only chunks that its
//! own commit reaches, and that commit is pinned. See `docs/reliability.md`.

mod marks;
mod moving;
mod walk;

use crate::cache::{Cache, SegmentId};
use crate::error::Error;
use crate::hash::Hash;
use crate::limits::SMALL_SEGMENT_BYTES;
use crate::segment::Sealed;
use crate::step::{Budget, Step};
use alloc::vec::Vec;
use marks::Marks;
use moving::Moving;
use walk::Walk;

/// Small segments are merged if there are at least this many.
const MANY: usize = 32;
/// The same for a full collection, which may leave one of each kind.
const FEW: usize = 4;
/// Leaves are read when values take this much more than twice the bytes that were last live.
const VALUE_SLACK: u64 = 4 << 20;

/// The thoroughness of a collection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thoroughness {
    /// Only marks: does not move or delete chunks.
    pub survey: bool,
    /// Reads leaves to know which values are live, and moves segments that are a sixteenth dead.
    pub full: bool,
    /// The store is idle: moves segments that are an eighth dead. Otherwise a quarter, to write less.
    pub rest: bool,
    /// Bytes of live values, as a collection that read leaves last counted them.
    pub values_before: u64,
}

/// The totals that a collection knows once it has marked live chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes of all stored chunks.
    pub stored: u64,
    /// Bytes of live chunks.
    pub live: u64,
    /// Bytes of live values out of line; where `exact` is false, of all segments that hold only values.
    pub values: u64,
    /// Whether it is known which values are live: leaves were read, or no chunk is dead.
    pub exact: bool,
}

/// The segments that the host stores and deletes in one transaction.
#[derive(Debug)]
pub struct Exchange {
    /// Segments to be deleted, once `sealed` are stored.
    pub gone: Vec<SegmentId>,
    /// Segments to be stored.
    pub sealed: Vec<Sealed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Nodes,
    Values,
    Moving,
}

/// Collection: finds the chunks that no commit reaches, and frees their space. Add commits, and
/// the segments to keep, before the first step.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::collect::{Collect, Thoroughness};
/// use hedgerow_support::host::Host;
/// use hedgerow_support::rows::issue;
///
/// let mut host = Host::of(Shape::STORED, &(0..100).map(issue).collect());
/// let survey = Thoroughness { survey: true, ..Thoroughness::default() };
/// let mut collect = Collect::new(&host.cache, survey);
/// collect.add_commit(host.root);
/// let exchange = host.run(|cache, budget| collect.step(cache, budget))?;
/// assert!(exchange.is_none(), "a survey only marks");
/// assert_eq!(collect.totals().live, collect.totals().stored);
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Collect {
    thoroughness: Thoroughness,
    marks: Marks,
    walk: Walk,
    state: State,
    totals: Totals,
    /// Segments to collect, the last one first; the result of a survey.
    chosen: Vec<SegmentId>,
    moving: Moving,
}

impl Collect {
    /// Begins a collection of the segments that are stored now, as the cache knows them.
    #[must_use]
    pub fn new(cache: &Cache, thoroughness: Thoroughness) -> Self {
        Self {
            thoroughness,
            marks: Marks::new(cache),
            walk: Walk::default(),
            state: State::Nodes,
            totals: Totals::default(),
            chosen: Vec::new(),
            moving: Moving::default(),
        }
    }

    /// Adds a commit: all chunks that it reaches are live.
    pub fn add_commit(&mut self, commit: Hash) {
        self.walk.add(commit);
    }

    /// Adds a commit that a tab has pinned: its chunks that are still stored are live. Some may be deleted already.
    pub fn add_pinned(&mut self, commit: Hash) {
        self.walk.add_pinned(commit);
    }

    /// Copies as little as possible at a time, because little space is left.
    pub fn spare_room(&mut self) {
        self.moving.spare_room();
    }

    /// Keeps the segments `from..to`: a change that is not committed yet may need them.
    pub fn keep(&mut self, from: SegmentId, to: SegmentId) {
        self.marks.keep(from, to);
    }

    /// Returns the totals, once the first step is done.
    #[must_use]
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns, after a survey, the segments with live chunks, in descending order.
    #[must_use]
    pub fn surveyed(&self) -> &[SegmentId] {
        if self.thoroughness.survey { &self.chosen } else { &[] }
    }

    /// Continues until the host must exchange segments; `None` at the end. If an exchange fails, the
    /// host may skip it. Costs a read of the internal nodes and of the moved chunks.
    ///
    /// # Errors
    /// As [`Cache::node`]: a collection that does not know all live chunks deletes no segment.
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
    ) -> Result<Step<Option<Exchange>>, Error> {
        let Self { marks, walk, .. } = self;
        if self.state == State::Nodes {
            match walk.nodes(cache, marks, budget)? {
                Step::Done(()) => self.choose_way(),
                Step::Need(wanted) => return Ok(Step::Need(wanted)),
                Step::Yield => return Ok(Step::Yield),
            }
        }
        let Self { marks, walk, .. } = self;
        if self.state == State::Values {
            match walk.values(cache, marks, budget)? {
                Step::Done(()) => self.state = State::Moving,
                Step::Need(wanted) => return Ok(Step::Need(wanted)),
                Step::Yield => return Ok(Step::Yield),
            }
            self.count();
            self.choose();
        }
        while let Some(id) = self.chosen.last() {
            // Segments without live chunks come first, in exchanges without copies: these need no space.
            let copies = self.marks.find(*id).is_some_and(|segment| segment.live > 0);
            let is_full = self.moving.is_full() || (copies && self.moving.frees_only());
            if self.thoroughness.survey || (is_full && !self.moving.is_midway()) {
                break;
            }
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let exact = self.totals.exact;
            match self.moving.take(cache, &self.marks, *id, exact, budget) {
                Step::Done(()) => self.chosen.pop(),
                Step::Need(wanted) => return Ok(Step::Need(wanted)),
                Step::Yield => return Ok(Step::Yield),
            };
        }
        let (gone, sealed) = self.moving.finish();
        Ok(Step::Done((!gone.is_empty()).then_some(Exchange { gone, sealed })))
    }

    /// Decides, after the nodes, whether leaves must be read.
    fn choose_way(&mut self) {
        self.count();
        let Thoroughness { full, values_before, .. } = self.thoroughness;
        let grown = self.totals.values > 2 * values_before + VALUE_SLACK;
        let segments = &self.marks.segments;
        let is_unsure = segments.iter().any(|segment| segment.dead() > 0);
        self.totals.exact = !is_unsure || full || grown;
        self.state = if is_unsure && self.totals.exact { State::Values } else { State::Moving };
        if self.state == State::Moving {
            self.count();
            self.choose();
        }
    }

    fn count(&mut self) {
        let segments = &self.marks.segments;
        let sum = |of: fn(&marks::Marked) -> u64| segments.iter().map(of).sum::<u64>();
        let exact = self.totals.exact;
        let values = |segment: &marks::Marked| if segment.only_values { segment.bytes } else { 0 };
        let live_values =
            |segment: &marks::Marked| if segment.only_values { segment.live } else { 0 };
        self.totals = Totals {
            stored: sum(|segment| segment.bytes),
            live: sum(|segment| segment.live) + if exact { 0 } else { sum(values) },
            values: sum(if exact { live_values } else { values }),
            exact,
        };
    }

    fn choose(&mut self) {
        let Thoroughness { survey, full, rest, .. } = self.thoroughness;
        let exact = self.totals.exact;
        let part = match (full, rest) {
            (true, _) => 16,
            (false, true) => 8,
            (false, false) => 4,
        };
        // A segment that names chunks at a remote is never copied.
        let is_named = |segment: &marks::Marked| segment.has_remote && segment.is_used();
        let free = |segment: &marks::Marked| {
            !segment.kept && (exact || !segment.only_values) && !is_named(segment)
        };
        let is_small = |segment: &marks::Marked| segment.bytes < SMALL_SEGMENT_BYTES as u64;
        let segments = &self.marks.segments;
        let small = segments.iter().filter(|segment| free(segment) && is_small(segment)).count();
        let merges = small >= if full { FEW } else { MANY };
        let is_chosen = |segment: &&marks::Marked| {
            let goes = segment.dead() * part >= segment.bytes || (merges && is_small(segment));
            if survey { segment.is_used() } else { free(segment) && goes }
        };
        self.chosen.clear();
        // The last one is taken first, so dead segments are pushed last.
        for is_dead in [false, true] {
            for segment in segments.iter().rev() {
                if is_chosen(&segment) && (segment.live == 0) == is_dead {
                    self.chosen.push(segment.id);
                }
            }
        }
    }
}

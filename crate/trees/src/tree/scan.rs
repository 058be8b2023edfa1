//! Writes the entries of a range to an [`Output`], in slices.

use crate::cache::{Cache, Fetch, Want};
use crate::error::Error;
use crate::node::Entry;
use crate::output::Output;
use crate::step::{Budget, Step};
use crate::tree::{Cursor, Range, Tree, ValueReader};
use crate::value::Kind;
use alloc::vec::Vec;

/// The parts of an entry that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Its key.
    pub keys: bool,
    /// Its value.
    pub values: bool,
}

/// The most segments that are asked for at once, or loaded while others are read.
const MOST_AHEAD: usize = 8;

/// Writes the entries of a range to an [`Output`], in slices.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::output::Output;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::{Parts, Range, Scan};
///
/// let (cache, [tree]) = store([&[("ann", "41"), ("bob", "35"), ("cy", "7")]]);
/// let parts = Parts { keys: true, values: true };
/// let mut scan = Scan::new(tree, Range::ALL, true, 2, parts);
/// let mut out = Output::new();
/// assert_eq!(scan.step(&cache, &mut Budget::of(1 << 20), &mut out), Ok(Step::Done(())));
/// out.close();
/// assert_eq!(out.keys, br#"["cy",null,"bob",null]"#);
/// assert_eq!(out.text, b"[7,35]");
/// ```
#[derive(Clone, Debug)]
pub struct Scan {
    cursor: Cursor,
    reverse: bool,
    parts: Parts,
    left: u64,
    /// How many segments to ask for at once: doubled each time, so that a short scan reads
    /// little and a long one waits rarely.
    ahead: usize,
    /// The number of entries of the last leaf; 0 before the first leaf, when a scan does not read ahead.
    leaf_len: usize,
    reading: Option<(Kind, ValueReader)>,
}

impl Scan {
    /// Begins a scan of at most `limit` entries of `range`, in descending order when `reverse`.
    #[must_use]
    pub fn new(tree: Tree, range: Range, reverse: bool, limit: u64, parts: Parts) -> Self {
        let cursor = Cursor::new(tree, range, reverse);
        Self { cursor, reverse, parts, left: limit, ahead: 2, leaf_len: 0, reading: None }
    }

    /// Skips the first `count` entries: see [`Cursor::skip`].
    #[must_use]
    pub const fn after(mut self, count: u64) -> Self {
        self.cursor.skip(count);
        self
    }

    /// Lists the segments that the scan will need next and that are not in memory; empty until the scan
    /// has proved to be long. A host may load them while it hands out the current output.
    #[must_use]
    pub fn ahead(&self, cache: &Cache) -> Vec<Want> {
        if self.ahead < MOST_AHEAD.min(cache.window()) || self.left == 0 {
            return Vec::new();
        }
        self.cursor.ahead(cache, None, self.bounded(self.ahead / 2))
    }

    /// Returns `most`, or the number of leaves to come if that is lower, as estimated by the last leaf.
    fn bounded(&self, most: usize) -> usize {
        let leaves = self.left.div_ceil(self.leaf_len.max(1) as u64);
        usize::try_from(leaves).map_or(most, |leaves| most.min(leaves))
    }

    /// Adds entries to `out` until the end (`Done`), the end of the budget (`Yield`) or a missing segment
    /// (`Need`). Unless it is done, `out` may end in the middle of a value: see [`Output::is_partial`].
    /// Costs one copy of the bytes that it writes.
    ///
    /// # Errors
    /// As [`Cache::node`]; `out` then has the entries before the fault.
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        out: &mut Output,
    ) -> Result<Step<()>, Error> {
        loop {
            if let Some((kind, reader)) = &mut self.reading {
                match reader.step(cache, budget, out.part(*kind))? {
                    Step::Done(()) => out.end(*kind),
                    waiting => return Ok(waiting),
                }
                self.reading = None;
            }
            if self.left == 0 {
                return Ok(Step::Done(()));
            }
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let run = match self.cursor.run(cache)? {
                Fetch::Here(None) => return Ok(Step::Done(())),
                Fetch::Here(Some(run)) => run,
                // A short scan ends in its first leaf, or in the next.
                Fetch::At(want) if self.leaf_len == 0 || self.bounded(2) == 1 => {
                    return Ok(Step::Need(Vec::from([want])));
                }
                Fetch::At(want) => {
                    self.ahead = (self.ahead * 2).min(cache.window()).min(MOST_AHEAD);
                    let most = self.bounded(self.ahead);
                    return Ok(Step::Need(self.cursor.ahead(cache, Some(want), most)));
                }
            };
            self.leaf_len = run.leaf.len();
            let mut done = 0;
            let before = out.len();
            while run.from + done < run.to && self.left > 0 && self.reading.is_none() {
                let index = if self.reverse { run.to - 1 - done } else { run.from + done };
                let entry = run.leaf.entry(index);
                done += 1;
                self.left -= 1;
                self.reading = write(&entry, self.parts, out);
                if out.len() - before >= 16 << 10 {
                    break;
                }
            }
            budget.spend(out.len() - before + done * 32);
            self.cursor.advance(done);
        }
    }
}

/// Writes the wanted parts of `entry`. If its value is out of line, returns a reader that must write it.
pub fn write(entry: &Entry<'_>, parts: Parts, out: &mut Output) -> Option<(Kind, ValueReader)> {
    if parts.keys {
        out.key(&entry.key);
    }
    if !parts.values {
        return None;
    }
    let kind = entry.tag.kind;
    if let Some(reading) = entry.value_ref() {
        out.begin(kind);
        return Some((kind, ValueReader::new(reading)));
    }
    out.value(kind, |text| text.extend_from_slice(entry.value));
    None
}

//! Reads rows in the order of an index: entries of a range, and the row of each.
//!
//! Entries are gathered in blocks, small ones first. Segments that the rows of a block need
//! are asked for together.

use crate::cache::{Cache, Fetch, Want};
use crate::error::Error;
use crate::index::encode::NULL_KEY;
use crate::index::{Entries, secondary_end, write_secondary};
use crate::output::Output;
use crate::step::{Budget, Step};
use crate::tree::{Cursor, Parts, Range, Tree, ValueReader, get, leaf_hash_of, write};
use crate::value::Kind;
use alloc::vec::Vec;

const FIRST_BLOCK: usize = 32;
const LARGEST_BLOCK: usize = 1024;
/// The secondary key null in an output with values, whose places null marks: see [`Output`].
const NULL_BESIDE_VALUES: &[u8] = b"[]";
/// The most segments that are asked for at once.
const MOST_AHEAD: usize = 8;

/// Reads rows in the order of an index: entries of a range, and the row of each. The output has the
/// wanted parts of each row, and then its secondary key if that is wanted.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::index::{Definition, IndexScan, Wanted};
/// use hedgerow::output::Output;
/// use hedgerow::tree::{Parts, Range};
/// use hedgerow_support::host::Host;
///
/// let by_age = Definition::parse(r#"["","/age"]"#).unwrap();
/// let rows = [("ann", r#"{"age":41}"#), ("bob", r#"{"age":35}"#)];
/// let rows = rows.map(|(key, row)| (key.to_owned(), row.to_owned()));
/// let mut host = Host::indexed(Shape::STORED, &[by_age], &rows.into());
///
/// let index = host.forest.indexes().next().unwrap().tree;
/// let parts = Parts { keys: true, values: false };
/// let wanted = Wanted { parts, secondary: true, reverse: false, limit: u64::MAX };
/// let mut scan = IndexScan::new(index, 1, host.tree(), Range::ALL, wanted);
/// let mut out = Output::new();
/// host.run(|cache, budget| scan.step(cache, budget, &mut out))?;
/// out.close();
/// assert_eq!(out.keys, br#"["bob",35,"ann",41]"#);
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
#[derive(Debug)]
pub struct IndexScan {
    cursor: Cursor,
    index: Tree,
    rows: Tree,
    columns: usize,
    reverse: bool,
    parts: Parts,
    secondary: bool,
    left: u64,
    block: usize,
    entries: Entries,
    /// How many of `entries` were written.
    next: usize,
    reading: Option<(Kind, ValueReader)>,
}

/// The parts of each row that are wanted, the order, and the number of rows.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The parts of the row.
    pub parts: Parts,
    /// Whether the secondary key is wanted.
    pub secondary: bool,
    /// Whether the order is descending.
    pub reverse: bool,
    /// The most rows.
    pub limit: u64,
}

impl IndexScan {
    /// Begins a scan of the entries of `index` that are in `range`. The index has `columns` columns.
    #[must_use]
    pub fn new(index: Tree, columns: usize, rows: Tree, range: Range, wanted: Wanted) -> Self {
        let Wanted { parts, secondary, reverse, limit } = wanted;
        Self {
            cursor: Cursor::new(index, range, reverse),
            index,
            rows,
            columns,
            reverse,
            parts,
            secondary,
            left: limit,
            block: FIRST_BLOCK,
            entries: Entries::default(),
            next: 0,
            reading: None,
        }
    }

    /// Skips the first `count` entries, as [`Scan::after`](crate::tree::Scan::after).
    #[must_use]
    pub const fn after(mut self, count: u64) -> Self {
        self.cursor.skip(count);
        self
    }

    /// Continues as [`Scan::step`](crate::tree::Scan::step). Costs a descent for each row, unless
    /// only keys are wanted.
    ///
    /// # Errors
    /// As [`Cache::node`]; [`Error::CorruptChunk`] if an entry is malformed or has no row.
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        out: &mut Output,
    ) -> Result<Step<()>, Error> {
        loop {
            if self.next == self.entries.len() {
                match self.gather(cache, budget)? {
                    Step::Done(true) => {}
                    Step::Done(false) => return Ok(Step::Done(())),
                    Step::Need(wanted) => return Ok(Step::Need(wanted)),
                    Step::Yield => return Ok(Step::Yield),
                }
            }
            while self.next < self.entries.len() {
                if budget.is_over(cache) && self.reading.is_none() {
                    return Ok(Step::Yield);
                }
                let before = out.len();
                match self.write(cache, budget, out)? {
                    Step::Done(()) => {}
                    waiting => return Ok(waiting),
                }
                self.next += 1;
                budget.spend(64 + out.len() - before);
            }
        }
    }

    /// Gathers the next block of entries; returns whether there are any.
    fn gather(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<bool>, Error> {
        self.entries.clear();
        self.next = 0;
        let most = self.left.min(self.block as u64) as usize;
        while self.entries.len() < most {
            if budget.is_over(cache) {
                if self.entries.is_empty() {
                    return Ok(Step::Yield);
                }
                break;
            }
            let run = match self.cursor.run(cache)? {
                Fetch::Here(None) => break,
                Fetch::Here(Some(run)) => run,
                Fetch::At(_) if !self.entries.is_empty() => break,
                Fetch::At(want) => {
                    // The first block may be enough: do not load much ahead.
                    if self.block == FIRST_BLOCK {
                        return Ok(Step::Need(Vec::from([want])));
                    }
                    let most = MOST_AHEAD / 2;
                    return Ok(Step::Need(self.cursor.ahead(cache, Some(want), most)));
                }
            };
            let count = (run.to - run.from).min(most - self.entries.len());
            for at in 0..count {
                let index = if self.reverse { run.to - 1 - at } else { run.from + at };
                self.entries.push(|bytes| {
                    bytes.extend_from_slice(run.leaf.key(index));
                    true
                });
            }
            budget.spend(32 * count);
            self.cursor.advance(count);
        }
        self.left -= self.entries.len() as u64;
        self.block = (2 * self.block).min(LARGEST_BLOCK);
        Ok(Step::Done(!self.entries.is_empty()))
    }

    /// Writes the row of the next entry.
    fn write(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        out: &mut Output,
    ) -> Result<Step<()>, Error> {
        let malformed = Error::CorruptChunk { hash: self.index.root, cause: None };
        let entry = self.entries.get(self.next);
        let Some(end) = secondary_end(&entry, self.columns) else { return Err(malformed) };
        let (secondary, primary) = entry.bytes().split_at(end);
        let Parts { keys, values } = self.parts;
        if self.reading.is_none() {
            let row = if values {
                match get(cache, self.rows, primary)? {
                    Fetch::Here(Some(row)) => Some(row),
                    Fetch::Here(None) => return Err(malformed),
                    Fetch::At(want) => return Ok(Step::Need(self.ahead(cache, want))),
                }
            } else {
                None
            };
            if keys {
                out.key(primary);
            }
            if let Some(row) = row {
                self.reading = write(&row, Parts { keys: false, values }, out);
            }
        }
        if let Some((kind, reader)) = &mut self.reading {
            match reader.step(cache, budget, out.part(*kind))? {
                Step::Done(()) => out.end(*kind),
                waiting => return Ok(waiting),
            }
            self.reading = None;
        }
        if self.secondary {
            out.say(|text| {
                if values && self.columns == 1 && secondary == NULL_KEY {
                    text.extend_from_slice(NULL_BESIDE_VALUES);
                } else {
                    write_secondary(secondary, self.columns, text);
                }
            });
        }
        Ok(Step::Done(()))
    }

    /// Returns `first`, and the other wants of the rows of this block.
    fn ahead(&self, cache: &Cache, first: Want) -> Vec<Want> {
        let mut last = None;
        let mut rest = (self.next + 1..self.entries.len()).filter_map(|at| {
            let entry = self.entries.get(at).bytes();
            let primary = &entry[secondary_end(entry, self.columns).unwrap_or(0)..];
            match leaf_hash_of(cache, self.rows, primary) {
                Ok(Fetch::At(want)) => Some(Fetch::At(want)),
                // Rows of one leaf need it once.
                Ok(Fetch::Here(leaf)) if leaf != last => {
                    last = leaf;
                    leaf.map(Fetch::Here)
                }
                _ => None,
            }
        });
        cache.parts(first, &mut rest)
    }
}

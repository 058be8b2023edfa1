//! Checks that an index has exactly the entries that its rows yield.
//!
//! Both are read once, in the order in which they are stored. Each entry is hashed under a random key, and the hashes
//! of each side are added up. Equal entries give equal sums; different entries do so with a chance of one in 2^128. So
//! the check needs no sort and no look-up, and its memory does not grow with the rows.

use crate::cache::{Cache, Fetch};
use crate::error::Error;
use crate::forest::Named;
use crate::hash::Hash;
use crate::index::{Definition, Entries, Members};
use crate::secret::Secret;
use crate::step::{Budget, Step};
use crate::tree::{Cursor, Range, Tree, ValueReader};
use crate::value::Kind;
use alloc::vec::Vec;
use core::ops::Bound;

/// Checks that an index has exactly the entries that its rows yield.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::index::{CheckIndex, Definition};
/// use hedgerow_support::host::Host;
/// use hedgerow_support::rows::issue;
///
/// let by_owner = Definition::parse(r#"["issue/","/owner"]"#).unwrap();
/// let rows = (0..100).map(issue).collect();
/// let mut host = Host::indexed(Shape::STORED, &[by_owner], &rows);
/// let index = host.forest.indexes().next().unwrap();
/// let mut check = CheckIndex::new(index, host.tree(), [7; 32]).unwrap();
/// assert!(host.run(|cache, budget| check.step(cache, budget))?);
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
#[derive(Debug)]
pub struct CheckIndex {
    definition: Definition,
    key: [u8; 32],
    rows: Cursor,
    index: Cursor,
    made: u128,
    held: u128,
    entries: Entries,
    members: Members,
    /// A value out of line that is being read.
    reading: Option<ValueReader>,
    text: Vec<u8>,
}

impl CheckIndex {
    /// Begins a check of `index` against `rows`, up to its reach. `key` is random. `None` if this code
    /// does not know the definition of the index.
    #[must_use]
    pub fn new(index: &Named, rows: Tree, key: [u8; 32]) -> Option<Self> {
        let (definition, _) = Definition::of_tree(&index.name)?;
        let reach = index.reach.clone().map_or(Bound::Unbounded, Bound::Included);
        let (words, _) = key.as_chunks();
        let [low, high] = [words[0], words[1]].map(u64::from_le_bytes);
        let range = definition.range().and(Range { lower: Bound::Unbounded, upper: reach });
        Some(Self {
            definition,
            key,
            rows: Cursor::new(rows, range, false),
            index: Cursor::new(index.tree, Range::ALL, false),
            made: 0,
            held: 0,
            entries: Entries::default(),
            members: Members::new(Secret::new(low, high)),
            reading: None,
            text: Vec::new(),
        })
    }

    /// Continues; returns whether the index is right. Costs a pass over both, and over the values of
    /// the rows.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<bool>, Error> {
        loop {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let run = match self.rows.run(cache)? {
                Fetch::At(want) => return Ok(Step::Need(self.rows.ahead(cache, Some(want), 8))),
                Fetch::Here(Some(run)) => run,
                Fetch::Here(None) => break,
            };
            let entry = run.leaf.entry(run.from);
            let mut text = entry.value;
            if let Some(value_ref) = entry.value_ref().filter(|_| entry.tag.kind == Kind::Json) {
                match self.reading.get_or_insert(ValueReader::new(value_ref)).step(
                    cache,
                    budget,
                    &mut self.text,
                )? {
                    Step::Done(()) => text = &self.text,
                    Step::Need(wanted) => return Ok(Step::Need(wanted)),
                    Step::Yield => return Ok(Step::Yield),
                }
            }
            if entry.tag.kind == Kind::Json {
                let Self { definition, members, entries, .. } = self;
                budget.spend(definition.entries(&entry.key, text, members, entries));
            }
            budget.spend(64 + text.len() + entry.key.len());
            for made in self.entries.iter() {
                budget.spend(64 + made.len());
                self.made = self.made.wrapping_add(hash(&self.key, &made));
            }
            self.entries.clear();
            self.reading = None;
            self.text.clear();
            self.rows.advance(1);
        }
        loop {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let run = match self.index.run(cache)? {
                Fetch::At(want) => return Ok(Step::Need(self.index.ahead(cache, Some(want), 8))),
                Fetch::Here(Some(run)) => run,
                Fetch::Here(None) => return Ok(Step::Done(self.made == self.held)),
            };
            let entry = run.leaf.entry(run.from);
            // Entries of an index have empty values.
            if entry.tag.kind != Kind::Bytes || !entry.value.is_empty() {
                return Ok(Step::Done(false));
            }
            budget.spend(64 + entry.key.len());
            self.held = self.held.wrapping_add(hash(&self.key, &entry.key));
            self.index.advance(1);
        }
    }
}

fn hash(key: &[u8; 32], entry: &[u8]) -> u128 {
    let mut half = [0; 16];
    half.copy_from_slice(&Hash::keyed(key, entry).0[..16]);
    u128::from_le_bytes(half)
}

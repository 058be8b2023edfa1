//! Turns the updates of a sorted batch into puts, so that one merge applies all edits.
//!
//! An update adds the members of an object to the existing object, or to an empty one: `{ ...existing, ...merge }`, in
//! JavaScript's order of members. Then it removes members by their names, and, if names to keep are given, all others.
//! The existing object comes from the last put or deletion of the key in the batch, or else from the tree, which is
//! read leaf by leaf in the order of keys.
//!
//! Updates of one key are gathered and applied together: at the last one, or when their texts exceed half
//! of the object and 4 KiB. So the cost of many updates is in proportion to their bytes.

use crate::batch::{Batch, Edit};
use crate::cache::{Cache, Fetch};
use crate::error::{Error, RowFault};
use crate::json::{Constraints, JsonFault, Scanner, append_members, skip_value};
use crate::limits::MAX_VALUE_BYTES;
use crate::node::Leaf;
use crate::rows::{DROPS, UPDATE_HEADER_BYTES};
use crate::step::{Budget, Step};
use crate::tree::multi_get::leaf_of;
use crate::tree::plan::Plan;
use crate::tree::{Tree, ValueReader};
use crate::value::{Kind, Value, ValueRef};
use alloc::vec::Vec;

/// Bytes of updates that are gathered even for a small object.
const GATHERED_BYTES: usize = 4 << 10;

/// Turns the updates of a sorted batch into puts, so that one merge applies all edits.
#[derive(Debug)]
pub struct ResolveUpdates {
    from: Batch,
    /// The next edit.
    next: usize,
    /// The resolved edits: puts and deletions.
    pub out: Batch,
    tree: Tree,
    plan: Plan,
    /// A value out of line that is being read into `object`.
    reading: Option<(Kind, ValueReader)>,
    /// The object of the current key.
    pending: Pending,
    is_open: bool,
    spare: Vec<u8>,
}

/// An object without its closing brace, and updates of it that are not applied yet.
#[derive(Debug, Default)]
struct Pending {
    /// The members of the object and of updates, where names may be repeated.
    object: Vec<u8>,
    /// Bytes of `object` without the updates.
    settled: usize,
    constraints: Constraints,
    scanner: Scanner,
}

/// The value that an update should change is not an object.
struct NoObject;

impl From<JsonFault> for NoObject {
    fn from(_: JsonFault) -> Self {
        Self
    }
}

impl Pending {
    /// Starts with the existing value, if any.
    fn open(&mut self, base: Option<(Kind, &[u8])>) -> Result<(), NoObject> {
        self.constraints.clear();
        self.object.clear();
        self.object.push(b'{');
        match base {
            None => {}
            Some((Kind::Json, value)) => drop(append_members(value, &mut self.object)?),
            Some((Kind::Bytes, _)) => return Err(NoObject),
        }
        self.settled = self.object.len();
        Ok(())
    }

    /// Adds the text of an update.
    fn take(&mut self, text: &[u8]) -> Result<(), NoObject> {
        let mut at = append_members(text, &mut self.object)?;
        while at < text.len() {
            let drops = text[at] == DROPS;
            let start = at + usize::from(drops);
            at = skip_value(text, start)?;
            self.constraints.add(self.object.len(), &text[start..at], !drops);
        }
        Ok(())
    }

    /// Returns whether enough updates were added to apply them.
    fn is_full(&self) -> bool {
        let taken = self.object.len() - self.settled + self.constraints.bytes();
        taken > GATHERED_BYTES + self.settled / 2
    }

    /// Applies the updates and brings the object to normal form. Leaves it without its closing brace
    /// unless this was the `last` update. Costs one or two passes over it.
    fn settle(&mut self, last: bool, spare: &mut Vec<u8>) -> Result<(), NoObject> {
        let Self { object, constraints, scanner, .. } = self;
        object.push(b'}');
        if !constraints.is_empty() {
            constraints.keep(object, spare)?;
            core::mem::swap(object, spare);
            constraints.clear();
        }
        if !scanner.scan(object, 0, None)?.normal {
            object.clear();
            object.extend_from_slice(scanner.normalized());
        }
        if !last {
            object.pop();
        }
        self.settled = object.len();
        Ok(())
    }
}

impl ResolveUpdates {
    /// Resolves the updates of a sorted batch.
    #[must_use]
    pub fn new(from: Batch) -> Self {
        Self {
            from,
            next: 0,
            out: Batch::new(),
            tree: Tree::EMPTY,
            plan: Plan::default(),
            reading: None,
            pending: Pending::default(),
            is_open: false,
            spare: Vec::new(),
        }
    }

    /// Sets the tree from which existing rows are read from now on.
    pub fn read_from(&mut self, tree: Tree) {
        self.tree = tree;
        self.plan = Plan::part(tree, self.next, self.from.len());
    }

    /// Returns whether all edits are resolved.
    pub const fn is_over(&self) -> bool {
        self.next == self.from.len()
    }

    /// Continues until all updates are resolved, or `out` takes more than `most` bytes. Then `out` is sorted
    /// and has no updates; merge it before the next step.
    ///
    /// # Errors
    /// [`Error::Row`] for an update of a value that is not an object; as [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        most: usize,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        match self.plan.step(cache, &self.from, budget)? {
            Step::Done(()) => {}
            waiting => return Ok(waiting),
        }
        // The last leaf that was read, and the first index in it where the next key may be.
        let mut leaf: Option<(Leaf<'_>, usize)> = None;
        while self.next < self.from.len() && self.out.held_bytes() <= most {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let at = self.next;
            let edit = self.from.edit(at);
            if !matches!(edit, Edit::Update(_)) {
                self.next += 1;
                let base = match edit {
                    Edit::Put(value) => Some((value.kind(), value.bytes())),
                    _ => None,
                };
                budget.spend(64 + base.map_or(0, |(_, value)| value.len()));
                if !self.continues(at) {
                    self.out.push(self.from.key(at), edit);
                    continue;
                }
                self.is_open = true;
                if self.pending.open(base).is_err() {
                    return Err(self.refused(RowFault::NotObject));
                }
                continue;
            }
            if !self.is_open {
                match self.read(cache, &mut leaf, budget)? {
                    Step::Done(Ok(())) => self.is_open = true,
                    Step::Done(Err(NoObject)) => return Err(self.refused(RowFault::NotObject)),
                    Step::Need(wanted) => return Ok(Step::Need(wanted)),
                    Step::Yield => return Ok(Step::Yield),
                }
            }
            let last = !self.continues(at);
            let Self { from, pending, spare, .. } = self;
            let Edit::Update(update) = from.edit(at) else { continue };
            budget.spend(64 + update.len());
            let mut taken = pending.take(&update[UPDATE_HEADER_BYTES..]);
            if taken.is_ok() && (last || pending.is_full()) {
                budget.spend(2 * pending.object.len());
                taken = pending.settle(last, spare);
                if pending.settled > MAX_VALUE_BYTES {
                    return Err(self.refused(RowFault::ValueTooLarge));
                }
            }
            if taken.is_err() {
                return Err(self.refused(RowFault::NotObject));
            }
            if last {
                let value = Value::trusted(Kind::Json, &self.pending.object);
                self.out.push(self.from.key(at), Edit::Put(value));
                self.is_open = false;
            }
            self.next += 1;
        }
        self.out.close_run();
        Ok(Step::Done(()))
    }

    /// Returns whether the edit after the one at `at` is an update of the same key.
    fn continues(&self, at: usize) -> bool {
        let Self { from, .. } = self;
        at + 1 < from.len()
            && matches!(from.edit(at + 1), Edit::Update(_))
            && from.key(at + 1) == from.key(at)
    }

    /// Reads the value of the next edit's key from the tree, and opens it.
    fn read<'c>(
        &mut self,
        cache: &'c Cache,
        last: &mut Option<(Leaf<'c>, usize)>,
        budget: &mut Budget,
    ) -> Result<Step<Result<(), NoObject>>, Error> {
        if let Some((kind, reader)) = &mut self.reading {
            match reader.step(cache, budget, &mut self.spare)? {
                Step::Done(()) => {}
                Step::Need(wanted) => return Ok(Step::Need(wanted)),
                Step::Yield => return Ok(Step::Yield),
            }
            let opened = self.pending.open(Some((*kind, &self.spare)));
            budget.spend(self.spare.len());
            self.reading = None;
            return Ok(Step::Done(opened));
        }
        let key = self.from.key(self.next);
        let found = match last {
            Some((leaf, at)) if *at < leaf.len() => match leaf.search(*at, &key) {
                // The key may be in a later leaf.
                Err(at) if at == leaf.len() => None,
                found => Some((*leaf, found)),
            },
            _ => None,
        };
        let (leaf, found) = match found {
            Some(found) => found,
            None => match leaf_of(cache, self.tree, &key)? {
                Fetch::At(want) => return Ok(Step::Need(self.plan.ahead(cache, want, self.next))),
                Fetch::Here(None) => return Ok(Step::Done(self.pending.open(None))),
                Fetch::Here(Some(leaf)) => {
                    budget.spend(256);
                    (leaf, leaf.search(0, &key))
                }
            },
        };
        let (Ok(at) | Err(at)) = found;
        *last = Some((leaf, at));
        if found.is_err() {
            return Ok(Step::Done(self.pending.open(None)));
        }
        let entry = leaf.entry(at);
        if entry.tag.is_ref {
            self.spare.clear();
            self.reading = Some((entry.tag.kind, ValueReader::new(ValueRef::read(entry.value))));
            return self.read(cache, last, budget);
        }
        budget.spend(entry.value.len());
        Ok(Step::Done(self.pending.open(Some((entry.tag.kind, entry.value)))))
    }

    /// Returns the error for the next edit, an update that cannot be resolved.
    fn refused(&self, fault: RowFault) -> Error {
        let mut words = [0; 2];
        if self.next < self.from.len()
            && let Edit::Update(update) = self.from.edit(self.next)
        {
            for (word, bytes) in words.iter_mut().zip(update.chunks_exact(8)) {
                *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            }
        }
        let [row, offset] = words;
        Error::Row { row, offset, fault }
    }
}

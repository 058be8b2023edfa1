//! The entries that a changed row removes from indexes, and the entries that it adds.

use super::pending::PendingIndex;
use crate::batch::Edit;
use crate::cache::Cache;
use crate::error::Error;
use crate::index::{Entries, Members};
use crate::node::Entry;
use crate::step::{Budget, Step};
use crate::tree::{Tree, ValueReader};
use crate::value::Kind;
use alloc::vec::Vec;

/// The purpose of a walk over rows.
#[derive(Debug)]
pub(super) enum Goal {
    /// Updates the indexes of the first tree to the second.
    Rows(Tree, Tree),
    /// Extends partial indexes; the number is the work left for it, in bytes.
    Reach(usize),
}

/// Reads the text of a value that is out of line.
#[derive(Debug, Default)]
struct Text {
    reader: Option<ValueReader>,
    bytes: Vec<u8>,
    whole: bool,
}

impl Text {
    fn read(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        entry: Option<&Entry<'_>>,
    ) -> Result<Step<()>, Error> {
        let value_ref =
            entry.filter(|entry| entry.tag.kind == Kind::Json).and_then(Entry::value_ref);
        let Some(value_ref) = value_ref.filter(|_| !self.whole) else { return Ok(Step::Done(())) };
        let reader = self.reader.get_or_insert_with(|| ValueReader::new(value_ref));
        let step = reader.step(cache, budget, &mut self.bytes)?;
        self.whole = step == Step::Done(());
        Ok(step)
    }

    /// Returns the text of the value; `None` for a byte value, which no pointer can point into.
    fn of<'a>(&'a self, entry: &Entry<'a>) -> Option<&'a [u8]> {
        let text = if entry.tag.is_ref { &self.bytes } else { entry.value };
        (entry.tag.kind == Kind::Json).then_some(text)
    }

    fn clear(&mut self) {
        self.reader = None;
        self.bytes.clear();
        self.whole = false;
    }
}

/// Gathers the entries of changed rows. Keeps its memory from one row to the next.
#[derive(Debug, Default)]
pub(super) struct Gatherer {
    pub(super) members: Members,
    old: Text,
    new: Text,
    gone: Entries,
    pub(super) come: Entries,
}

impl Gatherer {
    /// Gathers the entries of one changed row for the indexes that `goal` concerns.
    pub(super) fn gather(
        &mut self,
        indexes: &mut [PendingIndex],
        goal: &Goal,
        cache: &Cache,
        budget: &mut Budget,
        old: Option<&Entry<'_>>,
        new: Option<&Entry<'_>>,
    ) -> Result<Step<()>, Error> {
        let Self { old: old_text, new: new_text, gone, come, members } = self;
        let Some(Entry { key, .. }) = new.or(old) else { return Ok(Step::Done(())) };
        let concerns = |index: &PendingIndex| {
            index.definition.takes(key)
                && match goal {
                    Goal::Rows(from, _) => index.of == *from && index.reach.covers(key),
                    Goal::Reach(_) => !index.reach.covers(key),
                }
        };
        if !indexes.iter().any(concerns) {
            budget.spend(64);
            return Ok(Step::Done(()));
        }
        for (text, entry) in [(&mut *old_text, old), (&mut *new_text, new)] {
            match text.read(cache, budget, entry)? {
                Step::Done(()) => {}
                waiting => return Ok(waiting),
            }
        }
        let before = old.and_then(|entry| old_text.of(entry));
        let after = new.and_then(|entry| new_text.of(entry));
        let mut cost = 64 + old_text.bytes.len() + new_text.bytes.len();
        for index in indexes.iter_mut().filter(|index| concerns(index)) {
            for (text, entries) in [(before, &mut *gone), (after, &mut *come)] {
                entries.clear();
                if let Some(text) = text {
                    cost += index.definition.entries(key, text, members, entries);
                }
            }
            if gone.is_same(come) {
                continue;
            }
            // If an entry is in both, the later edit wins: the put.
            for (entries, edit) in [(&*gone, Edit::Delete), (&*come, Entries::PUT)] {
                for entry in entries.iter() {
                    cost += index.push(entry, edit);
                }
            }
        }
        old_text.clear();
        new_text.clear();
        budget.spend(cost);
        Ok(Step::Done(()))
    }
}

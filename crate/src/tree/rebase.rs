//! Brings a change onto a commit that another writer made meanwhile.
//!
//! What changed from the tree that the change began with to the one that is there now becomes
//! a batch of edits, to be merged into what the change made of the former. Keys that the
//! change has touched are left out: the later commit wins, as if it had begun later. Costs
//! what the other writer changed, not what this one did.

use crate::batch::{Batch, Edit};
use crate::cache::{Cache, Fetch};
use crate::error::Error;
use crate::node::Entry;
use crate::step::{Budget, Step};
use crate::tree::lockstep::Lockstep;
use crate::tree::{Range, Touched, Tree, ValueReader, get};
use crate::value::Far;
use alloc::vec::Vec;

/// See the module's text.
#[derive(Debug)]
pub struct Rebase {
    walk: Lockstep,
    /// What the change made of an empty tree: all that it holds was touched.
    own: Option<Tree>,
    /// A value out of line that is being read.
    reader: Option<ValueReader>,
    value: Vec<u8>,
}

impl Rebase {
    /// Of a change that began with `base`, onto `theirs`. `own` is what it made of an empty
    /// tree before any rebasing, if it began with one.
    #[must_use]
    pub fn new(base: Tree, theirs: Tree, own: Option<Tree>) -> Self {
        let walk = Lockstep::new(base, theirs, Range::ALL);
        Self { walk, own, reader: None, value: Vec::new() }
    }

    /// Adds edits to `batch`, in ascending order.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        touched: &Touched,
        batch: &mut Batch,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        let Self { walk, own, reader, value } = self;
        walk.step(cache, budget, |old, new| {
            let Some(key) = new.or(old).map(|entry| entry.key) else { return Ok(Step::Done(0)) };
            if touched.contains(key) {
                return Ok(Step::Done(64));
            }
            if let Some(own) = *own {
                match get(cache, own, key)? {
                    Fetch::Here(None) => {}
                    Fetch::Here(Some(_)) => return Ok(Step::Done(256)),
                    Fetch::At(id) => return Ok(Step::Need(Vec::from([id]))),
                }
            }
            let Some(new) = new else {
                batch.push(key, Edit::Delete);
                return Ok(Step::Done(64));
            };
            if new.tag.far {
                let started = reader.get_or_insert_with(|| ValueReader::new(Far::read(new.value)));
                match started.step(cache, value)? {
                    Step::Done(()) => {}
                    Step::Need(ids) => return Ok(Step::Need(ids)),
                    Step::Yield => return Ok(Step::Yield),
                }
                batch.push(key, Edit::Put(new.tag.kind, value));
                let cost = value.len();
                *reader = None;
                value.clear();
                return Ok(Step::Done(cost));
            }
            batch.push(key, Edit::Put(new.tag.kind, new.value));
            Ok(Step::Done(64 + cost_of(new)))
        })
    }
}

const fn cost_of(entry: &Entry<'_>) -> usize {
    entry.key.len() + entry.value.len()
}

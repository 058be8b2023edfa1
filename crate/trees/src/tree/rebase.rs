//! Rebases a change onto a commit that another writer has made.
//!
//! The differences between the tree that the change began with and the tree of the other writer become a
//! batch of edits. It is merged into the tree that the change made. Keys that the change has touched are
//! left out: the later commit wins, as if it had begun later. The host may name keys (`keep_theirs`) that
//! stay as the other writer left them, because they were edited after this change was requested. Costs
//! the changes of the other writer, not of this change.

use crate::batch::{Batch, Edit};
use crate::cache::{Cache, Fetch};
use crate::error::Error;
use crate::key::Key;
use crate::node::Entry;
use crate::order::sorted;
use crate::step::{Budget, COPIED_BYTES, Step};
use crate::tree::lockstep::Lockstep;
use crate::tree::{Range, Touched, Tree, ValueReader, get};
use crate::value::{self, ValueRef};
use alloc::vec::Vec;

/// Rebases a change onto a commit that another writer has made.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::batch::Batch;
/// use hedgerow_trees::secret::Secret;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::{Rebase, Touched};
///
/// let (cache, [base, theirs]) = store([&[("ann", "41")], &[("ann", "42"), ("bob", "35")]]);
/// // Our change has put ann, too: only bob is taken from theirs.
/// let mut touched = Touched::new(Secret::PUBLIC);
/// touched.add(b"ann");
/// touched.close();
/// let (mut rebase, mut edits) = (Rebase::new(base, theirs, None, Vec::new()), Batch::new());
/// let step = rebase.step(&cache, &touched, &mut edits, &mut Budget::of(1 << 20));
/// assert_eq!((step, edits.len()), (Ok(Step::Done(())), 1));
/// ```
#[derive(Debug)]
pub struct Rebase {
    walk: Lockstep,
    theirs: Tree,
    /// The tree that the change made, if it began with an empty one: all its keys count as touched.
    from_empty: Option<Tree>,
    /// Keys that stay as they are in `theirs`, sorted.
    keep_theirs: Vec<Vec<u8>>,
    next: usize,
    walked: bool,
    value: Value,
}

/// Reads values, which may be out of line.
#[derive(Debug, Default)]
struct Value {
    reader: Option<ValueReader>,
    bytes: Vec<u8>,
}

impl Value {
    /// Adds the entry to `batch`.
    fn put(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        entry: &Entry<'_>,
        batch: &mut Batch,
    ) -> Result<Step<()>, Error> {
        let Self { reader, bytes } = self;
        let kind = entry.tag.kind;
        if !entry.tag.is_ref {
            batch.push(entry.key, Edit::Put(value::Value::trusted(kind, entry.value)));
            budget.spend((entry.key.len() + entry.value.len()) / COPIED_BYTES);
            return Ok(Step::Done(()));
        }
        let started = reader.get_or_insert_with(|| ValueReader::new(ValueRef::read(entry.value)));
        match started.step(cache, budget, bytes)? {
            Step::Done(()) => {}
            waiting => return Ok(waiting),
        }
        batch.push(entry.key, Edit::Put(value::Value::trusted(kind, bytes)));
        budget.spend(bytes.len() / COPIED_BYTES);
        *reader = None;
        bytes.clear();
        Ok(Step::Done(()))
    }
}

impl Rebase {
    /// Begins a rebase of a change that began with `base` onto `theirs`. The keys `keep_theirs` stay as
    /// they are in `theirs`. `from_empty` is the tree that the change made before any rebase, if it began
    /// with an empty one.
    #[must_use]
    pub fn new(
        base: Tree,
        theirs: Tree,
        from_empty: Option<Tree>,
        mut keep_theirs: Vec<Vec<u8>>,
    ) -> Self {
        let order = sorted(keep_theirs.len(), &|a, b| keep_theirs[a].cmp(&keep_theirs[b]));
        let keep_theirs =
            order.into_iter().map(|at| core::mem::take(&mut keep_theirs[at])).collect();
        let walk = Lockstep::new(base, theirs, Range::ALL);
        Self {
            walk,
            theirs,
            from_empty,
            keep_theirs,
            next: 0,
            walked: false,
            value: Value::default(),
        }
    }

    /// Adds the edits of the other writer to `batch`.
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
        if !self.walked {
            match self.walk(cache, touched, batch, budget)? {
                Step::Done(()) => self.walked = true,
                waiting => return Ok(waiting),
            }
        }
        while let Some(key) = self.keep_theirs.get(self.next) {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            match get(cache, self.theirs, key)? {
                Fetch::At(want) => return Ok(Step::Need(Vec::from([want.whole()]))),
                Fetch::Here(Some(entry)) => match self.value.put(cache, budget, &entry, batch)? {
                    Step::Done(()) => {}
                    waiting => return Ok(waiting),
                },
                Fetch::Here(None) => batch.push(Key::trusted(key), Edit::Delete),
            }
            budget.spend(256);
            self.next += 1;
        }
        Ok(Step::Done(()))
    }

    fn walk(
        &mut self,
        cache: &Cache,
        touched: &Touched,
        batch: &mut Batch,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        let Self { walk, from_empty, keep_theirs, value, .. } = self;
        walk.step(cache, budget, &mut |old, new, budget| {
            let Some(key) = new.or(old).map(|entry| entry.key) else { return Ok(Step::Done(())) };
            // Checked once, even if the value of the row is read in several steps.
            if value.reader.is_none() {
                budget.spend(touched.cost());
                let later = keep_theirs.binary_search_by(|other| other[..].cmp(&key)).is_ok();
                if later || touched.contains(&key) {
                    return Ok(Step::Done(()));
                }
                if let Some(from_empty) = *from_empty {
                    let found = get(cache, from_empty, &key)?;
                    budget.spend(256);
                    match found {
                        Fetch::Here(None) => {}
                        Fetch::Here(Some(_)) => return Ok(Step::Done(())),
                        Fetch::At(want) => return Ok(Step::Need(Vec::from([want.whole()]))),
                    }
                }
            }
            let Some(new) = new else {
                batch.push(key, Edit::Delete);
                return Ok(Step::Done(()));
            };
            value.put(cache, budget, new, batch)
        })
    }
}

//! Updates the sum trees of a commit: hand-edited trees by their edits, and trees that follow rows by the
//! changes of the rows.
//!
//! It runs while an [`Ingest`] waits for it, and its chunks go into the segments of the same commit. It
//! starts from the trees of the parent commit. After a lost race it runs again, from the winner's trees.

use crate::cache::Cache;
use crate::error::Error;
use crate::forest::{Forest, Named, SUMS, TreeName};
use crate::ingest::Ingest;
use crate::step::{Budget, Step};
use crate::sum_tree::{Definition, Follow, Rules, SumBatch, SumMerge};
use crate::tree::Tree;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A tree that is built from all rows is built in parts that take about this much memory.
const SPILL_BYTES: usize = 32 << 20;

/// Edits of a sum tree.
#[derive(Clone, Debug)]
pub struct Staged {
    /// The name of its tree.
    pub name: TreeName,
    /// Its edits.
    pub batch: SumBatch,
}

/// The sum trees that shall follow rows, as the handle that makes a commit wants them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Each is made, unless it exists with this definition.
    pub followers: &'a [Follower],
    /// Drops all other followers.
    pub alone: bool,
}

/// A sum tree that shall follow rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follower {
    /// The name of its tree.
    pub name: TreeName,
    /// See [`Definition::parse`].
    pub definition: Vec<u8>,
}

/// A tree that follows rows, made for a commit that lost a race.
#[derive(Clone, Debug)]
pub struct Base {
    follower: Follower,
    rows: Tree,
    tree: Tree,
    root_claim: Vec<u8>,
}

#[derive(Debug, Default)]
struct Job {
    name: TreeName,
    /// Empty for a hand-edited tree.
    definition: Vec<u8>,
    tree: Tree,
    edits: Option<SumBatch>,
    /// The merged edits of a hand-edited tree.
    done: Option<SumBatch>,
    follow: Option<Box<Follow>>,
    merge: Option<Box<SumMerge>>,
    spill_bytes: usize,
    root_claim: Option<Vec<u8>>,
}

/// Updates the sum trees of a commit: hand-edited trees by their edits, and trees that follow rows by the
/// changes of the rows.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::ingest::Format;
/// use hedgerow::step::{Budget, Step};
/// use hedgerow::sum_tree::Rules;
/// use hedgerow::sum_update::{Follower, SumUpdate, Wanted, tree_name};
/// use hedgerow_support::host::Host;
///
/// let mut host = Host::new(Shape::STORED);
/// let mut ingest = host.ingest();
/// ingest.expect_sums();
/// host.feed(&mut ingest, r#"["ann",{"age":41},"bob",{"age":35}]"#, &Format::Pairs)?;
/// ingest.finish();
/// host.drive(&mut ingest)?;
/// assert!(ingest.awaits_sums());
///
/// let definition = br#"["","/age","",""]"#.to_vec();
/// let ages = Follower { name: tree_name("ages").unwrap(), definition };
/// let wanted = Wanted { followers: &[ages], alone: false };
/// let mut update = SumUpdate::new(&Rules::new(), &mut ingest, Vec::new(), wanted, &[]);
/// let step = update.step(&host.cache, &mut Budget::of(1 << 20), &mut ingest)?;
/// assert_eq!(step, Step::Done(()));
/// let (_, forest) = ingest.committed().unwrap();
/// assert_eq!(forest.sums().next().unwrap().tree.count, 2);
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
#[derive(Debug)]
pub struct SumUpdate {
    rules: Rules,
    jobs: Vec<Job>,
    rows: Tree,
    bases: Vec<Base>,
    staged: Vec<Staged>,
    /// The error that every step returns.
    fault: Option<Error>,
}

impl SumUpdate {
    /// Begins the update that `ingest` waits for. It applies the `staged` edits of hand-edited trees, updates trees
    /// that follow rows to the new rows, and makes `wanted` ones. `bases` are the trees that an earlier try made.
    #[must_use]
    pub fn new(
        rules: &Rules,
        ingest: &mut Ingest,
        staged: Vec<Staged>,
        wanted: Wanted<'_>,
        bases: &[Base],
    ) -> Self {
        let (old, new) = ingest.row_trees();
        let forest = ingest.forest();
        // A hand-edited tree is never replaced.
        let is_free = |follower: &&Follower| {
            forest.named(&follower.name).is_none_or(|named| !named.sum_definition().is_empty())
        };
        let mut followers: Vec<_> = wanted.followers.iter().filter(is_free).cloned().collect();
        for existing in followers_of(forest) {
            if followers.contains(&existing) {
                continue;
            }
            if wanted.alone {
                forest.set_sum(&existing.name, Tree::EMPTY, Vec::new());
            } else if followers.iter().all(|follower| follower.name != existing.name) {
                followers.push(existing);
            }
        }
        let (mut jobs, mut fault) = (Vec::new(), None);
        for follower in followers {
            let Follower { name, definition } = &follower;
            if new.is_empty() {
                forest.set_sum(name, Tree::EMPTY, Vec::new());
                continue;
            }
            // A tree with another definition is rebuilt.
            let same = forest.named(name).filter(|named| named.sum_definition() == &definition[..]);
            let (mut from, mut tree) =
                same.map_or((Tree::EMPTY, Tree::EMPTY), |same| (old, same.tree));
            let mut root_claim = None;
            // Start from whichever has the closer number of rows.
            let distance = |rows: Tree| rows.count.abs_diff(new.count);
            if let Some(base) = bases.iter().find(|base| base.follower == follower)
                && distance(base.rows) < distance(from)
            {
                (from, tree, root_claim) = (base.rows, base.tree, Some(base.root_claim.clone()));
            }
            let Follower { name, definition } = follower;
            let Some(parsed) = Definition::parse(&definition) else {
                // Written by a newer version: refuse it, instead of letting it fall behind the rows.
                fault = Some(Error::UnsupportedFormat { version: SUMS });
                continue;
            };
            let follow = Some(Box::new(Follow::new(parsed, from, new)));
            // Deletions must all be in one part.
            let spill_bytes = if from.is_empty() { SPILL_BYTES } else { usize::MAX };
            jobs.push(Job {
                name,
                definition,
                tree,
                follow,
                spill_bytes,
                root_claim,
                ..Job::default()
            });
        }
        for Staged { name, batch } in staged {
            let tree = forest.tree(&name);
            jobs.push(Job { name, tree, edits: Some(batch), ..Job::default() });
        }
        let (bases, staged) = (Vec::new(), Vec::new());
        Self { rules: rules.clone(), jobs, rows: new, bases, staged, fault }
    }

    /// Returns, after a failed step, the tree that failed and the key of the row that it refused, or
    /// an empty key.
    #[must_use]
    pub fn stopped_at(&self) -> Option<(&TreeName, &[u8])> {
        let job = self.jobs.last()?;
        Some((&job.name, job.follow.as_ref().map_or(&[], |follow| follow.key())))
    }

    /// Sets the bytes above which a tree is built in parts, instead of 32 MiB.
    pub fn spill_at(&mut self, bytes: usize) {
        let jobs = self.jobs.iter_mut().filter(|job| job.spill_bytes == SPILL_BYTES);
        jobs.for_each(|job| job.spill_bytes = bytes);
    }

    /// Returns the trees made and the edits, for another try after a lost race.
    #[must_use]
    pub fn into_retry_state(self) -> (Vec<Base>, Vec<Staged>) {
        (self.bases, self.staged)
    }

    /// Continues. Add the ingest's sealed segments to the cache after each step. When it is done, the
    /// ingest has made the commit.
    ///
    /// # Errors
    /// [`Error::SumOverflow`], [`Error::SumKeyTwice`]; of a row [`Error::SumNotWhole`],
    /// [`Error::SumKeyNotText`] and [`Error::SumValueTooLarge`]; [`Error::CommitTooLarge`],
    /// [`Error::UnsupportedFormat`], and as [`Cache::node`]. Discard the ingest then.
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        ingest: &mut Ingest,
    ) -> Result<Step<()>, Error> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        while let Some(job) = self.jobs.last_mut() {
            match job.step(&self.rules, cache, budget, ingest)? {
                Step::Done(()) => {
                    let Some(mut job) = self.jobs.pop() else { continue };
                    if let Some(batch) = job.done.take() {
                        self.staged.push(Staged { name: job.name.clone(), batch });
                    }
                    self.bases.extend(job.base(self.rows));
                }
                waiting => return Ok(waiting),
            }
        }
        ingest.name()?;
        Ok(Step::Done(()))
    }
}

impl Job {
    fn base(self, rows: Tree) -> Option<Base> {
        let Self { name, definition, tree, root_claim, .. } = self;
        let follower = Follower { name, definition };
        let is_follower = !follower.definition.is_empty();
        root_claim.filter(|_| is_follower).map(|root_claim| Base {
            follower,
            rows,
            tree,
            root_claim,
        })
    }

    fn step(
        &mut self,
        rules: &Rules,
        cache: &Cache,
        budget: &mut Budget,
        ingest: &mut Ingest,
    ) -> Result<Step<()>, Error> {
        loop {
            if let Some(merge) = &mut self.merge {
                let stepped = ingest.pack(|packer| {
                    let step = merge.step(cache, budget, packer);
                    if step == Ok(Step::Done(())) && self.follow.is_some() {
                        // The next part reads these chunks.
                        packer.seal();
                    }
                    step
                });
                match stepped.unwrap_or(Ok(Step::Yield))? {
                    Step::Done(()) => {}
                    waiting => return Ok(waiting),
                }
                if self.definition.is_empty() {
                    self.done = Some(merge.take_batch());
                }
                let (tree, root) = merge.made();
                let mut root_claim = Vec::from(root.hash);
                root_claim.extend_from_slice(&root.sum.to_le_bytes());
                root_claim.extend_from_slice(&self.definition);
                (self.tree, self.root_claim, self.merge) = (tree, Some(root_claim), None);
                if self.follow.is_some() {
                    return Ok(Step::Yield);
                }
            }
            if let Some(follow) = &mut self.follow {
                match follow.step(cache, self.spill_bytes, budget)? {
                    Step::Done(()) => {}
                    waiting => return Ok(waiting),
                }
                self.edits = Some(follow.take());
                if follow.is_over() {
                    self.follow = None;
                }
            }
            match self.edits.take() {
                // A follower without leaves needs a merge, too, as the commit names its root.
                Some(edits)
                    if !edits.is_empty() || (self.tree.is_empty() && self.root_claim.is_none()) =>
                {
                    self.merge = Some(Box::new(SumMerge::new(rules, self.tree, edits)));
                }
                Some(_) => {}
                None => {
                    if let Some(root_claim) = &self.root_claim {
                        ingest.forest().set_sum(&self.name, self.tree, root_claim.clone());
                    }
                    return Ok(Step::Done(()));
                }
            }
        }
    }
}

/// Lists the sum trees of a forest that follow rows.
#[must_use]
pub fn followers_of(forest: &Forest) -> Vec<Follower> {
    let follower = |named: &Named| Follower {
        name: named.name.clone(),
        definition: named.sum_definition().into(),
    };
    forest.sums().filter(|named| !named.sum_definition().is_empty()).map(follower).collect()
}

/// Returns the name of the sum tree that the host calls `name`; `None` when that is too long.
#[must_use]
pub fn tree_name(name: &str) -> Option<TreeName> {
    TreeName::of(SUMS, name)
}

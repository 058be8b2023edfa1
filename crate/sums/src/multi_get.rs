//! Finds leaves by their keys.

use crate::leaves::SumLeaves;
use crate::piece::{Record, Records, fetch};
use crate::rules::{common, path};
use alloc::vec::Vec;
use hedgerow_trees::cache::{Cache, Fetch};
use hedgerow_trees::error::Error;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::Tree;

/// Descends from `link`, or from the top. Moves `link` along, so that a search that has to wait continues
/// from there.
fn descend<'c>(
    cache: &'c Cache,
    tree: Tree,
    path: &[u8; 32],
    link: &mut Option<Record<'static>>,
) -> Result<Fetch<Option<Record<'c>>>, Error> {
    if tree.is_empty() {
        return Ok(Fetch::Here(None));
    }
    loop {
        let chunk = match fetch(cache, tree.root, link.as_ref(), true)? {
            Fetch::At(want) => return Ok(Fetch::At(want)),
            Fetch::Here(chunk) => chunk,
        };
        let mut records = Records::of(chunk);
        let found = records.find(|record| common(&record.path, path) >= record.depth());
        match found.map(|found| (found, found.link())) {
            Some((_, Some(next))) => *link = Some(next),
            found => return Ok(Fetch::Here(found.map(|(leaf, _)| leaf))),
        }
    }
}

/// Returns the sum of the leaf of this key; `None` if there is no leaf. Costs one piece for about seven branches.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_sums::{get, key_of};
/// use hedgerow_trees::cache::Fetch;
///
/// let (cache, [(tree, _)]) = store([&[("ann", 41), ("bob", 35)]]);
/// assert_eq!(get(&cache, tree, &key_of(b"bob")), Ok(Fetch::Here(Some(35))));
/// ```
///
/// # Errors
/// As [`Cache::node`].
pub fn get(cache: &Cache, tree: Tree, key: &[u8; 32]) -> Result<Fetch<Option<u64>>, Error> {
    Ok(match descend(cache, tree, &path(key), &mut None)? {
        Fetch::Here(leaf) => Fetch::Here(leaf.map(|leaf| leaf.sum)),
        Fetch::At(want) => Fetch::At(want),
    })
}

#[derive(Clone, Debug)]
struct Wanted {
    path: [u8; 32],
    mark: u32,
    link: Option<Record<'static>>,
}

/// Finds many leaves; asks for missing segments level by level.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_sums::{SumLeaves, SumMultiGet, key_of};
/// use hedgerow_trees::step::{Budget, Step};
///
/// let (cache, [(tree, _)]) = store([&[("ann", 41), ("bob", 35)]]);
/// let mut find = SumMultiGet::new(tree, &[key_of(b"cy"), key_of(b"bob")]);
/// let mut out = SumLeaves::default();
/// assert_eq!(find.step(&cache, &mut Budget::of(1 << 20), &mut out), Ok(Step::Done(())));
/// // The only leaf found is of the key at position 1.
/// assert_eq!((out.leaves.len(), out.leaves[0].mark, out.leaves[0].sum), (1, 1, 35));
/// ```
#[derive(Clone, Debug)]
pub struct SumMultiGet {
    tree: Tree,
    wanted: Vec<Wanted>,
    waiting: Vec<Wanted>,
}

impl SumMultiGet {
    /// Begins a search for `keys`.
    #[must_use]
    pub fn new(tree: Tree, keys: &[[u8; 32]]) -> Self {
        let wanted = |(at, key)| Wanted { path: path(key), mark: at as u32, link: None };
        let wanted = keys.iter().enumerate().rev().map(wanted).collect();
        Self { tree, wanted, waiting: Vec::new() }
    }

    /// Adds the leaves that exist to `out`, each with the position of its key as its mark, in no particular
    /// order.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        out: &mut SumLeaves,
    ) -> Result<Step<()>, Error> {
        let Self { tree, wanted, waiting } = self;
        let mut missing = Vec::new();
        while let Some(next) = wanted.last_mut() {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            budget.spend(1024);
            match descend(cache, *tree, &next.path, &mut next.link)? {
                // Finish a value that is half read before any other.
                Fetch::At(want) if out.is_reading() => return Ok(Step::Need(Vec::from([want]))),
                Fetch::At(want) => {
                    missing.push(want);
                    waiting.extend(wanted.pop());
                    continue;
                }
                Fetch::Here(None) => {}
                Fetch::Here(Some(leaf)) => match out.add(cache, budget, &leaf, next.mark)? {
                    Step::Done(()) => {}
                    waiting => return Ok(waiting),
                },
            }
            wanted.pop();
        }
        if waiting.is_empty() {
            return Ok(Step::Done(()));
        }
        waiting.reverse();
        core::mem::swap(wanted, waiting);
        // After a yield, segments that were missing may be in memory.
        let mut missing = missing.into_iter().map(Fetch::At);
        Ok(match missing.next() {
            Some(Fetch::At(first)) => Step::Need(cache.parts(first, &mut missing)),
            _ => Step::Yield,
        })
    }
}

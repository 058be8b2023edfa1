//! Finds one key, if its path is in memory, or many keys in a batched descent.

use crate::cache::{Cache, Fetch, Want};
use crate::error::Error;
use crate::hash::Hash;
use crate::node::{Entry, Leaf, Node};
use crate::order::sorted;
use crate::output::Output;
use crate::step::{Budget, Step};
use crate::tree::plan::{Plan, SortedKeys};
use crate::tree::scan::{Parts, write};
use crate::tree::{Tree, ValueReader, top};
use crate::value::Kind;
use alloc::vec::Vec;

/// Returns the leaf that may contain `key`; `None` if no leaf can.
pub(crate) fn leaf_of<'c>(
    cache: &'c Cache,
    tree: Tree,
    key: &[u8],
) -> Result<Fetch<Option<Leaf<'c>>>, Error> {
    if tree.is_empty() {
        return Ok(Fetch::Here(None));
    }
    let at = |want: Want| Ok(Fetch::At(want));
    let mut node = match top(cache, tree)? {
        Fetch::Here(node) => node,
        Fetch::At(want) => return at(want),
    };
    loop {
        let inner = match node {
            Node::Leaf(leaf) => return Ok(Fetch::Here(Some(leaf))),
            Node::Inner(inner) => inner,
        };
        let index = inner.route(0, key);
        if index == inner.len() {
            return Ok(Fetch::Here(None));
        }
        node = match cache.child(&inner, index)? {
            Fetch::Here(node) => node,
            Fetch::At(want) => return at(want),
        };
    }
}

/// Returns the hash of the leaf that may contain `key` if the leaf is in memory, without a look into it; `None` if no
/// leaf can contain it. Otherwise returns what a read of it needs.
///
/// # Errors
/// As [`Cache::node`].
pub fn leaf_hash_of(cache: &Cache, tree: Tree, key: &[u8]) -> Result<Fetch<Option<Hash>>, Error> {
    let mut hash = tree.root;
    if tree.is_empty() {
        return Ok(Fetch::Here(None));
    }
    loop {
        if let Some(want) = cache.missing(&hash)? {
            return Ok(Fetch::At(want));
        }
        let inner = match cache.node(&hash)? {
            Fetch::At(want) => return Ok(Fetch::At(want)),
            Fetch::Here(Node::Leaf(_)) => return Ok(Fetch::Here(Some(hash))),
            Fetch::Here(Node::Inner(inner)) => inner,
        };
        let index = inner.route(0, key);
        if index == inner.len() {
            return Ok(Fetch::Here(None));
        }
        hash = inner.hash(index);
        if inner.level() == 1 {
            let want = cache.missing(&hash)?;
            return Ok(want.map_or(Fetch::Here(Some(hash)), Fetch::At));
        }
    }
}

/// Returns the entry of `key`. Costs one node for each level; does not allocate.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::cache::Fetch;
/// use hedgerow_trees::tree::get;
///
/// let (cache, [tree]) = store([&[("ann", "41"), ("bob", "35")]]);
/// let Ok(Fetch::Here(Some(entry))) = get(&cache, tree, b"bob") else { panic!("a row in memory") };
/// assert_eq!(entry.value, b"35");
/// ```
///
/// # Errors
/// As [`Cache::node`].
pub fn get<'c>(
    cache: &'c Cache,
    tree: Tree,
    key: &[u8],
) -> Result<Fetch<Option<Entry<'c>>>, Error> {
    Ok(match leaf_of(cache, tree, key)? {
        Fetch::Here(leaf) => Fetch::Here(leaf.and_then(|leaf| {
            let index = leaf.search(0, key).ok()?;
            Some(leaf.entry(index))
        })),
        Fetch::At(want) => Fetch::At(want),
    })
}

/// The keys of a [`MultiGet`], sorted, each with its position in the request.
#[derive(Clone, Debug, Default)]
struct Wanted {
    bytes: Vec<u8>,
    keys: Vec<(u32, u16, u32)>,
}

impl Wanted {
    fn key(&self, index: usize) -> &[u8] {
        let (start, len, _) = self.keys[index];
        &self.bytes[start as usize..start as usize + usize::from(len)]
    }
}

impl SortedKeys for Wanted {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn after(&self, from: usize, key: &[u8]) -> usize {
        from + (from..self.len()).take_while(|index| self.key(*index) <= key).count()
    }
}

/// Finds many keys in a batched descent. It asks for all missing segments of a level at once, and looks
/// up each leaf once.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::output::Output;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::MultiGet;
///
/// let (cache, [tree]) = store([&[("ann", "41"), ("bob", "35")]]);
/// let mut find = MultiGet::new(tree, [&b"bob"[..], b"cy", b"ann"]);
/// let (mut out, mut found) = (Output::new(), Vec::new());
/// let step = find.step(&cache, &mut Budget::of(1 << 20), &mut out, &mut found);
/// assert_eq!(step, Ok(Step::Done(())));
/// out.close();
/// // Values come in the order of keys; `found` has the positions of these keys in the request.
/// assert_eq!((&out.text[..], &found[..]), (&b"[41,35]"[..], &[2, 0][..]));
/// ```
#[derive(Clone, Debug)]
pub struct MultiGet {
    tree: Tree,
    wanted: Wanted,
    plan: Plan,
    planned: bool,
    next: usize,
    reading: Option<(Kind, ValueReader)>,
}

impl MultiGet {
    /// Begins a search for `keys`, in any order, each of at most
    /// [`MAX_KEY_BYTES`](crate::limits::MAX_KEY_BYTES).
    #[must_use]
    pub fn new<'k>(tree: Tree, keys: impl IntoIterator<Item = &'k [u8]>) -> Self {
        let mut wanted = Wanted::default();
        for (position, key) in keys.into_iter().enumerate() {
            let start = wanted.bytes.len() as u32;
            wanted.bytes.extend_from_slice(key);
            wanted.keys.push((start, key.len() as u16, position as u32));
        }
        let order = sorted(wanted.len(), &|a, b| wanted.key(a).cmp(wanted.key(b)).then(a.cmp(&b)));
        wanted.keys = order.into_iter().map(|at| wanted.keys[at]).collect();
        let plan = Plan::new(tree, wanted.len());
        Self { tree, wanted, plan, planned: false, next: 0, reading: None }
    }

    /// Writes the value of each key that exists to `out`, in the order of keys, and the position of the key
    /// in the request to `found`.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        out: &mut Output,
        found: &mut Vec<u32>,
    ) -> Result<Step<()>, Error> {
        if !self.planned {
            match self.plan.step(cache, &self.wanted, budget)? {
                Step::Done(()) => self.planned = true,
                waiting => return Ok(waiting),
            }
        }
        loop {
            if let Some((kind, reader)) = &mut self.reading {
                match reader.step(cache, budget, out.part(*kind))? {
                    Step::Done(()) => out.end(*kind),
                    waiting => return Ok(waiting),
                }
                self.reading = None;
            }
            if self.next == self.wanted.len() {
                return Ok(Step::Done(()));
            }
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let leaf = match leaf_of(cache, self.tree, self.wanted.key(self.next))? {
                Fetch::At(want) => return Ok(Step::Need(self.plan.ahead(cache, want, self.next))),
                Fetch::Here(None) => return Ok(Step::Done(())),
                Fetch::Here(Some(leaf)) => leaf,
            };
            let before = out.len();
            let (mut from, first) = (0, self.next);
            while self.next < self.wanted.len() && self.reading.is_none() {
                let key = self.wanted.key(self.next);
                match leaf.search(from, key) {
                    Ok(index) => {
                        found.push(self.wanted.keys[self.next].2);
                        let parts = Parts { keys: false, values: true };
                        self.reading = write(&leaf.entry(index), parts, out);
                        from = index;
                    }
                    // The key may be in a later leaf, except for the first key: the descent led it here.
                    Err(index) if index == leaf.len() && self.next > first => break,
                    Err(index) => from = index,
                }
                self.next += 1;
                budget.spend(64);
            }
            budget.spend(out.len() - before);
        }
    }
}

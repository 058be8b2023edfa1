//! Finds the internal nodes of a tree that an older one does not have.

use crate::cache::{Cache, Fetch, Want};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::node::{Inner, Node};
use crate::step::{Budget, Step};
use crate::tree::Tree;
use alloc::vec::Vec;

/// The work of a node for the comparison of two levels.
const SORTED_NODE_WORK: usize = 64;

/// The nodes of one level of a tree, and the nodes below found so far.
#[derive(Debug, Default)]
struct Side {
    /// The level; `None` until its first node is read.
    level: Option<u8>,
    nodes: Vec<Hash>,
    at: usize,
    below: Vec<Hash>,
}

impl Side {
    fn new(tree: Tree) -> Self {
        let nodes = if tree.is_empty() { Vec::new() } else { Vec::from([tree.root]) };
        let level = tree.is_empty().then_some(0);
        Self { level, nodes, ..Self::default() }
    }

    /// Reads the level of the top; returns what must be loaded first.
    fn find_level(&mut self, cache: &Cache) -> Result<Option<Want>, Error> {
        if self.level.is_none() {
            match cache.node(&self.nodes[0])? {
                Fetch::At(want) => return Ok(Some(want)),
                Fetch::Here(node) => self.level = Some(node.level()),
            }
        }
        Ok(None)
    }

    /// Drops the nodes that are in `sorted`.
    fn drop_shared(&mut self, sorted: &[Hash]) {
        let is_own = |hash: &Hash| sorted.binary_search_by_key(&hash.0, |other| other.0).is_err();
        self.nodes.retain(is_own);
    }

    fn sorted(&self) -> Vec<Hash> {
        let mut sorted = self.nodes.clone();
        sorted.sort_unstable_by_key(|hash| hash.0);
        sorted
    }

    /// Reads the rest of the nodes, and calls `each` with them and their bytes.
    fn descend(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        mut each: impl FnMut(&Inner<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<Step<()>, Error> {
        while let Some(hash) = self.nodes.get(self.at) {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            match (cache.node(hash)?, cache.any(hash)?) {
                (Fetch::At(want), _) | (_, Fetch::At(want)) => {
                    return Ok(Step::Need(cache.parts_ahead(want, self.nodes[self.at..].iter())));
                }
                (Fetch::Here(Node::Inner(node)), Fetch::Here(bytes)) => {
                    each(&node, bytes)?;
                    self.below.extend((0..node.len()).map(|index| node.hash(index)));
                }
                (Fetch::Here(Node::Leaf(_)), _) => {
                    let cause = Some(DecodeError::new(Field::ChildLevel, 0, 1, 0));
                    return Err(Error::CorruptChunk { hash: *hash, cause });
                }
            }
            self.at += 1;
            budget.spend(4096);
        }
        Ok(Step::Done(()))
    }

    fn go_down(&mut self, level: u8) {
        self.nodes = core::mem::take(&mut self.below);
        self.at = 0;
        self.level = Some(level);
    }
}

/// Finds the internal nodes of a tree that an older one does not have, from the top, each level in the order of
/// keys. Costs the nodes that the two do not share.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::lazy::NewNodes;
/// use hedgerow::tree::Tree;
/// use hedgerow_support::host::Host;
/// use hedgerow_support::rows::issue;
///
/// let mut host = Host::of(Shape::STORED, &(0..1000).map(issue).collect());
/// let mut walk = NewNodes::new(Tree::EMPTY, host.tree());
/// host.run(|cache, budget| walk.step(cache, budget))?;
/// // The top has level 1: all nodes below are leaves, which travel as rows.
/// assert_eq!(walk.take()[0], 1);
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
#[derive(Debug)]
pub struct NewNodes {
    new: Side,
    old: Side,
    /// The nodes that both levels have were dropped.
    is_compared: bool,
    out: Vec<u8>,
}

impl NewNodes {
    /// Begins to find the nodes of `new` that `old` does not have.
    #[must_use]
    pub fn new(old: Tree, new: Tree) -> Self {
        Self { new: Side::new(new), old: Side::new(old), is_compared: false, out: Vec::new() }
    }

    /// Takes the nodes found: for each its level:u8 and its record, as [`land_nodes`](super::land_nodes) reads it.
    pub fn take(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.out)
    }

    /// Continues. The bytes may be taken after each step.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        loop {
            for side in [&mut self.new, &mut self.old] {
                if let Some(want) = side.find_level(cache)? {
                    return Ok(Step::Need(Vec::from([want])));
                }
            }
            let (new_level, old_level) =
                (self.new.level.unwrap_or_default(), self.old.level.unwrap_or_default());
            // Leaves are not read.
            if new_level == 0 {
                return Ok(Step::Done(()));
            }
            // If only one tree has a node but both have its child, the other has that child below a node of its own.
            if new_level == old_level && !self.is_compared {
                let (old, new) = (self.old.sorted(), self.new.sorted());
                self.new.drop_shared(&old);
                self.old.drop_shared(&new);
                self.is_compared = true;
                budget.spend(SORTED_NODE_WORK * (old.len() + new.len()));
            }
            if self.new.nodes.is_empty() {
                return Ok(Step::Done(()));
            }
            if new_level >= old_level {
                let out = &mut self.out;
                let step = self.new.descend(cache, budget, |node, bytes| {
                    out.push(new_level);
                    record(cache, node, bytes, out)
                })?;
                if step != Step::Done(()) {
                    return Ok(step);
                }
            }
            if old_level >= new_level {
                let step = self.old.descend(cache, budget, |_, _| Ok(()))?;
                if step != Step::Done(()) {
                    return Ok(step);
                }
                self.old.go_down(old_level - 1);
            }
            if new_level >= old_level {
                self.new.go_down(new_level - 1);
            }
            self.is_compared = false;
        }
    }
}

/// Appends the record of a node.
fn record(cache: &Cache, node: &Inner<'_>, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
    out.extend_from_slice(bytes);
    for index in 0..node.len() {
        let len = cache.chunk_len(&node.hash(index))?;
        out.extend_from_slice(&(len as u16).to_le_bytes());
    }
    Ok(())
}

//! A tree that is known only by its boundaries, and the nodes that edits would rewrite.

use crate::contestants::{Contestant, Item};
use crate::rows::{Rows, child, leaf_item};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NODE_HEADER_BYTES: u32 = 4;

/// A level whose entries `at..at + removed` are replaced by `new`.
#[derive(Clone, Copy)]
struct View<'a> {
    old: &'a [Item],
    at: usize,
    removed: usize,
    new: &'a [Item],
}

impl View<'_> {
    const fn len(&self) -> usize {
        self.old.len() - self.removed + self.new.len()
    }

    fn get(&self, index: usize) -> Item {
        if index < self.at {
            self.old[index]
        } else if index < self.at + self.new.len() {
            self.new[index - self.at]
        } else {
            self.old[index + self.removed - self.new.len()]
        }
    }

    /// Returns where the node that starts at `from` ends.
    fn end(&self, contestant: &Contestant, level: usize, from: usize) -> usize {
        from + contestant.end(level, (from..self.len()).map(|index| self.get(index)))
    }

    /// Counts the bytes of the node of the entries `from..to`.
    fn bytes(&self, from: usize, to: usize) -> u32 {
        NODE_HEADER_BYTES + (from..to).map(|index| self.get(index).size).sum::<u32>()
    }
}

/// The entries of a level and where its nodes start.
pub struct Level {
    items: Vec<Item>,
    pub starts: Vec<usize>,
}

impl Level {
    pub fn new(contestant: &Contestant, level: usize, items: Vec<Item>) -> Self {
        let mut starts = Vec::new();
        let mut at = 0;
        while at < items.len() {
            starts.push(at);
            at += contestant.end(level, items[at..].iter().copied());
        }
        Self { items, starts }
    }

    fn node_end(&self, node: usize) -> usize {
        self.starts.get(node + 1).copied().unwrap_or(self.items.len())
    }

    fn node_of(&self, item: usize) -> usize {
        self.starts.partition_point(|start| *start <= item) - 1
    }

    fn node_bytes(&self, node: usize) -> u32 {
        let entries = &self.items[self.starts[node]..self.node_end(node)];
        NODE_HEADER_BYTES + entries.iter().map(|item| item.size).sum::<u32>()
    }

    /// Returns the change of this level by the edit of `view`.
    fn change(&self, contestant: &Contestant, level: usize, view: &View<'_>) -> Change {
        let mut first = self.node_of(view.at.min(self.items.len() - 1));
        let mut reach = 0;
        while first > 0 && reach < contestant.lookahead() {
            first -= 1;
            reach += self.node_bytes(first);
        }
        let mut new = Vec::new();
        let mut at = self.starts[first];
        let until = loop {
            let end = view.end(contestant, level, at);
            new.push((at, end));
            at = end;
            if at >= view.at + view.new.len() {
                let old = at + view.removed - view.new.len();
                if let Ok(node) = self.starts.binary_search(&old) {
                    break node;
                }
                if at == view.len() {
                    break self.starts.len();
                }
            }
        };
        // Nodes before the edit that stay as they were.
        let is_same = |(index, (from, to)): &(usize, &(usize, usize))| {
            let old = first + index;
            *to <= view.at && self.starts.get(old) == Some(from) && self.node_end(old) == *to
        };
        let same = new.iter().enumerate().take_while(is_same).count();
        new.drain(..same);
        Change { first: first + same, removed: until - first - same, new }
    }
}

/// The change of a level by an edit: `new` nodes in place of `removed` ones from `first` on.
struct Change {
    first: usize,
    removed: usize,
    new: Vec<(usize, usize)>,
}

/// The cost of an edit.
#[derive(Default)]
struct Cost {
    leaves: usize,
    leaf_bytes: u32,
    path_bytes: u32,
    kept: bool,
}

pub struct Tree {
    contestant: Contestant,
    levels: Vec<Level>,
}

impl Tree {
    pub fn new(contestant: Contestant, rows: &Rows) -> Self {
        let mut levels = vec![Level::new(&contestant, 0, rows.items.clone())];
        while levels[levels.len() - 1].starts.len() > 1 {
            let level = levels.len();
            let below = &levels[level - 1];
            let last_key = |node| below.items[below.node_end(node) - 1].key;
            let nodes = 0..below.starts.len();
            let children = nodes.map(|node| child(level, last_key(node), &rows.keys)).collect();
            levels.push(Level::new(&contestant, level, children));
        }
        Self { contestant, levels }
    }

    /// Returns the cost of replacing the rows `at..at + removed` by `new`; the tree does not change.
    fn edit(&self, at: usize, removed: usize, new: &[Item], keys: &[String]) -> Cost {
        let mut cost = Cost::default();
        let (mut at, mut removed, mut items) = (at, removed, new.to_vec());
        for (level, nodes) in self.levels.iter().enumerate() {
            let view = View { old: &nodes.items, at, removed, new: &items };
            let change = nodes.change(&self.contestant, level, &view);
            let bytes: u32 = change.new.iter().map(|(from, to)| view.bytes(*from, *to)).sum();
            if level == 0 {
                (cost.leaves, cost.leaf_bytes) = (change.new.len(), bytes);
                cost.kept = change.removed == 1 && change.new.len() == 1;
            } else {
                cost.path_bytes += bytes;
            }
            if nodes.starts.len() == 1 {
                break;
            }
            let last_keys = change.new.iter().map(|(_, to)| view.get(to - 1).key);
            let children = last_keys.map(|key| child(level + 1, key, keys)).collect();
            (at, removed, items) = (change.first, change.removed, children);
        }
        cost
    }

    /// Returns the mean, deviation, 99th percentile and maximum of the sizes of leaves.
    pub fn leaf_sizes(&self) -> [f64; 4] {
        let leaves = &self.levels[0];
        let nodes = 0..leaves.starts.len();
        let mut sizes: Vec<f64> = nodes.map(|node| f64::from(leaves.node_bytes(node))).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let count = sizes.len() as f64;
        let mean = sizes.iter().sum::<f64>() / count;
        let variance = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / count;
        [mean, variance.sqrt(), sizes[sizes.len() * 99 / 100], sizes[sizes.len() - 1]]
    }
}

/// The kinds of edit.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A value grows or shrinks by up to a tenth.
    Tenth,
    /// A value becomes twice as long.
    Double,
    Insert,
    Delete,
}

/// The costs of edits of a kind, each made alone.
#[derive(Default)]
pub struct Costs {
    edits: usize,
    kept: usize,
    leaves: usize,
    pub most_leaves: usize,
    leaf_bytes: u64,
    path_bytes: u64,
}

impl Costs {
    pub fn of(tree: &Tree, rows: &mut Rows, kind: Kind, edits: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(17);
        let mut costs = Self { edits, ..Self::default() };
        let spare = rows.items.len();
        for _ in 0..edits {
            let at = random.random_range(1..spare);
            let value = rows.values[at];
            let (removed, new) = match kind {
                Kind::Delete => (1, None),
                Kind::Insert => {
                    let digits = random.random_range(0..10_000);
                    rows.keys[spare] = format!("{}{digits:04}", rows.keys[at - 1]);
                    (0, Some((spare, value)))
                }
                Kind::Double => (1, Some((at, 2 * value))),
                Kind::Tenth => {
                    let value = f64::from(value) * random.random_range(0.9..1.1);
                    (1, Some((at, (value as u32).max(1))))
                }
            };
            let new = new.map(|(key, value)| leaf_item(key as u32, &rows.keys[key], value));
            let cost = tree.edit(at, removed, new.as_slice(), &rows.keys);
            costs.kept += usize::from(cost.kept);
            costs.leaves += cost.leaves;
            costs.most_leaves = costs.most_leaves.max(cost.leaves);
            costs.leaf_bytes += u64::from(cost.leaf_bytes);
            costs.path_bytes += u64::from(cost.path_bytes);
        }
        costs
    }

    /// Returns the percentage of edits that replaced one leaf by one.
    pub fn kept(&self) -> f64 {
        100.0 * self.kept as f64 / self.edits as f64
    }

    pub fn leaves(&self) -> f64 {
        self.leaves as f64 / self.edits as f64
    }

    pub fn leaf_bytes(&self) -> f64 {
        self.leaf_bytes as f64 / self.edits as f64
    }

    pub fn path_bytes(&self) -> f64 {
        self.path_bytes as f64 / self.edits as f64
    }
}

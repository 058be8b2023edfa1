//! Splitters side by side: what size nodes get, what an edit rewrites, what a load costs.
//!
//! `cargo bench --bench splitters` prints Markdown. No tree is built: for each splitter, the
//! boundaries of a whole tree of rows are found level by level from sizes and hashes of real
//! keys, then edits are made one at a time, and the nodes that differ are counted on every
//! level until old and new boundaries meet again. The first row of each table is the
//! splitter of the crate; the simulation is held to be the same as it, boundary by boundary.
//!
//! `HEDGEROW_ROWS` (default 1,000,000) and `HEDGEROW_EDITS` (default 2,000 of each kind)
//! make it shorter.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "figures for people to read, of sizes far below 2^32"
)]

use hedgerow::boundary::{MIN_ENTRIES, Shape, Splitter, key_hash};
use hedgerow::hash::Hash;
use hedgerow::limits::MAX_INLINE_VALUE_BYTES;
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;

const NODE_HEADER_BYTES: u32 = 4;
const LEAF_ENTRY_BYTES: u32 = 4;
const CHILD_BYTES: u32 = 42;
const FAR_BYTES: u32 = 36;
/// How skewed sizes of values are: the deviation of their logarithms.
const SKEW: f64 = 0.8;

/// An entry of a level, as far as a splitter sees it.
#[derive(Clone, Copy)]
struct Item {
    hash: u32,
    size: u32,
    key: u32,
}

/// How the chance that an entry ends a node follows from sizes.
#[derive(Clone, Copy)]
enum Chance {
    /// Middle of the entry's size class, so many classes to an octave (1 or 2), by target.
    Class(u32),
    /// Size of the entry by target.
    Proportional,
    /// Proportional, divided by `.0` before the target and multiplied by it from there on
    /// (normalised chunking: Xia et al., `FastCDC`, USENIX ATC 2016).
    Steps(f64),
    /// The chance that a Weibull variable of shape `.0` and scale target ends between the
    /// offsets before and after the entry when it has not ended before:
    /// `(F(b) - F(a)) / (1 - F(a))`, `F(x) = 1 - exp(-(x / target)^shape)`. With shape 4,
    /// Dolt's `weibullCheck` in `go/store/prolly/tree/node_splitter.go`.
    Weibull(i32),
    /// The integral of the Weibull hazard between the two offsets, `(b^k - a^k) / target^k`:
    /// as the above, without an exponential, so that integers do.
    Hazard(i32),
}

/// What happens in a node that finds no boundary.
#[derive(Clone, Copy)]
enum Cap {
    /// From 4 x target on an entry with the lowest hash so far; from 8 x target on any.
    LowestSoFar,
    /// At 4 x target, the node is cut after the entry with the lowest hash in it.
    LowestOfWindow,
    /// From 4 x target on any entry (Dolt).
    Hard,
    /// From 8 x target on any entry.
    Full,
}

#[derive(Clone, Copy)]
struct Candidate {
    name: &'static str,
    target: f64,
    chance: Chance,
    cap: Cap,
    /// Fewest entries of a leaf and of an internal node.
    min_entries: [usize; 2],
    /// No boundary before this share of the target.
    min_share: f64,
    /// The chance is at most this.
    most: f64,
    /// The chance in leaves is proportional, for the mean that a hazard of 2 gives.
    flat_leaves: bool,
}

const PRESENT: Candidate = Candidate {
    name: "(a) present",
    target: 4096.0,
    chance: Chance::Class(2),
    cap: Cap::LowestSoFar,
    min_entries: [MIN_ENTRIES, 2],
    min_share: 0.0,
    most: 1.0,
    flat_leaves: false,
};

const RISING: Candidate =
    Candidate { chance: Chance::Hazard(2), min_entries: [1, 2], cap: Cap::Full, ..PRESENT };

const CANDIDATES: &[Candidate] = &[
    PRESENT,
    Candidate { name: "(b) full octaves", chance: Chance::Class(1), ..PRESENT },
    Candidate { name: "(c) lowest of window", cap: Cap::LowestOfWindow, ..PRESENT },
    Candidate {
        name: "(d) Weibull 4 (Dolt)",
        chance: Chance::Weibull(4),
        cap: Cap::Hard,
        min_entries: [1, 2],
        min_share: 0.125,
        ..PRESENT
    },
    Candidate { name: "(e) min 1/4", min_share: 0.25, ..PRESENT },
    Candidate { name: "(f) MIN_ENTRIES 1", min_entries: [1, 1], ..PRESENT },
    Candidate {
        name: "(g1) proportional",
        chance: Chance::Proportional,
        min_entries: [1, 2],
        ..PRESENT
    },
    Candidate { name: "(g2) steps x2", chance: Chance::Steps(2.0), min_entries: [1, 2], ..PRESENT },
    Candidate { name: "(g3) steps x4", chance: Chance::Steps(4.0), min_entries: [1, 2], ..PRESENT },
    Candidate { name: "(g4) hazard 2", chance: Chance::Hazard(2), min_entries: [1, 2], ..PRESENT },
    Candidate { name: "(g5) hazard 3", chance: Chance::Hazard(3), min_entries: [1, 2], ..PRESENT },
    Candidate { name: "(g6) hazard 4", chance: Chance::Hazard(4), min_entries: [1, 2], ..PRESENT },
    // 2 / sqrt(pi) x 4096, so that nodes average 4096; no rule 3.
    Candidate { name: "(g7) rising", target: 4622.0, cap: Cap::Full, ..RISING },
    Candidate { name: "(g8) rising, leaves (g1)", target: 4622.0, flat_leaves: true, ..RISING },
    Candidate { name: "(g9) (a), chance <= 7/8", most: 0.875, ..PRESENT },
];

/// A level whose entries `at..at + removed` are replaced by `new`.
#[derive(Clone, Copy)]
struct View<'a> {
    old: &'a [Item],
    at: usize,
    removed: usize,
    new: &'a [Item],
}

impl<'a> View<'a> {
    const fn of(old: &'a [Item]) -> Self {
        Self { old, at: old.len(), removed: 0, new: &[] }
    }

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

    fn bytes(&self, from: usize, to: usize) -> u32 {
        NODE_HEADER_BYTES + (from..to).map(|index| self.get(index).size).sum::<u32>()
    }
}

impl Candidate {
    fn with_target(self, target: f64) -> Self {
        Self { target, ..self }
    }

    fn chance(&self, level: usize, size: u32, before: u32) -> f64 {
        let (size, before) = (f64::from(size), f64::from(before));
        if self.flat_leaves && level == 0 {
            return (size / self.target * core::f64::consts::FRAC_2_SQRT_PI).min(1.0);
        }
        let after = before + size;
        let power = |at: f64, shape| (at / self.target).powi(shape);
        let chance = match self.chance {
            Chance::Class(2) => {
                let octave = size.log2().floor().exp2();
                let middle = if size < 1.5 * octave { 1.25 } else { 1.75 };
                if size >= self.target { 1.0 } else { middle * octave / self.target }
            }
            Chance::Class(_) => {
                let octave = size.log2().floor().exp2();
                if size >= self.target { 1.0 } else { 1.5 * octave / self.target }
            }
            Chance::Proportional => size / self.target,
            Chance::Steps(by) => {
                let by = if after < self.target { 1.0 / by } else { by };
                size / self.target * by
            }
            Chance::Weibull(shape) => {
                let begun = -(-power(before, shape)).exp_m1();
                let ended = -(-power(after, shape)).exp_m1();
                if begun >= 1.0 { 1.0 } else { (ended - begun) / (1.0 - begun) }
            }
            Chance::Hazard(shape) => power(after, shape) - power(before, shape),
        };
        chance.min(self.most)
    }

    /// Where the node that starts at `from` ends.
    fn end(&self, level: usize, view: &View<'_>, from: usize) -> usize {
        let min_entries = self.min_entries[level.min(1)];
        let (soft, full) = ((4.0 * self.target) as u32, (8.0 * self.target) as u32);
        let min_bytes = (self.min_share * self.target) as u32;
        let mut node = NODE_HEADER_BYTES;
        let (mut lowest, mut lowest_at) = (u32::MAX, from);
        for index in from..view.len() {
            let Item { hash, size, .. } = view.get(index);
            let before = node;
            node += size;
            let below = hash < lowest;
            let enough = index + 1 - from >= min_entries;
            if below && (enough || matches!(self.cap, Cap::LowestSoFar)) {
                (lowest, lowest_at) = (hash, index);
            }
            let bound = (self.chance(level, size, before) * 4_294_967_296.0) as u32;
            if enough && node >= min_bytes && hash < bound {
                return index + 1;
            }
            let capped = match self.cap {
                Cap::LowestSoFar => node >= full || (below && node >= soft),
                Cap::Hard => node >= soft,
                Cap::Full => node >= full,
                Cap::LowestOfWindow if enough && node >= soft => return lowest_at + 1,
                Cap::LowestOfWindow => false,
            };
            if enough && capped {
                return index + 1;
            }
        }
        view.len()
    }

    /// Bytes after an entry that may move the boundary before it.
    const fn lookahead(&self) -> u32 {
        match self.cap {
            Cap::LowestOfWindow => (4.0 * self.target) as u32,
            _ => 0,
        }
    }
}

/// The entries of a level and where its nodes start.
struct Level {
    items: Vec<Item>,
    starts: Vec<usize>,
}

impl Level {
    fn new(candidate: &Candidate, level: usize, items: Vec<Item>) -> Self {
        let view = View::of(&items);
        let mut starts = Vec::new();
        let mut at = 0;
        while at < items.len() {
            starts.push(at);
            at = candidate.end(level, &view, at);
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
        View::of(&self.items).bytes(self.starts[node], self.node_end(node))
    }
}

struct Tree {
    candidate: Candidate,
    levels: Vec<Level>,
}

/// What an edit did to a level: `new` nodes in place of `removed` ones from `first` on.
struct Change {
    first: usize,
    removed: usize,
    new: Vec<(usize, usize)>,
}

/// What an edit wrote.
#[derive(Clone, Copy, Default)]
struct Cost {
    leaves: usize,
    leaf_bytes: u32,
    path_bytes: u32,
    kept: bool,
}

impl Tree {
    fn new(candidate: Candidate, items: &[Item], keys: &[String]) -> Self {
        let mut levels = vec![Level::new(&candidate, 0, items.to_vec())];
        while levels[levels.len() - 1].starts.len() > 1 {
            let below = &levels[levels.len() - 1];
            let children = (0..below.starts.len())
                .map(|node| child(levels.len(), below.items[below.node_end(node) - 1].key, keys))
                .collect();
            let level = levels.len();
            levels.push(Level::new(&candidate, level, children));
        }
        Self { candidate, levels }
    }

    fn change(&self, level: usize, view: &View<'_>) -> Change {
        let nodes = &self.levels[level];
        let mut first = nodes.node_of(view.at.min(nodes.items.len() - 1));
        let mut reach = 0;
        while first > 0 && reach < self.candidate.lookahead() {
            first -= 1;
            reach += nodes.node_bytes(first);
        }
        let mut new = Vec::new();
        let mut at = nodes.starts[first];
        let until = loop {
            let end = self.candidate.end(level, view, at);
            new.push((at, end));
            at = end;
            if at >= view.at + view.new.len() {
                let old = at + view.removed - view.new.len();
                if let Ok(node) = nodes.starts.binary_search(&old) {
                    break node;
                }
                if at == view.len() {
                    break nodes.starts.len();
                }
            }
        };
        // Nodes before the edit that came out as they were.
        let same = new
            .iter()
            .enumerate()
            .take_while(|(index, (from, to))| {
                let old = first + index;
                *to <= view.at && nodes.starts.get(old) == Some(from) && nodes.node_end(old) == *to
            })
            .count();
        new.drain(..same);
        Change { first: first + same, removed: until - first - same, new }
    }

    /// Replaces the entries `at..at + removed` by `new`; the tree stays as it is.
    fn edit(&self, at: usize, removed: usize, new: &[Item], keys: &[String]) -> Cost {
        let mut cost = Cost::default();
        let (mut at, mut removed, mut items) = (at, removed, new.to_vec());
        for level in 0..self.levels.len() {
            let nodes = &self.levels[level];
            let view = View { old: &nodes.items, at, removed, new: &items };
            let change = self.change(level, &view);
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
            let children: Vec<_> = change
                .new
                .iter()
                .map(|(_, to)| child(level + 1, view.get(to - 1).key, keys))
                .collect();
            (at, removed, items) = (change.first, change.removed, children);
        }
        cost
    }

    fn internal_bytes(&self) -> u64 {
        self.levels[1..]
            .iter()
            .flat_map(|level| (0..level.starts.len()).map(|node| u64::from(level.node_bytes(node))))
            .sum()
    }
}

fn child(level: usize, key: u32, keys: &[String]) -> Item {
    let text = keys[key as usize].as_bytes();
    Item { hash: key_hash(level as u8, text), size: CHILD_BYTES + text.len() as u32, key }
}

fn leaf_size(key: &str, value: u32) -> u32 {
    let stored = if value as usize > MAX_INLINE_VALUE_BYTES { FAR_BYTES } else { value };
    LEAF_ENTRY_BYTES + key.len() as u32 + stored
}

/// Rows with their keys in order.
struct Rows {
    keys: Vec<String>,
    values: Vec<u32>,
    items: Vec<Item>,
}

/// The forms that keys take.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    Sequential,
    Random,
    /// The first half sequential, the other random.
    Both,
}

impl Rows {
    fn new(keys: Vec<String>, values: Vec<u32>) -> Self {
        let items = keys
            .iter()
            .zip(&values)
            .enumerate()
            .map(|(at, (key, value))| Item {
                hash: key_hash(0, key.as_bytes()),
                size: leaf_size(key, *value),
                key: at as u32,
            })
            .collect();
        Self { keys, values, items }
    }

    /// `count` rows of `mean` bytes on average, lognormal as far as values are held inline.
    fn lognormal(count: usize, mean: f64, form: Keys) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(mean as u64);
        let mut keys = BTreeSet::new();
        while keys.len() < count {
            let sequential = match form {
                Keys::Both => keys.len() < count / 2,
                form => form == Keys::Sequential,
            };
            keys.insert(if sequential {
                format!("issue/{:08}", keys.len())
            } else {
                format!("row/{:010x}", random.random_range(0..1_u64 << 40))
            });
        }
        let shapes: Vec<f64> = (0..count).map(|_| (SKEW * normal(&mut random)).exp()).collect();
        let wanted = mean - f64::from(LEAF_ENTRY_BYTES) - 14.0;
        let mut scale = wanted;
        let most = MAX_INLINE_VALUE_BYTES as f64;
        for _ in 0..8 {
            let sum: f64 = shapes.iter().map(|shape| (shape * scale).clamp(1.0, most)).sum();
            scale *= wanted / (sum / count as f64);
        }
        let values = shapes.iter().map(|shape| (shape * scale).clamp(1.0, most) as u32).collect();
        Self::new(keys.into_iter().collect(), values)
    }
}

/// A normal variable (Box and Muller).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (core::f64::consts::TAU * b).cos()
}

/// The kinds of edit.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Tenth,
    Double,
    Insert,
    Delete,
}

const KINDS: [Kind; 4] = [Kind::Tenth, Kind::Double, Kind::Insert, Kind::Delete];

#[derive(Default)]
struct Costs {
    edits: usize,
    kept: usize,
    leaves: usize,
    most_leaves: usize,
    leaf_bytes: u64,
    path_bytes: u64,
}

impl Costs {
    fn of(tree: &Tree, rows: &Rows, kind: Kind, edits: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(17);
        let mut keys = rows.keys.clone();
        keys.push(String::new());
        let spare = keys.len() - 1;
        let mut costs = Self::default();
        for _ in 0..edits {
            let at = random.random_range(1..rows.keys.len());
            let (key, value) = (&rows.keys[at], rows.values[at]);
            let resized = |by: f64| {
                let value = ((f64::from(value) * by) as u32).max(1);
                [Item { size: leaf_size(key, value), ..rows.items[at] }]
            };
            let cost = match kind {
                Kind::Tenth => tree.edit(at, 1, &resized(random.random_range(0.9..1.1)), &keys),
                Kind::Double => tree.edit(at, 1, &resized(2.0), &keys),
                Kind::Delete => tree.edit(at, 1, &[], &keys),
                Kind::Insert => {
                    let before = &rows.keys[at - 1];
                    let digits = &format!("{:04}", random.random_range(0..10_000));
                    let key = format!("{before}{digits}");
                    let hash = key_hash(0, key.as_bytes());
                    let size = leaf_size(&key, value);
                    keys[spare] = key;
                    tree.edit(at, 0, &[Item { hash, size, key: spare as u32 }], &keys)
                }
            };
            costs.edits += 1;
            costs.kept += usize::from(cost.kept);
            costs.leaves += cost.leaves;
            costs.most_leaves = costs.most_leaves.max(cost.leaves);
            costs.leaf_bytes += u64::from(cost.leaf_bytes);
            costs.path_bytes += u64::from(cost.path_bytes);
        }
        costs
    }

    fn per_edit(&self, sum: u64) -> f64 {
        sum as f64 / self.edits as f64
    }

    fn kept(&self) -> f64 {
        100.0 * self.kept as f64 / self.edits as f64
    }
}

/// Sizes of leaves.
struct Sizes {
    mean: f64,
    deviation: f64,
    percentile_99: u32,
    most: u32,
    /// Expected size of the leaf of a random byte, which is nearly that of a random entry.
    biased: f64,
}

impl Sizes {
    fn of(tree: &Tree) -> Self {
        let leaves = &tree.levels[0];
        let mut sizes: Vec<u32> =
            (0..leaves.starts.len()).map(|node| leaves.node_bytes(node)).collect();
        sizes.sort_unstable();
        let count = sizes.len() as f64;
        let sum: f64 = sizes.iter().map(|size| f64::from(*size)).sum();
        let squares: f64 = sizes.iter().map(|size| f64::from(*size).powi(2)).sum();
        let mean = sum / count;
        Self {
            mean,
            deviation: (squares / count - mean * mean).max(0.0).sqrt(),
            percentile_99: sizes[sizes.len() * 99 / 100],
            most: sizes[sizes.len() - 1],
            biased: squares / sum,
        }
    }
}

fn kib(bytes: f64) -> String {
    format!("{:.1}", bytes / 1024.0)
}

/// The candidate with the target at which leaves have `mean` bytes on average.
fn tuned(candidate: Candidate, rows: &Rows, mean: f64) -> Candidate {
    let mut candidate = candidate;
    let sample = &rows.items[..rows.items.len().min(200_000)];
    for _ in 0..5 {
        let level = Level::new(&candidate, 0, sample.to_vec());
        let bytes: u64 = sample.iter().map(|item| u64::from(item.size)).sum();
        let got = bytes as f64 / level.starts.len() as f64;
        candidate = candidate.with_target(candidate.target * mean / got);
    }
    candidate
}

/// Entries per second through a splitter, in millions, hash of the key included: the best of
/// three passes.
fn speed(candidate: &Candidate, rows: &Rows) -> f64 {
    let count = rows.items.len().min(400_000);
    let best = (0..3)
        .map(|_| {
            let start = Instant::now();
            let mut items = rows.items[..count].to_vec();
            for item in &mut items {
                item.hash = key_hash(0, black_box(rows.keys[item.key as usize].as_bytes()));
            }
            black_box(Level::new(candidate, 0, items).starts.len());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::MAX, f64::min);
    count as f64 / best / 1e6
}

/// The same for a splitter in integers, given the key, its hash still to be taken, and size
/// of each entry, entries and bytes of the node.
fn integer_speed(rows: &Rows, mut ends: impl FnMut(&[u8], usize, usize, usize) -> bool) -> f64 {
    let count = rows.items.len().min(400_000);
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            black_box(starts(rows, count, &mut ends).len());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::MAX, f64::min);
    count as f64 / best / 1e6
}

/// Where leaves start when `ends` tells where they end.
fn starts(
    rows: &Rows,
    count: usize,
    mut ends: impl FnMut(&[u8], usize, usize, usize) -> bool,
) -> Vec<usize> {
    let mut starts = vec![0];
    let (mut entries, mut node) = (0, NODE_HEADER_BYTES as usize);
    for item in &rows.items[..count] {
        let (key, size) = (rows.keys[item.key as usize].as_bytes(), item.size as usize);
        entries += 1;
        node += size;
        if ends(key, size, entries, node) {
            (entries, node) = (0, NODE_HEADER_BYTES as usize);
            starts.push(item.key as usize + 1);
        }
    }
    starts.pop_if(|start| *start == count);
    starts
}

/// The crate's own splitter.
fn crate_ends() -> impl FnMut(&[u8], usize, usize, usize) -> bool {
    let mut splitter = Splitter::new(Shape::STORED, 0);
    move |key, size, entries, node| {
        let ends = splitter.ends(key, size, entries, node);
        if ends {
            splitter.restart();
        }
        ends
    }
}

/// (g7) in integers: it has no state.
fn rising_ends(key: &[u8], size: usize, _entries: usize, node: usize) -> bool {
    const SCALE_SQUARED: u64 = 4622 * 4622;
    let grown = size as u64 * (2 * node - size) as u64;
    u64::from(key_hash(0, key)) < (grown << 32) / SCALE_SQUARED || node >= 8 * 4622
}

/// The simulated splitters make the boundaries that those in integers make.
fn check_simulation(rows: &Rows) {
    let count = rows.items.len().min(100_000);
    let simulated = |candidate| Level::new(candidate, 0, rows.items[..count].to_vec()).starts;
    assert!(simulated(&PRESENT) == starts(rows, count, crate_ends()), "not the crate's splitter");
    let rising = Candidate { target: 4622.0, ..RISING };
    assert!(simulated(&rising) == starts(rows, count, rising_ends), "not (g7)");
}

fn main_table(rows: &Rows, mean: usize, edits: usize) {
    for candidate in CANDIDATES {
        let tree = Tree::new(*candidate, &rows.items, &rows.keys);
        let sizes = Sizes::of(&tree);
        let [tenth, double, insert, delete] = KINDS.map(|kind| Costs::of(&tree, rows, kind, edits));
        println!(
            "| {mean} | {} | {} / {} / {} / {} | {} | {:.1} / {:.1} / {:.1} / {:.1} | {:.2} / {} \
             | {} / {} | {} / {} | {:.0} |",
            candidate.name,
            kib(sizes.mean),
            kib(sizes.deviation),
            kib(f64::from(sizes.percentile_99)),
            kib(f64::from(sizes.most)),
            kib(sizes.biased),
            tenth.kept(),
            double.kept(),
            insert.kept(),
            delete.kept(),
            insert.per_edit(insert.leaves as u64),
            insert.most_leaves,
            kib(tenth.per_edit(tenth.leaf_bytes)),
            kib(tenth.per_edit(tenth.leaf_bytes + tenth.path_bytes)),
            kib(insert.per_edit(insert.leaf_bytes)),
            kib(insert.per_edit(insert.leaf_bytes + insert.path_bytes)),
            speed(candidate, rows),
        );
    }
}

/// Leaves, and the share of all leaf bytes, that `edits` values rewrite in `count` rows.
fn spread(tree: &Tree, edits: usize) -> (usize, usize, f64) {
    let leaves = &tree.levels[0];
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let touched: BTreeSet<usize> = index::sample(&mut random, leaves.items.len(), edits)
        .iter()
        .map(|item| leaves.node_of(item))
        .collect();
    let bytes = |node| f64::from(leaves.node_bytes(node));
    let all: f64 = (0..leaves.starts.len()).map(bytes).sum();
    let rewritten: f64 = touched.iter().map(|node| bytes(*node)).sum();
    (touched.len(), leaves.starts.len(), 100.0 * rewritten / all)
}

fn target_row(mean: usize, candidate: Candidate, rows: &Rows, edits: usize) {
    let tree = Tree::new(candidate, &rows.items, &rows.keys);
    let sizes = Sizes::of(&tree);
    let [tenth, insert] =
        [Kind::Tenth, Kind::Insert].map(|kind| Costs::of(&tree, rows, kind, edits));
    let part = Tree::new(candidate, &rows.items[..100_000], &rows.keys);
    let (touched, all, share) = spread(&part, 10_000);
    let data: u64 = rows.items.iter().map(|item| u64::from(item.size)).sum();
    println!(
        "| {mean} | {} | {:.0} | {} / {} | {} | {} + {} | {} + {} | {:.2} | {touched} of {all} | \
         {share:.0} % | {:.2} % |",
        candidate.name,
        candidate.target,
        kib(sizes.mean),
        kib(sizes.biased),
        tree.levels.len(),
        kib(tenth.per_edit(tenth.leaf_bytes)),
        kib(tenth.per_edit(tenth.path_bytes)),
        kib(insert.per_edit(insert.leaf_bytes)),
        kib(insert.per_edit(insert.path_bytes)),
        insert.per_edit(insert.leaves as u64),
        100.0 * tree.internal_bytes() as f64 / data as f64,
    );
}

const TARGET_HEAD: &str = "\
| entry B | splitter | target | leaf mean / biased KiB | levels | value +-10 %: leaf + path KiB \
| insert: leaf + path KiB | leaves per insert | leaves for 10,000 of 100,000 | of leaf bytes \
| internal / data |
|---|---|---|---|---|---|---|---|---|---|---|";

fn uniform_table() {
    println!("\n## Rows of equal, large values (20,000 rows; 100 edits)\n");
    println!(
        "| value B | splitter | leaf mean / max KiB | leaves per insert: mean / max | per delete |"
    );
    println!("|---|---|---|---|---|");
    for value in [2000, 3000, 4000, 4096] {
        let keys: Vec<_> = (0..20_000).map(|row| format!("issue/{row:08}")).collect();
        let rows = Rows::new(keys, vec![value; 20_000]);
        for candidate in CANDIDATES {
            let tree = Tree::new(*candidate, &rows.items, &rows.keys);
            let sizes = Sizes::of(&tree);
            let insert = Costs::of(&tree, &rows, Kind::Insert, 100);
            let delete = Costs::of(&tree, &rows, Kind::Delete, 100);
            println!(
                "| {value} | {} | {} / {} | {:.2} / {} | {:.2} / {} |",
                candidate.name,
                kib(sizes.mean),
                kib(f64::from(sizes.most)),
                insert.per_edit(insert.leaves as u64),
                insert.most_leaves,
                delete.per_edit(delete.leaves as u64),
                delete.most_leaves,
            );
        }
    }
}

fn hash_table() {
    println!("\n## BLAKE3 of one node, natively\n\n| KiB | MB/s |\n|---|---|");
    for size in [1_usize, 2, 3, 4, 6, 8, 12, 16, 32] {
        let bytes = vec![7_u8; size << 10];
        let rounds = (16 << 10) / size;
        let best = (0..5)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..rounds {
                    black_box(Hash::of(black_box(&bytes)));
                }
                start.elapsed().as_secs_f64()
            })
            .fold(f64::MAX, f64::min);
        println!("| {size} | {:.0} |", (rounds * bytes.len()) as f64 / best / 1e6);
    }
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() {
    let count = setting("HEDGEROW_ROWS", 1_000_000).max(100_000);
    let edits = setting("HEDGEROW_EDITS", 2000);
    let means = [50, 150, 400, 1500];
    let all: Vec<_> =
        means.iter().map(|mean| Rows::lognormal(count, f64::from(*mean), Keys::Both)).collect();
    all.iter().for_each(check_simulation);

    println!("## Splitters, target 4 KiB ({count} rows, {edits} edits of each kind)\n");
    println!(
        "| entry B | splitter | leaf mean / sd / p99 / max KiB | size-biased | shape kept %: \
         +-10 % / x2 / insert / delete | leaves per insert: mean / max | +-10 %: leaves / + path \
         KiB | insert: leaves / + path KiB | M entries/s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (rows, mean) in all.iter().zip(means) {
        main_table(rows, mean as usize, edits);
    }
    println!(
        "\nIn integers, 150 B: the crate's own `Splitter` {:.0} M entries/s, (g7) {:.0}.",
        integer_speed(&all[1], crate_ends()),
        integer_speed(&all[1], rising_ends),
    );

    println!("\n## The same, each tuned to leaves of 4 KiB on average\n\n{TARGET_HEAD}");
    for (rows, mean) in all.iter().zip(means) {
        for candidate in CANDIDATES {
            target_row(mean as usize, tuned(*candidate, rows, 4096.0), rows, edits);
        }
    }

    println!("\n## Targets\n\n{TARGET_HEAD}");
    for (rows, mean) in all.iter().zip(means) {
        let compared = ["(a)", "(g1)", "(g7)", "(g8)"];
        let is_compared =
            |one: &&Candidate| compared.iter().any(|name| one.name.starts_with(*name));
        for candidate in CANDIDATES.iter().filter(is_compared) {
            for by in [0.25, 0.5, 1.0, 2.0] {
                let candidate = candidate.with_target(candidate.target * by);
                target_row(mean as usize, candidate, rows, edits);
            }
        }
    }

    println!("\n## Forms of keys (present, 150 B)\n\n{TARGET_HEAD}");
    for form in [Keys::Sequential, Keys::Random] {
        target_row(150, PRESENT, &Rows::lognormal(200_000, 150.0, form), edits);
    }
    uniform_table();
    hash_table();
}

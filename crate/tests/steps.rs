//! The reads of a descent: each node at most once while the cache is large enough, and only nodes
//! that its keys lead to.
//!
//! The store is kept twice: packed into segments as it was made, and with every chunk in a segment
//! of its own, so that segments asked for are nodes read. A walk over the tree finds the nodes that
//! should be read. The test prints a table of figures
//! (`cargo test --test all steps:: -- --nocapture`).

use hedgerow::boundary::Shape;
use hedgerow::cache::{SegmentId, Want};
use hedgerow::hash::Hash;
use hedgerow::ingest::Format;
use hedgerow::node::Node;
use hedgerow::segment::Table;
use hedgerow::tree::Range;
use hedgerow_support::host::Host;
use hedgerow_support::rows::{issue, list, pairs};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

const ROW_COUNT: usize = 50_000;
const CACHE_BYTES: usize = 64 << 20;

/// Makes the row at `index`; other keys fit between any two.
fn row(index: usize) -> (String, String) {
    issue(2 * index)
}

fn key(index: usize) -> String {
    row(index).0
}

/// A node of the tree, found without the operations under test.
struct Place {
    level: u8,
    children: Vec<(Vec<u8>, Hash)>,
    /// The node before it on its level.
    left: Option<Hash>,
}

struct Walked {
    places: HashMap<Hash, Place>,
    root: Hash,
}

impl Walked {
    /// Walks the whole tree of `host`.
    fn of(host: &Host) -> Self {
        let chunks: HashMap<_, _> = host.chunks().map(|(_, hash, bytes)| (hash, bytes)).collect();
        let root = host.tree().root;
        let (mut places, mut level) = (HashMap::new(), vec![root]);
        while !level.is_empty() {
            let (mut below, mut left) = (Vec::new(), None);
            for hash in level {
                let node = Node::decode(&chunks[&hash]).expect("a node");
                let children = match &node {
                    Node::Leaf(_) => Vec::new(),
                    Node::Inner(node) => {
                        (0..node.len()).map(|at| (node.key(at).to_vec(), node.hash(at))).collect()
                    }
                };
                below.extend(children.iter().map(|(_, hash)| *hash));
                places.insert(hash, Place { level: node.level(), children, left });
                left = Some(hash);
            }
            level = below;
        }
        Self { places, root }
    }

    /// Finds the nodes on the paths to `keys`, which ascend and are not beyond the last key.
    fn paths(&self, keys: &[String]) -> BTreeSet<Hash> {
        let (mut found, mut visits) = (BTreeSet::new(), vec![(self.root, keys)]);
        while let Some((hash, mut keys)) = visits.pop() {
            found.insert(hash);
            for (last, child) in &self.places[&hash].children {
                let (here, after) =
                    keys.split_at(keys.partition_point(|key| key.as_bytes() <= last));
                if !here.is_empty() {
                    visits.push((*child, here));
                }
                keys = after;
            }
        }
        found
    }

    /// Finds the nodes that hold keys from `from` to `to`, both included.
    fn between(&self, from: &str, to: &str) -> BTreeSet<Hash> {
        let (mut found, mut visits) = (BTreeSet::new(), vec![self.root]);
        while let Some(hash) = visits.pop() {
            found.insert(hash);
            let mut previous: Option<&[u8]> = None;
            for (last, child) in &self.places[&hash].children {
                let starts_after = previous.is_some_and(|previous| previous >= to.as_bytes());
                if from.as_bytes() <= &last[..] && !starts_after {
                    visits.push(*child);
                }
                previous = Some(last);
            }
        }
        found
    }

    fn height(&self) -> usize {
        usize::from(self.places[&self.root].level) + 1
    }
}

/// The store in one of its two forms.
struct Form {
    host: Host,
    stored: BTreeMap<SegmentId, (Vec<u8>, Table)>,
    homes: HashMap<Hash, SegmentId>,
}

impl Form {
    fn new(host: Host) -> Self {
        let homes = host.chunks().map(|(id, hash, _)| (hash, id)).collect();
        Self { stored: host.stored.clone(), host, homes }
    }

    /// Restores the store, and empties the cache.
    fn reset(&mut self) {
        self.host.stored.clone_from(&self.stored);
        self.host.reopen(CACHE_BYTES);
    }

    fn homes(&self, nodes: &BTreeSet<Hash>) -> BTreeSet<SegmentId> {
        nodes.iter().map(|hash| self.homes[hash]).collect()
    }

    /// Returns the segments that `act` asks for, whole or in parts; checks that it asks for each want once.
    fn asked(&mut self, act: impl FnOnce(&mut Host)) -> BTreeSet<SegmentId> {
        self.reset();
        act(&mut self.host);
        let asked: BTreeSet<_> = self.host.asked.iter().copied().collect();
        let wanted = &self.host.wanted;
        for (at, want) in wanted.iter().enumerate() {
            let is_again = |other: &Want| *other == *want || *other == want.whole();
            assert!(!wanted[..at].iter().any(is_again), "{want:?} was asked for twice");
        }
        asked
    }
}

struct Store {
    packed: Form,
    scattered: Form,
    walked: Walked,
}

impl Store {
    fn new() -> Self {
        let mut packed = Host::new(Shape::STORED);
        packed.put_blocks(&(0..ROW_COUNT).map(row).collect::<Vec<_>>(), 1000);
        let mut scattered = Host::new(Shape::STORED);
        (scattered.forest, scattered.root) = (packed.forest.clone(), packed.root);
        for (_, _, bytes) in packed.chunks() {
            scattered.store_chunk(&bytes);
        }
        let walked = Walked::of(&packed);
        Self { packed: Form::new(packed), scattered: Form::new(scattered), walked }
    }

    /// Checks that `act`, which is `name`, reads the nodes `expected`, and asks for their segments.
    fn reads(&mut self, name: &str, expected: &BTreeSet<Hash>, act: impl Fn(&mut Host)) {
        for (form, how) in [(&mut self.packed, "packed"), (&mut self.scattered, "scattered")] {
            let (asked, needed) = (form.asked(&act), form.homes(expected));
            let extra: Vec<_> = asked.difference(&needed).collect();
            let missing: Vec<_> = needed.difference(&asked).collect();
            assert!(
                extra.is_empty() && missing.is_empty(),
                "{name}, chunks {how}: expected to be asked for {} segments, was asked for {}: \
                 too many {extra:?}, missing {missing:?}",
                needed.len(),
                asked.len(),
            );
        }
    }
}

/// Applies a block of edits without moving to the commit; returns the nodes written.
fn edit(host: &mut Host, text: &str, format: &Format) -> u64 {
    let mut ingest = host.ingest();
    host.feed(&mut ingest, text, format).expect("good edits");
    ingest.finish();
    host.drive(&mut ingest).expect("good edits");
    assert!(ingest.committed().is_some());
    // All chunks but the commit.
    ingest.chunks() - 1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Another value of the same length.
    Change,
    Insert,
    Delete,
}

/// Makes `count` edits; returns them as a block and their keys.
fn edits(kind: Kind, count: usize, clustered: bool) -> (String, Format, Vec<String>) {
    let stride = if clustered { 1 } else { ROW_COUNT / count };
    let first = ROW_COUNT / 3 % stride + if clustered { ROW_COUNT / 3 } else { 0 };
    let indices = (0..count).map(|at| first + at * stride);
    match kind {
        Kind::Change => {
            let rows: Vec<_> =
                indices.map(row).map(|(k, v)| (k, v.replace("quick", "sleek"))).collect();
            (pairs(&rows), Format::Pairs, rows.into_iter().map(|(key, _)| key).collect())
        }
        Kind::Insert => {
            let rows: Vec<_> = indices.map(|index| issue(2 * index + 1)).collect();
            (pairs(&rows), Format::Pairs, rows.into_iter().map(|(key, _)| key).collect())
        }
        Kind::Delete => {
            let keys: Vec<_> = indices.map(key).collect();
            (list(&keys), Format::Deletes, keys)
        }
    }
}

#[test]
fn a_batch_reads_each_node_on_its_paths_once_and_nothing_else() {
    let mut store = Store::new();
    println!("| edits | which | on paths | read | written | segments asked | of |");
    println!("|---|---|---|---|---|---|---|");
    for kind in [Kind::Change, Kind::Insert, Kind::Delete] {
        for clustered in [false, true] {
            for count in [1, 10, 100, 1000, 10_000] {
                let (text, format, keys) = edits(kind, count, clustered);
                let expected = store.walked.paths(&keys);
                let mut written = 0;
                let read = store.scattered.asked(|host| written = edit(host, &text, &format));
                let asked = store.packed.asked(|host| {
                    edit(host, &text, &format);
                });
                let place = if clustered { "clustered" } else { "spread" };
                println!(
                    "| {kind:?} {count} | {place} | {} | {} | {written} | {} | {} |",
                    expected.len(),
                    read.len(),
                    asked.len(),
                    store.packed.homes(&expected).len(),
                );
                let name = format!("{kind:?} {count} {place}");
                check(&store, &name, kind, &expected, &read, &asked);
                if kind == Kind::Change {
                    assert_eq!(written, expected.len() as u64, "{name}: each is rewritten once");
                }
            }
        }
    }
}

fn check(
    store: &Store,
    name: &str,
    kind: Kind,
    expected: &BTreeSet<Hash>,
    read: &BTreeSet<SegmentId>,
    asked: &BTreeSet<SegmentId>,
) {
    let (packed, scattered) = (store.packed.homes(expected), store.scattered.homes(expected));
    if kind == Kind::Change {
        assert_eq!((read, asked), (&scattered, &packed), "{name}");
        return;
    }
    // An insert or a delete may move a boundary; then the next node is opened, too, until
    // old and new boundaries meet.
    let nodes: HashMap<SegmentId, Hash> =
        store.scattered.homes.iter().map(|(hash, id)| (*id, *hash)).collect();
    assert!(scattered.is_subset(read) || kind == Kind::Delete, "{name}");
    for extra in read.difference(&scattered) {
        let left = store.walked.places[&nodes[extra]].left.expect("a node to its left");
        assert!(read.contains(&store.scattered.homes[&left]), "{name}: a node apart was read");
    }
    let needed = read.iter().map(|id| nodes[id]).collect();
    assert_eq!(*asked, store.packed.homes(&needed), "{name}");
    let extra = read.len() - scattered.intersection(read).count();
    assert!(extra <= expected.len() / 4 + store.walked.height(), "{name}: {extra} more nodes");
}

#[test]
fn a_read_asks_for_each_node_on_its_paths_once_and_for_nothing_else() {
    let mut store = Store::new();
    for index in [0, 1, 777, ROW_COUNT / 2, ROW_COUNT - 1] {
        let (key, value) = row(index);
        let path = store.walked.paths(std::slice::from_ref(&key));
        assert_eq!(path.len(), store.walked.height());
        store.reads(&format!("get of row {index}"), &path, |host| {
            assert_eq!(host.get(&key).as_ref(), Some(&value));
        });
    }
    // An absent key, too.
    let absent = issue(2 * 4321 + 1).0;
    let path = store.walked.paths(std::slice::from_ref(&absent));
    store.reads("get of an absent key", &path, |host| assert_eq!(host.get(&absent), None));
    for (count, stride) in [(1, 1), (10, 4999), (100, 499), (1000, 49), (300, 1)] {
        let keys: Vec<_> = (0..count).map(|at| key(17 + at * stride)).collect();
        let paths = store.walked.paths(&keys);
        let mut shuffled = keys.clone();
        shuffled.reverse();
        shuffled.rotate_left(count / 3);
        store.reads(&format!("{count} keys, every {stride}th"), &paths, |host| {
            assert!(host.get_many(&shuffled).iter().all(Option::is_some));
        });
    }
    for (from, to) in [(0, 0), (10, 500), (20_000, 29_000), (ROW_COUNT - 100, ROW_COUNT - 1)] {
        let (first, last) = (key(from), key(to));
        let range = Range {
            lower: Bound::Included(first.clone().into_bytes()),
            upper: Bound::Included(last.clone().into_bytes()),
        };
        let nodes = store.walked.between(&first, &last);
        for reverse in [false, true] {
            let name = format!("scan of rows {from} to {to}, reverse {reverse}");
            store.reads(&name, &nodes, |host| {
                assert_eq!(host.scan(&range, reverse, u64::MAX).len(), to - from + 1);
            });
        }
        let paths = store.walked.paths(&[first, last]);
        let name = format!("count of rows {from} to {to}");
        store.reads(&name, &paths, |host| assert_eq!(host.count(&range), (to - from + 1) as u64));
    }
    store.reads("count of all", &BTreeSet::new(), |host| {
        assert_eq!(host.count(&Range::ALL), ROW_COUNT as u64);
    });
}

#[test]
fn a_scan_that_stops_early_reads_little_ahead() {
    let mut store = Store::new();
    for limit in [1, 10, 100, 1000] {
        for reverse in [false, true] {
            let (first, last) =
                if reverse { (ROW_COUNT - limit, ROW_COUNT - 1) } else { (0, limit - 1) };
            let needed = store.walked.between(&key(first), &key(last));
            let needed = store.scattered.homes(&needed);
            let asked = store.scattered.asked(|host| {
                assert_eq!(host.scan(&Range::ALL, reverse, limit as u64).len(), limit);
            });
            assert!(needed.is_subset(&asked), "limit {limit}, reverse {reverse}");
            let extra = asked.len() - needed.len();
            println!("limit {limit}, reverse {reverse}: {extra} more than {}", needed.len());
            // A scan assumes that each leaf is as long as the one before it.
            let most = if limit <= 10 { 0 } else { 2 + needed.len() / 4 };
            assert!(extra <= most, "limit {limit}: {extra} more than {}", needed.len());
        }
    }
}

#[test]
fn the_first_rows_of_a_range_ask_for_their_path_only() {
    let mut store = Store::new();
    for at in [0, 1, 777, 25_000, ROW_COUNT - 1] {
        for reverse in [false, true] {
            let needed = store.walked.paths(&[key(at)]);
            let bound = Bound::Included(key(at).into_bytes());
            let range = if reverse {
                Range { lower: Bound::Unbounded, upper: bound }
            } else {
                Range { lower: bound, upper: Bound::Unbounded }
            };
            let name = format!("first row of a scan from row {at}, reverse {reverse}");
            store.reads(&name, &needed, |host| {
                assert_eq!(host.scan(&range, reverse, 1), [row(at)]);
            });
        }
    }
}

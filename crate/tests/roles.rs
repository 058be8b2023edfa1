//! One chunk in two roles, under its right hash: its first read must not affect later ones. Chunks of
//! every kind are damaged. Each is first read as a sum tree, a value, a commit or by a collection, and
//! then as a node, a child or anything else. Both reads end as they do with an empty cache.

use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch};
use hedgerow::collect::{Collect, Thoroughness};
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::node::Node;
use hedgerow::output::Output;
use hedgerow::proof::Prove;
use hedgerow::step::{Budget, Step};
use hedgerow::sum_tree::{Rules, SumVerify, get as sum_get};
use hedgerow::tree::{Parts, Range, Scan, Tree, ValueReader, get};
use hedgerow::value::ValueRef;
use hedgerow_support::faults::cache;
use hedgerow_support::host::Host;
use hedgerow_support::layout;
use hedgerow_support::property::for_seeds;
use hedgerow_support::rows::issue;
use hedgerow_support::sums::{Leaves, Sums};
use hedgerow_support::values::bytes;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Each seed changes [`CHUNKS`] chunks.
const SEEDS: u64 = 30;
const CHUNKS: usize = 100;

/// Makes small chunks of every kind with the core.
fn honest() -> Vec<Vec<u8>> {
    let mut host = Host::new(Shape::with_target(64));
    host.put(&(0..60).map(issue).collect::<Vec<_>>());
    let mut leaves = Leaves::new();
    for at in 0..60_u8 {
        leaves.insert([at.wrapping_mul(37); 32], (vec![at; usize::from(at) * 6], 5));
    }
    let sums = Sums::of(Host::new(Shape::STORED), &leaves);
    let mut chunks: Vec<_> = host.chunks().map(|(_, _, bytes)| bytes).collect();
    chunks.extend(sums.host.chunks().map(|(_, _, bytes)| bytes));
    chunks.push(layout::piece(&bytes(300, 1)));
    chunks.push(layout::piece_list(&[Hash([1; 32]), Hash([2; 32])]));
    chunks.push(layout::commit(&[(b"r", 3, Hash([1; 32])), (b"two", 2, Hash([2; 32]))]));
    chunks.retain(|chunk| chunk.len() < 6000);
    chunks
}

/// A chunk, and the chunks that give it its roles.
struct Roles {
    hash: Hash,
    /// The number of entries that a leaf, or the top of a tree, would have.
    count: u64,
    chunks: Vec<Vec<u8>>,
    parent: Hash,
    commit: Hash,
}

impl Roles {
    fn of(chunk: &[u8]) -> Self {
        let hash = Hash::of(chunk);
        // The parent states the truth about a node, or else the count in the first bytes of the chunk.
        let node = Node::decode(chunk).ok();
        let said = chunk.get(2..4).map_or(1, |word| u16::from_le_bytes([word[0], word[1]]).into());
        let count = node.as_ref().map_or(u64::max(said, 1), Node::total);
        let key = node.as_ref().map_or(&b"k"[..], Node::last_key);
        let level = 1 + node.as_ref().map_or(0, Node::level);
        let parent = layout::inner(level, &[(key, count, hash)]);
        let mut commit = layout::commit(&[(b"r", count, Hash::of(&parent)), (b"sx", count, hash)]);
        // The hash and the sum of the root of a sum tree.
        commit.extend_from_slice(&40_u16.to_le_bytes());
        commit.extend_from_slice(&[0; 40]);
        let (parent_hash, commit_hash) = (Hash::of(&parent), Hash::of(&commit));
        let chunks = vec![chunk.to_vec(), parent, commit];
        Self { hash, count, chunks, parent: parent_hash, commit: commit_hash }
    }

    fn tree(&self) -> Tree {
        Tree { root: self.hash, count: self.count }
    }

    fn under_parent(&self) -> Tree {
        Tree { root: self.parent, count: self.count }
    }
}

fn here<T>(fetched: Fetch<T>) -> T {
    match fetched {
        Fetch::Here(found) => found,
        Fetch::At(want) => panic!("{want:?} is in memory"),
    }
}

fn done<T>(mut step: impl FnMut(&mut Budget) -> Result<Step<T>, Error>) -> Result<T, Error> {
    for _ in 0..1000 {
        match step(&mut Budget::of(usize::MAX))? {
            Step::Done(done) => return Ok(done),
            Step::Need(wanted) => panic!("segments {wanted:?} are in memory"),
            Step::Yield => {}
        }
    }
    panic!("no end");
}

/// Reads a value out of line of `len` bytes.
fn value(cache: &Cache, hash: Hash, len: usize) -> Result<String, Error> {
    let mut reader = ValueReader::new(ValueRef { len: len as u32, hash });
    let mut out = Vec::new();
    done(|budget| reader.step(cache, budget, &mut out)).map(|()| format!("{out:?}"))
}

/// A way to read a chunk; returns the result as text.
type Role = fn(&Cache, &Roles) -> Result<String, Error>;

const ROLES: [(&str, Role); 11] = [
    ("a node", |cache, roles| {
        cache.node(&roles.hash).map(|node| format!("{:?}", layout::node(&here(node))))
    }),
    ("a leaf or root", |cache, roles| {
        get(cache, roles.tree(), b"issue/00000007").map(|found| format!("{:?}", here(found)))
    }),
    ("a child", |cache, roles| {
        get(cache, roles.under_parent(), b"k").map(|found| format!("{:?}", here(found)))
    }),
    ("a child that is scanned", |cache, roles| {
        let parts = Parts { keys: true, values: true };
        let mut scan = Scan::new(roles.under_parent(), Range::ALL, false, u64::MAX, parts);
        let mut out = Output::new();
        done(|budget| scan.step(cache, budget, &mut out)).map(|()| format!("{out:?}"))
    }),
    ("the top of a sum tree", |cache, roles| {
        sum_get(cache, roles.tree(), &[37; 32]).map(|found| format!("{:?}", here(found)))
    }),
    ("a sum tree that is verified", |cache, roles| {
        let mut verify = SumVerify::new(&Rules::new(), roles.tree(), &[]);
        done(|budget| verify.step(cache, budget)).map(|()| format!("{:?}", verify.tally()))
    }),
    ("a piece", |cache, roles| value(cache, roles.hash, roles.chunks[0].len().max(2) - 2)),
    ("a list of pieces", |cache, roles| value(cache, roles.hash, 2 * PIECE_BYTES)),
    ("a commit", |cache, roles| {
        let mut prove = Prove::new(roles.hash, Range::ALL);
        done(|budget| prove.step(cache, budget)).map(|()| format!("{:?}", prove.proof()))
    }),
    ("what is proved", |cache, roles| {
        let mut prove = Prove::new(roles.commit, Range::ALL);
        done(|budget| prove.step(cache, budget)).map(|()| format!("{:?}", prove.proof()))
    }),
    ("what is collected", |cache, roles| {
        let thoroughness = Thoroughness { survey: true, full: true, rest: false, values_before: 0 };
        let mut collect = Collect::new(cache, thoroughness);
        collect.add_commit(roles.commit);
        done(|budget| collect.step(cache, budget)).map(|_| format!("{:?}", collect.totals()))
    }),
];

/// Checks that every pair of roles ends as each does alone.
fn check(chunk: &[u8]) {
    let roles = Roles::of(chunk);
    let fresh = || cache(&roles.chunks).0;
    let alone: Vec<_> = ROLES.iter().map(|(_, role)| role(&fresh(), &roles)).collect();
    for (first, (first_name, first_role)) in ROLES.iter().enumerate() {
        let cache = fresh();
        let before = first_role(&cache, &roles);
        assert_eq!(before, alone[first], "{first_name}");
        for ((name, role), expected) in ROLES.iter().zip(&alone) {
            let then = role(&cache, &roles);
            assert_eq!(then, *expected, "{name} after {first_name}: {chunk:02x?}");
        }
    }
}

#[test]
fn a_leaf_that_claims_too_many_entries_is_refused_after_any_first_read() {
    check(&[0, 1, 0xff, 0xff]);
    check(&[0, 1]);
    check(&[0]);
    check(&[1, 1, 0xff, 0xff]);
    check(&[0xd1, 1, 0, 0]);
}

#[test]
fn honest_chunks_are_accepted_after_any_first_read() {
    for chunk in honest() {
        check(&chunk);
    }
}

#[test]
fn damaged_chunks_are_refused_equally_after_any_first_read() {
    let honest = honest();
    for_seeds(SEEDS, |seed, steps| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..CHUNKS {
            let mut chunk = honest[random.random_range(0..honest.len())].clone();
            for _ in 0..random.random_range(1..4) {
                let most = if random.random() { 16 } else { 4096 };
                let at = random.random_range(0..chunk.len().min(most));
                match random.random_range(0..5) {
                    0 => chunk[at] = random.random(),
                    1 => chunk[at] ^= 1 << random.random_range(0..8),
                    2 => chunk.truncate(at.max(1)),
                    3 => chunk.insert(at, random.random()),
                    // The kind of another chunk.
                    _ => chunk[0] = honest[random.random_range(0..honest.len())][0],
                }
            }
            steps.begin(&chunk);
            check(&chunk);
        }
        Ok(())
    });
}

//! Trees that no store makes, and the operations that meet their faults.

use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::chunk::ChunkKind;
use hedgerow::error::Error;
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::node::Node;
use hedgerow::output::Output;
use hedgerow::segment::Sealed;
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Count, Diff, Fault, MultiGet, Parts, Range, Scan, Tree, Verify, get};
use hedgerow_support::faults::{Facts, cache, cause, failed, lost};
use hedgerow_support::layout::{inner, leaf};
use std::time::Duration;

/// Descends into the second child of a parent that states this `level`, `key` and `count`. Every
/// operation that does so must fail with the same error.
pub fn descend(level: u8, child: &[u8], key: &[u8], count: u64) -> Facts {
    let first = leaf(&[(0, b"a", b"1"), (0, b"b", b"2")]);
    let hashes = [Hash::of(&first), Hash::of(child)];
    let parent = inner(level, &[(b"b", 2, hashes[0]), (key, 2 + count, hashes[1])]);
    let (cache, hashes) = cache(&[&first[..], child, &parent]);
    let tree = Tree { root: hashes[2], count: 2 + count };
    let wanted = &b"c"[..];
    let mut budget = Budget::of(usize::MAX);
    let (mut out, mut found) = (Output::new(), Vec::new());
    let parts = Parts { keys: true, values: true };
    let range = || Range { lower: std::ops::Bound::Included(wanted.to_vec()), ..Range::ALL };
    let mut forest = Forest::new();
    forest.set_rows(tree);
    let mut ingest = Ingest::new(forest, Vec::new(), Shape::with_target(128));
    ingest.feed(b"[\"c\",1]".to_vec(), 7, Vec::new(), Format::Pairs);
    ingest.step(&cache, &mut budget).expect("only parsing");
    ingest.finish();
    let changed = loop {
        match ingest.step(&cache, &mut budget) {
            Ok(_) => assert!(ingest.committed().is_none(), "a commit"),
            Err(error) => break cause(error),
        }
    };
    let errors = [
        failed(get(&cache, tree, wanted)),
        failed(MultiGet::new(tree, [wanted]).step(&cache, &mut budget, &mut out, &mut found)),
        failed(Scan::new(tree, range(), false, 9, parts).step(&cache, &mut budget, &mut out)),
        failed(Scan::new(tree, range(), true, 9, parts).step(&cache, &mut budget, &mut out)),
        failed(Count::new(tree, range()).step(&cache)),
        changed,
    ];
    let facts = errors[0].1.expect("a cause");
    assert_eq!(errors, [(hashes[1], Some(facts)); 6]);
    let (rows, faults) = verified(&cache, tree);
    // A parent of the wrong level is wrong about its first child, too.
    let fault = faults.last().expect("a fault");
    assert_eq!((rows, faults.len()), if level > 1 { (0, 2) } else { (2, 1) });
    assert_eq!((cause(fault.error), fault.rows), (errors[0], count));
    assert!(!fault.range.contains(b"b") && fault.range.contains(key));
    facts
}

/// Verifies a tree; returns the number of sound rows, and the faults except for faults of the form, as no boundary
/// function has made these trees. It ends after as many steps as there are names of nodes.
pub fn verified(cache: &Cache, tree: Tree) -> (u64, Vec<Fault>) {
    let mut verify = Verify::new(tree, Shape::with_target(128));
    for _ in 0..20_000 {
        match verify.step(cache, &mut Budget::of(1)) {
            Step::Yield => {}
            Step::Done(()) => return (verify.tally().rows, lost(verify.take_faults())),
            Step::Need(wanted) => panic!("{wanted:?}"),
        }
    }
    panic!("no end in sight");
}

/// Merges a batch into `tree`; returns `None` if it is refused with an error that names a chunk.
pub fn changed(cache: &Cache, tree: Tree, text: &str) -> Option<Vec<Sealed>> {
    let mut forest = Forest::new();
    forest.set_rows(tree);
    let mut ingest = Ingest::new(forest, Vec::new(), Shape::with_target(64));
    ingest.feed(text.as_bytes().to_vec(), text.len(), Vec::new(), Format::Pairs);
    let mut budget = Budget::of(usize::MAX);
    let mut sealed = Vec::new();
    for finish in [false, true] {
        if finish {
            ingest.finish();
        }
        loop {
            match ingest.step(cache, &mut budget) {
                Ok(Step::Done(())) => break,
                Ok(_) => {}
                Err(Error::CorruptChunk { .. } | Error::MissingChunk(_)) => return None,
                Err(error) => panic!("{error}"),
            }
            sealed.extend(ingest.sealed());
        }
    }
    sealed.extend(ingest.sealed());
    Some(sealed)
}

pub fn check_nodes(sealed: &[Sealed]) {
    for Sealed { bytes, table } in sealed {
        for at in 0..table.len() {
            let chunk = &*table.chunk(bytes, at);
            let result = match ChunkKind::decode(chunk) {
                Ok(ChunkKind::Commit) => Forest::decode(chunk).map(|_| ()),
                _ => Node::decode(chunk).map(|_| ()),
            };
            assert_eq!(result, Ok(()), "a chunk was made that cannot be read");
        }
    }
}

/// Adds a few nodes that stand for more than can be counted: each names the one below it 60 times.
pub fn bomb(chunks: &mut Vec<Vec<u8>>, levels: u8) {
    let keys: Vec<_> = (0..60).map(|at| format!("k{at:02}")).collect();
    for level in 1..=levels {
        let below = Hash::of(&chunks[chunks.len() - 1]);
        let child = |(key, count): (&'_ String, u64)| (key.clone(), count);
        let children: Vec<_> = keys.iter().zip(1..).map(child).collect();
        let children: Vec<_> =
            children.iter().map(|(key, count)| (key.as_bytes(), *count, below)).collect();
        chunks.push(inner(level, &children));
    }
}

/// Fails if `act` takes more than a minute: work that ends takes milliseconds, also where a machine is slow or stops
/// for seconds. WebAssembly has no threads: there the whole run has a limit.
pub fn in_time(act: impl FnOnce() + Send + 'static) {
    if cfg!(target_arch = "wasm32") {
        return act();
    }
    let (done, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        act();
        let _ = done.send(());
    });
    assert!(wait.recv_timeout(Duration::from_secs(60)).is_ok(), "no end in sight");
}

/// Makes a tree whose keys ascend in each node, but not from one to the next: two leaves under
/// parents of their own, `first` before `second`.
pub fn crossed(first: &[u8], second: &[u8]) -> (Cache, Tree) {
    let last = |leaf: &[u8]| match Node::decode(leaf) {
        Ok(node) => (node.last_key().to_vec(), node.total()),
        Err(error) => panic!("{error}"),
    };
    let [(key, count), (other, more)] = [first, second].map(last);
    let parents = [
        inner(1, &[(&key, count, Hash::of(first))]),
        inner(1, &[(&other, more, Hash::of(second))]),
    ];
    let [left, right] = [0, 1].map(|at| Hash::of(&parents[at]));
    let top = inner(2, &[(&key, count, left), (&other, count + more, right)]);
    let (cache, hashes) = cache(&[first, second, &parents[0], &parents[1], &top]);
    (cache, Tree { root: hashes[4], count: count + more })
}

pub fn diffed(cache: &Cache, old: Tree, new: Tree) -> Result<Step<()>, Error> {
    Diff::new(old, new, Range::ALL).step(cache, &mut Budget::of(usize::MAX), &mut Output::new())
}

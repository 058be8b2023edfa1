//! Trees with right hashes and wrong contents, as a hostile peer would send them. A small valid
//! tree is damaged from the leaves up, and addressed again. Every operation on it ends, without a
//! panic, in a result or an error that names a chunk. Every chunk that it makes can be read again.

use crate::damage::{SHAPE, damage};
use crate::input::Input;
use crate::oracle::Chunks;
use hedgerow::cache::Fetch;
use hedgerow::chunk::{ChunkKind, piece, piece_list};
use hedgerow::error::{Error, Field};
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::ingest::Format;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::node::Node;
use hedgerow::output::Output;
use hedgerow::tree::{Census, Count, MultiGet, Parts, Range, Tree, Verify, get};
use hedgerow_support::faults::lost;
use hedgerow_support::host::Host;
use hedgerow_support::output::{Expected, changes, changes_between};
use hedgerow_support::rows;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let rows = 1 + input.below(80);
    let large = input.byte() & 3;
    let repair = input.byte() & 1 == 0;
    let (chunks, honest) = build(rows, large);
    let (mut host, tree) = damage(&mut input, chunks.clone(), honest, repair);
    // The honest tree as well: the damaged one may name its chunks.
    for chunk in &chunks {
        if host.cache.missing(&Hash::of(chunk)).is_err() {
            host.store_chunk(chunk);
        }
    }
    host.reopen(if large == 1 { 0 } else { 64 << 20 });
    exercise(&mut host, tree, rows);
    compare(&mut host, honest, tree, rows);
    change(&mut host, &mut input, tree, rows);
    let changed = host.tree();
    if changed != tree {
        compare(&mut host, tree, changed, rows);
    }
}

fn key(row: usize) -> String {
    format!("k{row:03}")
}

/// Builds a small tree; returns its chunks, each after the chunks that it points to.
fn build(rows: usize, large: u8) -> (Vec<Vec<u8>>, Tree) {
    let mut host = Host::new(SHAPE);
    let row = |row: usize| {
        let len = match (large, row) {
            (2, 3) => 5000,
            (3, 3) => PIECE_BYTES + 5000,
            _ => row % 7,
        };
        (key(row), format!("\"{}\"", "v".repeat(len)))
    };
    host.put(&(0..rows).map(row).collect::<Vec<_>>());
    let mut chunks: Vec<_> = host.chunks().map(|(_, _, bytes)| bytes).collect();
    let rank = |chunk: &Vec<u8>| match ChunkKind::decode(chunk) {
        Ok(ChunkKind::Piece) => 0,
        Ok(ChunkKind::PieceList) => 1,
        Ok(ChunkKind::Node(level)) => 2 + u32::from(level),
        _ => u32::MAX,
    };
    chunks.sort_by_key(rank);
    chunks.retain(|chunk| rank(chunk) < u32::MAX);
    (chunks, host.tree())
}
/// Returns whether a read went well; panics on an error that a read cannot have.
fn tolerate<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(done) => Some(done),
        Err(
            Error::MissingChunk(_) | Error::CorruptChunk { .. } | Error::UnsupportedFormat { .. },
        ) => None,
        Err(other) => panic!("a read ended with {other}"),
    }
}

fn range(from: usize, to: usize) -> Range {
    Range {
        lower: Bound::Included(key(from).into_bytes()),
        upper: Bound::Excluded(key(to).into_bytes()),
    }
}

/// Runs every kind of read.
fn exercise(host: &mut Host, tree: Tree, rows: usize) {
    let mut census = Census::new(tree);
    tolerate(host.run(|cache, budget| census.step(cache, budget)));
    for row in 0..rows + 2 {
        let key = key(row);
        tolerate(host.fetch(|cache| {
            let entry = get(cache, tree, key.as_bytes())?;
            if let Fetch::Here(Some(entry)) = entry {
                assert_eq!(entry.key.bytes(), key.as_bytes());
            }
            Ok(match entry {
                Fetch::Here(_) => Fetch::Here(()),
                Fetch::At(want) => Fetch::At(want),
            })
        }));
    }
    let keys: Vec<_> = (0..rows + 2).rev().map(key).collect();
    let (mut out, mut found) = (Output::new(), Vec::new());
    let mut find = MultiGet::new(tree, keys.iter().map(String::as_bytes));
    tolerate(host.run(|cache, budget| find.step(cache, budget, &mut out, &mut found)));
    let positions: BTreeSet<_> = found.iter().collect();
    assert_eq!(positions.len(), found.len(), "a key was found twice");
    for reverse in [false, true] {
        for range in [Range::ALL, range(1, rows / 2), range(rows / 2, rows)] {
            let parts = Parts { keys: true, values: true };
            tolerate(host.scanned(tree, &range, reverse, u64::MAX, parts).1);
            let count = Count::new(tree, range);
            tolerate(host.run(|cache, _| count.step(cache)));
        }
    }
}

/// Diffs two trees, either of which may be damaged. If both are sound, the diff is right; otherwise
/// it is refused, or its keys ascend.
fn compare(host: &mut Host, a: Tree, b: Tree, rows: usize) {
    let stored: Vec<_> = host.chunks().collect();
    let chunks = Chunks::new(stored.iter().map(|(_, hash, bytes)| (*hash, &bytes[..])));
    let sound = [a, b].map(|tree| chunks.rows(tree));
    let all = Parts { keys: true, values: true };
    for (tree, sound) in [a, b].into_iter().zip(&sound) {
        let (out, result) = host.scanned(tree, &Range::ALL, false, u64::MAX, all);
        assert_eq!(tolerate(result).is_some(), sound.is_some(), "a scan tells what is sound");
        if let Some(rows) = sound {
            Expected::entries(rows.iter(), all).check(&out, &"a scan");
        }
        verify(host, tree, sound.as_ref().map(BTreeMap::len));
        if let Some(out) = tolerate(host.differ(tree, tree, &Range::ALL)) {
            Expected::default().check(&out, &"a tree and itself");
        }
    }
    let most = 4 * 2 * chunks.entries();
    let splits = chunks.values_are_json();
    for range in [Range::ALL, range(1, rows / 2), range(rows / 2, rows)] {
        for (old, new) in [(0, 1), (1, 0)] {
            let Some(out) = tolerate(host.differ([a, b][old], [a, b][new], &range)) else {
                assert!(sound.iter().any(Option::is_none), "sound trees were refused");
                continue;
            };
            assert!(out.members() as usize <= most, "{} members", out.members());
            if let (Some(old), Some(new)) = (&sound[old], &sound[new]) {
                let holds = |key: &str| {
                    !range.key_is_before(key.as_bytes()) && !range.key_is_after(key.as_bytes())
                };
                let mut expected = Expected::default();
                for change in changes_between(old, new).iter().filter(|(key, ..)| holds(key)) {
                    expected.change(change);
                }
                expected.check(&out, &"a diff");
            } else if splits {
                assert!(changes(&out).is_sorted_by(|a, b| a.0 < b.0), "keys ascend");
            }
        }
    }
}

/// Checks that a verification finds a fault in a damaged tree, and counts each row once.
fn verify(host: &mut Host, tree: Tree, sound: Option<usize>) {
    let mut verify = Verify::new(tree, host.shape);
    let mut faults = Vec::new();
    host.run(|cache, budget| {
        let step = verify.step(cache, budget);
        faults.extend(lost(verify.take_faults()));
        Ok(step)
    })
    .expect("a verification never fails");
    // A scan returns texts unchanged; their parser finds out whether they are JSON.
    let is_text = |error: &Error| matches!(error, Error::CorruptChunk { cause: Some(cause), .. } if cause.field == Field::ValueText);
    let rows = verify.tally().rows;
    if let Some(sound) = sound {
        assert!(faults.iter().all(|fault| is_text(&fault.error)), "{faults:?}");
        assert_eq!(rows as usize + faults.len(), sound);
    } else {
        assert!(!faults.iter().all(|fault| is_text(&fault.error)), "no fault in what is damaged");
    }
    let mut end = None;
    for fault in &faults {
        if let (Some(end), Bound::Excluded(start)) = (&end, &fault.range.lower) {
            assert!(end <= start, "ranges ascend");
        }
        if let Bound::Included(upper) = &fault.range.upper {
            end = Some(upper.clone());
        }
    }
}

fn change(host: &mut Host, input: &mut Input<'_>, tree: Tree, row_count: usize) {
    host.forest = Forest::new();
    host.forest.set_rows(tree);
    for _ in 0..3 {
        let stored = host.stored.keys().next_back().copied().unwrap_or(0);
        let mut ingest = host.ingest();
        match input.below(4) {
            0 => ingest.drop_range(range(input.below(row_count), input.below(row_count + 1))),
            how => {
                let keys: Vec<_> =
                    (0..=input.below(8)).map(|_| key(input.below(row_count + 9))).collect();
                let row = |key: &String| (key.clone(), "5".to_owned());
                let (text, format) = if how == 1 {
                    (rows::list(&keys), Format::Deletes)
                } else {
                    (rows::pairs(&keys.iter().map(row).collect::<Vec<_>>()), Format::Pairs)
                };
                ingest.feed(text.clone().into_bytes(), text.len(), Vec::new(), format);
            }
        }
        if tolerate(host.drive(&mut ingest)).is_none()
            || tolerate(host.finish(&mut ingest)).is_none()
        {
            return;
        }
        for (bytes, table) in host.stored.range(stored + 1..).map(|(_, segment)| segment) {
            let bytes = &*table.chunk(bytes, 0);
            let fault = match ChunkKind::decode(bytes).expect("a kind") {
                ChunkKind::Node(_) => Node::decode(bytes).err(),
                ChunkKind::Commit => Forest::decode(bytes).err(),
                // A chunk that is not a node is refused.
                ChunkKind::SumPiece | ChunkKind::SumTop => Node::decode(bytes).err(),
                ChunkKind::Piece => piece(bytes).err(),
                ChunkKind::PieceList => piece_list(bytes, bytes.len() / 32 * PIECE_BYTES).err(),
            };
            assert_eq!(fault, None, "a chunk was made that cannot be read");
        }
    }
    exercise(host, host.tree(), row_count);
}

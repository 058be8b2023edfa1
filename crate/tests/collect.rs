//! Collection: chunks that commits reach stay, byte for byte; the space of all others is freed.

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::cache::SegmentId;
use hedgerow::collect::{Collect, Thoroughness};
use hedgerow::error::Error;
use hedgerow::forest::{Forest, ROWS};
use hedgerow::hash::Hash;
use hedgerow::tree::{Parts, Range};
use hedgerow_support::collections::{
    FULL, USUAL, big, collect, needed_bytes, rewritten, stored_bytes, try_collect,
};
use hedgerow_support::host::Host;
use hedgerow_support::output::Expected;
use hedgerow_support::pace::Pace;
use hedgerow_support::rows::{Rows, issue, place};
use proptest::prelude::*;
use std::collections::BTreeSet;

const BOTH: Parts = Parts { keys: true, values: true };

#[test]
fn the_space_of_dead_chunks_is_freed_and_all_rows_stay() {
    let mut host = rewritten(20_000, 3);
    let (rows, root) = (host.contents(), host.root);
    let needed = needed_bytes(&mut host);
    assert!(stored_bytes(&host) > 4 * needed, "the test needs something to collect");
    let (totals, went) = collect(&mut host, USUAL, &[]);
    assert!(went > 0);
    assert_eq!(totals.live, needed);
    assert!(stored_bytes(&host) <= needed + needed / 3);
    collect(&mut host, FULL, &[]);
    assert!(stored_bytes(&host) <= needed + needed / 15);
    host.reopen(64 << 20);
    assert_eq!((host.contents(), host.root), (rows, root));
    // A second collection deletes no segment.
    assert_eq!(collect(&mut host, FULL, &[]).1, 0);
    assert_eq!(collect(&mut host, USUAL, &[]).1, 0);
}

/// Collects; returns for each exchange the bytes copied and the number of segments deleted.
fn exchanges(host: &mut Host, spares_room: bool) -> Vec<(usize, usize)> {
    let mut collect = Collect::new(&host.cache, FULL);
    if spares_room {
        collect.spare_room();
    }
    collect.add_commit(host.root);
    let mut exchanges = Vec::new();
    while let Some(exchange) =
        host.run(|cache, budget| collect.step(cache, budget)).expect("a step")
    {
        let copied = exchange.sealed.iter().map(|sealed| sealed.bytes.len()).sum();
        exchanges.push((copied, exchange.gone.len()));
        host.store(exchange.sealed);
        for id in exchange.gone {
            host.cache.remove(id);
            host.stored.remove(&id).expect("a stored segment");
        }
    }
    exchanges
}

/// Makes a store with a partly dead load, and with a change that a second one has made entirely dead.
fn partly_dead() -> Host {
    let mut host = Host::of(Shape::STORED, &(0..80_000).map(issue).collect());
    for round in 1..3 {
        let changed = (0..80_000).filter(|index| index % 1000 < 300);
        let rows = changed.map(|index| (issue(index).0, issue(index * 31 + round).1));
        host.put(&rows.collect::<Vec<_>>());
    }
    host
}

#[test]
fn dead_segments_are_deleted_before_anything_is_copied() {
    let mut host = partly_dead();
    let rows = host.contents();
    let made = exchanges(&mut host, false);
    let copies = |at: &(usize, usize)| at.0 > 0;
    let first = made.iter().position(copies).expect("something is copied");
    assert!(first > 0, "{made:?}");
    assert!(made[first..].iter().all(copies), "{made:?}");
    assert_eq!(host.contents(), rows);
}

#[test]
fn with_little_space_little_is_copied_at_a_time() {
    let mut host = partly_dead();
    let rows = host.contents();
    let made = exchanges(&mut host, true);
    assert!(made.iter().filter(|(copied, _)| *copied > 0).count() > 2, "{made:?}");
    assert!(made.iter().all(|(copied, _)| *copied < 600 << 10), "{made:?}");
    assert!(exchanges(&mut partly_dead(), false).iter().any(|at| at.0 > 1 << 20));
    assert_eq!(host.contents(), rows);
}

#[test]
fn small_segments_are_merged() {
    let mut host = Host::new(Shape::STORED);
    for index in 0..100 {
        host.put(&[issue(index)]);
    }
    assert_eq!(host.stored.len(), 100);
    collect(&mut host, USUAL, &[]);
    assert_eq!(host.stored.len(), 2, "one of leaves, one of internal nodes and commits");
    host.reopen(0);
    assert_eq!(host.contents().len(), 100);
}

#[test]
fn chunks_of_a_pinned_commit_stay_until_it_is_released() {
    let mut host = Host::of(Shape::STORED, &(0..5000).map(issue).collect());
    let old: (Hash, Forest, Rows) = (host.root, host.forest.clone(), host.contents());
    host.put(&(0..5000).map(|index| (issue(index).0, place(index).1)).collect::<Vec<_>>());
    let now = (host.root, host.forest.clone(), host.contents());
    collect(&mut host, FULL, &[old.0]);
    host.reopen(64 << 20);
    for (_, forest, rows) in [&old, &now] {
        host.forest = forest.clone();
        assert_eq!(host.contents(), *rows);
    }
    collect(&mut host, FULL, &[]);
    host.reopen(64 << 20);
    assert_eq!(host.contents(), now.2);
    let key = old.2.keys().next().expect("a row").clone();
    let gone = host.look_up(old.1.tree(ROWS), &key);
    assert!(matches!(gone, Err(Error::MissingChunk(_))), "{gone:?}");
}

#[test]
fn segments_of_an_uncommitted_change_stay_and_nothing_relies_on_them() {
    let mut host = Host::of(Shape::STORED, &(0..3000).map(issue).collect());
    let own: BTreeSet<_> = host.stored.keys().copied().collect();
    // The same rows again, written by a change that is not committed and may be abandoned.
    let (root, forest) = (host.root, host.forest.clone());
    host.forest = Forest::new();
    host.put_blocks(&(0..3000).map(issue).collect::<Vec<_>>(), 3000);
    assert_eq!(host.root, root);
    host.forest = forest;
    let written: BTreeSet<_> = host.stored.keys().copied().filter(|id| !own.contains(id)).collect();
    let first = *written.first().expect("a segment");
    assert!(!written.is_empty());
    try_collect(&mut host, FULL, &[], first..SegmentId::MAX).expect("a collection");
    assert!(written.iter().all(|id| host.stored.contains_key(id)));
    for id in written {
        host.stored.remove(&id);
    }
    host.reopen(64 << 20);
    assert_eq!(host.contents().len(), 3000);
}

#[test]
fn a_damaged_copy_is_not_kept_instead_of_a_sound_one() {
    for damage_newest in [true, false] {
        for thoroughness in [FULL, USUAL] {
            let rows: Vec<_> = (0..3000).map(issue).collect();
            let mut host = Host::new(Shape::STORED);
            host.put_blocks(&rows, 3000);
            let own: BTreeSet<_> = host.stored.keys().copied().collect();
            let (root, forest) = (host.root, host.forest.clone());
            // The same rows once more, and some dead chunks.
            host.forest = Forest::new();
            host.put_blocks(&rows, 3000);
            assert_eq!(host.root, root);
            host.put(&rows.iter().map(|(key, _)| place_at(key)).collect::<Vec<_>>());
            (host.root, host.forest) = (root, forest);
            let newest = |id: &SegmentId| !own.contains(id);
            for (id, (bytes, _)) in &mut host.stored {
                if newest(id) == damage_newest {
                    let half = bytes.len() / 2;
                    bytes[half..].fill(0);
                }
            }
            host.reopen(64 << 20);
            collect(&mut host, thoroughness, &[]);
            host.reopen(64 << 20);
            assert_eq!(host.contents(), rows.iter().cloned().collect());
        }
    }
}

fn place_at(key: &str) -> (String, String) {
    (key.to_owned(), place(key.len()).1)
}

#[test]
fn values_stay_until_leaves_are_read() {
    let mut host = Host::new(Shape::STORED);
    for seed in 0..4 {
        host.put_values(&big(seed * 100));
    }
    let all = stored_bytes(&host);
    // Their nodes are dead, but values in segments of their own are not examined.
    let before = Thoroughness { values_before: all, ..USUAL };
    let (totals, _) = collect(&mut host, before, &[]);
    assert!(!totals.exact);
    assert!(stored_bytes(&host) > all - all / 20);
    // Once the values take too much space, they are.
    let (totals, _) = collect(&mut host, USUAL, &[]);
    assert!(totals.exact);
    assert!(totals.live < all / 3, "{totals:?}");
    assert!(stored_bytes(&host) <= totals.live + totals.live / 3);
    host.reopen(0);
    let (out, result) = host.scanned(host.tree(), &Range::ALL, false, u64::MAX, BOTH);
    result.expect("a scan");
    let values = big(300);
    Expected::entries(values.iter(), BOTH).check(&out, &"after a collection");
}

#[test]
fn a_survey_counts_live_chunks_and_changes_nothing() {
    let mut host = rewritten(3000, 2);
    host.put_values(&big(0));
    let before: Vec<_> = host.stored.keys().copied().collect();
    let (totals, went) = collect(&mut host, Thoroughness { survey: true, ..FULL }, &[]);
    assert_eq!(went, 0);
    assert!(host.stored.keys().copied().eq(before));
    let survey = (totals.stored, totals.live, totals.exact);
    assert_eq!((survey.0, survey.2), (stored_bytes(&host), true));
    collect(&mut host, FULL, &[]);
    assert!(stored_bytes(&host) >= totals.live);
    assert!(stored_bytes(&host) <= totals.live + totals.live / 15);
}

#[test]
fn the_segments_that_a_survey_names_hold_all_live_chunks() {
    let mut host = rewritten(20_000, 2);
    host.put_values(&big(0));
    let (rows, root) = (host.contents(), host.root);
    let mut survey = Collect::new(&host.cache, Thoroughness { survey: true, ..FULL });
    assert!(survey.surveyed().is_empty());
    survey.add_commit(root);
    host.run(|cache, budget| survey.step(cache, budget)).expect("a survey");
    let named: BTreeSet<_> = survey.surveyed().iter().copied().collect();
    assert!(named.len() < host.stored.len(), "the test needs a segment that is dead");
    host.stored.retain(|id, _| named.contains(id));
    host.reopen(0);
    assert_eq!(host.contents(), rows);
    // Each named segment is needed.
    let last = *named.last().expect("a segment");
    host.stored.remove(&last);
    host.reopen(0);
    let mut survey = Collect::new(&host.cache, Thoroughness { survey: true, ..FULL });
    survey.add_commit(root);
    let failed = host.run(|cache, budget| survey.step(cache, budget)).map(|_| ());
    assert!(matches!(failed, Err(Error::MissingChunk(_))), "{failed:?}");
}

#[test]
fn nothing_is_deleted_if_a_node_is_damaged() {
    let mut host = rewritten(20_000, 2);
    let tree = host.tree();
    // A node below the root is damaged.
    let hashes: Vec<_> = host.chunks().map(|(id, hash, chunk)| (id, hash, chunk[0])).collect();
    let root_level = hashes.iter().find(|(_, hash, _)| *hash == tree.root).expect("the root").2;
    assert!(root_level > 0);
    let last = hashes.iter().rfind(|(_, _, level)| *level == root_level - 1);
    let (id, ..) = *last.expect("a child");
    host.stored.get_mut(&id).expect("a segment").0.fill(0);
    host.reopen(64 << 20);
    let before = host.stored.len();
    let failed = try_collect(&mut host, FULL, &[], 0..0);
    assert!(matches!(failed, Err(Error::CorruptChunk { .. })), "{failed:?}");
    assert_eq!(host.stored.len(), before);
}

#[test]
fn a_segment_with_a_damaged_chunk_is_unchanged() {
    let mut sound = rewritten(20_000, 3);
    let before: Vec<_> = sound.stored.keys().copied().collect();
    collect(&mut sound, USUAL, &[]);
    let goes = before.iter().find(|id| !sound.stored.contains_key(id)).expect("one that goes");
    // A segment with a damaged chunk stays: a later repair may need it.
    let mut host = rewritten(20_000, 3);
    host.stored.get_mut(goes).expect("a segment").0[100] ^= 1;
    host.reopen(64 << 20);
    collect(&mut host, USUAL, &[]);
    let stayed: Vec<_> = before.iter().filter(|id| host.stored.contains_key(id)).collect();
    assert!(stayed.contains(&goes));
    assert!(stayed.len() < before.len(), "others went");
}

fn row() -> impl Strategy<Value = (String, String)> {
    let value = prop_oneof![
        6 => "\"[a-z]{0,40}\"",
        1 => (4_000_usize..150_000).prop_map(|len| format!("\"{}\"", "x".repeat(len))),
    ];
    ("[a-f]{0,2}/[0-9]{1,2}", value)
}

#[derive(Clone, Debug)]
enum Op {
    Put(Vec<(String, String)>),
    Delete(Vec<String>),
    Collect { full: bool, pinned: Vec<prop::sample::Index>, pace: Vec<u8> },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => prop::collection::vec(row(), 0..30).prop_map(Op::Put),
        1 => prop::collection::vec(row().prop_map(|(key, _)| key), 0..20).prop_map(Op::Delete),
        2 => (any::<bool>(), prop::collection::vec(any::<prop::sample::Index>(), 0..3), any::<Vec<u8>>())
            .prop_map(|(full, pinned, pace)| Op::Collect { full, pinned, pace }),
    ]
}

proptest! {
    #![proptest_config(cases(200))]

    /// Random writes and pins, in steps of any size, with segments that leave memory at any time: pinned
    /// commits and the last one read back from storage.
    #[test]
    fn commits_that_are_pinned_read_back_whole(ops in prop::collection::vec(op(), 1..12)) {
        let mut host = Host::new(Shape::with_target(128));
        let mut commits: Vec<(Hash, Forest, Rows)> = Vec::new();
        for op in ops {
            match op {
                Op::Put(rows) => host.put(&rows),
                Op::Delete(keys) => host.delete(&keys),
                Op::Collect { full, pinned, pace } => {
                    let held: Vec<_> = if commits.is_empty() { Vec::new() } else {
                        pinned.iter().map(|index| commits[index.index(commits.len())].clone()).collect()
                    };
                    let pins: Vec<_> = held.iter().map(|(root, ..)| *root).collect();
                    let rows = host.contents();
                    host.pace = (!pace.is_empty()).then(|| Pace::new(&pace));
                    collect(&mut host, if full { FULL } else { USUAL }, &pins);
                    host.pace = None;
                    host.reopen(64 << 20);
                    prop_assert_eq!(host.contents(), rows);
                    let (root, forest) = (host.root, host.forest.clone());
                    for (_, old, rows) in &held {
                        host.forest = old.clone();
                        prop_assert_eq!(&host.contents(), rows);
                    }
                    (host.root, host.forest) = (root, forest);
                    commits = held;
                }
            }
            let now = (host.root, host.forest.clone(), host.contents());
            commits.push(now);
        }
    }
}

//! Collection: what commits reach stays, byte for byte; the room of all else is given back.

use hedgerow::boundary::Shape;
use hedgerow::cache::SegmentId;
use hedgerow::collect::{Collect, Thoroughness, Totals};
use hedgerow::error::Error;
use hedgerow::forest::{Forest, ROWS};
use hedgerow::hash::Hash;
use hedgerow::tree::{Parts, Range};
use hedgerow::value::Kind;
use hedgerow_support::host::Host;
use hedgerow_support::output::Expected;
use hedgerow_support::pace::Pace;
use hedgerow_support::rows::{Rows, issue, place};
use hedgerow_support::values::{Values, bytes};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops;

const FULL: Thoroughness = Thoroughness { survey: false, full: true, values_before: 0 };
const USUAL: Thoroughness = Thoroughness { survey: false, full: false, values_before: 0 };
const BOTH: Parts = Parts { keys: true, values: true };

/// Collects; the totals, and how many segments went.
fn try_collect(
    host: &mut Host,
    thoroughness: Thoroughness,
    pins: &[Hash],
    kept: ops::Range<SegmentId>,
) -> Result<(Totals, usize), Error> {
    let mut collect = Collect::new(&host.cache, thoroughness);
    collect.add_commit(host.root);
    for pin in pins {
        collect.add_commit(*pin);
    }
    collect.keep(kept.start, kept.end);
    let mut went = 0;
    while let Some(exchange) = host.run(|cache, budget| collect.step(cache, budget))? {
        host.store(exchange.sealed);
        went += exchange.gone.len();
        for id in exchange.gone {
            host.cache.remove(id);
            host.stored.remove(&id).expect("a stored segment");
        }
    }
    Ok((collect.totals(), went))
}

fn collect(host: &mut Host, thoroughness: Thoroughness, pins: &[Hash]) -> (Totals, usize) {
    try_collect(host, thoroughness, pins, 0..0).expect("a collection")
}

fn stored_bytes(host: &Host) -> u64 {
    host.stored.values().map(|(bytes, _)| bytes.len() as u64).sum()
}

/// Bytes of the chunks of a host that was given the same rows at once.
fn needed_bytes(host: &mut Host) -> u64 {
    let rows = host.contents();
    stored_bytes(&Host::of(host.shape, &rows))
}

/// A host whose rows were all written `times`, in pieces that lie across each other.
fn rewritten(rows: usize, times: usize) -> Host {
    let mut host = Host::new(Shape::STORED);
    for round in 0..times {
        for part in 0..7 {
            let changed: Vec<_> = (part..rows)
                .step_by(7)
                .map(|index| (issue(index).0, issue(index * 31 + round).1))
                .collect();
            host.put(&changed);
        }
    }
    host
}

#[test]
fn the_room_of_dead_chunks_is_given_back_and_all_rows_stay() {
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
    // And there is nothing left to do.
    assert_eq!(collect(&mut host, FULL, &[]).1, 0);
    assert_eq!(collect(&mut host, USUAL, &[]).1, 0);
}

/// What each exchange of a collection copies, in bytes, and how many segments go for that.
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

/// Of each segment of a load a part is dead, and those of a change that was made over again are wholly dead.
fn partly_dead() -> Host {
    let mut host = Host::of(Shape::STORED, &(0..20_000).map(issue).collect());
    for round in 1..3 {
        let changed = (0..20_000).filter(|index| index % 1000 < 300);
        let rows = changed.map(|index| (issue(index).0, issue(index * 31 + round).1));
        host.put(&rows.collect::<Vec<_>>());
    }
    host
}

#[test]
fn what_is_dead_goes_before_anything_is_copied() {
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
fn where_there_is_little_room_little_is_copied_at_a_time() {
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
fn what_a_pinned_commit_reaches_stays_until_it_is_let_go() {
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
fn segments_that_a_change_under_way_may_need_stay_and_nothing_relies_on_them() {
    let mut host = Host::of(Shape::STORED, &(0..3000).map(issue).collect());
    let own: BTreeSet<_> = host.stored.keys().copied().collect();
    // The same rows again, as a change writes them that is not committed and may be given up.
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
fn a_damaged_copy_is_not_kept_in_place_of_a_whole_one() {
    for damage_newest in [true, false] {
        for thoroughness in [FULL, USUAL] {
            let rows: Vec<_> = (0..3000).map(issue).collect();
            let mut host = Host::new(Shape::STORED);
            host.put_blocks(&rows, 3000);
            let own: BTreeSet<_> = host.stored.keys().copied().collect();
            let (root, forest) = (host.root, host.forest.clone());
            // All of it once more, and something dead beside.
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

fn big(seed: usize) -> Values {
    (0..40)
        .map(|index| {
            let len = [5_000, 70_000, 200_000][index % 3];
            (format!("v{index:03}"), (Kind::Bytes, bytes(len, index + seed)))
        })
        .collect()
}

#[test]
fn values_stay_until_it_is_known_which_are_live() {
    let mut host = Host::new(Shape::STORED);
    for seed in 0..4 {
        host.put_values(&big(seed * 100));
    }
    let all = stored_bytes(&host);
    // Their nodes are dead and the values in segments of their own are not looked at.
    let before = Thoroughness { values_before: all, ..USUAL };
    let (totals, _) = collect(&mut host, before, &[]);
    assert!(!totals.exact);
    assert!(stored_bytes(&host) > all - all / 20);
    // Once they take too much, they are.
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
fn a_survey_tells_what_is_live_and_changes_nothing() {
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
fn the_segments_that_a_survey_names_hold_all_that_is_live() {
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
    // And no other does.
    let last = *named.last().expect("a segment");
    host.stored.remove(&last);
    host.reopen(0);
    let mut survey = Collect::new(&host.cache, Thoroughness { survey: true, ..FULL });
    survey.add_commit(root);
    let failed = host.run(|cache, budget| survey.step(cache, budget)).map(|_| ());
    assert!(matches!(failed, Err(Error::MissingChunk(_))), "{failed:?}");
}

#[test]
fn nothing_goes_where_it_is_not_known_what_is_live() {
    let mut host = rewritten(20_000, 2);
    let tree = host.tree();
    // A node below the root is gone.
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
fn a_segment_with_a_damaged_chunk_stays_as_it_is() {
    let mut sound = rewritten(20_000, 3);
    let before: Vec<_> = sound.stored.keys().copied().collect();
    collect(&mut sound, USUAL, &[]);
    let goes = before.iter().find(|id| !sound.stored.contains_key(id)).expect("one that goes");
    // A reader of the whole may know better what to do with it.
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
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever was written and pinned, in steps of any size, with segments that leave memory
    /// at any time: pinned commits and the last one read back from what is stored.
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

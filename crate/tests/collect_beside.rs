//! Collections of an idle store, during surveys, and with pins of commits that are partly deleted.

use hedgerow::boundary::Shape;
use hedgerow::collect::{Collect, Thoroughness};
use hedgerow::error::Error;
use hedgerow::forest::ROWS;
use hedgerow::hash::Hash;
use hedgerow::step::Budget;
use hedgerow_support::collections::{
    FULL, USUAL, big, collect, needed_bytes, rewritten, run, stored_bytes,
};
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::property::sampled;
use hedgerow_support::rows::{issue, place};

#[test]
fn in_an_idle_store_at_most_an_eighth_of_any_segment_stays_dead() {
    let mut host = Host::of(Shape::STORED, &(0..30_000).map(issue).collect());
    // Scattered leaves, so that no segment is a quarter dead.
    for index in (0..30_000).step_by(150) {
        host.put(&[(issue(index).0, place(index).1)]);
    }
    collect(&mut host, USUAL, &[]);
    let (rows, needed) = (host.contents(), needed_bytes(&mut host));
    let before = stored_bytes(&host);
    assert!(
        before > needed + needed / 7,
        "the test needs something to collect: {before}, {needed}"
    );
    collect(&mut host, Thoroughness { rest: true, ..USUAL }, &[]);
    assert!(stored_bytes(&host) <= needed + needed / 7, "{} of {needed}", stored_bytes(&host));
    host.reopen(0);
    assert_eq!(host.contents(), rows);
}

#[test]
fn a_survey_continues_when_a_collection_moves_its_chunks() {
    for work in sampled([0, 1, 20_000, 100_000, 200_000], 3) {
        let mut host = rewritten(20_000, 2);
        let root = host.root;
        let mut survey = Collect::new(&host.cache, Thoroughness { survey: true, ..USUAL });
        survey.add_commit(root);
        survey.step(&host.cache, &mut Budget::of(work)).expect("a step");
        let (totals, deleted) = collect(&mut host, FULL, &[]);
        assert!(deleted > 0);
        host.run(|cache, budget| survey.step(cache, budget)).expect("a survey");
        assert_eq!(survey.totals().live, totals.live);
    }
}

#[test]
fn a_partly_deleted_pinned_commit_keeps_its_remaining_chunks() {
    for thoroughness in [USUAL, FULL] {
        let mut host = Host::of(Shape::STORED, &(0..5000).map(issue).collect());
        host.put_values(&big(0));
        let gone = host.root;
        host.put(&(0..5000).map(|index| (issue(index).0, place(index).1)).collect::<Vec<_>>());
        host.put_values(&big(7));
        let whole = (host.root, host.forest.clone(), host.contents());
        host.put(&(0..5000).map(|index| (issue(index).0, issue(index + 1).1)).collect::<Vec<_>>());
        host.put_values(&big(1));
        let now = (host.root, host.forest.clone(), host.contents());
        // Leaves and values of the first one, but not its commit, and then that, too.
        collect(&mut host, FULL, &[whole.0]);
        for pins in [[gone, whole.0], [whole.0, gone], [Hash::of(b"never stored"), whole.0]] {
            let mut collect = Collect::new(&host.cache, thoroughness);
            collect.add_commit(host.root);
            for pin in &pins {
                collect.add_pinned(*pin);
            }
            run(&mut host, &mut collect).expect("a collection");
            host.reopen(64 << 20);
            for (_, forest, rows) in [&whole, &now] {
                host.forest = forest.clone();
                assert_eq!(host.contents(), *rows);
            }
        }
        // For a commit that must be complete, missing chunks are an error.
        let mut collect = Collect::new(&host.cache, thoroughness);
        collect.add_commit(gone);
        let failed = host.run(|cache, budget| collect.step(cache, budget)).map(|_| ());
        assert!(matches!(failed, Err(Error::MissingChunk(_))), "{failed:?}");
    }
}

#[test]
fn a_pinned_commit_without_one_leaf_keeps_all_its_other_leaves() {
    let mut host = Host::new(Shape::STORED);
    host.pace = Some(Pace::new(&[5]));
    host.put_blocks(&(0..3000).map(issue).collect::<Vec<_>>(), 3000);
    let key = issue(1000).0;
    host.put(&[(key.clone(), r#"{"marker":"only here"}"#.to_owned())]);
    let (old, forest, rows) = (host.root, host.forest.clone(), host.contents());
    host.put(&(0..3000).map(|index| (issue(index).0, place(index).1)).collect::<Vec<_>>());
    let now = host.contents();
    let marker = |chunk: &[u8]| chunk.windows(9).any(|part| part == b"only here");
    let lost = host.chunks().find(|(_, _, chunk)| marker(chunk)).expect("a leaf").0;
    host.stored.remove(&lost);
    host.reopen(64 << 20);
    let mut collect = Collect::new(&host.cache, USUAL);
    collect.add_commit(host.root);
    collect.add_pinned(old);
    run(&mut host, &mut collect).expect("a collection");
    host.reopen(64 << 20);
    assert_eq!(host.contents(), now);
    let mut found = |key: &str| host.look_up(forest.tree(ROWS), key);
    let left = rows.keys().filter(|key| found(key).is_ok()).count();
    assert!(left < 3000 && left > 2900, "{left} rows are left");
    assert!(matches!(found(&key), Err(Error::MissingChunk(_))));
}

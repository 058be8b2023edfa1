//! Sum trees in commits: after any changes of rows and leaves, by any writers in any order, a tree depends
//! only on its leaves. A commit that fails has no effect.

#[path = "sum_commits/histories.rs"]
mod histories;

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::property::sampled;
use hedgerow_support::sum_commits::{
    Change, Def, Edit, Made, Model, Row, adopt, bring, commit, start, verify_all,
};
use histories::{Op, op};
use proptest::prelude::*;

const SMALL: Shape = Shape::with_target(128);

/// Compares a result with the model; returns whether the change was made.
fn is_made(outcome: Result<(), Error>, next: &Model) -> bool {
    match (outcome, next.trees()) {
        (Ok(()), Ok(_)) => true,
        (Err(error), Err(errors)) => {
            assert!(errors.contains(&error), "{error:?}, not {errors:?}");
            false
        }
        (outcome, expected) => panic!("{outcome:?}, not {expected:?}"),
    }
}

/// Makes a change; returns whether it succeeded.
fn make(host: &mut Host, model: &mut Model, change: &Change, spill: usize) -> bool {
    let mut next = model.clone();
    next.apply(change);
    let is_made = is_made(commit(host, change, spill), &next);
    if is_made {
        *model = next;
    }
    is_made
}

/// Makes a change after a lost race; returns whether it succeeded.
fn race(
    host: &mut Host,
    model: &mut Model,
    ours: &Change,
    theirs: &[Change],
    spill: usize,
) -> bool {
    let mut next = model.clone();
    next.apply(ours);
    let mut ingest = start(host, ours);
    let mut made = bring(host, &mut ingest, ours, &Made::default(), spill);
    if !is_made(made.as_ref().map(|_| ()).map_err(|error| *error), &next) {
        return false;
    }
    for change in theirs {
        if !make(host, model, change, spill) {
            continue;
        }
        let Ok((before, _)) = made else { return false };
        ingest.rebase(host.forest.clone(), Vec::new());
        host.drive(&mut ingest).expect("no more than rows");
        made = bring(host, &mut ingest, ours, &before, spill);
        next = model.clone();
        next.apply(ours);
        if !is_made(made.as_ref().map(|_| ()).map_err(|error| *error), &next) {
            return false;
        }
    }
    adopt(host, &ingest);
    *model = next;
    true
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn trees_are_those_of_the_leaves_whatever_came_before(
        ops in prop::collection::vec(op(), 1..7),
        slice in prop_oneof![Just(300_usize), Just(20_000), Just(usize::MAX)],
        pace in prop::option::weighted(0.3, prop::collection::vec(any::<u8>(), 1..30)),
    ) {
        let mut host = Host::new(SMALL);
        host.slice = slice;
        let mut model = Model::default();
        for op in ops {
            host.pace = pace.as_ref().map(|choices| Pace::new(choices));
            match op {
                Op::Commit { mut change, updates, spill } => {
                    let mut next = model.clone();
                    next.apply(&change);
                    let has_sum = |row: &Row| {
                        matches!(row, Row::Object(members) if members.contains_key("sum"))
                    };
                    let keys: Vec<_> = next.rows.iter()
                        .filter(|(_, row)| has_sum(row))
                        .map(|(key, _)| key.clone())
                        .collect();
                    if !keys.is_empty() {
                        change.edits.extend(updates.into_iter().map(|(index, sum)| {
                            Edit::Update(index.get(&keys).clone(), sum.to_string())
                        }));
                    }
                    make(&mut host, &mut model, &change, spill);
                }
                Op::Race { ours, theirs, spill } => {
                    race(&mut host, &mut model, &ours, &theirs, spill);
                }
                Op::Reopen { cache_bytes } => {
                    host.reopen(cache_bytes);
                }
            }
            host.pace = None;
            model.check(&mut host);
        }
    }
}

fn object(id: u64, sum: u64) -> Row {
    Row::Object([("id", id.to_string()), ("sum", format!("\"{sum}\""))].into())
}

fn rows(range: std::ops::Range<u64>) -> Edit {
    Edit::Put(range.map(|at| (format!("r/{at:06}"), object(at, 1))).collect())
}

const BY_ID: Def = Def { key: Some("id"), sum: Some("sum"), value: None, prefix: "r/" };

fn following(edits: Vec<Edit>) -> Change {
    Change { edits, wanted: [("sums".into(), BY_ID)].into(), ..Change::default() }
}

fn plain(edits: Vec<Edit>) -> Change {
    Change { edits, ..Change::default() }
}

/// Counts the steps of a change that is rebased onto another, without and with the trees made
/// before.
fn steps_of_rebase(ours: &Change, theirs: &Change) -> [usize; 2] {
    [false, true].map(|with_bases| {
        let mut host = Host::new(Shape::STORED);
        let mut ingest = start(&mut host, ours);
        let (before, _) =
            bring(&mut host, &mut ingest, ours, &Made::default(), usize::MAX).unwrap();
        commit(&mut host, theirs, usize::MAX).unwrap();
        ingest.rebase(host.forest.clone(), Vec::new());
        host.drive(&mut ingest).unwrap();
        host.slice = 16 << 10;
        let before = if with_bases { before } else { Made::default() };
        let (_, steps) = bring(&mut host, &mut ingest, ours, &before, usize::MAX).unwrap();
        adopt(&mut host, &ingest);
        host.slice = usize::MAX;
        let mut model = Model::default();
        model.apply(theirs);
        model.apply(ours);
        model.check(&mut host);
        steps
    })
}

#[test]
fn trees_made_for_a_lost_race_are_reused() {
    let (small, large) = (following(vec![rows(0..20)]), following(vec![rows(1000..3000)]));
    let [anew, again] = steps_of_rebase(&large, &small);
    assert!(again * 10 < anew, "{again} steps of {anew}");
    // Where the other writer made most of the tree, the trees made before cost no extra steps.
    let [anew, again] = steps_of_rebase(&small, &large);
    assert!(again <= anew, "{again} steps of {anew}");
}

/// Makes a store with rows that one tree follows, and a tree made by hand.
fn store() -> (Host, Model) {
    let (mut host, mut model) = (Host::new(SMALL), Model::default());
    let leaf = ([7; 32], (b"leaf".to_vec(), 9));
    let first =
        Change { staged: vec![("hand".into(), vec![leaf])], ..following(vec![rows(0..100)]) };
    assert!(make(&mut host, &mut model, &first, usize::MAX));
    model.check(&mut host);
    (host, model)
}

fn refused(change: &Change, error: Error) {
    let (mut host, model) = store();
    let before = (host.root, host.forest.clone(), host.contents());
    assert_eq!(commit(&mut host, change, 0), Err(error));
    assert_eq!((host.root, host.forest.clone(), host.contents()), before);
    model.check(&mut host);
    // In the smallest steps, too, and as the change of a writer that comes second.
    host.slice = 1000;
    assert_eq!(commit(&mut host, change, usize::MAX), Err(error));
    let mut late = start(&mut host, change);
    let other = plain(vec![Edit::Put(vec![("other".into(), object(1, 1))])]);
    commit(&mut host, &other, 0).unwrap();
    late.rebase(host.forest.clone(), Vec::new());
    host.drive(&mut late).unwrap();
    assert_eq!(bring(&mut host, &mut late, change, &Made::default(), 0).map(|_| ()), Err(error));
    assert!(late.committed().is_none());
    host.slice = usize::MAX;
    let mut model = model;
    model.apply(&other);
    model.check(&mut host);
}

fn put(at: u64, row: Row) -> Change {
    plain(vec![Edit::Put(vec![(format!("r/{at:06}"), row)])])
}

#[test]
fn a_commit_that_fails_changes_nothing() {
    // The sum of the put leaves is too large: alone, with the leaves that exist, and in a tree made
    // by hand.
    let half = 1 << 63;
    let both = plain(vec![Edit::Put(
        (200..202).map(|at| (format!("r/{at:06}"), object(at, half))).collect(),
    )]);
    refused(&both, Error::SumOverflow);
    refused(&put(200, object(200, u64::MAX - 99)), Error::SumOverflow);
    refused(&put(5, object(5, u64::MAX - 98)), Error::SumOverflow);
    let by_hand = |leaves: &[(u8, u64)]| Change {
        edits: vec![rows(200..210)],
        staged: vec![(
            "hand".into(),
            leaves.iter().map(|(key, sum)| ([*key; 32], (vec![1], *sum))).collect(),
        )],
        ..Change::default()
    };
    refused(&by_hand(&[(1, half), (2, half)]), Error::SumOverflow);
    refused(&by_hand(&[(1, u64::MAX - 8)]), Error::SumOverflow);
    refused(&by_hand(&[(7, half), (3, half)]), Error::SumOverflow);
    // Two rows of one key: both new, or one of them stored before.
    refused(&put(200, object(5, 1)), Error::SumKeyTwice);
    let twins = (200..202).map(|at| (format!("r/{at:06}"), object(200, at)));
    refused(&plain(vec![Edit::Put(twins.collect())]), Error::SumKeyTwice);
    refused(&put(6, object(5, 1)), Error::SumKeyTwice);
    for bad in ["-1", "1.5", "1e21", "\"x\"", "true", "{}", "18446744073709551616"] {
        let row = Row::Object([("id", "5".into()), ("sum", bad.into())].into());
        refused(&put(5, row), Error::SumNotWhole);
    }
    // A definition that the rows do not fit.
    let wanted = Def { sum: Some("id"), key: Some("sum"), ..BY_ID };
    let wanted = [("sums".into(), BY_ID), ("twice".into(), wanted)].into();
    refused(&Change { wanted, ..Change::default() }, Error::SumKeyTwice);
}

#[test]
fn sums_that_just_fit_are_accepted() {
    let (mut host, mut model) = store();
    assert!(make(&mut host, &mut model, &put(5, object(5, u64::MAX - 99)), 0));
    model.check(&mut host);
    // Deleted leaves make room for new ones.
    let moved = plain(vec![
        Edit::Delete(vec!["r/000005".into()]),
        Edit::Put(vec![("r/000200".into(), object(200, u64::MAX - 99))]),
    ]);
    assert!(make(&mut host, &mut model, &moved, 0));
    model.check(&mut host);
    // Rows trade their keys.
    let trade = plain(vec![Edit::Put(vec![
        ("r/000001".into(), object(2, 1)),
        ("r/000002".into(), object(3, 1)),
        ("r/000003".into(), object(1, 1)),
    ])]);
    assert!(make(&mut host, &mut model, &trade, 0));
    model.check(&mut host);
}

#[test]
fn a_tree_that_is_not_in_memory_is_read_in_the_smallest_steps() {
    for slice in [1, 64, 65, 200] {
        let (mut host, mut model) = store();
        // The pieces of the tree are in many segments.
        for at in 0..60 {
            let some = plain(vec![rows(5 * at..5 * at + 5)]);
            assert!(make(&mut host, &mut model, &some, usize::MAX));
        }
        host.reopen(0);
        host.slice = slice;
        let all = (0..300).map(|at| (format!("r/{at:06}"), object(at, 2))).collect();
        assert!(make(&mut host, &mut model, &plain(vec![Edit::Put(all)]), usize::MAX));
        host.slice = usize::MAX;
        model.check(&mut host);
    }
}

#[test]
fn definitions_are_added_changed_and_dropped_over_existing_rows() {
    let (mut host, mut model) = store();
    let wanting = |defs: &[(&str, Def)]| Change {
        wanted: defs.iter().map(|(name, def)| ((*name).into(), def.clone())).collect(),
        alone: true,
        ..Change::default()
    };
    let by_key = Def { key: None, ..BY_ID };
    for defs in [
        &[("sums", BY_ID), ("keys", by_key.clone())][..],
        &[("sums", by_key.clone())],
        &[
            ("sums", Def { prefix: "r/00000", ..by_key.clone() }),
            ("none", Def { prefix: "x", ..BY_ID }),
        ],
        &[],
        &[("sums", BY_ID)],
    ] {
        assert!(make(&mut host, &mut model, &wanting(defs), 1000));
        assert_eq!(model.followers.len(), defs.len());
        model.check(&mut host);
    }
    // A follower never replaces a tree made by hand.
    assert!(make(&mut host, &mut model, &wanting(&[("hand", BY_ID)]), 1000));
    assert_eq!((model.hand.len(), model.followers.len()), (1, 0));
    model.check(&mut host);
}

#[test]
fn hand_edited_trees_stay_when_all_rows_are_deleted() {
    for edit in [Edit::Clear, Edit::DeletePrefix(String::new())] {
        let (mut host, mut model) = store();
        assert!(make(&mut host, &mut model, &plain(vec![edit]), 0));
        model.check(&mut host);
        assert_eq!((host.forest.sums().count(), model.followers.len()), (1, 0));
        assert!(make(&mut host, &mut model, &following(vec![rows(0..9)]), 0));
        model.check(&mut host);
        assert_eq!(host.forest.sums().count(), 2);
    }
}

#[test]
fn rows_in_parts_and_at_once_make_the_same_tree() {
    for spill in sampled([0, 5_000, 200_000], 3) {
        let (mut host, mut model) = (Host::new(Shape::STORED), Model::default());
        // A part ends with a step.
        host.slice = 16 << 10;
        assert!(make(&mut host, &mut model, &following(vec![rows(0..3000)]), spill));
        model.check(&mut host);
        assert_eq!(verify_all(&mut host), Ok(3000));
        // Two of one key in parts far from each other.
        let twin = Edit::Put(vec![("r/999999".into(), object(0, 1))]);
        let mut other = Host::new(Shape::STORED);
        other.slice = 16 << 10;
        let outcome = commit(&mut other, &following(vec![rows(0..3000), twin]), spill);
        assert_eq!(outcome, Err(Error::SumKeyTwice));
        assert_eq!(other.forest.trees().count(), 0);
    }
}

//! Indexes follow their rows: after each commit of any kind, every index has the entries of a model, in
//! the order of values, and the root of a fresh store.

#[path = "indexes/model.rs"]
mod model;

#[path = "indexes/reading.rs"]
mod reading;

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::forest::ROWS;
use hedgerow::index::{IndexScan, Wanted};
use hedgerow::ingest::{Format, Ingest};
use hedgerow::output::Output;
use hedgerow::tree::{Parts, Range};
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::rows::{Rows, list, pairs};
use model::{DEFINITIONS, Member, Model, Row, Scalar, definition, expected, rows_of};
use proptest::prelude::*;
use reading::{entries, index_tree, scanned};

const SMALL: Shape = Shape::with_target(128);

fn check(host: &mut Host, wanted: &[usize], model: &Model) {
    let definitions: Vec<_> = wanted.iter().map(|which| definition(*which)).collect();
    let mut fresh = Host::indexed(SMALL, &definitions, &rows_of(model));
    assert_eq!(host.forest, fresh.forest);
    assert_eq!(host.root, fresh.root);
    let pace = host.pace.take();
    for which in wanted {
        let columns = definition(*which).columns();
        let tree = index_tree(&host.forest, *which);
        let found = entries(host, tree, columns);
        let expected: Vec<_> = expected(*which, model)
            .into_iter()
            .map(|(secondary, key)| {
                let json: Vec<_> = secondary.iter().map(Scalar::json).collect();
                let json = json.join(",");
                (if columns > 1 { format!("[{json}]") } else { json }, key)
            })
            .collect();
        assert_eq!(found, expected, "{}", DEFINITIONS[*which]);
        assert_eq!(scanned(host, *which), scanned(&mut fresh, *which));
        let rows: Vec<_> = expected
            .iter()
            .map(|(secondary, key)| (key.clone(), model[key].json(), secondary.clone()))
            .collect();
        assert_eq!(scanned(host, *which), rows);
    }
    host.pace = pace;
}

#[derive(Clone, Debug)]
enum Op {
    Put(Vec<(String, Row)>),
    Delete(Vec<String>),
    DeletePrefix(String),
    /// A patch: a clear if it is set, then puts and updates of the first member.
    Patch(bool, Vec<(String, Row)>, Vec<(String, Member)>),
}

fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        (-3_i32..4).prop_map(Scalar::Halves),
        "[a-cBÉé～😀 ]{0,3}".prop_map(Scalar::Text),
    ]
}

fn member() -> impl Strategy<Value = Member> {
    prop_oneof![
        6 => scalar().prop_map(Member::One),
        2 => prop::collection::vec(prop::option::weighted(0.8, scalar()), 0..4).prop_map(Member::Many),
        1 => Just(Member::Null),
        1 => Just(Member::Missing),
    ]
}

fn key() -> impl Strategy<Value = String> {
    "[a-c]{0,2}[0-9～😀]{0,2}"
}

fn row() -> impl Strategy<Value = Row> {
    let more = prop_oneof![8 => 0_usize..9, 1 => Just(5000_usize), 1 => Just(70_000_usize)];
    (member(), member(), more).prop_map(|(a, b, more)| Row { a, b, more })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => prop::collection::vec((key(), row()), 0..40).prop_map(Op::Put),
        2 => prop::collection::vec(key(), 0..40).prop_map(Op::Delete),
        1 => "[a-c]{0,2}".prop_map(Op::DeletePrefix),
        2 => (
            prop::bool::weighted(0.3),
            prop::collection::vec((key(), row()), 0..20),
            prop::collection::vec((key(), member()), 0..10),
        )
            .prop_map(|(clear, puts, updates)| Op::Patch(clear, puts, updates)),
    ]
}

/// Returns whether `key` is put with the first member, whose place an update keeps.
fn has_a(puts: &[(String, Row)], key: &str) -> bool {
    let last = puts.iter().rfind(|put| put.0 == key);
    last.is_some_and(|(_, row)| !matches!(row.a, Member::Missing))
}

fn apply(model: &mut Model, ops: &[Op]) {
    for op in ops {
        match op {
            Op::Put(puts) => model.extend(puts.iter().cloned()),
            Op::Delete(keys) => keys.iter().for_each(|key| {
                model.remove(key);
            }),
            Op::DeletePrefix(prefix) => model.retain(|key, _| !key.starts_with(prefix)),
            Op::Patch(clear, puts, updates) => {
                if *clear {
                    model.clear();
                }
                model.extend(puts.iter().cloned());
                for (key, a) in updates.iter().filter(|(key, _)| has_a(puts, key)) {
                    // A merged member is there.
                    let a = if matches!(a, Member::Missing) { &Member::Null } else { a };
                    model.get_mut(key).unwrap().a = a.clone();
                }
            }
        }
    }
}

fn feed(host: &mut Host, ingest: &mut Ingest, ops: &[Op]) {
    for op in ops {
        match op {
            Op::Put(puts) => {
                let rows: Vec<_> =
                    puts.iter().map(|(key, row)| (key.clone(), row.json())).collect();
                host.feed(ingest, &pairs(&rows), &Format::Pairs).unwrap();
            }
            Op::Delete(keys) => host.feed(ingest, &list(keys), &Format::Deletes).unwrap(),
            Op::DeletePrefix(prefix) => {
                ingest.drop_range(Range::prefix(prefix.as_bytes()));
                host.drive(ingest).unwrap();
            }
            Op::Patch(clear, puts, updates) => {
                let puts_of = |(key, row): &(String, Row)| {
                    format!(r#"{{"op":"put","key":"{key}","value":{}}}"#, row.json())
                };
                let update_of = |(key, a): &(String, Member)| {
                    format!(r#"{{"op":"update","key":"{key}","merge":{{"a":{}}}}}"#, a.json())
                };
                let clear = clear.then(|| r#"{"op":"clear"}"#.to_owned());
                let all: Vec<_> = clear
                    .into_iter()
                    .chain(puts.iter().map(puts_of))
                    .chain(updates.iter().filter(|(key, _)| has_a(puts, key)).map(update_of))
                    .collect();
                host.feed(ingest, &format!("[{}]", all.join(",")), &Format::Patch).unwrap();
            }
        }
    }
}

fn commit(host: &mut Host, ops: &[Op]) {
    let mut ingest = host.ingest();
    feed(host, &mut ingest, ops);
    host.finish(&mut ingest).unwrap();
}

/// Makes all `wanted` indexes, and no others, in parts of `work`; returns the number of commits.
fn reindex(host: &mut Host, wanted: &[usize], work: usize) -> usize {
    let definitions: Vec<_> = wanted.iter().map(|which| definition(*which)).collect();
    host.indexes.clone_from(&definitions);
    for commits in 1..10_000 {
        let mut ingest = host.ingest();
        ingest.extend_indexes(&definitions, true, work);
        host.finish(&mut ingest).unwrap();
        let complete = |named: &str| named.starts_with('i');
        if host.forest.indexes().all(|named| complete(&named.name)) {
            return commits;
        }
    }
    panic!("no end");
}

/// Draws some of the definitions.
fn some(size: impl Into<prop::sample::SizeRange>) -> impl Strategy<Value = Vec<usize>> {
    prop::sample::subsequence((0..DEFINITIONS.len()).collect::<Vec<_>>(), size)
}

fn slices() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1_usize), Just(1000), Just(usize::MAX)]
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn indexes_are_those_of_the_rows_after_every_commit(
        commits in prop::collection::vec(prop::collection::vec(op(), 1..3), 1..8),
        wanted in some(3),
        slice in slices(),
        pace in prop::option::weighted(0.3, prop::collection::vec(any::<u8>(), 1..30)),
    ) {
        let definitions: Vec<_> = wanted.iter().map(|which| definition(*which)).collect();
        let mut host = Host::indexed(SMALL, &definitions, &Rows::new());
        host.slice = slice;
        host.pace = pace.map(|choices| Pace::new(&choices));
        let mut model = Model::new();
        for ops in &commits {
            commit(&mut host, ops);
            apply(&mut model, ops);
            check(&mut host, &wanted, &model);
        }
    }

    #[test]
    fn an_index_in_the_making_follows_and_one_not_wanted_is_dropped(
        base in prop::collection::btree_map(key(), row(), 1..80),
        before in some(0..=3),
        after in some(0..=3),
        edits in prop::collection::vec(prop::collection::vec(op(), 1..3), 0..4),
        work in 1_usize..3000,
        slice in slices(),
    ) {
        let before: Vec<_> = before.iter().map(|which| definition(*which)).collect();
        let mut host = Host::indexed(SMALL, &before, &rows_of(&base));
        host.slice = slice;
        let mut model = base;
        let definitions: Vec<_> = after.iter().map(|which| definition(*which)).collect();
        // One part, and then edits, which maintain the partial index.
        for ops in &edits {
            let mut ingest = host.ingest();
            ingest.extend_indexes(&definitions, true, work);
            host.finish(&mut ingest).unwrap();
            host.indexes.clone_from(&definitions);
            commit(&mut host, ops);
            apply(&mut model, ops);
        }
        reindex(&mut host, &after, work);
        check(&mut host, &after, &model);
    }

    #[test]
    fn a_change_that_lost_its_race_keeps_the_indexes_of_the_winner(
        base in prop::collection::btree_map(key(), row(), 0..60),
        ours in prop::collection::vec(op(), 0..4),
        theirs in prop::collection::vec(prop::collection::vec(op(), 1..3), 1..4),
        part in prop::option::of(1_usize..3000),
        wanted in some(3),
        slice in slices(),
    ) {
        let all: Vec<_> = wanted.iter().map(|which| definition(*which)).collect();
        let before = if part.is_some() { &all[..2] } else { &all };
        let mut host = Host::indexed(SMALL, before, &rows_of(&base));
        host.indexes.clone_from(&all);
        host.slice = slice;
        let mut model = base;
        let mut ingest = host.ingest();
        feed(&mut host, &mut ingest, &ours);
        ingest.finish();
        host.drive(&mut ingest).unwrap();
        for ops in &theirs {
            commit(&mut host, ops);
            apply(&mut model, ops);
            if let Some(work) = part {
                let mut other = host.ingest();
                other.extend_indexes(&all, false, work);
                host.finish(&mut other).unwrap();
            }
            ingest.rebase(host.forest.clone(), Vec::new());
            host.drive(&mut ingest).unwrap();
        }
        apply(&mut model, &ours);
        let (root, forest) = ingest.committed().expect("a commit after the last step");
        (host.root, host.forest) = (root, forest.clone());
        reindex(&mut host, &wanted, usize::MAX);
        check(&mut host, &wanted, &model);
    }
}

/// The change that extends the index is rebased, too.
#[test]
fn an_index_is_built_while_others_write() {
    for work in [1000, 20_000, usize::MAX] {
        let (first, last) = ([definition(0)], [definition(2)]);
        let mut host = Host::indexed(SMALL, &first, &issues(300));
        let mut rows = issues(300);
        let mut ingest = host.ingest();
        ingest.extend_indexes(&last, true, work);
        ingest.finish();
        host.drive(&mut ingest).unwrap();
        let row = issues(301).pop_last().unwrap();
        let changed = ("b00000002".to_owned(), r#"{"a":1,"b":{"c":true}}"#.to_owned());
        host.put(&[row.clone(), changed.clone()]);
        host.delete(&["b00000001".to_owned()]);
        rows.extend([row, changed]);
        rows.remove("b00000001");
        ingest.rebase(host.forest.clone(), Vec::new());
        host.drive(&mut ingest).unwrap();
        let (root, forest) = ingest.committed().expect("a commit after the last step");
        (host.root, host.forest) = (root, forest.clone());
        let named: Vec<_> = host.forest.indexes().map(|named| named.name.clone()).collect();
        assert_eq!(named.len(), 1, "{named:?}");
        reindex(&mut host, &[2], usize::MAX);
        assert_eq!(host.root, Host::indexed(SMALL, &last, &rows).root, "work {work}");
    }
}

#[test]
fn an_index_that_is_added_while_another_one_is_half_made_has_all_rows() {
    let rows = issues(300);
    let mut host = Host::of(SMALL, &rows);
    let mut ingest = host.ingest();
    ingest.extend_indexes(&[definition(0)], true, 1000);
    host.finish(&mut ingest).unwrap();
    let named: Vec<_> = host.forest.indexes().map(|named| named.name.clone()).collect();
    assert!(!named[0].starts_with('i'), "it is complete: {named:?}");
    let commits = reindex(&mut host, &[0, 2], 1000);
    assert!(commits > 1, "{commits}");
    assert_eq!(host.root, Host::indexed(SMALL, &[0, 2].map(definition), &rows).root);
}

fn issues(count: u32) -> Rows {
    (0..count)
        .map(|at| {
            let row = Row {
                a: Member::One(Scalar::Halves((at * 7919 % 1000).cast_signed() - 500)),
                b: Member::One(Scalar::Text(format!("owner{}", at * 31 % 97))),
                more: 60,
            };
            (format!("b{at:08}"), row.json())
        })
        .collect()
}

#[test]
fn more_entries_than_fit_in_memory_are_merged_in_parts() {
    let wanted = [0, 1, 2].map(definition);
    let rows = issues(150_000);
    let whole = Host::indexed(Shape::STORED, &wanted, &rows);
    let mut later = Host::of(Shape::STORED, &rows);
    later.slice = 100_000;
    let mut ingest = later.ingest();
    ingest.extend_indexes(&wanted, false, usize::MAX);
    later.finish(&mut ingest).unwrap();
    assert_eq!(later.root, whole.root);
    assert_eq!(later.forest.indexes().count(), 3);
}

#[test]
fn an_index_takes_one_commit_for_each_part_and_none_once_it_is_complete() {
    let mut host = Host::of(Shape::STORED, &issues(2000));
    assert!(reindex(&mut host, &[0, 2], 20_000) > 5);
    let root = host.root;
    assert_eq!(reindex(&mut host, &[0, 2], 20_000), 1);
    assert_eq!(host.root, root);
    assert_eq!(reindex(&mut host, &[], 1), 1);
    assert_eq!(host.root, Host::of(Shape::STORED, &issues(2000)).root);
}

#[test]
fn a_change_of_one_row_costs_a_path_in_each_index_that_it_concerns() {
    let wanted = [0, 1].map(definition);
    let mut host = Host::indexed(Shape::STORED, &wanted, &issues(100_000));
    let chunks = |host: &mut Host, value: &str| {
        let row = [("b00050000".to_owned(), value.to_owned())];
        host.commit(&[(pairs(&row), Format::Pairs)]).unwrap().chunks()
    };
    let levels = chunks(&mut host, r#"{"a":1,"b":{"c":"owner1"}}"#);
    assert!(levels < 25, "{levels} chunks where all is changed");
    // Only the path of the row and the commit, as no index has an entry.
    let rows_only = chunks(&mut host, r#"{"a":1,"b":{"c":"owner1"},"d":1}"#);
    assert!(rows_only <= 5, "{rows_only} chunks where no entry is changed");
}

#[test]
fn an_index_that_does_not_match_its_rows_is_corrupt() {
    let mut host = Host::indexed(SMALL, &[definition(0)], &issues(10));
    let index = index_tree(&host.forest, 0);
    host.delete(&["b00000003".to_owned()]);
    let parts = Parts { keys: false, values: true };
    let wanted = Wanted { parts, secondary: false, reverse: false, limit: 100 };
    let mut scan = IndexScan::new(index, 1, host.forest.tree(ROWS), Range::ALL, wanted);
    let mut out = Output::new();
    let error = host.run(|cache, budget| scan.step(cache, budget, &mut out)).unwrap_err();
    assert!(matches!(error, Error::CorruptChunk { .. }));
}

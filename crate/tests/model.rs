//! Trees against a model: after any operations, a store has the contents of a `BTreeMap`, and the root of
//! a store with the same rows, written at once.

use crate::cases::cases;
use hedgerow::batch::{Batch, Edit};
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::ingest::{Format, SPILL_BYTES};
use hedgerow::step::Budget;
use hedgerow::tree::Range;
use hedgerow::value::{Kind, Value};
use hedgerow_support::host::Host;
use hedgerow_support::output::changes_between;
use hedgerow_support::property::{Steps, for_seeds};
use hedgerow_support::rows::{Rows, issue};
use hedgerow_support::store::a_key;
use hedgerow_support::values::Values;
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::ops::Bound;

const SMALL: Shape = Shape::with_target(128);

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{0,3}",
        "[a-c]{1,2}/[0-9]{1,3}",
        "[\u{0}-\u{7f}é中\u{ff5e}😀]{0,6}",
        "[x-z]{40,60}",
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        "\"[a-z]{0,20}\"",
        "\"[a-z]{100,300}\"",
        (0_u32..1000).prop_map(|number| number.to_string()),
    ]
}

#[derive(Clone, Debug)]
enum Op {
    Put(Vec<(String, String)>),
    Delete(Vec<String>),
    DeleteRange(Bound<String>, Bound<String>),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => prop::collection::vec((key(), value()), 0..80).prop_map(Op::Put),
        2 => prop::collection::vec((key(), value()), 1..3).prop_map(Op::Put),
        2 => prop::collection::vec(key(), 0..60).prop_map(Op::Delete),
        2 => (bound(), bound()).prop_map(|(lower, upper)| Op::DeleteRange(lower, upper)),
    ]
}

fn bound() -> impl Strategy<Value = Bound<String>> {
    prop_oneof![
        Just(Bound::Unbounded),
        key().prop_map(Bound::Included),
        key().prop_map(Bound::Excluded),
    ]
}

fn holds(lower: &Bound<String>, upper: &Bound<String>, key: &String) -> bool {
    let above = match lower {
        Bound::Included(lower) => key >= lower,
        Bound::Excluded(lower) => key > lower,
        Bound::Unbounded => true,
    };
    above
        && match upper {
            Bound::Included(upper) => key <= upper,
            Bound::Excluded(upper) => key < upper,
            Bound::Unbounded => true,
        }
}

fn range(lower: &Bound<String>, upper: &Bound<String>) -> Range {
    let bytes = |bound: &Bound<String>| bound.as_ref().map(|key| key.clone().into_bytes());
    Range { lower: bytes(lower), upper: bytes(upper) }
}

#[test]
fn a_row_of_json_that_becomes_bytes_of_the_same_text_is_a_change() {
    let rows = |kind| Values::from([("k".to_owned(), (kind, b"1".to_vec()))]);
    for (from, to) in [(Kind::Json, Kind::Bytes), (Kind::Bytes, Kind::Json)] {
        let mut host = Host::new(SMALL);
        host.put_values(&rows(from));
        let before = host.tree();
        host.put_values(&rows(to));
        assert_eq!(host.diff(before, &Range::ALL).len(), 1, "{from:?} to {to:?}");
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_history_gives_the_rows_and_the_root_of_a_fresh_build(
        ops in prop::collection::vec(op(), 1..8),
        slice in prop_oneof![Just(usize::MAX), 1_usize..2000],
        cold in any::<bool>(),
    ) {
        let mut host = Host::new(SMALL);
        host.slice = slice;
        let mut model = Rows::new();
        let mut steps = Steps::new();
        for op in ops {
            steps.begin(&op);
            let (tree_before, rows_before) = (host.tree(), model.clone());
            if cold {
                // A budget for little more than one segment.
                host.reopen(1000);
            }
            match op {
                Op::Put(rows) => {
                    host.put_blocks(&rows, 7);
                    model.extend(rows);
                }
                Op::Delete(keys) => {
                    host.delete(&keys);
                    for key in &keys {
                        model.remove(key);
                    }
                }
                Op::DeleteRange(lower, upper) => {
                    host.delete_range(&range(&lower, &upper));
                    model.retain(|key, _| !holds(&lower, &upper, key));
                }
            }
            steps.same_items("rows", host.contents(), model.clone())?;
            steps.same("the root of a fresh build", &host.root, &Host::of(SMALL, &model).root)?;
            steps.same("the count", &host.tree().count, &(model.len() as u64))?;
            let changes = changes_between(&rows_before, &model);
            steps.same_items("the diff", host.diff(tree_before, &Range::ALL), changes)?;
        }
    }

    #[test]
    fn reads_agree_with_the_model(
        rows in prop::collection::vec((key(), value()), 0..200),
        lower in bound(),
        upper in bound(),
        offset in prop_oneof![Just(0), 0_u64..220, Just(u64::MAX)],
        limit in prop_oneof![Just(u64::MAX), 0_u64..20],
        reverse in any::<bool>(),
        wanted in prop::collection::vec(key(), 0..40),
        cold in any::<bool>(),
    ) {
        let mut host = Host::new(SMALL);
        host.put(&rows);
        let model: Rows = rows.into_iter().collect();
        if cold {
            host.reopen(1000);
            host.slice = 50;
        }
        let mut expected: Vec<_> = model.clone().into_iter().filter(|(key, _)| holds(&lower, &upper, key)).collect();
        let range = range(&lower, &upper);
        let mut steps = Steps::new();
        steps.begin((&lower, &upper, offset, limit, reverse));
        steps.same("the count", &host.count(&range), &(expected.len() as u64))?;
        if reverse {
            expected.reverse();
        }
        expected.drain(..expected.len().min(usize::try_from(offset).unwrap_or(usize::MAX)));
        expected.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        steps.same_items("the scan", host.scan_after(&range, reverse, offset, limit), expected)?;
        for key in &wanted {
            steps.same(key, &host.get(key), &model.get(key).cloned())?;
        }
        let many: Vec<_> = wanted.iter().map(|key| model.get(key).cloned()).collect();
        steps.same_items("many keys", host.get_many(&wanted), many)?;
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_diff_of_unrelated_trees_is_their_difference(
        old in prop::collection::btree_map(key(), value(), 0..150),
        new in prop::collection::btree_map(key(), value(), 0..150),
        shared in prop::collection::btree_map(key(), value(), 0..300),
        lower in bound(),
        upper in bound(),
        slice in prop_oneof![Just(usize::MAX), 1_usize..500],
    ) {
        let mut host = Host::new(SMALL);
        host.slice = slice;
        let with = |rows: &Rows| -> Rows { shared.clone().into_iter().chain(rows.clone()).collect() };
        let (old, new) = (with(&old), with(&new));
        host.put(&old.clone().into_iter().collect::<Vec<_>>());
        let before = host.tree();
        host.delete(&old.keys().cloned().collect::<Vec<_>>());
        host.put(&new.clone().into_iter().collect::<Vec<_>>());
        let mut steps = Steps::new();
        steps.begin("a diff of all");
        steps.same_items("changes", host.diff(before, &Range::ALL), changes_between(&old, &new))?;
        host.reopen(1000);
        let mut expected = changes_between(&old, &new);
        expected.retain(|(key, _, _)| holds(&lower, &upper, key));
        steps.begin((&lower, &upper));
        steps.same_items("changes in a range", host.diff(before, &range(&lower, &upper)), expected)?;
    }
}

#[test]
fn any_arrival_order_gives_one_root() {
    let mut rows: Vec<_> = (0..5000).map(issue).collect();
    let mut sorted = Host::new(Shape::STORED);
    sorted.put_blocks(&rows, 1000);
    for_seeds(100, |seed, steps| {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        rows.shuffle(&mut random);
        let mut host = Host::new(Shape::STORED);
        host.put_blocks(&rows, random.random_range(1..=5000));
        steps.same("root", &host.root, &sorted.root)
    });
}

#[test]
fn many_commits_of_few_rows_give_the_root_of_one_of_many() {
    let mut rows: Vec<_> = (0..3000).map(issue).collect();
    let mut once = Host::new(Shape::STORED);
    once.put(&rows);
    rows.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(11));
    let mut often = Host::new(Shape::STORED);
    for rows in rows.chunks(3) {
        often.put(rows);
    }
    assert_eq!(often.root, once.root);
    assert_eq!(often.contents().len(), 3000);
}

#[test]
fn a_repeated_row_after_a_stream_in_order_becomes_an_edit() {
    let rows: Vec<_> = (0..2000).map(issue).collect();
    let mut host = Host::new(Shape::STORED);
    let mut twice = rows.clone();
    twice.push((rows[7].0.clone(), "\"again\"".to_owned()));
    host.put(&twice);
    assert_eq!(host.get(&rows[7].0).as_deref(), Some("\"again\""));
    assert_eq!(host.tree().count, 2000);
    let mut model: Rows = rows.into_iter().collect();
    model.insert(twice[2000].0.clone(), "\"again\"".to_owned());
    assert_eq!(host.root, Host::of(Shape::STORED, &model).root);
}

#[test]
fn a_bad_row_leaves_the_store_unchanged() {
    let mut host = Host::new(SMALL);
    host.put(&(0..100).map(issue).collect::<Vec<_>>());
    let (root, stored) = (host.root, host.stored.len());
    let bad = [
        ("[1,2]", 0),
        ("[\"a\",1,\"b\"]", 1),
        ("[\"a\",1,\"\\ud800\",2]", 1),
        ("[\"a\",tru]", 0),
        ("[\"a\",1,\"b\",2", 2),
        ("{}", 0),
    ];
    for (text, row) in bad {
        let blocks = [(text.to_owned(), Format::Pairs)];
        let Err(Error::Row { row: got, .. }) = host.commit(&blocks) else { panic!("{text}") };
        assert_eq!(got, row, "{text}");
        assert_eq!((host.root, host.stored.len()), (root, stored));
    }
    let long = format!("[\"{}\",1]", "k".repeat(1025));
    assert!(host.commit(&[(long, Format::Pairs)]).is_err());
    assert_eq!(host.contents().len(), 100);
}

#[test]
fn rows_that_take_too_much_memory_are_merged_in_parts() {
    let value = |row: usize| format!("\"{}{row:05}\"", "v".repeat(3900));
    let rows: Vec<_> = (0..16_000).map(|row| (format!("{row:05}"), value(row))).collect();
    assert!(rows.len() * 3900 > SPILL_BYTES, "or nothing spills");
    let mut sorted = Host::new(Shape::STORED);
    sorted.put_blocks(&rows, 500);
    let mut descending = Host::new(Shape::STORED);
    descending.slice = 1 << 20;
    let mut backwards = rows;
    backwards.reverse();
    // One row comes again, so that a later row meets one that is merged already.
    backwards.push(("15999".to_owned(), "1".to_owned()));
    backwards.push(("15999".to_owned(), value(15_999)));
    descending.put_blocks(&backwards, 500);
    assert_eq!(descending.root, sorted.root);
}

#[test]
fn the_last_of_equal_keys_wins_when_key_and_value_are_empty() {
    for rows in 2..200 {
        let mut batch = Batch::new();
        for row in (0..rows).rev() {
            batch.push(a_key(&format!("k{row:03}")), Edit::Delete);
            if row == rows / 2 {
                // Neither takes a byte of the batch's pages.
                batch.push(a_key(""), Edit::Put(Value::trusted(Kind::Bytes, b"")));
                batch.push(a_key(""), Edit::Delete);
                batch.push(a_key(""), Edit::Put(Value::trusted(Kind::Bytes, b"last")));
            }
        }
        batch.close_run();
        assert!(batch.sort(&mut Budget::of(usize::MAX)));
        assert_eq!(batch.edit(0), Edit::Put(Value::trusted(Kind::Bytes, b"last")), "{rows} rows");
    }
}

//! A change that lost a race is rebased onto the commit of the winner. The result is as of the winner's
//! edits followed by its own.

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::tree::Range;
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::rows::{Rows, list, pairs};
use proptest::prelude::*;
use std::ops::Bound;

const SMALL: Shape = Shape::with_target(128);

#[derive(Clone, Debug)]
enum Op {
    Put(Vec<(String, String)>),
    Delete(Vec<String>),
    DeletePrefix(String),
}

fn key() -> impl Strategy<Value = String> {
    "[a-d]{0,2}[0-9]{0,2}"
}

fn value() -> impl Strategy<Value = String> {
    // Few values, so that many puts have no effect; some are stored out of line.
    prop_oneof![
        4 => (0_u32..3).prop_map(|number| number.to_string()),
        1 => (0_usize..3).prop_map(|kind| format!("\"{}\"", "x".repeat(4000 + 60_000 * kind))),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => prop::collection::vec((key(), value()), 0..40).prop_map(Op::Put),
        1 => prop::collection::vec(key(), 0..40).prop_map(Op::Delete),
        1 => "[a-d]{0,2}".prop_map(Op::DeletePrefix),
    ]
}

fn apply(rows: &mut Rows, ops: &[Op]) {
    for op in ops {
        match op {
            Op::Put(puts) => rows.extend(puts.iter().cloned()),
            Op::Delete(keys) => keys.iter().for_each(|key| {
                rows.remove(key);
            }),
            Op::DeletePrefix(prefix) => rows.retain(|key, _| !key.starts_with(prefix)),
        }
    }
}

fn feed(host: &mut Host, ingest: &mut Ingest, ops: &[Op]) {
    for op in ops {
        match op {
            Op::Put(puts) => host.feed(ingest, &pairs(puts), &Format::Pairs).unwrap(),
            Op::Delete(keys) => host.feed(ingest, &list(keys), &Format::Deletes).unwrap(),
            Op::DeletePrefix(prefix) => {
                ingest.drop_range(Range::prefix(prefix.as_bytes()));
                host.drive(ingest).unwrap();
            }
        }
    }
}

/// The tree of a change of an empty store has all keys that it puts, but not the keys that it deletes.
#[test]
fn a_load_into_an_empty_store_deletes_what_another_writer_has_put_meanwhile() {
    let row = |key: &str| (key.to_owned(), "1".to_owned());
    let mut host = Host::of(SMALL, &Rows::new());
    let mut ingest = host.ingest();
    // A key below one that was put ends the stream.
    let ours = [Op::Put(vec![row("b")]), Op::Delete(vec!["a".to_owned()])];
    feed(&mut host, &mut ingest, &ours);
    ingest.finish();
    host.drive(&mut ingest).unwrap();
    let mut other = host.ingest();
    feed(&mut host, &mut other, &[Op::Put(vec![row("a"), row("c")])]);
    host.finish(&mut other).unwrap();
    ingest.rebase(host.forest.clone(), Vec::new());
    host.drive(&mut ingest).unwrap();
    let (root, _) = ingest.committed().expect("a commit after the last step");
    assert_eq!(root, Host::of(SMALL, &Rows::from([row("b"), row("c")])).root);
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn the_later_commit_wins_and_nothing_else_is_lost(
        base in prop::collection::btree_map(key(), value(), 0..60),
        ours in prop::collection::vec(op(), 0..4),
        theirs in prop::collection::vec(prop::collection::vec(op(), 1..3), 1..4),
        slice in prop_oneof![Just(1_usize), Just(1000), Just(usize::MAX)],
        kept in prop::collection::vec(key(), 0..5),
        pace in prop::option::weighted(0.3, prop::collection::vec(any::<u8>(), 1..30)),
    ) {
        let mut host = Host::of(SMALL, &base);
        let mut expected = base;
        let mut ingest = host.ingest();
        host.slice = slice;
        host.pace = pace.map(|choices| Pace::new(&choices));
        feed(&mut host, &mut ingest, &ours);
        ingest.finish();
        host.drive(&mut ingest).unwrap();
        prop_assert!(ingest.committed().is_some());
        // Several writers win before this one does.
        for ops in &theirs {
            let mut other = host.ingest();
            feed(&mut host, &mut other, ops);
            host.finish(&mut other).unwrap();
            apply(&mut expected, ops);
            let kept = kept.iter().map(|key| key.clone().into_bytes()).collect();
            ingest.rebase(host.forest.clone(), kept);
            host.drive(&mut ingest).unwrap();
        }
        let theirs = expected.clone();
        apply(&mut expected, &ours);
        for key in kept {
            match theirs.get(&key) {
                Some(value) => expected.insert(key, value.clone()),
                None => expected.remove(&key),
            };
        }
        let (root, forest) = ingest.committed().expect("a commit after the last step");
        let fresh = Host::of(SMALL, &expected);
        prop_assert_eq!(forest, &fresh.forest);
        prop_assert_eq!(root, fresh.root);
    }

    #[test]
    fn a_merge_of_three_takes_what_one_side_changed_but_for_what_it_was_fed(
        base in prop::collection::btree_map(key(), value(), 0..60),
        ours in prop::collection::vec(op(), 0..4),
        theirs in prop::collection::vec(op(), 0..4),
        resolved in prop::collection::vec((key(), value()), 0..10),
        slice in prop_oneof![Just(1_usize), Just(1000), Just(usize::MAX)],
    ) {
        let mut host = Host::of(SMALL, &base);
        let ancestor = host.forest.clone();
        let mut side = |ops: &[Op]| {
            host.forest = ancestor.clone();
            let mut ingest = host.ingest();
            feed(&mut host, &mut ingest, ops);
            host.finish(&mut ingest).unwrap();
            let mut rows = base.clone();
            apply(&mut rows, ops);
            (host.forest.clone(), rows)
        };
        let (other, other_rows) = side(&theirs);
        let (_, mut expected) = side(&ours);
        host.slice = slice;
        let mut ingest = host.ingest();
        let resolved = [Op::Put(resolved)];
        feed(&mut host, &mut ingest, &resolved);
        ingest.finish();
        host.drive(&mut ingest).unwrap();
        ingest.set_merge_base(&ancestor);
        ingest.rebase(other, Vec::new());
        host.drive(&mut ingest).unwrap();
        for key in base.keys().chain(other_rows.keys()) {
            match (base.get(key), other_rows.get(key)) {
                (old, new) if old == new => {}
                (_, Some(new)) => drop(expected.insert(key.clone(), new.clone())),
                (_, None) => drop(expected.remove(key)),
            }
        }
        apply(&mut expected, &resolved);
        let (root, _) = ingest.committed().expect("a commit after the last step");
        prop_assert_eq!(root, Host::of(SMALL, &expected).root);
    }
}

#[test]
fn changes_that_take_too_much_memory_are_rebased_in_parts() {
    let mut host = Host::new(Shape::STORED);
    host.put(&[("a".into(), "1".into())]);
    let mut ingest = host.ingest();
    feed(&mut host, &mut ingest, &[Op::Put(vec![("b/7".into(), "1".into())])]);
    ingest.finish();
    host.drive(&mut ingest).unwrap();
    let value = format!("\"{}\"", "x".repeat(1 << 20));
    let rows: Vec<_> = (0..120).map(|row| (format!("b/{row}"), value.clone())).collect();
    host.put(&rows);
    ingest.rebase(host.forest.clone(), Vec::new());
    host.drive(&mut ingest).unwrap();
    let mut expected: Rows = rows.into_iter().collect();
    expected.extend([("a".into(), "1".into()), ("b/7".into(), "1".into())]);
    let (root, _) = ingest.committed().expect("a commit");
    assert_eq!(root, Host::of(Shape::STORED, &expected).root);
}

#[test]
fn a_deleted_range_touches_only_the_keys_between_its_bounds() {
    let mut host = Host::new(SMALL);
    let rows =
        |keys: &[&str]| keys.iter().map(|key| ((*key).into(), "1".into())).collect::<Vec<_>>();
    host.put(&rows(&["a", "b", "c"]));
    let mut ingest = host.ingest();
    let bound = |key: &str| Bound::Included(key.as_bytes().to_vec());
    ingest.drop_range(Range { lower: bound("b"), upper: bound("b9") });
    host.drive(&mut ingest).unwrap();
    ingest.finish();
    host.drive(&mut ingest).unwrap();
    host.put(&rows(&["b5", "bz"]));
    ingest.rebase(host.forest.clone(), Vec::new());
    host.drive(&mut ingest).unwrap();
    let expected: Rows = rows(&["a", "bz", "c"]).into_iter().collect();
    assert_eq!(ingest.committed().expect("a commit").0, Host::of(SMALL, &expected).root);
}

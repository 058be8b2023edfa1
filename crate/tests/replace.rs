//! The fast path for one edit against the merge: whenever it applies it makes the same tree,
//! and for the common edits it nearly always applies.

#![allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "shares of small counts")]

use hedgerow::batch::{Batch, Edit};
use hedgerow::boundary::Shape;
use hedgerow::step::Budget;
use hedgerow::tree::{Merge, PointEdit, Tree};
use hedgerow_support::host::Host;
use hedgerow_support::rows::issue;
use hedgerow_support::store::{a_key, a_text};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

fn merged(host: &mut Host, batch: &Batch) -> (Tree, u64) {
    let mut merge = Merge::new(host.tree(), batch, host.shape);
    let tree = host.run(|cache, budget| merge.step(cache, batch, budget)).expect("a merge");
    (tree, merge.packer().chunks())
}

fn replaced(host: &mut Host, batch: &Batch) -> Option<(Tree, u64)> {
    let mut replace = PointEdit::new(host.tree(), host.shape);
    let tree = host.run(|cache, _| replace.step(cache, batch)).expect("a replacement");
    Some((tree?, replace.packer().chunks()))
}

fn batch(key: &str, value: Option<&str>) -> Batch {
    let mut batch = Batch::new();
    let edit = value.map_or(Edit::Delete, |value| Edit::Put(a_text(value)));
    batch.push(a_key(key), edit);
    batch.close_run();
    assert!(batch.sort(&mut Budget::of(usize::MAX)));
    batch
}

/// Makes `edits` of one kind on trees of `shape`; returns the share that took the fast path.
fn share(
    shape: Shape,
    rows: usize,
    edits: usize,
    mut edit: impl FnMut(&mut ChaCha8Rng, &Host, usize) -> (String, Option<String>),
) -> f64 {
    let mut host = Host::new(shape);
    host.put_blocks(&(0..rows).map(|row| issue(2 * row)).collect::<Vec<_>>(), 1000);
    let height = height(&mut host);
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut taken = 0;
    for _ in 0..edits {
        let (key, value) = edit(&mut random, &host, rows);
        let batch = batch(&key, value.as_deref());
        let (tree, _) = merged(&mut host, &batch);
        if let Some((fast, chunks)) = replaced(&mut host, &batch) {
            assert_eq!(fast, tree, "{key} -> {value:?}");
            // A large value takes two pieces and their list.
            let far = value.as_ref().is_some_and(|value| value.len() > 4096);
            assert!(chunks <= height + if far { 3 } else { 0 }, "{chunks} of {height} levels");
            taken += 1;
        }
    }
    f64::from(taken) / edits as f64
}

fn height(host: &mut Host) -> u64 {
    let batch = batch("issue/00000000", Some("1"));
    replaced(host, &batch).map_or(u64::MAX, |(_, chunks)| chunks)
}

fn resized(row: usize, value: &str, by: f64) -> String {
    let len = (value.len() as f64 * by) as usize;
    format!("\"{}{row}\"", "v".repeat(len.saturating_sub(10)))
}

#[test]
fn each_kind_of_edit_makes_the_tree_that_a_merge_makes() {
    let mut shares = BTreeMap::new();
    for (name, shape, rows) in
        [("stored", Shape::STORED, 20_000), ("small", Shape::with_target(512), 2000)]
    {
        let mut record = |kind: &str, share: f64| shares.insert(format!("{name}: {kind}"), share);
        let row = |random: &mut ChaCha8Rng, rows: usize| random.random_range(0..rows);
        record(
            "same size",
            share(shape, rows, 400, |random, _, rows| {
                let (key, value) = issue(2 * row(random, rows));
                (key, Some(value.replace("open", "shut")))
            }),
        );
        record(
            "other size",
            share(shape, rows, 400, |random, _, rows| {
                let row = row(random, rows);
                let (key, value) = issue(2 * row);
                (key, Some(resized(row, &value, random.random_range(0.5..2.0))))
            }),
        );
        record(
            "insert",
            share(shape, rows, 400, |random, _, rows| {
                let (key, value) = issue(2 * row(random, rows) + 1);
                (key, Some(value))
            }),
        );
        record(
            "delete",
            share(shape, rows, 400, |random, _, rows| (issue(2 * row(random, rows)).0, None)),
        );
        record(
            "append",
            share(shape, rows, 50, |random, _, rows| {
                let (key, value) = issue(2 * rows + random.random_range(0..1000));
                (key, Some(value))
            }),
        );
        record(
            "delete the last",
            share(shape, rows, 1, |_, _, rows| (issue(2 * rows - 2).0, None)),
        );
        record(
            "insert the first",
            share(shape, rows, 50, |random, _, _| {
                (format!("a{}", random.random_range(0..1000)), Some("1".to_owned()))
            }),
        );
        record(
            "large value",
            share(shape, rows, 20, |random, _, rows| {
                let row = row(random, rows);
                (issue(2 * row).0, Some(format!("\"{}\"", "x".repeat(100_000 + row))))
            }),
        );
        record(
            "absent delete",
            share(shape, rows, 20, |random, _, rows| (issue(2 * row(random, rows) + 1).0, None)),
        );
        record(
            "equal value",
            share(shape, rows, 20, |random, _, rows| {
                let (key, value) = issue(2 * row(random, rows));
                (key, Some(value))
            }),
        );
    }
    for (kind, share) in &shares {
        println!("{kind:>24}: {:.1} %", 100.0 * share);
    }
    assert!(shares["stored: same size"] > 0.95);
    assert!(shares["stored: other size"] > 0.90);
    assert!(shares["stored: insert"] > 0.85);
    assert!(shares["stored: delete"] > 0.85);
    assert!(shares["stored: append"] > 0.5);
    assert!(shares["small: insert"] > 0.2, "both ways are tested");
    assert!(shares["small: insert"] < 0.9, "both ways are tested");
}

#[test]
fn a_value_of_any_size_in_100_000_rows_takes_the_fast_path() {
    let share = share(Shape::STORED, 100_000, 1000, |random, _, rows| {
        let row = random.random_range(0..rows);
        let (key, value) = issue(2 * row);
        (key, Some(resized(row, &value, random.random_range(0.9..1.1))))
    });
    println!("a changed value size takes the fast path: {:.1} %", 100.0 * share);
    assert!(share >= 0.95);
}

#[test]
fn runs_of_single_edits_give_the_root_of_a_fresh_build() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for shape in [Shape::with_target(128), Shape::STORED] {
        let mut host = Host::new(shape);
        let mut model = BTreeMap::new();
        for step in 0..1500_usize {
            let key = match random.random_range(0..4) {
                0 => format!("k{step:05}"),
                1 => format!("k{:05}", step / 2),
                _ => format!("k{:05}", random.random_range(0..1500)),
            };
            if random.random_range(0..3) == 0 {
                model.remove(&key);
                host.delete(&[key]);
            } else {
                let value = format!("\"{}\"", "v".repeat(random.random_range(0..200)));
                model.insert(key.clone(), value.clone());
                host.put(&[(key, value)]);
            }
            if step % 50 == 0 || shape == Shape::with_target(128) {
                let fresh = Host::of(shape, &model);
                assert_eq!(host.root, fresh.root, "after step {step}");
            }
        }
        assert_eq!(host.contents(), model);
    }
}

//! `cargo bench --bench ratios`: the cost of a change against a build of the whole store, in one
//! run. Each figure is the median of several rounds in which the two sides alternate.

use hedgerow::batch::Batch;
use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::forest::Forest;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::step::{Budget, Step};
use hedgerow_support::rows::issue;
use hedgerow_support::store::{Spread, Store, build, edits, one, rows};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Measures two sides in turn; returns their medians.
fn pair(rounds: usize, mut a: impl FnMut(), mut b: impl FnMut()) -> (Duration, Duration) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        left.push(time(&mut a));
        right.push(time(&mut b));
    }
    (median(left), median(right))
}

fn report(what: &str, a: Duration, b: Duration, goal: &str) {
    let ratio = a.as_secs_f64() / b.as_secs_f64();
    println!("| {what} | {a:.2?} | {b:.2?} | {ratio:.4} | {goal} |");
}

/// Feeds rows as JSON text to an ingest, as the wrapper does.
fn load(text: &str, key: &Format) {
    let mut ingest = Ingest::new(Forest::new(), Vec::new(), Shape::STORED);
    let cache = Cache::new(usize::MAX);
    ingest.feed(text.as_bytes().to_vec(), text.len(), Vec::new(), key.clone());
    drive(&mut ingest, &cache);
    ingest.finish();
    drive(&mut ingest, &cache);
    black_box(ingest.committed());
}

fn drive(ingest: &mut Ingest, cache: &Cache) {
    while !matches!(ingest.step(cache, &mut Budget::of(usize::MAX)), Ok(Step::Done(()))) {
        ingest.sealed();
    }
}

fn main() {
    println!("| what | time | against | ratio | goal |\n|---|---|---|---|---|");
    let hundred = rows(100_000);
    let store = Store::new(&hundred);
    let spread = edits(100_000, 10_000, Spread::Even);
    let text =
        format!("[{}]", hundred.iter().map(|(_, v)| v.as_str()).collect::<Vec<_>>().join(","));
    let pointer = hedgerow::json::Pointer::parse("/id").map(Format::Rows).expect("a pointer");
    let (merge, all) = pair(15, || drop(store.merge(&spread)), || drop(build(&hundred)));
    report("10,000 spread changes into 100,000, against a build", merge, all, "0.35");
    let (merge, all) = pair(15, || drop(store.merge(&spread)), || load(&text, &pointer));
    report("the same, against a load of their JSON text", merge, all, "");

    for (spread, name) in [(Spread::Clustered, "neighbouring"), (Spread::Even, "spread")] {
        let batch = edits(100_000, 1000, spread);
        let ones: Vec<_> = (0..1000)
            .map(|edit| match spread {
                Spread::Clustered => 10 * (50_000 + edit),
                _ => 1000 * edit,
            })
            .map(|index| one(index, Some(&issue(index).1.replace("open", "shut"))))
            .collect();
        let (together, singly) = pair(
            7,
            || drop(store.merge(&batch)),
            || assert!(ones.iter().all(|one| store.replace(one) || merge_one(&store, one))),
        );
        let what = format!("1,000 {name} edits as a batch, against one by one (fast path)");
        report(&what, together, singly, "0.1");
    }
    let (fast, slow) = pair(
        9,
        || singles(&store, |store, batch| store.replace(batch) || merge_one(store, batch)),
        || singles(&store, merge_one),
    );
    report("200 single edits by the fast path, against the merge", fast, slow, "");
    drop(store);

    let million = rows(1_000_000);
    let store = Store::new(&million);
    let clustered = edits(1_000_000, 100, Spread::Clustered);
    let (merge, all) = pair(3, || drop(store.merge(&clustered)), || drop(build(&million)));
    report("100 clustered changes into 1,000,000, against a build", merge, all, "0.01");
    let ten = edits(1_000_000, 10, Spread::Even);
    let (tree, mut made) = store.merged(&ten);
    let old = store.tree;
    let mut store = Store { tree, ..store };
    store.keep(made.packer(), 1_000_000);
    let (diff, all) = pair(9, || assert_eq!(store.diff(old), 40), || assert!(store.scan() > 0));
    report("a diff after 10 changes in 1,000,000, against a scan", diff, all, "5 ms");
}

fn merge_one(store: &Store, batch: &Batch) -> bool {
    drop(store.merge(batch));
    true
}

fn singles(store: &Store, apply: impl Fn(&Store, &Batch) -> bool) {
    for edit in 0..200 {
        let value = issue(edit * 4990).1.replace("open", "shut");
        assert!(apply(store, &one(edit * 4990, Some(&value))));
    }
}

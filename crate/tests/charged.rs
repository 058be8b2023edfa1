//! Work is charged where it is done: no step of any operation unpacks much more than its budget, whatever the chunks in
//! memory unpack to. The bytes are counted by the memory that they take, not by what the operations spend.

use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::collect::Collect;
use hedgerow::error::Error;
use hedgerow::index::{Definition, IndexScan, Wanted};
use hedgerow::ingest::Format;
use hedgerow::output::Output;
use hedgerow::proof::Prove;
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Diff, MultiGet, Parts, Range, Scan, Tree, Verify};
use hedgerow::value::Kind;
use hedgerow_support::collections::FULL;
use hedgerow_support::host::Host;
use hedgerow_support::rows::{Rows, list};
use hedgerow_support::values::Values;

const SLICE: usize = 32 << 10;
/// The most that a step unpacks.
const MOST: usize = 4 * SLICE + LARGEST_NODE;
const LARGEST_NODE: usize = 32 << 10;
const ROWS: usize = 900;
const CACHE_BYTES: usize = 64 << 20;
const BOTH: Parts = Parts { keys: true, values: true };

/// A row of about 3.9 KB that packs to a hundredth.
fn row(at: usize) -> (String, String) {
    let text = "words ".repeat(640);
    (format!("k{at:06}"), format!(r#"{{"n":{},"text":"{text}"}}"#, at * 7919 % ROWS))
}

fn indexed() -> Host {
    let rows: Rows = (0..ROWS).map(row).collect();
    let definition = Definition::parse(r#"["","/n"]"#).expect("a definition");
    Host::indexed(Shape::STORED, &[definition], &rows)
}

/// Empties the cache, and loads all segments: from then on operations ask for no segment, and unpack the chunks that they read.
fn fill(host: &mut Host) {
    host.reopen(CACHE_BYTES);
    let ids: Vec<_> = host.stored.keys().copied().collect();
    for id in ids {
        host.load(id);
    }
    host.slice = SLICE;
}

/// Runs an operation to its end, and checks what each step unpacks.
fn check<T>(
    name: &str,
    host: &mut Host,
    mut step: impl FnMut(&Cache, &mut Budget) -> Result<Step<T>, Error>,
) -> T {
    let (mut worst, mut all) = (0, 0);
    let done = host.run(|cache, budget| {
        let before = cache.unpacked_bytes();
        let result = step(cache, budget);
        let unpacked = cache.unpacked_bytes() - before;
        worst = worst.max(unpacked);
        all += unpacked;
        result
    });
    judge(name, worst, all);
    done.expect("a sound store")
}

/// Judges the most bytes that a step has unpacked, and the sum of all steps.
fn judge(name: &str, worst: usize, all: usize) {
    assert!(all > 8 * MOST, "{name} unpacks {all} bytes in all, too few to show anything");
    assert!(worst <= MOST, "{name} unpacks {worst} bytes in a step, and may {MOST}");
}

#[test]
fn no_step_of_a_read_unpacks_much_more_than_its_budget() {
    let mut host = indexed();
    let (tree, root) = (host.tree(), host.root);
    let mut out = Output::new();
    for parts in [BOTH, Parts { keys: true, values: false }] {
        for reverse in [false, true] {
            fill(&mut host);
            let mut scan = Scan::new(tree, Range::ALL, reverse, u64::MAX, parts);
            check("a scan", &mut host, |cache, budget| scan.step(cache, budget, &mut out));
        }
        out.clear();
    }
    fill(&mut host);
    let keys: Vec<_> = (0..ROWS).step_by(2).map(|at| row(at).0).collect();
    let mut find = MultiGet::new(tree, keys.iter().map(String::as_bytes));
    let mut found = Vec::new();
    check("a find", &mut host, |cache, budget| find.step(cache, budget, &mut out, &mut found));
    assert_eq!(found.len(), keys.len());
    out.clear();
    fill(&mut host);
    let index = host.forest.indexes().next().expect("an index").tree;
    let wanted = Wanted { parts: BOTH, secondary: true, reverse: false, limit: u64::MAX };
    let mut scan = IndexScan::new(index, 1, tree, Range::ALL, wanted);
    check("a scan of an index", &mut host, |cache, budget| scan.step(cache, budget, &mut out));
    out.clear();
    fill(&mut host);
    let mut diff = Diff::new(Tree::EMPTY, tree, Range::ALL);
    check("a diff", &mut host, |cache, budget| diff.step(cache, budget, &mut out));
    fill(&mut host);
    let mut verify = Verify::new(tree, Shape::STORED);
    check("a verification", &mut host, |cache, budget| Ok(verify.step(cache, budget)));
    fill(&mut host);
    let mut prove = Prove::new(root, Range::ALL);
    check("a proof", &mut host, |cache, budget| prove.step(cache, budget));
}

#[test]
fn no_step_of_a_write_unpacks_much_more_than_its_budget() {
    let mut host = indexed();
    // An edit in each leaf, which is read to be written again.
    for format in [Format::Patch, Format::Deletes] {
        fill(&mut host);
        let keys: Vec<_> = (0..ROWS).step_by(2).map(|at| row(at).0).collect();
        let update = |key: &String| format!(r#"{{"op":"update","key":"{key}","value":{{"n":1}}}}"#);
        let text = if format == Format::Patch {
            format!("[{}]", keys.iter().map(update).collect::<Vec<_>>().join(","))
        } else {
            list(&keys)
        };
        let mut ingest = host.ingest();
        ingest.feed(text.as_bytes().to_vec(), text.len(), Vec::new(), format.clone());
        let (mut worst, mut all, mut is_fed) = (0, 0, false);
        loop {
            host.cache.begin();
            let before = host.cache.unpacked_bytes();
            let result = ingest.step(&host.cache, &mut Budget::of(SLICE));
            let unpacked = host.cache.unpacked_bytes() - before;
            (worst, all) = (worst.max(unpacked), all + unpacked);
            host.store(ingest.sealed());
            match result.expect("a sound store") {
                Step::Done(()) if is_fed => break,
                Step::Done(()) => {
                    is_fed = true;
                    ingest.finish();
                }
                Step::Need(wanted) => host.answer(&wanted),
                Step::Yield => {}
            }
        }
        judge(&format!("{format:?}"), worst, all);
    }
}

#[test]
fn no_step_of_a_collection_unpacks_much_more_than_its_budget() {
    // Values of many pieces that pack well, half of them dead: segments whose other half moves.
    let mut host = Host::new(Shape::STORED);
    let value = |at: usize| {
        let text = format!("{at} ").repeat(12_000);
        (format!("v{at:04}"), (Kind::Bytes, text.into_bytes()))
    };
    let values: Values = (0..80).map(value).collect();
    host.put_values(&values);
    let keys: Vec<_> = values.keys().step_by(2).cloned().collect();
    host.delete(&keys);
    fill(&mut host);
    let live: usize = values.values().skip(1).step_by(2).map(|(_, bytes)| bytes.len()).sum();
    let mut collect = Collect::new(&host.cache, FULL);
    collect.add_commit(host.root);
    let mut steps = 0;
    while let Some(exchange) = host
        .run(|cache, budget| {
            steps += 1;
            collect.step(cache, budget)
        })
        .expect("a collection")
    {
        host.store(exchange.sealed);
        for id in exchange.gone {
            host.cache.remove(id);
            host.stored.remove(&id).expect("a stored segment");
        }
    }
    // A chunk that moves is unpacked only to be checked, so the steps are counted instead.
    assert!(steps >= live / MOST, "{steps} steps for {live} bytes");
    let (root, tree) = (host.root, host.tree());
    fill(&mut host);
    let mut prove = Prove::new(root, Range::ALL);
    host.run(|cache, budget| prove.step(cache, budget)).expect("what is live is whole");
    assert_eq!(tree.count, 40);
}

#[test]
fn leaves_are_read_for_their_values_in_steps() {
    let mut host = indexed();
    host.put(&[row(ROWS)]);
    fill(&mut host);
    let mut collect = Collect::new(&host.cache, FULL);
    collect.add_commit(host.root);
    check("a collection", &mut host, |cache, budget| collect.step(cache, budget));
}

#[test]
fn what_an_operation_did_is_not_charged_to_the_next() {
    let mut host = indexed();
    // The units that the first step of a diff spends.
    let diff = |host: &mut Host| {
        let mut diff = Diff::new(Tree::EMPTY, host.tree(), Range::ALL);
        let (mut first, mut out) = (None, Output::new());
        host.run(|cache, budget| {
            let result = diff.step(cache, budget, &mut out);
            first.get_or_insert(budget.spent());
            result
        })
        .expect("a diff");
        first.expect("a step")
    };
    fill(&mut host);
    let alone = diff(&mut host);
    fill(&mut host);
    let mut out = Output::new();
    let mut scan = Scan::new(host.tree(), Range::ALL, false, 20, BOTH);
    host.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
    let after = diff(&mut host);
    assert!(after <= alone, "{after} units after a scan, {alone} alone");
}

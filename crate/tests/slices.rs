//! Slices of any size: with a budget of zero every operation comes to its end, and long values are
//! written and read in steps that exceed their budget by little.

use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::collect::Collect;
use hedgerow::error::Error;
use hedgerow::index::{Definition, IndexScan, Wanted};
use hedgerow::ingest::{Format, Ingest};
use hedgerow::limits::PIECE_BYTES;
use hedgerow::output::Output;
use hedgerow::proof::{Prove, VerifyProof};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Diff, MultiGet, Parts, Range, Scan, Tree, Verify};
use hedgerow::value::Kind;
use hedgerow_support::census::{counted, walked};
use hedgerow_support::collections;
use hedgerow_support::host::Host;
use hedgerow_support::output::Value;
use hedgerow_support::rows::{issue, list, pairs};
use hedgerow_support::sum_commits::{Change, Def, Edit, Model, Row, commit};
use hedgerow_support::sums::{Leaves, Sums, batch};
use hedgerow_support::values::{block, bytes, text};
use std::collections::BTreeMap;

const BOTH: Parts = Parts { keys: true, values: true };
const MIB: usize = 1 << 20;

/// Reads and changes a store with an empty cache at first; returns the results.
fn everything(slice: usize) -> Vec<String> {
    let mut host = Host::new(Shape::with_target(256));
    host.slice = slice;
    host.indexes = vec![Definition::parse(r#"["","/owner"]"#).expect("a definition")];
    host.put(&(0..60).map(issue).collect::<Vec<_>>());
    let (old, pinned) = (host.tree(), host.root);
    host.put(&(0..40).rev().map(|at| (issue(at).0, issue(at + 100).1)).collect::<Vec<_>>());
    host.put(&[("long".to_owned(), format!("\"{}\"", "x".repeat(3 * PIECE_BYTES)))]);
    let update = |at: usize| {
        format!("{{\"op\":\"update\",\"key\":\"{}\",\"merge\":{{\"n\":1}}}}", issue(at).0)
    };
    let updates: Vec<_> = (0..20).map(update).collect();
    host.commit(&[(format!("[{}]", updates.join(",")), Format::Patch)]).expect("a patch");
    host.commit(&[(list(&[issue(3).0, issue(4).0]), Format::Deletes)]).expect("keys");
    host.delete_range(&Range::prefix(b"issue/0000003"));
    let mut results = vec![format!("{}", host.root)];
    let reopened = |results: &mut Vec<String>, host: &mut Host| {
        host.reopen(0);
        results.push(format!("{:?}", host.contents().len()));
        let keys: Vec<_> = (0..70).map(|at| issue(at).0).chain(["long".to_owned()]).collect();
        results.push(format!("{:?}", host.get_many(&keys).iter().flatten().count()));
        results.push(format!("{:?}", host.diff(old, &Range::ALL).len()));
        let (tree, expected) = (host.tree(), walked(host, host.tree()));
        assert_eq!(counted(host, tree), expected);
        results.push(format!("{expected:?}"));
        let mut verify = Verify::new(host.tree(), host.shape);
        host.run(|cache, budget| Ok(verify.step(cache, budget))).expect("a verification");
        results.push(format!("{:?} {:?}", verify.tally(), verify.take_faults()));
        let mut prove = Prove::new(host.root, Range::ALL);
        host.run(|cache, budget| prove.step(cache, budget)).expect("a proof");
        let mut proved = VerifyProof::new(host.root, Range::ALL, prove.proof().to_vec());
        let mut out = Output::new();
        host.run(|_, budget| proved.step(budget, &mut out)).expect("it verifies");
        results.push(format!("{} {}", prove.proof().len(), out.members()));
        let index = host.forest.indexes().next().expect("an index").tree;
        let wanted = Wanted { parts: BOTH, secondary: true, reverse: true, limit: u64::MAX };
        let mut scan = IndexScan::new(index, 1, host.tree(), Range::ALL, wanted);
        let mut out = Output::new();
        host.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
        results.push(format!("{}", out.members()));
    };
    reopened(&mut results, &mut host);
    // A rebase onto the commit of another writer.
    let theirs = (host.root, host.forest.clone());
    let mut ingest = host.ingest();
    host.feed(&mut ingest, &pairs(&[issue(900)]), &Format::Pairs).expect("a row");
    host.put(&(500..540).map(issue).collect::<Vec<_>>());
    let winner = host.forest.clone();
    (host.root, host.forest) = theirs;
    ingest.finish();
    host.drive(&mut ingest).expect("a commit");
    ingest.rebase(winner, vec![issue(501).0.into_bytes()]);
    host.finish(&mut ingest).expect("a commit");
    results.push(format!("{}", host.root));
    let mut collect = Collect::new(&host.cache, collections::FULL);
    collect.add_commit(host.root);
    collect.add_commit(pinned);
    collections::run(&mut host, &mut collect).expect("a collection");
    reopened(&mut results, &mut host);
    results
}

/// Runs operations on sum trees; returns the results.
fn sums(slice: usize) -> Vec<String> {
    let mut host = Host::new(Shape::with_target(256));
    host.slice = slice;
    let row = |at: usize| {
        let members = [("id", at.to_string()), ("sum", (at % 7).to_string())];
        (format!("r/{at:04}"), Row::Object(members.into()))
    };
    let leaf = |at: u8| ([at.wrapping_mul(37); 32], (vec![at; usize::from(at) * 5], u64::from(at)));
    let mut model = Model::default();
    let def = Def { key: None, sum: Some("sum"), value: None, prefix: "r/" };
    for part in 0..2 {
        let change = Change {
            edits: vec![Edit::Put((30 * part..30 * part + 50).map(row).collect())],
            staged: vec![("hand".to_owned(), (50..110).map(leaf).collect())],
            wanted: [("rows".to_owned(), def.clone())].into(),
            alone: true,
        };
        model.apply(&change);
        commit(&mut host, &change, usize::MAX).expect("sums that fit");
    }
    let mut results = vec![format!("{}", host.root)];
    let leaves: Leaves = (0..120).map(leaf).collect();
    let keys: Vec<_> = leaves.keys().copied().collect();
    let mut sums = Sums::of(host, &leaves);
    sums.host.reopen(0);
    let old = sums.tree;
    sums.merge(batch(&(100..140).map(leaf).collect::<Leaves>())).expect("sums that fit");
    sums.host.reopen(0);
    results.push(format!("{:?}", sums.contents().map(|leaves| leaves.len())));
    results.push(format!("{:?}", sums.find(&keys).map(|found| found.len())));
    results.push(format!("{:?}", sums.diff(old).map(|changes| changes.len())));
    results.push(format!("{:?}", sums.prove(&keys[..3], true)));
    results
}

#[test]
fn a_budget_of_zero_gives_the_same_results() {
    assert_eq!(everything(0), everything(usize::MAX));
    assert_eq!(sums(0), sums(usize::MAX));
}

/// Steps, and the most that one of them has spent.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    steps: usize,
    most: usize,
}

const SLICE: usize = 128 << 10;

/// The most that a step may spend: its budget, and a piece that is copied and hashed on both sides.
const MOST: usize = SLICE + 6 * PIECE_BYTES;

/// Runs an operation to its end.
fn spent<T>(
    host: &mut Host,
    mut step: impl FnMut(&Cache, &mut Budget) -> Result<Step<T>, Error>,
) -> Spent {
    let mut spent = Spent::default();
    host.slice = SLICE;
    host.run(|cache, _| {
        let mut budget = Budget::of(SLICE);
        let result = step(cache, &mut budget);
        spent.steps += 1;
        spent.most = spent.most.max(budget.spent());
        Ok(match result? {
            Step::Done(done) => Step::Done(done),
            Step::Need(wanted) => Step::Need(wanted),
            Step::Yield => Step::Yield,
        })
    })
    .expect("an end");
    spent
}

/// Runs an ingest to its end, as [`spent`] runs an operation.
fn ingested(host: &mut Host, ingest: &mut Ingest) -> Spent {
    let mut spent = Spent::default();
    loop {
        let mut budget = Budget::of(SLICE);
        let step = ingest.step(&host.cache, &mut budget).expect("rows");
        spent.steps += 1;
        spent.most = spent.most.max(budget.spent());
        host.store(ingest.sealed());
        match step {
            Step::Done(()) => return spent,
            Step::Need(wanted) => host.answer(&wanted),
            Step::Yield => {}
        }
    }
}

fn most(spents: &[Spent]) -> Spent {
    let steps = spents.iter().map(|spent| spent.steps).sum();
    Spent { steps, most: spents.iter().map(|spent| spent.most).max().unwrap_or(0) }
}

/// Makes rows whose values are bytes, which are not read but copied.
fn rows(count: usize, len: usize) -> BTreeMap<String, Value> {
    (0..count).map(|at| (format!("k{at}"), (Kind::Bytes, bytes(len, at)))).collect()
}

/// Puts rows in blocks of one, in this order of keys.
fn put(host: &mut Host, rows: &BTreeMap<String, Value>, reverse: bool) -> Spent {
    let mut ingest = host.ingest();
    let mut all: Vec<_> = rows.iter().collect();
    if reverse {
        all.reverse();
    }
    let mut spents = Vec::new();
    for row in all {
        let (bytes, text_len, places) = block([row]);
        ingest.feed(bytes, text_len, places, Format::Pairs);
        spents.push(ingested(host, &mut ingest));
    }
    ingest.finish();
    spents.push(ingested(host, &mut ingest));
    let (root, forest) = ingest.committed().expect("a commit");
    (host.root, host.forest) = (root, forest.clone());
    most(&spents)
}

#[test]
fn long_values_are_written_in_slices_by_every_kind_of_write() {
    const LEN: usize = 12 * MIB;
    let values = rows(3, LEN);
    let steps = 3 * LEN / MOST;
    let mut host = Host::new(Shape::STORED);
    // Streamed into an empty store, gathered and merged, and one alone into a store with rows.
    let streamed = put(&mut host, &values, false);
    let root = host.root;
    let mut gathered = Host::new(Shape::STORED);
    let merged = put(&mut gathered, &values, true);
    assert_eq!(gathered.root, root);
    let mut one_by_one = Host::new(Shape::STORED);
    let mut alone = Vec::new();
    for (key, value) in &values {
        alone.push(put(&mut one_by_one, &[(key.clone(), value.clone())].into(), false));
    }
    assert_eq!(one_by_one.root, root);
    // A row that is gathered is copied whole, which costs an eighth of reading it.
    for (name, spent, most) in [
        ("streamed", streamed, MOST),
        ("merged", merged, MOST + LEN / 8),
        ("alone", most(&alone), MOST + LEN / 8),
    ] {
        assert!(spent.steps > steps && spent.most <= most, "{name}: {spent:?}, at most {most}");
    }
}

#[test]
fn long_values_are_read_in_slices_by_every_read() {
    const LEN: usize = 12 * MIB;
    let mut host = Host::new(Shape::STORED);
    host.indexes = vec![Definition::parse(r#"["","/a"]"#).expect("a definition")];
    let json = [b"{\"a\":1,\"b\":", &text(LEN, 1)[..], b"}"].concat();
    let values: BTreeMap<_, _> = [("k".to_owned(), (Kind::Json, json))].into();
    host.put_values(&values);
    let tree = host.tree();
    let mut out = Output::new();
    let steps = LEN / MOST;
    let check = |name: &str, spent: Spent| {
        assert!(spent.steps > steps && spent.most <= MOST, "{name}: {spent:?}, at most {MOST}");
    };
    host.reopen(64 << 20);
    let mut scan = Scan::new(tree, Range::ALL, false, u64::MAX, BOTH);
    check("scan", spent(&mut host, |cache, budget| scan.step(cache, budget, &mut out)));
    host.reopen(64 << 20);
    let (mut find, mut found) = (MultiGet::new(tree, [&b"k"[..]]), Vec::new());
    out.clear();
    check("find", spent(&mut host, |cache, budget| find.step(cache, budget, &mut out, &mut found)));
    host.reopen(64 << 20);
    let mut diff = Diff::new(Tree::EMPTY, tree, Range::ALL);
    out.clear();
    check("diff", spent(&mut host, |cache, budget| diff.step(cache, budget, &mut out)));
    host.reopen(64 << 20);
    let mut prove = Prove::new(host.root, Range::ALL);
    check("proof", spent(&mut host, |cache, budget| prove.step(cache, budget)));
    let mut verify = VerifyProof::new(host.root, Range::ALL, prove.proof().to_vec());
    out.clear();
    let verified = spent(&mut host, |_, budget| verify.step(budget, &mut out));
    assert!(verified.steps > steps, "{verified:?}");
    host.reopen(64 << 20);
    let wanted = Wanted { parts: BOTH, secondary: true, reverse: false, limit: u64::MAX };
    let index = host.forest.indexes().next().expect("an index").tree;
    let mut scan = IndexScan::new(index, 1, tree, Range::ALL, wanted);
    out.clear();
    check("index", spent(&mut host, |cache, budget| scan.step(cache, budget, &mut out)));
}

#[test]
fn no_output_ends_in_the_middle_of_a_value() {
    let mut host = Host::new(Shape::STORED);
    host.put_values(&rows(2, 5 * PIECE_BYTES));
    host.reopen(64 << 20);
    let mut scan = Scan::new(host.tree(), Range::ALL, false, u64::MAX, BOTH);
    let (mut out, mut partial) = (Output::new(), 0);
    host.slice = 1;
    host.run(|cache, _| {
        let step = scan.step(cache, &mut Budget::of(1), &mut out)?;
        if step == Step::Yield && out.is_partial() {
            partial += 1;
        }
        Ok(step)
    })
    .expect("a scan");
    assert!(!out.is_partial() && partial >= 8, "{partial} yields in the middle of a value");
}

//! An operation finds the chunks that it has read when its wants come: every read ends in every cache, with few requests
//! for each row, and a larger cache never asks for much more than a smaller one.

use hedgerow::boundary::Shape;
use hedgerow::index::{Definition, IndexScan, Wanted};
use hedgerow::output::Output;
use hedgerow::tree::{Diff, Parts, Range, Tree};
use hedgerow_support::host::Host;
use hedgerow_support::rows::Rows;

const BOTH: Parts = Parts { keys: true, values: true };

fn row(at: usize, rows: usize) -> (String, String) {
    (format!("k{at:06}"), format!(r#"{{"n":{}}}"#, at * 7919 % rows))
}

/// Makes a store with an index on a number without order, half of whose rows came in a commit each: a segment holds a
/// path of each tree.
fn scattered(target: u32, rows: usize) -> Host {
    let first: Rows = (0..rows).step_by(2).map(|at| row(at, rows)).collect();
    let definition = Definition::parse(r#"["","/n"]"#).expect("a definition");
    let mut host = Host::indexed(Shape::with_target(target), &[definition], &first);
    for at in (1..rows).step_by(2) {
        host.put(&[row(at, rows)]);
    }
    host
}

/// Counts the reads of an operation in an empty cache.
fn reads(host: &mut Host, bytes: usize, cost: usize, read: impl FnOnce(&mut Host)) -> usize {
    host.reopen(bytes);
    host.cache.set_request_cost(cost);
    read(host);
    host.wanted.len()
}

fn by_index(host: &mut Host, rows: usize) {
    let index = host.forest.indexes().next().expect("an index").tree;
    let wanted = Wanted { parts: BOTH, secondary: true, reverse: false, limit: u64::MAX };
    let mut scan = IndexScan::new(index, 1, host.tree(), Range::ALL, wanted);
    let mut out = Output::new();
    host.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
    assert_eq!(out.members() as usize, 3 * rows);
}

#[test]
fn every_read_ends_in_every_cache_and_a_larger_cache_reads_no_more() {
    const ROWS: usize = 400;
    let mut host = scattered(64, ROWS);
    let keys: Vec<_> = (0..ROWS).map(|at| row(at * 31 % ROWS, ROWS).0).collect();
    let levels = 12;
    let mut faults = Vec::new();
    for cost in [0, 64, 1 << 20] {
        for read in ["index", "scan", "keys", "diff", "count"] {
            let mut before = usize::MAX;
            for bytes in [0, 1000, 5000, 20_000, 100_000, 1 << 20, 4 << 20] {
                let count = reads(&mut host, bytes, cost, |host| match read {
                    "index" => by_index(host, ROWS),
                    "scan" => assert_eq!(host.scan(&Range::ALL, false, u64::MAX).len(), ROWS),
                    "keys" => assert!(host.get_many(&keys).iter().all(Option::is_some)),
                    "diff" => {
                        let mut diff = Diff::new(Tree::EMPTY, host.tree(), Range::ALL);
                        let mut out = Output::new();
                        host.run(|cache, budget| diff.step(cache, budget, &mut out))
                            .expect("a diff");
                    }
                    _ => assert_eq!(host.count(&Range::prefix(b"k0001")), 100),
                });
                if count > levels * ROWS {
                    faults.push(format!("{read}, cost {cost}, {bytes} bytes: {count} reads"));
                }
                if count > before.saturating_add(before / 4) {
                    faults.push(format!("{read}, cost {cost}, {bytes} bytes: {count} reads, fewer with less: {before}"));
                }
                println!("{read} {cost} {bytes}: {count}");
                before = before.min(count);
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_scan_of_an_index_of_stored_nodes_reads_few_segments_for_each_row() {
    const ROWS: usize = 1500;
    let mut host = scattered(4096, ROWS);
    let mut faults = Vec::new();
    for cost in [0, 64, 8192, 1 << 20] {
        let mut before = usize::MAX;
        for bytes in [0, 100_000, 400_000, 1 << 20, 2 << 20, 8 << 20] {
            let count = reads(&mut host, bytes, cost, |host| by_index(host, ROWS));
            println!("{cost} {bytes}: {count}");
            if count > 4 * ROWS || count > before.saturating_add(before / 4) {
                faults.push(format!(
                    "cost {cost}, {bytes} bytes: {count} reads, fewer with less: {before}"
                ));
            }
            before = before.min(count);
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

//! Sizes of proofs, and how long it takes to make and to verify them, for stores of 1,000 to
//! 1,000,000 rows: `cargo run --release -p hedgerow --example proof`. Medians.

use hedgerow::boundary::Shape;
use hedgerow::tree::Range;
use hedgerow_support::host::Host;
use hedgerow_support::proofs::{chunks, only, prove, verify};
use hedgerow_support::rows::issue;
use std::ops::Bound;
use std::time::Instant;

const RUNS: usize = 501;

fn median<T: Copy + PartialOrd>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    values[values.len() / 2]
}

fn measure(host: &mut Host, what: &str, rows: usize, range: impl Fn(usize) -> Range) {
    let (mut bytes, mut nodes, mut proving, mut verifying) = (vec![], vec![], vec![], vec![]);
    for run in 0..RUNS {
        let range = range(run * 7919 % rows);
        let start = Instant::now();
        let proof = prove(host, &range).expect("a proof");
        proving.push(start.elapsed().as_secs_f64() * 1e6);
        let start = Instant::now();
        verify(host.root, &range, &proof, usize::MAX).expect("it is valid");
        verifying.push(start.elapsed().as_secs_f64() * 1e6);
        bytes.push(proof.len());
        nodes.push(chunks(&proof).len());
    }
    let [bytes, nodes] = [bytes, nodes].map(median);
    let [proving, verifying] = [proving, verifying].map(median);
    println!("| {rows} | {what} | {bytes} | {nodes} | {proving:.0} us | {verifying:.0} us |");
}

fn main() {
    println!("| rows | of | bytes | chunks | prove | verify |\n|---|---|---|---|---|---|");
    for rows in [1000, 100_000, 1_000_000] {
        let mut host = Host::new(Shape::STORED);
        host.put_blocks(&(0..rows).map(issue).collect::<Vec<_>>(), 10_000);
        let key = |at| issue(at).0;
        measure(&mut host, "a key", rows, |at| only(&key(at)));
        measure(&mut host, "no such key", rows, |at| only(&(key(at) + "!")));
        measure(&mut host, "100 rows", rows, |at| Range {
            lower: Bound::Included(key(at.min(rows - 100)).into_bytes()),
            upper: Bound::Excluded(key(at.min(rows - 100) + 100).into_bytes()),
        });
    }
}

//! Prints the cost of a mebibyte of each kind: in units of work, and in processor time of this thread,
//! which Linux counts independently.
//!
//! ```sh
//! cargo run --release -p hedgerow --example cost
//! ```

#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]

use hedgerow_support::inputs::{Input, inputs};
use std::collections::BTreeMap;
use std::fs::read_to_string;

/// Returns the nanoseconds that this thread has run; 0 where the system does not count them.
fn ran() -> u64 {
    let counted = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    counted.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0)
}

fn time(input: &Input) -> u64 {
    // Linux counts in ticks of some milliseconds.
    let (before, mut runs) = (ran(), 0);
    loop {
        std::hint::black_box(input.run());
        runs += 1;
        let time = ran() - before;
        if time > 100_000_000 || runs == 1000 {
            return time / runs;
        }
    }
}

fn main() {
    println!("| kind | bytes | rows | units | most beyond a budget | against | ms | against |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut ordinary = BTreeMap::new();
    for input in &inputs() {
        let (cost, time) = (input.run(), time(input) as f64);
        let rows = cost.rows.map_or("refused".to_owned(), |rows| rows.to_string());
        let bytes = input.text.len();
        let per_byte = (cost.units as f64 / bytes as f64, time / bytes as f64);
        if input.against.is_none() {
            ordinary.insert(input.name, per_byte);
        }
        let (units, nanoseconds) = ordinary[input.against.unwrap_or(input.name)];
        println!(
            "| {} | {bytes} | {rows} | {} | {} | {:.2} | {:.1} | {:.2} |",
            input.name,
            cost.units,
            cost.beyond,
            per_byte.0 / units,
            time / 1e6,
            per_byte.1 / nanoseconds,
        );
    }
}

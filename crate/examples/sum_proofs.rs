//! Forges a million proofs of sum trees, or as many as the argument says:
//! `cargo run --release -p hedgerow --example sum_proofs`. Each must be refused.

use hedgerow_support::sums::forge_sum_proofs;
use std::time::Instant;

const SEEDS: usize = 10;

fn main() {
    let count = std::env::args().nth(1).map_or(1_000_000, |count| count.parse().expect("a number"));
    let start = Instant::now();
    let verified: usize = (0..SEEDS).map(|seed| forge_sum_proofs(seed as u64, count / SEEDS)).sum();
    println!("{verified} of {count} forged proofs verified, in {:.1?}", start.elapsed());
    assert_eq!(verified, 0);
}

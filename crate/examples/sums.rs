//! Prints the cost of sum trees against the least that they must hash, in one run:
//! `cargo run --release -p hedgerow --example sums`. Medians; keys are random, values of 32 bytes.

#![allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "figures to be read")]

use hedgerow::boundary::Shape;
use hedgerow::sum_tree::branch_hash;
use hedgerow_support::host::Host;
use hedgerow_support::sums::{Leaves, Sums, batch, merged};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use std::time::Instant;

fn leaves(seed: u64, count: usize) -> Leaves {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| (random.random(), (random.random::<[u8; 32]>().to_vec(), 1))).collect()
}

fn sums(count: usize) -> Sums {
    Sums::of(Host::new(Shape::STORED), &leaves(1, count))
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Measures sides in turn; returns their medians.
fn medians<const N: usize>(rounds: usize, mut sides: [&mut dyn FnMut() -> f64; N]) -> [f64; N] {
    let mut times: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            times.push(side());
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// Returns the compressions of the chain of a leaf among `count`, at a depth of about their logarithm plus 1.3.
fn compressions(count: usize) -> f64 {
    2.0 * (256.0 - (count as f64).log2() - 1.3)
}

fn main() {
    let empty = Sums::new(Host::new(Shape::STORED));
    println!("| what | time | leaves/s | compressions/s | share of the hash floor |");
    println!("|---|---|---|---|---|");
    for count in [100, 1000, 10_000, 100_000] {
        let all = leaves(1, count);
        // As many compressions as the chains take, alone.
        let [time, floor] = medians(
            if count > 10_000 { 3 } else { 9 },
            [
                &mut || {
                    let batch = batch(&all);
                    seconds(|| _ = black_box(merged(&empty, batch)))
                },
                &mut || {
                    let pairs = (compressions(count) / 2.0) as usize * count;
                    let mut hash = [1; 32];
                    seconds(|| {
                        for _ in 0..pairs {
                            hash = branch_hash(&hash, &[2; 32], 1);
                        }
                        black_box(hash);
                    })
                },
            ],
        );
        let per_second = count as f64 / time;
        println!(
            "| {count} fresh | {:.1} ms | {per_second:.0} | {:.2} M | {:.0} % |",
            time * 1e3,
            per_second * compressions(count) / 1e6,
            100.0 * floor / time
        );
    }
    println!("\n| what | batch | one by one | ratio |\n|---|---|---|---|");
    let new = leaves(2, 1000);
    let many = leaves(2, 10_000);
    for (new, base) in [(&new, 0), (&many, 0), (&new, 1000), (&new, 10_000)] {
        let store = sums(base);
        let [together, singly] = medians(
            if new.len() > 1000 { 3 } else { 5 },
            [
                &mut || {
                    let batch = batch(new);
                    seconds(|| _ = black_box(merged(&store, batch)))
                },
                &mut || {
                    let mut sums = sums(base);
                    seconds(|| {
                        for leaf in new {
                            sums.merge(batch([leaf])).expect("sums that fit");
                        }
                    })
                },
            ],
        );
        println!(
            "| {} into {base} | {:.1} ms | {:.1} ms | {:.2} |",
            new.len(),
            together * 1e3,
            singly * 1e3,
            singly / together
        );
    }
    let stores = [sums(1000), sums(100_000)];
    let side = |at: usize| {
        let batch = batch(&new);
        seconds(|| _ = black_box(merged(&stores[at], batch)))
    };
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        few.push(side(0));
        many.push(side(1));
    }
    few.sort_by(f64::total_cmp);
    many.sort_by(f64::total_cmp);
    println!("\n1,000 into 100,000 against 1,000 into 1,000: {:.2}", many[4] / few[4]);
}

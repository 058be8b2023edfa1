//! Splitters side by side: the sizes of nodes, the nodes that an edit rewrites, the cost of a load.
//!
//! `cargo bench --bench splitters` prints Markdown. It builds no tree. For each splitter it finds
//! the boundaries of a whole tree of rows, level by level, from sizes and hashes of real keys. Then
//! it makes edits one at a time, and counts on every level the nodes that differ until old and new
//! boundaries meet again. It compares its simulation of the crate's boundary function with that
//! function, boundary by boundary.
//!
//! `HEDGEROW_ROWS` (default 1,000,000) and `HEDGEROW_EDITS` (default 2,000 of each kind)
//! make it shorter.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures for people to read, of sizes far below 2^32"
)]

mod contestants;
mod rows;
mod tree;

use contestants::{CONTESTANTS, Contestant, PRESENT};
use hedgerow::boundary::{Shape, key_hash};
use rows::{Rows, child};
use std::hint::black_box;
use std::time::Instant;
use tree::{Costs, Kind, Level, Tree};

/// Entries in a timed pass.
const TIMED: usize = 50_000;

fn kib(bytes: f64) -> String {
    format!("{:.1}", bytes / 1024.0)
}

/// Returns where nodes of `level` start in the crate, given the size and key of each entry.
fn starts<'a>(level: u8, entries: impl Iterator<Item = (u32, &'a str)>) -> Vec<usize> {
    let mut starts = vec![0];
    let (mut from, mut nth) = (0, 0);
    let mut count = 0;
    for (size, key) in entries {
        let to = from + size as usize;
        (count, nth) = (count + 1, nth + 1);
        from = to;
        if Shape::STORED.ends(level, key.as_bytes(), to - size as usize, to, nth) {
            (from, nth) = (0, 0);
            starts.push(count);
        }
    }
    starts.pop_if(|start| *start == count);
    starts
}

/// Checks that the simulation makes the crate's boundaries, in leaves and above.
fn check_simulation(rows: &Rows) {
    for level in 0..2 {
        let mut items = rows.items[..100_000].to_vec();
        if level > 0 {
            for item in &mut items {
                *item = child(level, item.key, &rows.keys);
            }
        }
        let entries = items.iter().map(|item| (item.size, &*rows.keys[item.key as usize]));
        let expected = starts(level as u8, entries);
        let simulated = Level::new(&PRESENT, level, items).starts;
        assert!(simulated == expected, "not the crate's boundaries on level {level}");
    }
}

/// Returns millions of entries per second: the best of twenty short passes, since machines are
/// noisy.
fn speed(mut pass: impl FnMut()) -> f64 {
    let best = (0..20).map(|_| {
        let start = Instant::now();
        pass();
        start.elapsed().as_secs_f64()
    });
    TIMED as f64 / best.fold(f64::MAX, f64::min) / 1e6
}

/// Returns the simulated speed of a contestant, with the hash of the key.
fn simulated_speed(contestant: &Contestant, rows: &Rows) -> f64 {
    speed(|| {
        let mut items = rows.items[..TIMED].to_vec();
        for item in &mut items {
            item.hash = key_hash(0, black_box(rows.keys[item.key as usize].as_bytes()));
        }
        black_box(Level::new(contestant, 0, items).starts.len());
    })
}

/// Returns the speed of the crate's own function.
fn crate_speed(rows: &Rows) -> f64 {
    speed(|| {
        let entries =
            rows.items[..TIMED].iter().map(|item| (item.size, &*rows.keys[item.key as usize]));
        black_box(starts(0, black_box(entries)).len());
    })
}

fn main_row(mean: u32, contestant: Contestant, rows: &mut Rows, edits: usize) {
    let tree = Tree::new(contestant, rows);
    let [average, deviation, percentile, most] = tree.leaf_sizes().map(kib);
    let [tenth, double, insert, delete] = [Kind::Tenth, Kind::Double, Kind::Insert, Kind::Delete]
        .map(|kind| Costs::of(&tree, rows, kind, edits));
    println!(
        "| {mean} | {} | {average} / {deviation} / {percentile} / {most} \
         | {:.0} / {:.0} / {:.0} / {:.0} | {:.2} / {} | {} + {} | {:.0} |",
        contestant.name,
        tenth.kept(),
        double.kept(),
        insert.kept(),
        delete.kept(),
        insert.leaves(),
        insert.most_leaves,
        kib(tenth.leaf_bytes()),
        kib(tenth.path_bytes()),
        simulated_speed(&contestant, rows),
    );
}

fn large_row(value: u32, contestant: Contestant, rows: &mut Rows) {
    let tree = Tree::new(contestant, rows);
    let [average, _, _, most] = tree.leaf_sizes().map(kib);
    let [insert, delete] =
        [Kind::Insert, Kind::Delete].map(|kind| Costs::of(&tree, rows, kind, 100));
    println!(
        "| {value} | {} | {average} / {most} | {:.1} / {} | {:.1} / {} |",
        contestant.name,
        insert.leaves(),
        insert.most_leaves,
        delete.leaves(),
        delete.most_leaves,
    );
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() {
    let count = setting("HEDGEROW_ROWS", 1_000_000).max(100_000);
    let edits = setting("HEDGEROW_EDITS", 2000).max(1);

    println!("## Splitters ({count} rows, {edits} edits of each kind)\n");
    println!(
        "| row B | splitter | leaf KiB: mean / sd / p99 / max | shape kept %: \
         ±10 % / ×2 / insert / delete | leaves per insert: mean / max \
         | put of ±10 %, KiB: leaf + path | M entries/s |\n|---|---|---|---|---|---|---|"
    );
    let mut speeds = Vec::new();
    for mean in [50, 150, 400, 1500] {
        let mut rows = Rows::lognormal(count, mean);
        check_simulation(&rows);
        for contestant in CONTESTANTS {
            main_row(mean, *contestant, &mut rows, edits);
        }
        speeds.push(format!("{:.0}", crate_speed(&rows)));
    }
    println!("\nSpeeds are those of the simulations; of `Shape::ends`: {}.", speeds.join(" / "));

    println!("\n## Values of one size (20000 rows, 100 edits of each kind)\n");
    println!(
        "| value B | splitter | leaf KiB: mean / max | leaves per insert: mean / max \
         | per delete |\n|---|---|---|---|---|"
    );
    for value in [2000, 4096] {
        let mut rows = Rows::uniform(20_000, value);
        for contestant in CONTESTANTS {
            large_row(value, *contestant, &mut rows);
        }
    }
}

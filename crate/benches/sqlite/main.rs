//! `cargo bench -p hedgerow-benches --bench sqlite`: the core against `SQLite`, in one thread and one run, on the same rows
//! of a key and a text. Both keep all in memory, or append to a file without a flush to the disk (`SQLite`: a write-ahead
//! log, `synchronous=NORMAL`). Each figure is the median of rounds in which the sides take turns. The run fails if a
//! group exceeds its limit.

mod sides;
mod workloads;

use sides::{Core, Side, Sqlite};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use workloads::{Group, Source, Statement, WORKLOADS};

const ROUNDS: usize = 7;

/// The most times that the core may take as long as `SQLite`, on average of a group: about twice the figures of
/// `docs/benchmarks.md`.
const fn limit(group: Group, in_files: bool) -> f64 {
    match (group, in_files) {
        (Group::Reads, _) => 1.0,
        (Group::Batches, false) => 10.0,
        (Group::Batches, true) => 3.0,
        (Group::Autocommit, false) => 18.0,
        (Group::Autocommit, true) => 8.0,
    }
}

fn time(side: &mut dyn Side, statements: &[Statement]) -> (Duration, usize) {
    let start = Instant::now();
    let rows = statements.iter().map(|statement| side.execute(statement)).sum();
    (start.elapsed(), rows)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Compares the sides; returns the groups that exceed their limits.
fn compare(mode: &str, folder: Option<&Path>) -> Vec<String> {
    let mut source = Source::new();
    let rows = source.all();
    let (mut core, mut sqlite) = (Core::new(&rows, folder), Sqlite::new(&rows, folder));
    println!("\n| {mode} | core | SQLite | core / SQLite |\n|---|---|---|---|");
    let mut groups: Vec<(Group, Vec<f64>)> = Vec::new();
    for (name, group, make) in WORKLOADS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let statements = make(&mut source);
            let mut run_core = || {
                let (time, rows) = time(&mut core, &statements);
                ours.push(time);
                rows
            };
            let mut run_sqlite = || {
                let (time, rows) = time(&mut sqlite, &statements);
                theirs.push(time);
                rows
            };
            let [a, b] = if round % 2 == 0 {
                [run_core(), run_sqlite()]
            } else {
                let b = run_sqlite();
                [run_core(), b]
            };
            assert_eq!(a, b, "rows that were read");
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("| {name} | {ours:.2?} | {theirs:.2?} | {ratio:.2} |");
        match groups.last_mut() {
            Some((last, ratios)) if *last == group => ratios.push(ratio),
            _ => groups.push((group, vec![ratio])),
        }
    }
    let mut faults = Vec::new();
    for (group, ratios) in groups {
        // The geometric mean, so that one case does not hide the others.
        let [sum, count] =
            ratios.iter().fold([0.0, 0.0], |[sum, count], ratio| [sum + ratio.ln(), count + 1.0]);
        let mean: f64 = (sum / count).exp();
        let most = limit(group, folder.is_some());
        println!("| **{group:?}**, {most} at most | | | **{mean:.2}** |");
        if mean > most {
            faults.push(format!("{mode}, {group:?}: {mean:.2}, and {most} at most"));
        }
    }
    faults
}

fn main() -> ExitCode {
    let folder = std::env::temp_dir().join(format!("hedgerow-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut faults = compare("in memory", None);
    faults.extend(compare("in files", Some(&folder)));
    std::fs::remove_dir_all(&folder).expect("the folder");
    for fault in &faults {
        eprintln!("{fault}");
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! `cargo bench --bench tree`: the operations of a tree, one by one.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hedgerow_support::rows::issue;
use hedgerow_support::store::{Spread, Store, build, edits, one, rows};
use std::hint::black_box;
use std::time::Duration;

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("whole");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    for size in SIZES {
        let rows = rows(size);
        let store = Store::new(&rows);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_with_input(BenchmarkId::new("build", size), &rows, |bencher, rows| {
            bencher.iter(|| black_box(build(rows)));
        });
        group.bench_function(BenchmarkId::new("scan", size), |bencher| {
            bencher.iter(|| black_box(store.scan()));
        });
    }
    group.finish();
}

fn merges(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("merge");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    for size in SIZES {
        let store = Store::new(&rows(size));
        for count in [100, 1000, 10_000] {
            for spread in [Spread::Clustered, Spread::Even, Spread::Append] {
                let batch = edits(size, count, spread);
                group.throughput(Throughput::Elements(count as u64));
                let id = BenchmarkId::new(format!("{count} {spread:?}"), size);
                group.bench_with_input(id, &batch, |bencher, batch| {
                    bencher.iter(|| black_box(store.merge(batch)));
                });
            }
        }
        let old = store.tree;
        let (tree, mut made) = store.merged(&edits(size, 10, Spread::Even));
        let mut store = Store { tree, ..store };
        store.keep(made.packer(), 1_000_000);
        group.bench_function(BenchmarkId::new("diff after 10", size), |bencher| {
            bencher.iter(|| black_box(store.diff(old)));
        });
    }
    group.finish();
}

fn singles(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("single");
    group.measurement_time(Duration::from_secs(2));
    let store = Store::new(&rows(100_000));
    let middle = 500_000;
    let same = issue(middle).1.replace("open", "shut");
    let shorter = same.replace("The quick brown fox", "A fox");
    let edits = [
        ("same size", one(middle, Some(&same))),
        ("other size", one(middle, Some(&shorter))),
        ("insert", one(middle + 1, Some(&same))),
        ("append", one(10 * 100_000, Some(&same))),
        ("delete", one(middle, None)),
    ];
    for (kind, batch) in &edits {
        group.bench_function(BenchmarkId::new("replace", kind), |bencher| {
            bencher.iter(|| black_box(store.replace(batch)));
        });
        group.bench_function(BenchmarkId::new("merge", kind), |bencher| {
            bencher.iter(|| black_box(store.merge(batch)));
        });
    }
    group.finish();
}

criterion_group!(benches, whole, merges, singles);
criterion_main!(benches);

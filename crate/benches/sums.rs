//! `cargo bench --bench sums`: sum trees in the shapes in which the reference implementation is
//! measured. Keys are random, values of 32 bytes.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hedgerow::boundary::Shape;
use hedgerow::sum_tree::{branch_hash, verify};
use hedgerow_support::host::Host;
use hedgerow_support::sums::{Leaves, Sums, batch, merged};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

fn leaves(seed: u64, count: usize) -> Leaves {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| (random.random(), (random.random::<[u8; 32]>().to_vec(), 1))).collect()
}

fn sums(seed: u64, count: usize) -> Sums {
    Sums::of(Host::new(Shape::STORED), &leaves(seed, count))
}

fn fresh(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sums/fresh");
    group.sample_size(10);
    for count in [100, 1000, 10_000] {
        let all = leaves(1, count);
        let store = Sums::new(Host::new(Shape::STORED));
        group.throughput(Throughput::Elements(count as u64));
        let id = BenchmarkId::from_parameter(count);
        group.bench_with_input(id, &all, |bencher, all| {
            bencher.iter_batched(
                || batch(all),
                |batch| black_box(merged(&store, batch)),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn into(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sums/into");
    group.sample_size(10);
    for base in [1000, 10_000, 100_000] {
        let store = sums(1, base);
        for count in [100, 1000] {
            let new = leaves(2, count);
            group.throughput(Throughput::Elements(count as u64));
            let id = BenchmarkId::from_parameter(format!("{count} into {base}"));
            group.bench_with_input(id, &new, |bencher, new| {
                bencher.iter_batched(
                    || batch(new),
                    |batch| black_box(merged(&store, batch)),
                    BatchSize::LargeInput,
                );
            });
        }
    }
    group.finish();
}

fn single(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sums/loop");
    group.sample_size(10);
    for (count, base) in [(1000, 0), (10_000, 0), (1000, 10_000)] {
        let new = leaves(2, count);
        group.throughput(Throughput::Elements(count as u64));
        let id = BenchmarkId::from_parameter(format!("{count} into {base}"));
        group.bench_function(id, |bencher| {
            bencher.iter_batched(
                || sums(1, base),
                |mut sums| {
                    for leaf in &new {
                        sums.merge(batch([leaf])).expect("sums that fit");
                    }
                    sums
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// Measures as many compressions as the chains of 10,000 fresh leaves take, alone.
fn floor(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sums/floor");
    group.sample_size(10);
    group.throughput(Throughput::Elements(10_000));
    group.bench_function("10000", |bencher| {
        bencher.iter(|| {
            let mut hash = [1; 32];
            for _ in 0..10_000 * 241 {
                hash = branch_hash(&hash, &[2; 32], 7);
            }
            black_box(hash)
        });
    });
    group.finish();
}

fn reads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sums/reads of 100000");
    let all = leaves(1, 100_000);
    let mut sums = Sums::of(Host::new(Shape::STORED), &all);
    let keys: Vec<_> = all.keys().copied().collect();
    let mut at = 0;
    let mut next = || {
        at = (at + 7919) % keys.len();
        keys[at]
    };
    group.bench_function("get", |bencher| {
        bencher.iter(|| sums.get(&next()).expect("readable"));
    });
    group.bench_function("prove", |bencher| {
        bencher.iter(|| sums.prove(&[next()], false).expect("a proof"));
    });
    let key = next();
    let proof = sums.prove(&[key], false).expect("a proof");
    let (value, sum) = &all[&key];
    group.bench_function("verify", |bencher| {
        bencher.iter(|| verify(&sums.rules, &sums.root, &key, Some((value, *sum)), &proof));
    });
    // Two compressions: all other work consists of these.
    group.bench_function("branch", |bencher| {
        let mut hash = [1; 32];
        bencher.iter(|| hash = branch_hash(&hash, &key, 7));
    });
    group.finish();
}

criterion_group!(benches, fresh, into, single, floor, reads);
criterion_main!(benches);

//! `cargo bench --bench bytes`: the cost of reading rows from bytes, layer by layer, and of a load
//! of bytes against a load of a block of the same rows. One run measures all sides.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::forest::Forest;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::json::{Pointer, Scanner, skip_value};
use hedgerow::rows::{Bytes, Columns, Framing, Next, Reader};
use hedgerow::step::{Budget, Step};
use hedgerow_support::rows::{issue, place, spaced};
use std::hint::black_box;
use std::time::Duration;

const ROWS: usize = 100_000;

/// Bytes of one part, as from a file.
const PART_BYTES: usize = 512 << 10;

fn pointer() -> Pointer {
    Pointer::parse("/id").expect("a pointer")
}

fn reader(framing: Framing) -> Bytes {
    Bytes::new(Columns::Keyed(pointer()), Some(framing), Vec::new())
}

/// Calls `scan` for each row with the text and the row's offset; it returns the row's end.
fn each(text: &[u8], mut scan: impl FnMut(usize) -> usize) {
    let mut at = usize::from(text[0] == b'[');
    while text.get(at) == Some(&b'{') {
        at = scan(at) + 1;
    }
}

fn read(text: &[u8], framing: Framing) -> u64 {
    let mut reader = Reader::Bytes(Box::new(reader(framing)));
    let (mut rows, mut key) = (0, Vec::new());
    let mut parts = text.chunks(PART_BYTES);
    loop {
        let part = parts.next();
        let Reader::Bytes(bytes) = &mut reader else { unreachable!() };
        match part {
            Some(part) => bytes.room(part.len()).copy_from_slice(part),
            None => bytes.end(),
        }
        loop {
            key.clear();
            match reader.peek(rows, &mut key).expect("good rows") {
                Next::More => break,
                Next::Row(edit) => black_box(edit),
                Next::Clear => unreachable!("rows of no patch"),
            };
            rows += 1;
            reader.advance();
        }
        if part.is_none() {
            return rows;
        }
    }
}

fn drive(ingest: &mut Ingest, cache: &Cache) {
    while !matches!(ingest.step(cache, &mut Budget::of(usize::MAX)), Ok(Step::Done(()))) {
        ingest.sealed();
    }
    ingest.sealed();
}

fn finish(mut ingest: Ingest, cache: &Cache) {
    ingest.finish();
    drive(&mut ingest, cache);
    assert_eq!(ingest.rows(), ROWS as u64);
    black_box(ingest.committed());
}

fn load_bytes(text: &[u8], framing: Framing) {
    let cache = Cache::new(usize::MAX);
    let mut ingest = Ingest::of_bytes(Forest::new(), reader(framing), Shape::STORED);
    for part in text.chunks(PART_BYTES) {
        ingest.bytes().expect("bytes").room(part.len()).copy_from_slice(part);
        drive(&mut ingest, &cache);
    }
    ingest.bytes().expect("bytes").end();
    drive(&mut ingest, &cache);
    finish(ingest, &cache);
}

fn load_blocks(blocks: &[String]) {
    let cache = Cache::new(usize::MAX);
    let mut ingest = Ingest::new(Forest::new(), Vec::new(), Shape::STORED);
    for block in blocks {
        let mut buffer = ingest.take_buffer();
        buffer.clear();
        buffer.extend_from_slice(block.as_bytes());
        ingest.feed(buffer, block.len(), Vec::new(), Format::Rows(pointer()));
        drive(&mut ingest, &cache);
    }
    finish(ingest, &cache);
}

fn benches(criterion: &mut Criterion) {
    let normal: Vec<_> = (0..ROWS).map(|index| issue(index).1).collect();
    let python: Vec<_> = normal.iter().map(|row| spaced(row)).collect();
    let floats: Vec<_> = (0..ROWS).map(|index| place(index).1).collect();
    for (kind, rows) in [("normal", &normal), ("python", &python), ("floats", &floats)] {
        let mut group = criterion.benchmark_group(kind);
        group.sample_size(15).warm_up_time(Duration::from_millis(200));
        group.measurement_time(Duration::from_millis(900));
        let lines = rows.join("\n") + "\n";
        let array = format!("[{}]", rows.join(","));
        let blocks: Vec<_> =
            rows.chunks(3500).map(|rows| format!("[{}]", rows.join(","))).collect();
        group.throughput(Throughput::Bytes(lines.len() as u64));
        group.bench_function("utf8", |bencher| {
            bencher.iter(|| std::str::from_utf8(black_box(lines.as_bytes())).is_ok());
        });
        for (framing, text) in [(Framing::Lines, &lines), (Framing::Array, &array)] {
            let (name, text) = (format!("{framing:?}"), text.as_bytes());
            group.bench_function(BenchmarkId::new("skip_value", &name), |bencher| {
                bencher.iter(|| each(text, |at| skip_value(text, at).expect("a value")));
            });
            group.bench_function(BenchmarkId::new("scan", &name), |bencher| {
                let mut scanner = Scanner::default();
                let mut scan = |at| scanner.scan(text, at, Some(b"id")).expect("a value").end;
                bencher.iter(|| each(text, &mut scan));
            });
            group.bench_function(BenchmarkId::new("read", &name), |bencher| {
                bencher.iter(|| assert_eq!(read(text, framing), ROWS as u64));
            });
            group.bench_function(BenchmarkId::new("load", &name), |bencher| {
                bencher.iter(|| load_bytes(text, framing));
            });
        }
        group.bench_function("load/Block", |bencher| bencher.iter(|| load_blocks(&blocks)));
        group.finish();
    }
}

criterion_group!(all, benches);
criterion_main!(all);

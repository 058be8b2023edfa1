//! Values of every length and kind.

use hedgerow::boundary::Shape;
use hedgerow::cache::Fetch;
use hedgerow::chunk::ChunkKind;
use hedgerow::limits::{MAX_INLINE_VALUE_BYTES as INLINE, PIECE_BYTES};
use hedgerow::output::Output;
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{MultiGet, Parts, Range, Scan, get};
use hedgerow::value::Kind;
use hedgerow_support::host::Host;
use hedgerow_support::output::Expected;
use hedgerow_support::values::{LENGTHS, Values, text, values};

const BOTH: Parts = Parts { keys: true, values: true };
const KEYS: Parts = Parts { keys: true, values: false };
const VALUES: Parts = Parts { keys: false, values: true };
const NEITHER: Parts = Parts { keys: false, values: false };

fn one(kind: Kind, value: Vec<u8>) -> Values {
    Values::from([("k".to_owned(), (kind, value))])
}

fn scan(host: &mut Host, reverse: bool, parts: Parts) -> Output {
    let (out, result) = host.scanned(host.tree(), &Range::ALL, reverse, u64::MAX, parts);
    result.expect("a scan");
    out
}

#[test]
fn values_of_every_length_and_kind_read_back_whole() {
    let values = values();
    for (slice, cache_bytes) in [(usize::MAX, 64 << 20), (1, 0), (1000, 1 << 20)] {
        let mut host = Host::new(Shape::STORED);
        host.slice = slice;
        host.put_values(&values);
        for parts in [BOTH, KEYS, VALUES, NEITHER] {
            host.reopen(cache_bytes);
            let out = scan(&mut host, false, parts);
            Expected::entries(values.iter(), parts).check(&out, &parts);
            host.reopen(cache_bytes);
            let out = scan(&mut host, true, parts);
            Expected::entries(values.iter().rev(), parts).check(&out, &("reversed", parts));
        }
        host.reopen(cache_bytes);
        let keys: Vec<_> = values.keys().collect();
        let mut find = MultiGet::new(host.tree(), keys.iter().rev().map(|key| key.as_bytes()));
        let (mut out, mut found) = (Output::new(), Vec::new());
        host.run(|cache, budget| find.step(cache, budget, &mut out, &mut found)).expect("a find");
        out.close();
        Expected::entries(values.iter(), VALUES).check(&out, &"a find");
        assert!((0..keys.len() as u32).rev().eq(found));
    }
}

#[test]
fn a_value_over_the_inline_limit_is_stored_out_of_line() {
    let mut host = Host::new(Shape::STORED);
    let values = values();
    host.put_values(&values);
    let tree = host.tree();
    for (key, (kind, value)) in &values {
        let Ok(Fetch::Here(Some(entry))) = get(&host.cache, tree, key.as_bytes()) else {
            panic!("{key}");
        };
        assert_eq!(entry.tag.kind, *kind);
        assert_eq!(entry.value_ref().is_some(), value.len() > INLINE, "{key}");
        match entry.value_ref() {
            Some(far) => assert_eq!(far.len as usize, value.len()),
            None => assert_eq!(entry.value, value),
        }
    }
    let mut pieces = 0;
    for (_, _, chunk) in host.chunks() {
        pieces += usize::from(ChunkKind::decode(&chunk) == Ok(ChunkKind::Piece));
    }
    // Two kinds of value for each length.
    let needed: usize =
        LENGTHS.iter().filter(|len| **len > INLINE).map(|len| len.div_ceil(PIECE_BYTES)).sum();
    assert_eq!(pieces, 2 * needed);
}

#[test]
fn equal_values_have_one_root_after_changes_of_their_kind() {
    let mut roots = Vec::new();
    for before in [vec![], text(PIECE_BYTES + 1, 1), text(10, 1)] {
        let mut host = Host::new(Shape::STORED);
        if !before.is_empty() {
            host.put_values(&one(Kind::Bytes, before));
        }
        host.put_values(&one(Kind::Json, text(INLINE + 1, 2)));
        roots.push(host.root);
    }
    assert!(roots.iter().all(|root| *root == roots[0]));
    let mut host = Host::new(Shape::STORED);
    host.put_values(&one(Kind::Bytes, text(INLINE + 1, 2)));
    assert_ne!(host.root, roots[0], "bytes are not the JSON that they spell");
}

#[test]
fn a_scan_of_keys_never_loads_values() {
    let mut host = Host::new(Shape::STORED);
    let values = values();
    host.put_values(&values);
    host.reopen(64 << 20);
    scan(&mut host, false, KEYS);
    for asked in &host.asked {
        let is_node = |chunk: &[u8]| matches!(ChunkKind::decode(chunk), Ok(ChunkKind::Node(_)));
        let holds_nodes = host.chunks().any(|(id, _, chunk)| id == *asked && is_node(&chunk));
        assert!(holds_nodes, "a segment of values was loaded");
    }
}

#[test]
fn an_output_taken_between_steps_has_complete_entries() {
    let values = values();
    let mut host = Host::new(Shape::STORED);
    host.put_values(&values);
    for budget in [1, 100, 5000, 200_000] {
        host.reopen(0);
        host.slice = budget;
        let mut scan = Scan::new(host.tree(), Range::ALL, false, u64::MAX, BOTH);
        let (mut out, mut blocks) = (Output::new(), Vec::new());
        loop {
            let step = scan.step(&host.cache, &mut Budget::of(budget), &mut out);
            match step.expect("a scan") {
                Step::Need(wanted) => {
                    // The output may end in the middle of a value.
                    host.answer(&wanted);
                    continue;
                }
                Step::Yield if out.is_partial() => continue,
                Step::Yield => {}
                Step::Done(()) => break,
            }
            blocks.push(std::mem::take(&mut out));
        }
        blocks.push(out);
        let mut entries = values.iter();
        for mut block in blocks {
            block.close();
            let count = block.members() as usize / 2;
            assert_eq!(block.members() % 2, 0);
            let budget = format!("{budget} bytes");
            Expected::entries(entries.by_ref().take(count), BOTH).check(&block, &budget);
        }
        assert_eq!(entries.next(), None);
    }
}

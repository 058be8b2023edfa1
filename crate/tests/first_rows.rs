//! The first row by an index asks only for the path to its entry and the path to the row. A scan with an offset asks
//! for at most two paths, with any number of skipped rows, and for one path if its range has no bound. Each chunk has a
//! segment of its own here, so that the segments asked for are the nodes read.

use core::ops::Bound;
use hedgerow::boundary::Shape;
use hedgerow::cache::SegmentId;
use hedgerow::index::{Definition, IndexScan, Wanted};
use hedgerow::output::Output;
use hedgerow::tree::{Parts, Range, Scan, Tree};
use hedgerow_support::host::Host;
use hedgerow_support::rows::Rows;
use std::collections::BTreeSet;

const DEFINITION: &str = r#"["","/n"]"#;
const BOTH: Parts = Parts { keys: true, values: true };

/// Makes a store with an index and an empty cache.
fn cold() -> Host {
    let row = |at: u32| {
        let text = "x".repeat(40);
        (format!("k{at:06}"), format!(r#"{{"n":{},"text":"{text}"}}"#, at * 7919 % 30_000))
    };
    let rows: Rows = (0..30_000).map(row).collect();
    let definition = Definition::parse(DEFINITION).expect("a definition");
    let packed = Host::indexed(Shape::STORED, &[definition], &rows);
    let mut scattered = Host::new(Shape::STORED);
    (scattered.forest, scattered.root) = (packed.forest.clone(), packed.root);
    for (_, _, bytes) in packed.chunks() {
        scattered.store_chunk(&bytes);
    }
    scattered
}

/// Returns the segments that `act` asks for with an empty cache.
fn asked(host: &mut Host, act: impl FnOnce(&mut Host)) -> BTreeSet<SegmentId> {
    host.reopen(64 << 20);
    act(host);
    let asked: BTreeSet<_> = host.asked.iter().copied().collect();
    assert_eq!(asked.len(), host.asked.len(), "a segment was asked for twice");
    asked
}

fn by_index(host: &mut Host, index: Tree, reverse: bool, limit: u64) -> Vec<String> {
    let wanted = Wanted { parts: BOTH, secondary: false, reverse, limit };
    let mut scan = IndexScan::new(index, 1, host.tree(), Range::ALL, wanted);
    let mut out = Output::new();
    host.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
    out.close();
    // Each key is followed by the place of its value.
    let members: Vec<serde_json::Value> = serde_json::from_slice(&out.keys).expect("keys");
    members.iter().step_by(2).map(|key| key.as_str().expect("a key").to_owned()).collect()
}

#[test]
fn the_first_row_by_an_index_asks_for_two_paths_only() {
    let mut host = cold();
    let index = host.forest.tree(&format!("i{DEFINITION}"));
    for reverse in [false, true] {
        let first = by_index(&mut host, index, reverse, 1);
        let mut expected = asked(&mut host, |host| {
            let mut scan = Scan::new(index, Range::ALL, reverse, 1, BOTH);
            let mut out = Output::new();
            host.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
        });
        expected.extend(asked(&mut host, |host| assert!(host.get(&first[0]).is_some())));
        let found = asked(&mut host, |host| {
            assert_eq!(by_index(host, index, reverse, 1), first);
        });
        println!("reverse {reverse}: {} nodes", found.len());
        assert_eq!(found, expected, "reverse {reverse}");
    }
}

#[test]
fn an_offset_of_any_size_asks_for_two_paths() {
    let mut host = cold();
    let range = Range { lower: Bound::Included(b"k000500".to_vec()), upper: Bound::Unbounded };
    let levels = {
        host.reopen(64 << 20);
        host.look_up(host.tree(), "k000000").expect("a row");
        host.asked.len()
    };
    for reverse in [false, true] {
        for offset in [0, 1, 700, 15_000, 29_499, 29_500, 1 << 60] {
            let mut found = Vec::new();
            let nodes =
                asked(&mut host, |host| found = host.scan_after(&range, reverse, offset, 1));
            let rank = if reverse { 29_999_u64.checked_sub(offset) } else { Some(500 + offset) };
            let expected = rank.filter(|rank| (500..30_000).contains(rank));
            let keys: Vec<_> = found.into_iter().map(|(key, _)| key).collect();
            assert_eq!(
                keys,
                Vec::from_iter(expected.map(|rank| format!("k{rank:06}"))),
                "offset {offset}"
            );
            println!(
                "reverse {reverse}, offset {offset}: {} nodes of {levels} levels",
                nodes.len()
            );
            assert!(nodes.len() < 2 * levels, "offset {offset}: {} nodes", nodes.len());
        }
    }
}

#[test]
fn an_offset_into_all_rows_asks_for_one_path() {
    let mut host = cold();
    let levels = asked(&mut host, |host| assert!(host.get("k000000").is_some())).len();
    for reverse in [false, true] {
        for offset in [0, 1, 700, 15_000, 29_999] {
            let mut found = Vec::new();
            let nodes =
                asked(&mut host, |host| found = host.scan_after(&Range::ALL, reverse, offset, 1));
            let rank = if reverse { 29_999 - offset } else { offset };
            assert_eq!(found[0].0, format!("k{rank:06}"), "offset {offset}");
            assert_eq!(nodes.len(), levels, "reverse {reverse}, offset {offset}");
        }
        let nodes = asked(&mut host, |host| {
            assert_eq!(host.scan_after(&Range::ALL, reverse, 30_000, 1), []);
        });
        assert_eq!(nodes.len(), 1, "the root says that there are no more rows");
    }
}

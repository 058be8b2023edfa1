//! Reads of a store that is larger than most caches: each segment is read once, as a whole or in parts.

use hedgerow::boundary::Shape;
use hedgerow::cache::REQUEST_COST;
use hedgerow::output::Output;
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Parts, Range, Scan};
use hedgerow_support::host::{Host, seal};
use hedgerow_support::layout;
use hedgerow_support::rows::Rows;

/// Makes a value of about 1 KiB.
fn value(number: u32) -> String {
    format!("\"{number:0>1000}\"")
}

/// Makes a store of 30 MiB.
fn large() -> (Host, Vec<String>) {
    let row = |at: u32| (format!("{at:06}"), value(at));
    let rows: Rows = (0..30_000).map(row).collect();
    (Host::of(Shape::STORED, &rows), rows.into_keys().collect())
}

/// Counts the whole segments and the parts that were asked for.
fn counts(host: &Host) -> (usize, usize) {
    let whole = host.wanted.iter().filter(|want| want.is_whole()).count();
    (whole, host.wanted.len() - whole)
}

/// Reads all rows as a page does, which asks for the next segments at every yield.
#[test]
fn a_scan_reads_each_segment_once_whatever_the_cache_holds() {
    let (mut host, _) = large();
    for cache_bytes in [4 << 20, 8 << 20, 64 << 20] {
        host.reopen(cache_bytes);
        host.cache.set_request_cost(REQUEST_COST);
        let entries = Parts { keys: true, values: true };
        let mut scan = Scan::new(host.tree(), Range::ALL, false, u64::MAX, entries);
        let mut out = Output::default();
        loop {
            let step = scan.step(&host.cache, &mut Budget::of(256 << 10), &mut out);
            match step.expect("no error") {
                Step::Done(()) => break,
                Step::Need(wanted) => host.answer(&wanted),
                Step::Yield => {
                    let ahead = scan.ahead(&host.cache);
                    if !ahead.is_empty() {
                        host.answer(&ahead);
                    }
                }
            }
        }
        let (whole, parts) = counts(&host);
        assert!(whole <= host.stored.len(), "{whole} segments, cache of {cache_bytes}");
        assert!(parts < 16, "{parts} nodes by themselves");
    }
}

#[test]
fn many_keys_read_each_segment_once_whatever_the_cache_holds() {
    let (mut host, keys) = large();
    for cache_bytes in [0, 4 << 20, 8 << 20, 64 << 20] {
        host.reopen(cache_bytes);
        host.cache.set_request_cost(REQUEST_COST);
        // Leaves from single reads must not be driven out and asked for one by one.
        for key in keys.iter().step_by(97) {
            assert!(host.get(key).is_some());
        }
        host.wanted.clear();
        let many: Vec<_> = keys.iter().step_by(13).cloned().collect();
        assert!(host.get_many(&many).iter().all(Option::is_some));
        let (whole, parts) = counts(&host);
        assert!(whole <= host.stored.len(), "{whole} segments, cache of {cache_bytes}");
        assert!(parts <= 3 * host.stored.len(), "{parts} parts, cache of {cache_bytes}");
    }
}

#[test]
fn many_edits_read_each_segment_once_whatever_the_cache_holds() {
    for cache_bytes in [4 << 20, 64 << 20] {
        let (mut host, keys) = large();
        host.reopen(cache_bytes);
        host.cache.set_request_cost(REQUEST_COST);
        let stored = host.stored.len();
        let edits: Vec<_> = keys.iter().step_by(13).map(|key| (key.clone(), "1".into())).collect();
        host.put(&edits);
        let (whole, parts) = counts(&host);
        assert!(whole <= stored, "{whole} segments of {stored}, cache of {cache_bytes}");
        // Besides planned leaves, leaves whose border an edit has moved.
        assert!(parts <= edits.len() / 2, "{parts} parts, cache of {cache_bytes}");
    }
}

#[test]
fn parts_stay_until_they_are_read_however_much_is_not_stored_yet() {
    for cache_bytes in [0, 1 << 20, 4 << 20] {
        let (mut host, keys) = large();
        host.reopen(cache_bytes);
        // Only parts: more at once than always stay in memory.
        host.cache.set_request_cost(0);
        for id in 1000..1040 {
            let chunks: Vec<_> = (0..500)
                .map(|at| layout::leaf(&[(0, b"a", value(id * 1000 + at).as_bytes())]))
                .collect();
            let chunks: Vec<_> = chunks.iter().map(Vec::as_slice).collect();
            host.cache.add_fresh(u64::from(id), seal(&chunks).1.remove(0));
        }
        let many: Vec<_> = keys.iter().step_by(29).cloned().collect();
        assert!(host.get_many(&many).iter().all(Option::is_some));
        let (whole, parts) = counts(&host);
        assert!(whole + parts < 2 * many.len(), "{whole} + {parts}, cache of {cache_bytes}");
    }
}

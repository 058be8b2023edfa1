//! Reads with far too little memory.

use hedgerow::boundary::Shape;
use hedgerow::cache::SegmentId;
use hedgerow::error::Error;
use hedgerow::limits::SEGMENT_BYTES;
use hedgerow::tree::Range;
use hedgerow_support::host::Host;
use hedgerow_support::rows::{issue, noise};

#[test]
fn a_cache_far_too_small_reads_everything_and_stays_small() {
    let mut host = Host::new(Shape::STORED);
    let rows: Vec<_> = (0..22_000).map(|at| (issue(at).0, noise(at, 1700))).collect();
    host.put_blocks(&rows, 5000);
    assert!(host.stored.len() > 60, "more segments than stay in memory in any case");
    let most = 50 * (SEGMENT_BYTES + SEGMENT_BYTES / 4);
    host.reopen(0);
    let same = |host: &mut Host, at: usize| {
        assert_eq!(host.get(&rows[at].0).as_ref(), Some(&rows[at].1));
        assert!(host.cache.held_bytes() <= most);
    };
    // Near and distant rows in turn, so that segments in frequent use stay.
    for at in 0..1500 {
        same(&mut host, (at * 7919) % rows.len());
        same(&mut host, at);
    }
    let scanned = host.scan(&Range::ALL, false, u64::MAX);
    assert!(scanned == rows);
    assert!(host.cache.held_bytes() <= most);
    let mut scanned = host.scan(&Range::ALL, true, u64::MAX);
    scanned.reverse();
    assert!(scanned == rows);
    let keys: Vec<_> = rows.iter().step_by(61).map(|(key, _)| key.clone()).collect();
    assert!(host.get_many(&keys).iter().all(Option::is_some));
    assert!(host.cache.held_bytes() <= most);
}

#[test]
fn a_segment_is_checked_again_when_it_returns_to_memory() {
    let mut host = Host::new(Shape::STORED);
    host.put(&(0..100).map(issue).collect::<Vec<_>>());
    let (key, value) = issue(7);
    host.reopen(0);
    assert_eq!(host.get(&key), Some(value));
    let ids: Vec<SegmentId> = host.stored.keys().copied().collect();
    for id in &ids {
        host.evict(*id);
        host.stored.get_mut(id).unwrap().0.fill(0x5a);
    }
    let tree = host.tree();
    let error = Error::CorruptChunk { hash: tree.root, cause: None };
    assert_eq!(host.look_up(tree, &key), Err(error));
}

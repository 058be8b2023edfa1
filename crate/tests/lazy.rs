//! Trees that are partly at a remote: reads and writes fetch the chunks that they need, with the results of a whole
//! store; other operations do not fetch.

#[path = "lazy/device.rs"]
mod device;

use device::{Device, Remote};
use hedgerow::batch::{Batch, Edit};
use hedgerow::boundary::Shape;
use hedgerow::cache::Want;
use hedgerow::collect::Thoroughness;
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::lazy::{Leaves, NewNodes, NodeAt, Taken, land_nodes};
use hedgerow::segment::{Sealed, Table};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Census, Count, Range, Verify};
use hedgerow_support::census::{levels, stored_bytes};
use hedgerow_support::property::sampled;
use hedgerow_support::store::{a_key, a_text, build, rows};
use std::collections::BTreeMap;

const ROWS: usize = 30_000;

fn model(count: usize) -> BTreeMap<String, String> {
    rows(count).into_iter().collect()
}

#[test]
fn a_get_fetches_a_node_of_each_level_and_no_more() {
    let remote = Remote::new(model(ROWS));
    let mut device = Device::new(&remote);
    let keys: Vec<_> = remote.rows.keys().cloned().collect();
    for (nth, most) in [(15_000, 2), (15_000, 0), (15_001, 1), (29_999, 2), (0, 2)] {
        let before = device.fetched;
        assert_eq!(
            device.get(&keys[nth]).as_deref(),
            remote.rows.get(&keys[nth]).map(String::as_str)
        );
        assert!(device.fetched - before <= most, "{nth}: {} fetched", device.fetched - before);
    }
    assert_eq!(device.get("nothing"), None);
}

#[test]
fn many_keys_are_asked_for_level_by_level() {
    let remote = Remote::new(model(ROWS));
    let mut device = Device::new(&remote);
    let keys: Vec<_> = remote.rows.keys().step_by(997).cloned().collect();
    let found = device.get_many(&keys);
    assert_eq!(found, keys.len());
    // The internal nodes of level 1, then all leaves.
    assert!(device.rounds <= 2, "{} rounds", device.rounds);
}

#[test]
fn scans_in_both_directions_see_all_rows() {
    let remote = Remote::new(model(ROWS));
    for reverse in sampled([false, true], 2) {
        let mut device = Device::new(&remote);
        let text = device.scan(Range::ALL, reverse);
        let mut keys: Vec<_> = remote.rows.keys().map(|key| format!("\"{key}\"")).collect();
        if reverse {
            keys.reverse();
        }
        assert!(text == keys.join(","), "{} bytes", text.len());
        let before = device.fetched;
        device.scan(Range::ALL, !reverse);
        assert_eq!(device.fetched, before, "what was read stays");
    }
}

#[test]
fn a_merge_fetches_the_leaves_that_it_touches_and_makes_the_same_tree() {
    let remote = Remote::new(model(ROWS));
    let mut device = Device::new(&remote);
    let mut changed = remote.rows.clone();
    let keys: Vec<_> = remote.rows.keys().cloned().collect();
    let mut batch = Batch::new();
    for nth in (0..ROWS).step_by(3001) {
        changed.insert(keys[nth].clone(), "\"changed\"".to_owned());
        batch.push(a_key(&keys[nth]), Edit::Put(a_text("\"changed\"")));
        changed.remove(&keys[nth + 1]);
        batch.push(a_key(&keys[nth + 1]), Edit::Delete);
    }
    batch.close_run();
    let old = device.tree;
    let tree = device.merge(&batch);
    let rows: Vec<_> = changed.into_iter().collect();
    assert_eq!(tree, build(&rows).0);
    // A node and a leaf for each of 10 places, and a neighbour where a boundary has gone.
    assert!(device.fetched <= 40, "{} fetched", device.fetched);
    // The diff of the two reads the chunks that the merge has read.
    let before = device.fetched;
    assert_eq!(device.diff(old, tree), 70);
    assert_eq!(device.fetched, before);
}

#[test]
fn counts_verifications_statistics_and_collections_never_fetch() {
    let remote = Remote::new(model(ROWS));
    let mut device = Device::new(&remote);
    let keys: Vec<_> = remote.rows.keys().cloned().collect();
    device.get(&keys[20_000]);
    let before = device.fetched;
    let tree = device.tree;
    let count = Count::new(tree, Range::ALL);
    device.run(|cache, _| count.step(cache)).expect("a count");
    let mut census = Census::new(tree);
    device.run(|cache, budget| census.step(cache, budget)).expect("a census");
    let levels = levels(&census);
    assert_eq!(stored_bytes(&levels), device.stored_bytes() as u64, "all that is here is live");
    let leaves = levels.last().expect("a level");
    assert!(leaves[0] > 1 && leaves[2] < leaves[4], "one of {leaves:?} is here, packed");
    let mut verify = Verify::new(tree, Shape::STORED);
    device.run(|cache, budget| Ok(verify.step(cache, budget))).expect("it never fails");
    assert_eq!(verify.take_faults(), []);
    let tally = verify.tally();
    assert_eq!(tally.rows + tally.remote_rows, ROWS as u64);
    assert!(tally.rows > 0 && tally.remote_nodes > 0);
    assert_eq!(device.fetched, before, "none of them fetches");
    for full in [false, true] {
        let held = device.chunks_here();
        device.collect(Thoroughness { full, ..Thoroughness::default() });
        assert_eq!(device.chunks_here(), held, "all of it is live");
    }
    assert_eq!(device.fetched, before);
    assert!(device.get(&keys[20_001]).is_some());
}

#[test]
fn a_collection_frees_what_no_tree_reaches_and_keeps_what_is_known_of_the_rest() {
    let remote = Remote::new(model(ROWS));
    let mut device = Device::new(&remote);
    let keys: Vec<_> = remote.rows.keys().cloned().collect();
    let mut all = remote.rows.clone();
    for round in 0..5 {
        let mut batch = Batch::new();
        for nth in (round * 100..ROWS).step_by(2503) {
            let value = format!("\"{round}\"");
            batch.push(a_key(&keys[nth]), Edit::Put(a_text(&value)));
            all.insert(keys[nth].clone(), value);
        }
        batch.close_run();
        device.tree = device.merge(&batch);
    }
    let before = device.stored_bytes();
    device.collect(Thoroughness { full: true, ..Thoroughness::default() });
    assert!(device.stored_bytes() < before, "old leaves are gone");
    let text = device.scan(Range::ALL, false);
    let keys: Vec<_> = all.keys().map(|key| format!("\"{key}\"")).collect();
    assert!(text == keys.join(","), "{} bytes", text.len());
    let rows: Vec<_> = all.into_iter().collect();
    assert_eq!(device.tree, build(&rows).0);
}

#[test]
fn rows_make_their_leaf_or_nothing() {
    let remote = Remote::new(model(2000));
    let node = remote.leaf(7);
    let delta = remote.delta(.., None);
    let mut leaves = Leaves::new();
    leaves.add(&delta).expect("a delta");
    leaves.sort();
    let at = |hash, last_key, count| NodeAt { hash, last_key, count };
    let (hash, last, count) = (node.hash, &node.last_key[..], node.count);
    assert!(!leaves.make(&at(Hash::ZERO, last, count)), "another hash");
    assert!(!leaves.make(&at(hash, b"nothing", count)), "another key");
    for wrong in [0, count - 1, count + 1, u64::MAX] {
        assert!(!leaves.make(&at(hash, last, wrong)), "{wrong} rows");
    }
    assert!(leaves.take().is_empty(), "nothing was made");
    assert!(leaves.make(&at(hash, last, count)));
    let made = leaves.take();
    assert_eq!((made.len(), made[0].table.len(), made[0].table.hash(0)), (1, 1, hash));
    // Later deltas change the rows, which then make another leaf.
    let change = remote.delta(.., Some("\"changed\""));
    leaves.add(&change).expect("a delta");
    leaves.sort();
    assert!(!leaves.make(&at(hash, last, count)));
    assert!(leaves.add(&delta[..delta.len() - 1]).is_err(), "it is cut off");
}

#[test]
fn records_of_nodes_are_checked() {
    let remote = Remote::new(model(ROWS));
    let cache = hedgerow::cache::Cache::new(1 << 20);
    let records = remote.records(1);
    let made = land_nodes(&cache, &records, Taken::Again).expect("records");
    assert!(!made.is_empty());
    for Sealed { bytes, table } in &made {
        assert_eq!(bytes.len(), table.segment_len());
        let again = Table::decode(table.bytes().to_vec()).expect("a table");
        assert!(again.has_remote() && !again.is_remote(0));
    }
    // A cache that knows no node takes no record; one that knows the top takes the nodes that it names.
    let known = |taken| land_nodes(&cache, &records, taken).expect("records").len();
    assert_eq!((known(Taken::Known), known(Taken::Below(Hash([7; 32])))), (0, 0));
    let mut top_down = remote.records(2);
    top_down.extend(remote.records(1));
    let made = land_nodes(&cache, &top_down, Taken::Below(remote.tree.root)).expect("records");
    let count: usize = made.iter().map(|sealed| sealed.table.len()).sum();
    assert_eq!(count, remote.chunk_count(), "all nodes are here, and all leaves are known");
    for end in [1, 2, 100, records.len() - 1] {
        assert!(land_nodes(&cache, &records[..end], Taken::Again).is_err(), "cut off at {end}");
    }
    let mut zero = records.clone();
    let at = zero.len() - 2;
    zero[at..].copy_from_slice(&[0, 0]);
    assert!(land_nodes(&cache, &zero, Taken::Again).is_err(), "a child of no bytes");
}

#[test]
fn what_is_new_of_a_tree_is_found_level_by_level() {
    let remote = Remote::new(model(ROWS));
    let mut cache = remote.cache();
    let all = found(&cache, remote.tree, hedgerow::tree::Tree::EMPTY);
    assert!(all.windows(2).all(|pair| pair[0].0 >= pair[1].0), "from the top down");
    assert_eq!(found(&cache, remote.tree, remote.tree), []);
    // For a tree of more levels, and one of fewer.
    for count in [40, 2000, ROWS + 5000] {
        let (tree, mut packer) = build(&rows(count));
        packer.seal();
        for (id, sealed) in (1000 + count as u64..).zip(packer.take_sealed()) {
            cache.add_fresh(id, sealed);
        }
        let own: Vec<_> = found(&cache, tree, hedgerow::tree::Tree::EMPTY);
        let new = found(&cache, tree, remote.tree);
        let expected: Vec<_> = own.into_iter().filter(|node| !all.contains(node)).collect();
        assert_eq!(new, expected, "{count} rows");
    }
}

/// Finds the level and the hash of each internal node of a tree that an old one does not have.
fn found(
    cache: &hedgerow::cache::Cache,
    tree: hedgerow::tree::Tree,
    old: hedgerow::tree::Tree,
) -> Vec<(u8, Hash)> {
    let mut walk = NewNodes::new(old, tree);
    let mut bytes = Vec::new();
    loop {
        let step = walk.step(cache, &mut Budget::of(4096)).expect("all is in memory");
        bytes.extend(walk.take());
        if step == Step::Done(()) {
            break;
        }
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let len = usize::from(u16::from_le_bytes([bytes[at + 1], bytes[at + 2]]));
        let node = &bytes[at + 3..at + 3 + len];
        found.push((bytes[at], Hash::of(node)));
        at += 3 + len + 2 * usize::from(u16::from_le_bytes([node[2], node[3]]));
    }
    found
}

#[test]
fn a_copy_that_is_here_comes_before_one_at_the_remote_and_that_before_a_damaged_one() {
    let remote = Remote::new(model(2000));
    let node = remote.leaf(3);
    let mut cache = hedgerow::cache::Cache::new(1 << 20);
    let top = &remote.records(1)[..];
    for (id, sealed) in (10..).zip(land_nodes(&cache, top, Taken::Again).expect("records")) {
        cache.add_table(id, sealed.table);
    }
    let asked = |cache: &hedgerow::cache::Cache| cache.missing(&node.hash);
    assert!(asked(&cache).unwrap().is_some_and(Want::is_remote));
    // An older number than the segment that names it has.
    let sealed = Sealed::of_one(&node.hash, &node.bytes);
    cache.add_table(1, sealed.table);
    assert_eq!(asked(&cache), Ok(Some(Want::whole_of(1))));
    cache.load(Want::whole_of(1), vec![0; node.bytes.len()]);
    let want = match cache.node(&node.hash) {
        Ok(hedgerow::cache::Fetch::At(want)) => want,
        other => panic!("{other:?}"),
    };
    assert!(want.is_remote() && want.whole() == want);
    cache.load(want, node.bytes.clone());
    assert!(matches!(cache.node(&node.hash), Ok(hedgerow::cache::Fetch::Here(_))));
    cache.remove(10);
    assert_eq!(
        cache.node(&node.hash).map(drop),
        Err(Error::CorruptChunk { hash: node.hash, cause: None })
    );
}

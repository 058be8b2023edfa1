//! Parts of segments: wants, the parts that stay in memory, and damage.

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch, Source, Want};
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::limits::{LEAST_BYTES_FOR_PARTS, SEGMENT_BYTES};
use hedgerow::node::Node;
use hedgerow::segment::{Packer, Sealed, Stream};
use hedgerow::tree::Range;
use hedgerow_support::host::{Host, seal};
use hedgerow_support::layout;
use hedgerow_support::rows::{Rows, issue, noise};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Makes a leaf of about 1 KiB that does not become smaller when it is packed.
fn leaf(number: u32) -> Vec<u8> {
    layout::leaf(&[(0, b"a", noise(number as usize, 1000).as_bytes())])
}

/// Makes a segment of `count` leaves, not in memory; returns their hashes and the segment.
fn segment(cache: &mut Cache, id: u64, count: u32) -> (Vec<Hash>, Sealed) {
    let chunks: Vec<_> = (0..count).map(|at| leaf(1000 * id as u32 + at)).collect();
    let chunks: Vec<_> = chunks.iter().map(Vec::as_slice).collect();
    let (hashes, mut sealed) = seal(&chunks);
    let sealed = sealed.remove(0);
    cache.add_table(id, sealed.table.clone());
    (hashes, sealed)
}

/// Returns the want of a read of the chunk.
fn asked(cache: &Cache, hash: &Hash) -> Option<Want> {
    match cache.node(hash) {
        Ok(Fetch::At(want)) => Some(want),
        Ok(Fetch::Here(_)) => None,
        Err(error) => panic!("{error:?}"),
    }
}

/// Returns the bytes of a want.
fn bytes(sealed: &Sealed, want: Want) -> Vec<u8> {
    match want.source() {
        Source::Segment(_) => sealed.bytes.clone(),
        Source::Chunk { from, to, .. } => sealed.bytes[from as usize..to as usize].to_vec(),
        other => panic!("{other:?} is in no segment"),
    }
}

fn load(cache: &mut Cache, hash: &Hash, sealed: &Sealed) -> Want {
    let want = asked(cache, hash).expect("not in memory");
    cache.load(want, bytes(sealed, want));
    want
}

#[test]
fn a_read_asks_for_its_chunk_of_a_long_segment_and_for_all_of_a_short_one() {
    let mut cache = Cache::new(1 << 20);
    let short = (LEAST_BYTES_FOR_PARTS / leaf(0).len()) as u32;
    for (id, count) in [(1, short), (2, short + 1)] {
        let (hashes, sealed) = segment(&mut cache, id, count);
        let range = sealed.table.range(7);
        let part = Want::part_of(id, range.start as u32, range.end as u32);
        let want = load(&mut cache, &hashes[7], &sealed);
        assert_eq!(want, if id == 1 { Want::whole_of(id) } else { part });
        assert_eq!(asked(&cache, &hashes[7]), None);
        assert_eq!(asked(&cache, &hashes[8]).is_none(), id == 1);
    }
    assert_eq!(cache.hits_and_misses(), (3, 3));
}

#[test]
fn a_segment_of_internal_nodes_is_read_as_a_whole_where_there_is_room() {
    for (budget, whole) in [(64 << 20, true), (1 << 20, false)] {
        let mut cache = Cache::new(budget);
        let mut packer = Packer::new();
        let chunks: Vec<_> = (0..100).map(leaf).collect();
        let put = |chunk: &Vec<u8>| packer.put(Stream::Inner, |out| out.extend_from_slice(chunk));
        let hashes: Vec<_> = chunks.iter().map(put).collect();
        packer.seal();
        cache.add_table(1, packer.take_sealed().remove(0).table);
        assert_eq!(asked(&cache, &hashes[9]).map(Want::is_whole), Some(whole));
    }
}

#[test]
fn a_segment_is_read_as_a_whole_once_its_parts_have_cost_as_much_if_the_store_fits() {
    for (budget, cost, parts) in [
        (64 << 20, 200 << 10, 3),
        (64 << 20, SEGMENT_BYTES, 1),
        (64 << 20, 0, 40),
        (200 << 10, SEGMENT_BYTES, 40),
    ] {
        let mut cache = Cache::new(budget);
        cache.set_request_cost(cost);
        let (hashes, sealed) = segment(&mut cache, 1, 480);
        let read =
            hashes.iter().take(40).take_while(|hash| !load(&mut cache, hash, &sealed).is_whole());
        assert_eq!(read.count(), parts, "{budget}, {cost}");
    }
}

#[test]
fn a_whole_is_read_for_a_part_only_where_nothing_has_to_leave_for_it() {
    for (loaded, whole) in [(3, true), (4, false)] {
        let mut cache = Cache::new(2 << 20);
        cache.set_request_cost(SEGMENT_BYTES);
        // Together a little more than the budget.
        let made: Vec<_> = (1..=5).map(|id| segment(&mut cache, id, 480)).collect();
        for (id, (_, sealed)) in (1..).zip(&made).take(loaded) {
            cache.load(Want::whole_of(id), sealed.bytes.clone());
        }
        let (hashes, sealed) = &made[4];
        assert!(!load(&mut cache, &hashes[0], sealed).is_whole());
        let want = asked(&cache, &hashes[9]).expect("not in memory");
        assert_eq!(want.is_whole(), whole, "{loaded} in memory");
    }
}

#[test]
fn a_part_of_the_wrong_length_or_bytes_is_damaged_until_it_is_read_again() {
    let mut cache = Cache::new(1 << 20);
    let (hashes, sealed) = segment(&mut cache, 1, 100);
    let hash = hashes[50];
    let want = asked(&cache, &hash).expect("not in memory");
    let good = bytes(&sealed, want);
    let flipped: Vec<u8> = good.iter().map(|byte| byte ^ 1).collect();
    let longer = [&good[..], b"1"].concat();
    for bad in [Vec::new(), good[..good.len() - 1].to_vec(), longer, flipped] {
        cache.load(want, bad);
        let corrupt = Err(Error::CorruptChunk { hash, cause: None });
        assert_eq!(cache.node(&hash).map(drop), corrupt.clone());
        assert_eq!(cache.missing(&hash).map(drop), corrupt);
        // Its neighbours stay readable.
        load(&mut cache, &hashes[49], &sealed);
        assert_eq!(asked(&cache, &hashes[49]), None);
        cache.remove(1);
        cache.add_table(1, sealed.table.clone());
    }
    // Another copy is taken instead.
    cache.load(want, Vec::new());
    cache.add_table(2, sealed.table.clone());
    let other = asked(&cache, &hash).expect("not in memory");
    let Source::Chunk { from, to, .. } = want.source() else { panic!("{want:?}") };
    assert_eq!(other, Want::part_of(2, from, to));
    cache.load(other, good);
    assert_eq!(asked(&cache, &hash), None);
}

#[test]
fn a_part_that_nobody_can_want_is_not_kept() {
    let mut cache = Cache::new(1 << 20);
    let (hashes, sealed) = segment(&mut cache, 1, 100);
    let want = asked(&cache, &hashes[3]).expect("not in memory");
    let Source::Chunk { segment, from, to } = want.source() else { panic!("{want:?}") };
    for wrong in [
        Want::part_of(segment, from + 1, to),
        Want::part_of(segment, u32::MAX - 1, u32::MAX),
        Want::part_of(9, from, to),
        Want::part_of(9, from, 0),
    ] {
        assert!(!cache.lacks(wrong));
        cache.load(wrong, bytes(&sealed, want));
        assert_eq!(cache.held_bytes(), 0);
    }
}

#[test]
fn the_whole_takes_the_place_of_its_parts() {
    let mut cache = Cache::new(4 << 20);
    cache.set_request_cost(0);
    let (hashes, sealed) = segment(&mut cache, 1, 100);
    for at in [3, 50, 4] {
        load(&mut cache, &hashes[at], &sealed);
    }
    assert_eq!(cache.held_bytes(), 3 * leaf(0).len());
    assert!(cache.wants(1) && cache.lacks(Want::whole_of(1)));
    cache.load(Want::whole_of(1), sealed.bytes.clone());
    assert_eq!(cache.held_bytes(), sealed.bytes.len());
    // A late part has no effect.
    cache.load(Want::part_of(1, 0, 10), Vec::new());
    assert!(hashes.iter().all(|hash| asked(&cache, hash).is_none()));
    cache.remove(1);
    assert_eq!(cache.held_bytes(), 0);
}

#[test]
fn what_was_used_last_stays_and_leaves_leave_before_internal_nodes() {
    let mut cache = Cache::new(400 << 10);
    let made: Vec<_> = (10..14).map(|id| segment(&mut cache, id, 500)).collect();
    let hashes: Vec<_> = made.iter().flat_map(|(hashes, _)| hashes.clone()).collect();
    let keys: Vec<_> = (0..20).map(|at| [b'a' + at]).collect();
    let children: Vec<_> =
        (1..).zip(&keys).map(|(at, key)| (&key[..], at, Hash([at as u8; 32]))).collect();
    let inner = layout::inner(1, &children);
    // In a segment with leaves, so that a part is asked for.
    let filler: Vec<_> = (0..100).map(|at| leaf(at + 5_000_000)).collect();
    let mut chunks: Vec<_> = filler.iter().map(Vec::as_slice).collect();
    chunks.push(&inner);
    let (mixed, mut other) = seal(&chunks);
    let other = other.remove(0);
    cache.add_table(2, other.table.clone());
    let top = mixed[100];
    assert!(!load(&mut cache, &top, &other).is_whole());
    assert!(matches!(cache.node(&top), Ok(Fetch::Here(Node::Inner(_)))));
    for (at, hash) in hashes.iter().enumerate() {
        load(&mut cache, hash, &made[at / 500].1);
        assert_eq!(asked(&cache, hash), None);
        // A leaf that is read again and again, and an internal node that is read rarely.
        assert_eq!(asked(&cache, &hashes[0]), None, "the leaf that is in use, at {at}");
        assert!(cache.held_bytes() <= 400 << 10);
        if at % 500 == 499 {
            assert_eq!(asked(&cache, &top), None, "the internal node, at {at}");
        }
    }
    let here: Vec<_> = (1..2000).filter(|at| asked(&cache, &hashes[*at]).is_none()).collect();
    assert!(here.len() > 340, "{} leaves fit", here.len());
    assert!(here.is_sorted() && here[0] == 2000 - here.len(), "the last ones");
}

#[test]
fn a_smaller_budget_drives_out_what_was_used_least() {
    let mut cache = Cache::new(1 << 20);
    cache.read_parts_from(0);
    cache.set_request_cost(0);
    let (hashes, sealed) = segment(&mut cache, 1, 200);
    for hash in &hashes {
        load(&mut cache, hash, &sealed);
        assert!(cache.node(hash).is_ok());
    }
    let all = cache.held_bytes();
    cache.fit(100 << 10);
    assert!(cache.held_bytes() <= 100 << 10 && 80 << 10 <= cache.held_bytes());
    assert_eq!(asked(&cache, &hashes[199]), None);
    assert!(asked(&cache, &hashes[0]).is_some());
    cache.fit(1 << 20);
    for hash in &hashes {
        if asked(&cache, hash).is_some() {
            load(&mut cache, hash, &sealed);
        }
    }
    assert_eq!(cache.held_bytes(), all);
}

#[test]
fn segments_that_are_not_stored_stay_and_what_a_descent_needs_stays_beside_them() {
    let mut cache = Cache::new(1 << 20);
    let (hashes, sealed) = segment(&mut cache, 1, 100);
    for id in 2..80 {
        let chunks: Vec<_> = (0..500).map(|at| leaf(id as u32 * 1000 + at)).collect();
        let chunks: Vec<_> = chunks.iter().map(Vec::as_slice).collect();
        cache.add_fresh(id, seal(&chunks).1.remove(0));
    }
    assert!(cache.held_bytes() > 78 * SEGMENT_BYTES / 2);
    for hash in &hashes[..40] {
        load(&mut cache, hash, &sealed);
    }
    assert!(hashes[..40].iter().all(|hash| asked(&cache, hash).is_none()));
    for id in 2..80 {
        assert!(!cache.wants(id), "{id} is not stored");
        cache.stored(id);
    }
    assert!(cache.held_bytes() <= (48 * 600) << 10);
}

proptest! {
    #![proptest_config(cases(if cfg!(miri) { 2 } else { 200 }))]

    /// Loads parts and wholes, removes segments, and compares the chunks in memory with a model.
    #[test]
    fn what_is_in_memory_is_what_was_loaded(
        acts in prop::collection::vec((0_u8..6, 0_u64..4, 0_usize..90, 0_u8..8), 1..200),
        budget in prop_oneof![Just(0), Just(60 << 10), Just(1 << 20)],
    ) {
        let mut cache = Cache::new(budget);
        cache.read_parts_from(0);
        let made: Vec<_> = (0..4).map(|id| segment(&mut cache, id, 90)).collect();
        // Whether a loaded chunk in memory is damaged.
        let mut damaged: BTreeMap<(u64, usize), bool> = BTreeMap::new();
        for (act, id, at, luck) in acts {
            let (hashes, sealed) = &made[id as usize];
            match act {
                0 => {
                    cache.remove(id);
                    cache.add_table(id, sealed.table.clone());
                    damaged.retain(|(segment, _), _| *segment != id);
                }
                1 if cache.wants(id) => {
                    cache.load(Want::whole_of(id), sealed.bytes.clone());
                    damaged.retain(|(segment, _), _| *segment != id);
                }
                _ => {
                    let range = sealed.table.range(at);
                    let want = Want::part_of(id, range.start as u32, range.end as u32);
                    if cache.lacks(want) {
                        let is_bad = luck == 0;
                        let bytes = if is_bad { Vec::new() } else { bytes(sealed, want) };
                        cache.load(want, bytes);
                        damaged.insert((id, at), is_bad);
                    }
                    let expected = damaged.get(&(id, at)) == Some(&true);
                    prop_assert_eq!(cache.node(&hashes[at]).is_err(), expected);
                }
            }
            let held = (0..4_u64).flat_map(|id| {
                let cache = &cache;
                let (_, sealed) = &made[id as usize];
                let whole = !cache.wants(id);
                (0..90).filter_map(move |at| {
                    let range = sealed.table.range(at);
                    let part = Want::part_of(id, range.start as u32, range.end as u32);
                    (whole || !cache.lacks(part)).then_some(range.len())
                })
            });
            let most: usize = held.sum();
            prop_assert!(cache.held_bytes() <= most);
            prop_assert!(most - cache.held_bytes() <= 200 * leaf(0).len());
        }
        for id in 0..4 {
            cache.remove(id);
        }
        prop_assert_eq!(cache.held_bytes(), 0);
    }

    /// Reads through caches of any size find the written rows, at any cost of requests.
    #[test]
    fn every_read_is_right_whatever_a_request_costs(
        count in 1_usize..600,
        cost in prop_oneof![Just(0_usize), Just(300), Just(4000), Just(1 << 20)],
        cache_bytes in prop_oneof![Just(0_usize), Just(3000), Just(30_000), Just(64 << 20)],
        picks in prop::collection::vec(0_usize..700, 1..60),
    ) {
        let rows: Rows = (0..count).map(issue).collect();
        let mut host = Host::of(Shape::with_target(256), &rows);
        host.reopen(cache_bytes);
        host.cache.set_request_cost(cost);
        let keys: Vec<_> = picks.iter().map(|pick| issue(*pick).0).collect();
        let expected: Vec<_> = keys.iter().map(|key| rows.get(key).cloned()).collect();
        prop_assert_eq!(&host.get_many(&keys), &expected);
        for (key, value) in keys.iter().zip(&expected) {
            prop_assert_eq!(&host.get(key), value);
        }
        prop_assert_eq!(host.scan(&Range::ALL, false, u64::MAX).len(), count);
        let (key, value) = issue(picks[0]);
        host.put(&[(key.clone(), value.clone())]);
        prop_assert_eq!(host.get(&key), Some(value));
    }
}

//! Hostile counts cause no allocation: decoding allocates in proportion to its input. A cache keeps few bytes for
//! each known chunk.

// A counting allocator is unsafe to implement; it forwards every call to the system's.
#![allow(unsafe_code)]

#[cfg(target_arch = "wasm32")]
#[macro_use]
extern crate hedgerow_wasm_test as wasm_bindgen_test;

use hedgerow::cache::Cache;
use hedgerow::chunk::{ChunkKind, piece_list};
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::json::{Pointer, skip_value};
use hedgerow::limits::{MAX_TREES, MAX_VALUE_BYTES};
use hedgerow::node::Node;
use hedgerow::segment::Table;
use hedgerow_support::layout::{VERSION, commit, good_commit, good_inner, good_leaf, table, with};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

/// Counts the bytes that each thread allocates.
struct Counting;

// SAFETY: every call is forwarded unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATED.try_with(|total| total.set(total.get() + layout.size()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATED.try_with(|total| total.set(total.get() + size));
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts all bytes that `act` allocates.
fn allocated<T>(act: impl FnOnce() -> T) -> usize {
    let before = ALLOCATED.get();
    let result = act();
    let after = ALLOCATED.get();
    drop(result);
    after - before
}

#[test]
fn decoding_allocates_no_more_than_a_few_times_its_input() {
    let hash = Hash([1; 32]);
    let names: Vec<[u8; 4]> =
        (0..MAX_TREES).map(|at| *format!("{at:04}").as_bytes().first_chunk().unwrap()).collect();
    let trees: Vec<(&[u8], u64, Hash)> = names.iter().map(|name| (&name[..], 1, hash)).collect();
    let large_commit = commit(&trees);
    let forests = [
        vec![0xc0, VERSION, 0, 4],
        vec![0xc0, VERSION, 255, 255],
        with(&good_commit(), 2, &[0, 4]),
        with(&good_commit(), 46, &[255]),
        large_commit[..large_commit.len() - 1].to_vec(),
        large_commit,
    ];
    for bytes in &forests {
        let asked = allocated(|| Forest::decode(bytes));
        assert!(asked <= 8 * bytes.len() + 256, "{asked} for {}", bytes.len());
    }
    for count in [0, 1, 2, 1000, 1 << 17, u32::MAX] {
        let bytes = with(&table(&[5, 9]), 8, &count.to_le_bytes());
        let asked = allocated(|| Table::decode(bytes));
        assert!(asked <= 128, "{asked} for a table of {count}");
    }
    let list = [&[0xe1, VERSION][..], &vec![7; 32 * 1024]].concat();
    for (bytes, len) in [
        (&list[..2], MAX_VALUE_BYTES),
        (&list[..34], usize::MAX),
        (&list, MAX_VALUE_BYTES),
        (&list, usize::MAX),
    ] {
        let asked = allocated(|| piece_list(bytes, len));
        assert!(asked <= bytes.len(), "{asked} for a list of {}", bytes.len());
    }
    for count in [0_u16, 1, 2, 3, 1000, 65_535] {
        for good in [good_leaf(), good_inner()] {
            let bytes = with(&good, 2, &count.to_le_bytes());
            assert_eq!(allocated(|| Node::decode(&bytes).map(|_| ())), 0);
        }
    }
    let deep = vec![b'['; 100_000];
    assert_eq!(allocated(|| skip_value(&deep, 0)), 0);
    let pointer = Pointer::parse("/0/0/0").unwrap();
    assert_eq!(allocated(|| pointer.find(&deep)), 0);
    assert_eq!(allocated(|| ChunkKind::decode(&deep)), 0);
}

/// Makes the table of a segment of `chunks` chunks of one byte each, with hashes that no other `segment` has.
fn table_of(segment: u32, chunks: u32) -> Table {
    let mut bytes = with(&table(&[1])[..12], 8, &chunks.to_le_bytes());
    for chunk in 0..chunks {
        let number = (u64::from(segment) << 32 | u64::from(chunk)).to_le_bytes();
        bytes.extend_from_slice(&Hash::of(&number).0);
    }
    (1..=chunks).for_each(|end| bytes.extend_from_slice(&end.to_le_bytes()));
    (0..chunks).for_each(|_| bytes.extend_from_slice(&1_u32.to_le_bytes()));
    Table::decode(bytes).expect("a table")
}

/// Adds tables as an opening does. Linear memory never shrinks, so all allocations count, freed or not.
#[test]
fn a_known_chunk_takes_its_place_in_a_table_and_at_most_25_bytes() {
    const IN_SEGMENT: u32 = 128;
    // Half full, and just after the places have doubled.
    for segments in [700_u32, 897, 1400] {
        let chunks = (segments * IN_SEGMENT) as usize;
        let tables: Vec<_> = (0..segments).map(|id| table_of(id, IN_SEGMENT)).collect();
        let asked = allocated(|| {
            let mut cache = Cache::new(1 << 20);
            cache.reserve(chunks);
            for (id, table) in (0..).zip(tables) {
                cache.add_table(id, table);
            }
            cache
        });
        assert!(asked <= 25 * chunks, "{asked} bytes for {chunks} chunks");
    }
}

//! Segments with packed chunks: reads of them, the chunks that stay in memory, and the effects of damage.

use crate::cases::cases;
use hedgerow::cache::{Cache, Fetch, Want};
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::node::Node;
use hedgerow::segment::{Sealed, Table};
use hedgerow_support::host::seal;
use hedgerow_support::layout;
use hedgerow_support::rows::noise;
use proptest::prelude::*;

/// Makes a leaf of about 2 KiB that nearly half repeats.
fn leaf(number: usize) -> Vec<u8> {
    let once = noise(number, 1000);
    layout::leaf(&[(0, b"a", once.as_bytes()), (0, b"b", once.as_bytes())])
}

struct Made {
    chunks: Vec<Vec<u8>>,
    hashes: Vec<Hash>,
    sealed: Sealed,
}

fn segment(chunks: Vec<Vec<u8>>) -> Made {
    let all: Vec<_> = chunks.iter().map(Vec::as_slice).collect();
    let (hashes, mut sealed) = seal(&all);
    assert_eq!(sealed.len(), 1);
    Made { hashes, sealed: sealed.remove(0), chunks }
}

fn leaves(first: usize, count: usize) -> Made {
    segment((first..first + count).map(leaf).collect())
}

fn here(cache: &Cache, hash: &Hash) -> bool {
    matches!(cache.any(hash), Ok(Fetch::Here(_)))
}

fn part(table: &Table, at: usize) -> Want {
    let range = table.range(at);
    Want::part_of(1, range.start as u32, range.end as u32)
}

/// Reads all chunks of `made`, and compares them.
fn read_all(cache: &Cache, made: &Made) {
    for (hash, chunk) in made.hashes.iter().zip(&made.chunks) {
        assert_eq!(cache.any(hash), Ok(Fetch::Here(&chunk[..])));
    }
}

#[test]
fn a_table_tells_the_length_of_a_chunk_and_where_its_packed_form_is() {
    let made = segment(vec![leaf(1), b"short".to_vec(), leaf(2), noise(3, 3000).into_bytes()]);
    let table = Table::decode(made.sealed.table.bytes().to_vec()).unwrap();
    let packed: Vec<_> = (0..4).map(|at| table.is_packed(at)).collect();
    assert_eq!(packed, [true, false, true, false]);
    assert_eq!(made.sealed.bytes.len(), table.segment_len());
    for (at, chunk) in made.chunks.iter().enumerate() {
        assert_eq!(table.chunk_len(at), chunk.len());
        assert_eq!(&*table.chunk(&made.sealed.bytes, at), &chunk[..]);
    }
    // A segment that was cut off lacks the last chunk.
    let short = &made.sealed.bytes[..table.segment_len() - 1];
    assert_eq!((&*table.chunk(short, 2), &*table.chunk(short, 3)), (&made.chunks[2][..], &[][..]));
}

#[test]
fn a_part_is_unpacked_as_it_is_loaded_and_a_whole_as_it_is_read() {
    let made = leaves(0, 100);
    let table = &made.sealed.table;
    let stored = made.sealed.bytes.len();
    let mut cache = Cache::new(4 << 20);
    cache.set_request_cost(0);
    cache.add_table(1, table.clone());
    let want = part(table, 7);
    cache.load(want, made.sealed.bytes[table.range(7)].to_vec());
    assert_eq!(cache.any(&made.hashes[7]), Ok(Fetch::Here(&made.chunks[7][..])));
    assert_eq!(cache.held_bytes(), made.chunks[7].len());
    cache.load(Want::whole_of(1), made.sealed.bytes.clone());
    assert_eq!(cache.held_bytes(), stored);
    for read in 1..=2 {
        assert_eq!(cache.any(&made.hashes[9]), Ok(Fetch::Here(&made.chunks[9][..])));
        assert_eq!(cache.held_bytes(), stored + made.chunks[9].len(), "read {read} times");
    }
    read_all(&cache, &made);
    let unpacked: usize = made.chunks.iter().map(Vec::len).sum();
    assert_eq!(cache.held_bytes(), stored + unpacked);
    cache.settle();
    assert_eq!(cache.held_bytes(), stored + unpacked, "there is room");
    cache.remove(1);
    assert_eq!(cache.held_bytes(), 0);
}

#[test]
fn whether_a_chunk_is_in_memory_is_told_without_unpacking_it() {
    let made = leaves(0, 10);
    let mut cache = Cache::new(4 << 20);
    cache.add_table(1, made.sealed.table.clone());
    cache.load(Want::whole_of(1), made.sealed.bytes.clone());
    for at in 0..10 {
        assert_eq!(cache.missing(&made.hashes[at]), Ok(None));
        assert!(!cache.lacks(part(&made.sealed.table, at)));
    }
    assert_eq!(cache.held_bytes(), made.sealed.bytes.len());
}

#[test]
fn unpacked_chunks_leave_before_what_is_stored_and_are_unpacked_again() {
    const BUDGET: usize = 8 << 20;
    let made: Vec<_> = (0..24).map(|id| leaves(id * 1000, 300)).collect();
    let stored: usize = made.iter().map(|made| made.sealed.bytes.len()).sum();
    assert!(stored < BUDGET && stored + stored / 2 > BUDGET, "{stored}");
    let mut cache = Cache::new(BUDGET);
    for (id, made) in (1..).zip(&made) {
        cache.add_table(id, made.sealed.table.clone());
        cache.load(Want::whole_of(id), made.sealed.bytes.clone());
    }
    assert_eq!(cache.held_bytes(), stored);
    let mut most = 0;
    for _ in 0..2 {
        for made in &made {
            read_all(&cache, made);
            cache.settle();
            most = most.max(cache.held_bytes());
            assert!(cache.held_bytes() <= BUDGET.max(stored + (1 << 20)));
        }
    }
    assert!(most > stored + (1 << 19), "{most}");
    assert!((1..=24).all(|id| !cache.wants(id)), "all of it stays");
    // The chunks used last are still there: reading them does not allocate.
    let held = cache.held_bytes();
    read_all(&cache, &made[23]);
    assert_eq!(cache.held_bytes(), held);
    read_all(&cache, &made[0]);
    assert!(cache.held_bytes() > held);
}

#[test]
fn a_damaged_packed_chunk_is_told_and_the_others_are_read() {
    let made = leaves(0, 50);
    let table = &made.sealed.table;
    let corrupt = Err(Error::CorruptChunk { hash: made.hashes[20], cause: None });
    let mut harmless = 0;
    for flip in table.range(20) {
        let mut bytes = made.sealed.bytes.clone();
        bytes[flip] ^= 1;
        let mut cache = Cache::new(4 << 20);
        cache.add_table(1, table.clone());
        cache.load(Want::whole_of(1), bytes.clone());
        let read = cache.any(&made.hashes[20]);
        // Another match may unpack to the same bytes: then no harm was done.
        if read == Ok(Fetch::Here(&made.chunks[20][..])) {
            harmless += 1;
            continue;
        }
        assert_eq!(read, corrupt, "whole, {flip}");
        assert!(here(&cache, &made.hashes[19]) && here(&cache, &made.hashes[21]));
        let mut cache = Cache::new(4 << 20);
        cache.add_table(1, table.clone());
        cache.load(part(table, 20), bytes[table.range(20)].to_vec());
        assert!(!here(&cache, &made.hashes[20]), "part, {flip}");
        // The segment is asked for again, and may then be sound.
        cache.remove(1);
        cache.add_table(1, table.clone());
        cache.load(part(table, 20), made.sealed.bytes[table.range(20)].to_vec());
        assert!(here(&cache, &made.hashes[20]));
    }
    assert!(harmless < 9, "{harmless} of {}", table.range(20).len());
}

#[test]
fn a_table_that_lies_about_a_length_makes_its_chunk_unreadable_and_no_other() {
    let made = leaves(0, 3);
    let table = made.sealed.table.bytes();
    let lens = table.len() - 3 * 4;
    let stored = made.sealed.table.range(1).len() as u32;
    for len in [stored, stored + 1, made.chunks[1].len() as u32 - 1, 65_538] {
        let mut bytes = table.to_vec();
        bytes[lens + 4..lens + 8].copy_from_slice(&len.to_le_bytes());
        let mut cache = Cache::new(4 << 20);
        cache.add_table(1, Table::decode(bytes).expect("a table of that form"));
        cache.load(Want::whole_of(1), made.sealed.bytes.clone());
        assert!(cache.any(&made.hashes[1]).is_err(), "{len}");
        assert!(here(&cache, &made.hashes[0]) && here(&cache, &made.hashes[2]), "{len}");
    }
}

/// Makes the table of a segment of one packed chunk.
fn table_of_one(stored: usize, chunk: usize) -> Table {
    let mut bytes = layout::table(&[stored as u32]);
    let at = bytes.len() - 4;
    bytes[at..].copy_from_slice(&(chunk as u32).to_le_bytes());
    Table::decode(bytes).expect("a table")
}

/// Makes chunks of all kinds of text and noise, of every length at which a rule of LZ4 begins or ends.
fn texts() -> impl Iterator<Item = Vec<u8>> {
    let lens = (120..400).chain([4090, 4096, 8191, 65_534, 65_535, 65_536, 65_538]);
    lens.flat_map(|len| {
        let words = |at: usize| [&b"name"[..], b"city", b"the ", b"x", b"of"][at * at % 5];
        [
            vec![7; len],
            (0..len).map(|at| (at % 3) as u8).collect(),
            (0..len).map(|at| (at % 260 / 2) as u8).collect(),
            (0..len).flat_map(words).copied().take(len).collect(),
            [noise(len, len / 2).as_bytes(), &noise(len, len)[..].as_bytes()[..len / 2]].concat(),
        ]
    })
}

#[test]
fn packed_chunks_are_blocks_that_another_lz4_reads_and_the_other_way_round() {
    let mut packed = 0;
    for chunk in texts() {
        let made = segment(vec![chunk.clone()]);
        if made.sealed.table.is_packed(0) {
            let theirs = lz4_flex::block::decompress(&made.sealed.bytes, chunk.len());
            assert_eq!(theirs.expect("a block"), chunk);
            packed += 1;
        }
        let block = lz4_flex::block::compress(&chunk);
        if block.len() < chunk.len() && chunk.len() <= 65_538 {
            let table = table_of_one(block.len(), chunk.len());
            assert!(*table.chunk(&block, 0) == chunk[..], "{} bytes", chunk.len());
        }
    }
    assert!(packed > 900, "{packed}");
}

proptest! {
    #![proptest_config(cases(if cfg!(miri) { 2 } else { 200 }))]

    /// Nodes of any rows are the same, packed or not.
    #[test]
    fn what_is_read_is_what_was_packed(
        rows in prop::collection::btree_map("[a-z]{1,9}", "[ab]{0,40}|[a-z ]{0,300}", 1..40),
        others in prop::collection::vec(any::<u8>(), 1..3000),
    ) {
        let values: Vec<_> = rows.values().map(|value| format!("\"{value}\"")).collect();
        let records: Vec<_> =
            rows.keys().zip(&values).map(|(key, value)| (0, key.as_bytes(), value.as_bytes())).collect();
        let made = segment(vec![layout::leaf(&records), others]);
        let table = &made.sealed.table;
        for (at, chunk) in made.chunks.iter().enumerate() {
            prop_assert_eq!(&*table.chunk(&made.sealed.bytes, at), &chunk[..]);
            prop_assert!(table.range(at).len() <= chunk.len());
        }
        let mut cache = Cache::new(1 << 20);
        cache.add_table(1, table.clone());
        cache.load(Want::whole_of(1), made.sealed.bytes.clone());
        let Ok(Fetch::Here(Node::Leaf(leaf))) = cache.node(&made.hashes[0]) else {
            return Err(TestCaseError::fail("no leaf"));
        };
        prop_assert_eq!(leaf.len(), rows.len());
    }
}

//! Strict decoding: good chunks with exactly one fault each, built byte by byte. Every fault
//! is refused where it is, whatever stands around it, and hostile counts allocate nothing.

// The allocator that counts is unsafe to implement; it hands everything on to the system's.
#![allow(unsafe_code)]

mod common;

use common::{Host, issue};
use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch};
use hedgerow::chunk::{ChunkKind, VERSION, piece, piece_list};
use hedgerow::error::{DecodeError, Error, Field};
use hedgerow::forest::{Forest, ROWS};
use hedgerow::hash::Hash;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::json::{Pointer, skip_value};
use hedgerow::limits::{
    MAX_CHUNK_BYTES, MAX_INLINE_VALUE_BYTES, MAX_KEY_BYTES, MAX_LEVEL, MAX_SEGMENT_CHUNKS,
    MAX_TREES, MAX_VALUE_BYTES, PIECE_BYTES,
};
use hedgerow::node::Node;
use hedgerow::output::Output;
use hedgerow::segment::{Packer, Sealed, Stream, Table};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Census, Count, Diff, Find, Parts, Range, Scan, Tree, get};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

// --- chunks, byte by byte ---

const FAR: u16 = 1 << 15;
const BYTES: u16 = 1 << 14;
const MAX_CHUNK: u64 = MAX_CHUNK_BYTES as u64;
const MAX_VALUE: u64 = MAX_VALUE_BYTES as u64;

/// A leaf of records: the tag bits, the key and the value of each.
fn leaf(records: &[(u16, &[u8], &[u8])]) -> Vec<u8> {
    let (mut ends, mut body) = (Vec::new(), Vec::new());
    for (tag, key, value) in records {
        body.extend_from_slice(&(tag | key.len() as u16).to_le_bytes());
        body.extend_from_slice(key);
        body.extend_from_slice(value);
        ends.extend_from_slice(&(body.len() as u16).to_le_bytes());
    }
    let count = (records.len() as u16).to_le_bytes();
    [&[0, VERSION][..], &count, &ends, &body].concat()
}

/// An internal node of children: the last key, the cumulative count and the hash of each.
fn inner(level: u8, children: &[(&[u8], u64, Hash)]) -> Vec<u8> {
    let (mut ends, mut counts, mut hashes, mut keys) = (vec![], vec![], vec![], vec![]);
    for (key, count, hash) in children {
        keys.extend_from_slice(key);
        ends.extend_from_slice(&(keys.len() as u16).to_le_bytes());
        counts.extend_from_slice(&count.to_le_bytes());
        hashes.extend_from_slice(&hash.0);
    }
    let count = (children.len() as u16).to_le_bytes();
    [&[level, VERSION][..], &count, &ends, &counts, &hashes, &keys].concat()
}

fn far(len: u32) -> Vec<u8> {
    [&len.to_le_bytes()[..], &[7; 32]].concat()
}

/// A commit of trees: the name, the count and the root of each.
fn commit(trees: &[(&[u8], u64, Hash)]) -> Vec<u8> {
    let mut bytes = vec![0xc0, VERSION];
    bytes.extend_from_slice(&(trees.len() as u16).to_le_bytes());
    for (name, count, root) in trees {
        bytes.push(name.len() as u8);
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(&count.to_le_bytes());
        bytes.extend_from_slice(&root.0);
    }
    bytes
}

/// A table of chunks that end at `ends`.
fn table(ends: &[u32]) -> Vec<u8> {
    let mut bytes = b"HDGT\x01\0\0\0".to_vec();
    bytes.extend_from_slice(&(ends.len() as u32).to_le_bytes());
    bytes.resize(bytes.len() + 32 * ends.len(), 9);
    bytes.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
    bytes
}

/// `bytes` with other bytes at `at`.
fn with(bytes: &[u8], at: usize, other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + other.len()].copy_from_slice(other);
    bytes
}

/// `bytes` with `more` after them.
fn and(bytes: &[u8], more: &[u8]) -> Vec<u8> {
    [bytes, more].concat()
}

// --- what is expected ---

type Facts = (Field, usize, u64, u64);

fn facts<T>(result: Result<T, DecodeError>) -> Option<Facts> {
    result.err().map(|error| (error.field, error.offset, error.expected, error.got))
}

/// A name, the bytes, and the facts that the error must state.
type Case = (&'static str, Vec<u8>, Facts);

fn check(decode: impl Fn(&[u8]) -> Option<Facts>, good: &[u8], cases: &[Case]) {
    assert_eq!(decode(good), None, "the good one");
    for (name, bytes, expected) in cases {
        assert_eq!(decode(bytes), Some(*expected), "{name}");
    }
}

/// Faults of the first two bytes, which all chunks of a kind share.
fn header_cases(good: &[u8], expected: u8, other: u8) -> Vec<Case> {
    let (expected, got) = (expected.into(), other.into());
    let unknown = (Field::Kind, 0, MAX_LEVEL.into(), 0xee);
    vec![
        ("no bytes", vec![], (Field::Length, 0, 2, 0)),
        ("one byte", good[..1].to_vec(), (Field::Length, 0, 2, 1)),
        ("another kind", with(good, 0, &[other]), (Field::Kind, 0, expected, got)),
        ("an unknown kind", with(good, 0, &[0xee]), unknown),
        ("version 0", with(good, 1, &[0]), (Field::Version, 1, 1, 0)),
        ("version 2", with(good, 1, &[2]), (Field::Version, 1, 1, 2)),
    ]
}

// --- leaves ---

/// Records at 10..14 (`a`), 14..20 (`bb`) and 20..59 (`c`, a far value), after offsets at
/// 4, 6 and 8.
fn good_leaf() -> Vec<u8> {
    leaf(&[(0, b"a", b"1"), (BYTES, b"bb", b"22"), (FAR, b"c", &far(5000))])
}

#[test]
fn a_leaf_with_one_fault_is_refused() {
    let good = good_leaf();
    assert_eq!(good.len(), 59);
    let key = [b'k'; MAX_KEY_BYTES + 1];
    let value = [b'1'; MAX_INLINE_VALUE_BYTES + 1];
    let two = |first: &[u8], second: &[u8]| leaf(&[(0, first, b"1"), (0, second, b"2")]);
    let far_of = |len: usize| leaf(&[(FAR, b"c", &far(len as u32))]);
    let mut cases = header_cases(&good, 0, 0xc0);
    cases.extend([
        ("no entries", with(&good, 2, &[0, 0]), (Field::Count, 2, 1, 0)),
        ("more entries than fit", with(&good, 2, &[28, 0]), (Field::Length, 2, 60, 59)),
        ("the most entries", with(&good, 2, &[255, 255]), (Field::Length, 2, 131_074, 59)),
        ("an offset of nothing", with(&good, 4, &[0, 0]), (Field::Offset, 4, 2, 0)),
        ("room for half a head", with(&good, 4, &[1, 0]), (Field::Offset, 4, 2, 1)),
        ("equal offsets", with(&good, 6, &[4, 0]), (Field::Offset, 6, 6, 4)),
        ("descending offsets", with(&good, 6, &[3, 0]), (Field::Offset, 6, 6, 3)),
        ("an offset just beyond the end", with(&good, 8, &[50, 0]), (Field::Offset, 8, 12, 50)),
        ("an offset far beyond", with(&good, 6, &[255, 255]), (Field::Offset, 6, 6, 65_535)),
        ("a last offset too early", with(&good, 8, &[48, 0]), (Field::ValueLength, 23, 36, 35)),
        ("a key beyond its record", with(&good, 10, &[3, 0]), (Field::KeyLength, 10, 2, 3)),
        ("the longest key length", with(&good, 10, &[255, 63]), (Field::KeyLength, 10, 2, 16_383)),
        (
            "a key of 1025 bytes",
            leaf(&[(0, &key, b"1")]),
            (Field::KeyLength, 6, MAX_KEY_BYTES as u64, 1025),
        ),
        ("a byte that starts nothing", with(&good, 17, &[0xff]), (Field::KeyText, 17, 2, 1)),
        ("half a character", with(&good, 16, &[0xc3]), (Field::KeyText, 16, 2, 0)),
        ("a surrogate", leaf(&[(0, b"\xed\xa0\x80", b"1")]), (Field::KeyText, 8, 3, 0)),
        ("equal keys", two(b"a", b"a"), (Field::KeyOrder, 14, 0, 1)),
        ("descending keys", two(b"b", b"aa"), (Field::KeyOrder, 14, 0, 2)),
        ("a key before its prefix", two(b"aa", b"a"), (Field::KeyOrder, 15, 0, 1)),
        ("two empty keys", two(b"", b""), (Field::KeyOrder, 13, 0, 0)),
        (
            "a far address too short",
            leaf(&[(FAR, b"c", &far(5000)[..35])]),
            (Field::ValueLength, 9, 36, 35),
        ),
        (
            "a far address too long",
            leaf(&[(FAR | BYTES, b"c", &and(&far(5000), b"x"))]),
            (Field::ValueLength, 9, 36, 37),
        ),
        ("a far value of nothing", far_of(0), (Field::ValueLength, 9, MAX_VALUE, 0)),
        (
            "a far value that would fit inline",
            far_of(MAX_INLINE_VALUE_BYTES),
            (Field::ValueLength, 9, MAX_VALUE, MAX_INLINE_VALUE_BYTES as u64),
        ),
        (
            "a far value too large",
            far_of(MAX_VALUE_BYTES + 1),
            (Field::ValueLength, 9, MAX_VALUE, MAX_VALUE + 1),
        ),
        (
            "an inline value too large",
            leaf(&[(0, b"c", &value)]),
            (Field::ValueLength, 9, MAX_INLINE_VALUE_BYTES as u64, 4097),
        ),
        ("a byte left over", and(&good, b"x"), (Field::Length, 59, 59, 60)),
        ("many bytes left over", and(&good, &[0; 900]), (Field::Length, 59, 59, 959)),
        (
            "more than a chunk holds",
            and(&good, &vec![0; MAX_CHUNK_BYTES]),
            (Field::Length, 0, MAX_CHUNK, MAX_CHUNK + 59),
        ),
    ]);
    check(|bytes| facts(Node::decode(bytes)), &good, &cases);
}

#[test]
fn a_leaf_at_its_limits_is_taken() {
    let key = [b'k'; MAX_KEY_BYTES];
    let value = [b'1'; MAX_INLINE_VALUE_BYTES];
    for bytes in [
        leaf(&[(0, b"", b"")]),
        leaf(&[(BYTES, &key, &value)]),
        leaf(&[(FAR, b"", &far(MAX_INLINE_VALUE_BYTES as u32 + 1))]),
        leaf(&[(FAR | BYTES, b"", &far(MAX_VALUE_BYTES as u32))]),
    ] {
        assert_eq!(facts(Node::decode(&bytes)), None);
    }
}

#[test]
fn a_leaf_cut_anywhere_is_refused() {
    let good = good_leaf();
    // Each entry's offset, where its record ends, and the least that could stand there.
    let records = [(4, 4, 2), (6, 10, 6), (8, 49, 12)];
    for cut in 0..good.len() {
        let got = cut as u64;
        let expected = match cut {
            0..2 => (Field::Length, 0, 2, got),
            2..4 => (Field::Length, 0, MAX_CHUNK, got),
            4..10 => (Field::Length, 2, 10, got),
            _ => {
                let (at, end, least) = *records.iter().find(|(_, end, _)| 10 + end > cut).unwrap();
                (Field::Offset, at, least, end as u64)
            }
        };
        assert_eq!(facts(Node::decode(&good[..cut])), Some(expected), "cut at {cut}");
    }
}

// --- internal nodes ---

/// Offsets at 4 and 6, counts at 8 and 16, hashes at 24 and 56, keys at 88 and 89.
fn good_inner() -> Vec<u8> {
    inner(1, &[(b"b", 3, Hash([1; 32])), (b"dd", 5, Hash([2; 32]))])
}

#[test]
fn an_internal_node_with_one_fault_is_refused() {
    let good = good_inner();
    assert_eq!(good.len(), 91);
    let hash = Hash([1; 32]);
    let key = [b'k'; MAX_KEY_BYTES + 1];
    let two = |first: &[u8], second: &[u8]| inner(1, &[(first, 1, hash), (second, 2, hash)]);
    let mut cases = header_cases(&good, 0, 0xc0);
    cases.extend([
        ("a level too high", with(&good, 0, &[41]), (Field::Kind, 0, 40, 41)),
        ("no children", with(&good, 2, &[0, 0]), (Field::Count, 2, 1, 0)),
        ("one child too many", with(&good, 2, &[3, 0]), (Field::Length, 2, 130, 91)),
        ("more offsets than fit", with(&good, 2, &[44, 0]), (Field::Length, 2, 92, 91)),
        ("the most children", with(&good, 2, &[255, 255]), (Field::Length, 2, 131_074, 91)),
        ("descending offsets", with(&good, 6, &[0, 0]), (Field::Offset, 6, 1, 0)),
        ("an offset beyond the end", with(&good, 6, &[4, 0]), (Field::Offset, 6, 1, 4)),
        ("an offset far beyond", with(&good, 4, &[255, 255]), (Field::Offset, 4, 0, 65_535)),
        ("a last offset too early", with(&good, 6, &[2, 0]), (Field::Length, 90, 90, 91)),
        (
            "a key of 1025 bytes",
            inner(1, &[(&key, 1, hash)]),
            (Field::KeyLength, 4, MAX_KEY_BYTES as u64, 1025),
        ),
        ("a first child of nothing", with(&good, 8, &[0]), (Field::EntryCount, 8, 1, 0)),
        ("a count that stays", with(&good, 16, &[3]), (Field::EntryCount, 16, 4, 3)),
        ("a count that falls", with(&good, 16, &[2]), (Field::EntryCount, 16, 4, 2)),
        ("a byte that starts nothing", with(&good, 90, &[0xff]), (Field::KeyText, 90, 2, 1)),
        ("half a character", with(&good, 88, &[0xc3]), (Field::KeyText, 88, 1, 0)),
        ("equal keys", two(b"b", b"b"), (Field::KeyOrder, 89, 0, 1)),
        ("descending keys", two(b"bb", b"b"), (Field::KeyOrder, 90, 0, 1)),
        ("two empty keys", two(b"", b""), (Field::KeyOrder, 88, 0, 0)),
        ("a byte left over", and(&good, b"x"), (Field::Length, 91, 91, 92)),
        (
            "more than a chunk holds",
            and(&good, &vec![0; MAX_CHUNK_BYTES]),
            (Field::Length, 0, MAX_CHUNK, MAX_CHUNK + 91),
        ),
    ]);
    check(|bytes| facts(Node::decode(bytes)), &good, &cases);
}

#[test]
fn an_internal_node_may_have_any_level_up_to_the_highest() {
    for level in 1..=MAX_LEVEL {
        let bytes = with(&good_inner(), 0, &[level]);
        assert_eq!(Node::decode(&bytes).map(|node| node.level()), Ok(level));
    }
}

#[test]
fn no_count_follows_the_highest() {
    let hash = Hash([1; 32]);
    for second in [0, 1, u64::MAX] {
        let bytes = inner(1, &[(b"b", u64::MAX, hash), (b"d", second, hash)]);
        let (field, ..) = facts(Node::decode(&bytes)).expect("a fault");
        assert_eq!(field, Field::EntryCount);
    }
}

#[test]
fn an_internal_node_cut_anywhere_is_refused() {
    let good = good_inner();
    for cut in 0..good.len() {
        let got = cut as u64;
        let expected = match cut {
            0..2 => (Field::Length, 0, 2, got),
            2..4 => (Field::Length, 0, MAX_CHUNK, got),
            4..8 => (Field::Length, 2, 8, got),
            8..88 => (Field::Length, 2, 88, got),
            88 => (Field::Offset, 4, 0, 1),
            _ => (Field::Offset, 6, 1, 3),
        };
        assert_eq!(facts(Node::decode(&good[..cut])), Some(expected), "cut at {cut}");
    }
}

// --- commits ---

/// Trees at 4..46 (`r`) and 46..90 (`sum`).
fn good_commit() -> Vec<u8> {
    commit(&[(b"r", 3, Hash([1; 32])), (b"sum", 2, Hash([2; 32]))])
}

#[test]
fn a_commit_with_one_fault_is_refused() {
    let good = good_commit();
    assert_eq!(good.len(), 90);
    let hash = Hash([1; 32]);
    let two = |first: &[u8], second: &[u8]| commit(&[(first, 1, hash), (second, 1, hash)]);
    let mut cases = header_cases(&good, 0xc0, 0);
    cases.extend([
        ("too many trees", with(&good, 2, &[1, 4]), (Field::Count, 2, MAX_TREES as u64, 1025)),
        ("one tree too many", with(&good, 2, &[3, 0]), (Field::Length, 90, 91, 90)),
        ("one tree too few", with(&good, 2, &[1, 0]), (Field::Length, 46, 46, 90)),
        ("no tree", with(&good, 2, &[0, 0]), (Field::Count, 2, MAX_TREES as u64, 0)),
        ("a name beyond the end", with(&good, 46, &[255]), (Field::Length, 46, 342, 90)),
        ("a name one byte too long", with(&good, 46, &[4]), (Field::Length, 46, 91, 90)),
        ("a name one byte too short", with(&good, 46, &[2]), (Field::Length, 89, 89, 90)),
        ("half a character", with(&good, 5, &[0xc3]), (Field::KeyText, 5, 1, 0)),
        ("a byte that starts nothing", with(&good, 48, &[0xff]), (Field::KeyText, 48, 3, 1)),
        ("equal names", two(b"r", b"r"), (Field::KeyOrder, 47, 0, 1)),
        ("descending names", two(b"s", b"r"), (Field::KeyOrder, 47, 0, 1)),
        ("no entries under a root", with(&good, 6, &[0]), (Field::EntryCount, 6, 0, 0)),
        ("entries under no root", with(&good, 58, &[0; 32]), (Field::EntryCount, 50, 0, 2)),
        ("an empty tree", commit(&[(b"r", 0, Hash::ZERO)]), (Field::EntryCount, 6, 0, 0)),
        ("a byte left over", and(&good, b"x"), (Field::Length, 90, 90, 91)),
    ]);
    check(|bytes| facts(Forest::decode(bytes)), &good, &cases);
    for cut in 0..good.len() {
        let expected = match cut {
            0..2 => (Field::Length, 0, 2),
            2..4 => (Field::Length, 2, 4),
            4 => (Field::Length, 4, 5),
            5..46 => (Field::Length, 4, 46),
            46 => (Field::Length, 46, 47),
            _ => (Field::Length, 46, 90),
        };
        let (field, offset, least) = expected;
        let expected = Some((field, offset, least, cut as u64));
        assert_eq!(facts(Forest::decode(&good[..cut])), expected, "cut at {cut}");
    }
    assert!(Forest::decode(&commit(&[(&[b'n'; 255], 1, hash)])).is_ok());
}

// --- tables ---

#[test]
fn a_table_with_one_fault_is_refused() {
    // Hashes at 12 and 44, ends at 76 and 80.
    let good = table(&[5, 9]);
    assert_eq!(good.len(), 84);
    let magic = u64::from(u32::from_le_bytes(*b"HDGT"));
    let other = u64::from(u32::from_le_bytes(*b"HDGX"));
    let most = MAX_SEGMENT_CHUNKS as u64;
    let mut cases: Vec<Case> = vec![
        ("another magic", with(&good, 3, b"X"), (Field::Kind, 0, magic, other)),
        ("version 0", with(&good, 4, &[0]), (Field::Version, 4, 1, 0)),
        ("version 2", with(&good, 4, &[2]), (Field::Version, 4, 1, 2)),
        ("a byte beside the version", with(&good, 7, &[1]), (Field::Version, 4, 1, 0x0100_0001)),
        ("no chunks", with(&good, 8, &[0]), (Field::Count, 8, most, 0)),
        ("too many chunks", with(&good, 8, &[1, 0, 2]), (Field::Count, 8, most, most + 1)),
        ("the most chunks", with(&good, 8, &[255; 4]), (Field::Count, 8, most, 0xffff_ffff)),
        ("as many as there may be", with(&good, 8, &[0, 0, 2]), (Field::Length, 8, 4_718_604, 84)),
        ("one chunk too many", with(&good, 8, &[3]), (Field::Length, 8, 120, 84)),
        ("one chunk too few", with(&good, 8, &[1]), (Field::Length, 8, 48, 84)),
        ("an empty first chunk", table(&[0, 9]), (Field::Offset, 76, 1, 0)),
        ("an empty chunk", table(&[5, 5]), (Field::Offset, 80, 6, 5)),
        ("descending ends", table(&[5, 4]), (Field::Offset, 80, 6, 4)),
        ("a byte left over", and(&good, b"x"), (Field::Length, 8, 84, 85)),
    ];
    for cut in 0..good.len() {
        let at = if cut < 12 { (0, 12) } else { (8, 84) };
        cases.push(("cut", good[..cut].to_vec(), (Field::Length, at.0, at.1, cut as u64)));
    }
    check(|bytes| facts(Table::decode(bytes.to_vec())), &good, &cases);
    assert!(Table::decode(table(&[1, u32::MAX])).is_ok());
}

// --- pieces and their lists ---

#[test]
fn a_piece_with_one_fault_is_refused() {
    let good = vec![0xe0, VERSION, 7];
    let most = PIECE_BYTES as u64;
    let large = and(&good, &vec![7; PIECE_BYTES]);
    let mut cases = header_cases(&good, 0xe0, 0xe1);
    cases.extend([
        ("an empty piece", good[..2].to_vec(), (Field::Length, 2, most, 0)),
        ("a byte too many", large.clone(), (Field::Length, 2, most, most + 1)),
    ]);
    check(|bytes| facts(piece(bytes)), &good, &cases);
    assert_eq!(piece(&large[..large.len() - 1]).map(<[u8]>::len), Ok(PIECE_BYTES));
}

#[test]
fn a_list_of_pieces_with_one_fault_is_refused() {
    let good = [&[0xe1, VERSION][..], &[7; 64]].concat();
    let mut cases = header_cases(&good, 0xe1, 0xe0);
    cases.extend([
        ("a hash too many", and(&good, &[7; 32]), (Field::Length, 2, 64, 96)),
        ("a hash too few", good[..34].to_vec(), (Field::Length, 2, 64, 32)),
        ("a byte too many", and(&good, b"x"), (Field::Length, 2, 64, 65)),
        ("a byte too few", good[..65].to_vec(), (Field::Length, 2, 64, 63)),
        ("no hash", good[..2].to_vec(), (Field::Length, 2, 64, 0)),
    ]);
    check(|bytes| facts(piece_list(bytes, 2 * PIECE_BYTES)), &good, &cases);
    for (len, hashes) in [(PIECE_BYTES, 1), (2 * PIECE_BYTES + 1, 3), (0, 0)] {
        let expected = Some((Field::Length, 2, 32 * hashes, 64));
        assert_eq!(facts(piece_list(&good, len)), expected, "for {len} bytes");
    }
    assert_eq!(facts(piece_list(&good, usize::MAX)), Some((Field::Length, 2, 32 * 1024, 64)));
}

// --- chunks in a cache ---

/// A cache that knows `chunks`, all in one stored segment that is loaded.
fn cache(chunks: &[&[u8]]) -> (Cache, Vec<Hash>) {
    let mut packer = Packer::new();
    let put = |chunk: &&[u8]| packer.put(Stream::Leaf, |out| out.extend_from_slice(chunk));
    let hashes = chunks.iter().map(put).collect();
    packer.seal();
    let mut cache = Cache::new(64 << 20);
    for Sealed { bytes, table } in packer.take_sealed() {
        cache.add_table(1, table);
        cache.load(1, bytes);
    }
    (cache, hashes)
}

fn cause(error: Error) -> (Hash, Option<Facts>) {
    match error {
        Error::CorruptChunk { hash, cause } => (hash, cause.and_then(|c| facts::<()>(Err(c)))),
        other => panic!("{other}"),
    }
}

fn failed<T>(result: Result<T, Error>) -> (Hash, Option<Facts>) {
    cause(result.err().expect("an error"))
}

/// Descends into the second child of a parent that says `what` of it; every operation that
/// does must fail with the same error.
fn descend(level: u8, child: &[u8], key: &[u8], count: u64) -> Facts {
    let first = leaf(&[(0, b"a", b"1"), (0, b"b", b"2")]);
    let hashes = [Hash::of(&first), Hash::of(child)];
    let parent = inner(level, &[(b"b", 2, hashes[0]), (key, 2 + count, hashes[1])]);
    let (cache, hashes) = cache(&[&first, child, &parent]);
    let tree = Tree { root: hashes[2], count: 2 + count };
    let wanted = &b"c"[..];
    let mut budget = Budget::of(usize::MAX);
    let (mut out, mut found) = (Output::new(), Vec::new());
    let parts = Parts { keys: true, values: true };
    let range = || Range { lower: std::ops::Bound::Included(wanted.to_vec()), ..Range::ALL };
    let mut forest = Forest::new();
    forest.set(ROWS, tree);
    let mut ingest = Ingest::new(forest, Vec::new(), Shape::with_target(128));
    ingest.feed(b"[\"c\",1]".to_vec(), 7, Vec::new(), Format::Pairs);
    ingest.step(&cache, &mut budget).expect("only parsing");
    ingest.finish();
    let changed = loop {
        match ingest.step(&cache, &mut budget) {
            Ok(_) => assert!(ingest.committed().is_none(), "a commit"),
            Err(error) => break cause(error),
        }
    };
    let errors = [
        failed(get(&cache, tree, wanted)),
        failed(Find::new(tree, [wanted]).step(&cache, &mut budget, &mut out, &mut found)),
        failed(Scan::new(tree, range(), false, 9, parts).step(&cache, &mut budget, &mut out)),
        failed(Scan::new(tree, range(), true, 9, parts).step(&cache, &mut budget, &mut out)),
        failed(Count::new(tree, range()).step(&cache)),
        changed,
    ];
    let facts = errors[0].1.expect("a cause");
    assert_eq!(errors, [(hashes[1], Some(facts)); 6]);
    facts
}

#[test]
fn a_child_that_is_not_what_its_parent_says_is_refused_on_descent() {
    let child = leaf(&[(0, b"c", b"1"), (0, b"ddd", b"2")]);
    let level_1 = inner(1, &[(b"ddd", 2, Hash::of(&child))]);
    assert_eq!(descend(2, &child, b"ddd", 2), (Field::ChildLevel, 0, 1, 0));
    assert_eq!(descend(1, &level_1, b"ddd", 2), (Field::ChildLevel, 0, 0, 1));
    assert_eq!(descend(40, &child, b"ddd", 2), (Field::ChildLevel, 0, 39, 0));
    assert_eq!(descend(1, &child, b"ddd", 3), (Field::ChildCount, 2, 3, 2));
    assert_eq!(descend(1, &child, b"ddd", 1), (Field::ChildCount, 2, 1, 2));
    assert_eq!(descend(1, &child, b"dddd", 2), (Field::ChildKey, 0, 4, 3));
    assert_eq!(descend(1, &child, b"dd", 2), (Field::ChildKey, 0, 2, 3));
    let below = leaf(&[(0, b"aa", b"1"), (0, b"ddd", b"2")]);
    assert_eq!(descend(1, &below, b"ddd", 2), (Field::KeyOrder, 0, 0, 0));
    let equal = leaf(&[(0, b"b", b"1"), (0, b"ddd", b"2")]);
    assert_eq!(descend(1, &equal, b"ddd", 2), (Field::KeyOrder, 0, 0, 0));
}

/// The first child of a node may not reach back behind the nodes before its parent, though
/// its parent does not say where it starts.
#[test]
fn a_first_child_that_reaches_into_another_subtree_is_refused_by_walks() {
    let leaves =
        [leaf(&[(0, b"a", b"1"), (0, b"d", b"2")]), leaf(&[(0, b"c", b"1"), (0, b"e", b"2")])];
    let inners = [
        inner(1, &[(b"d", 2, Hash::of(&leaves[0]))]),
        inner(1, &[(b"e", 2, Hash::of(&leaves[1]))]),
    ];
    let of = Hash::of;
    let top = inner(2, &[(b"d", 2, of(&inners[0])), (b"e", 4, of(&inners[1]))]);
    let (cache, hashes) = cache(&[&leaves[0], &leaves[1], &inners[0], &inners[1], &top]);
    let tree = Tree { root: hashes[4], count: 4 };
    let parts = Parts { keys: true, values: false };
    for reverse in [false, true] {
        let mut out = Output::new();
        let mut scan = Scan::new(tree, Range::ALL, reverse, 9, parts);
        let mut budget = Budget::of(usize::MAX);
        let (_, cause) = failed(scan.step(&cache, &mut budget, &mut out));
        assert_eq!(cause.map(|facts| facts.0), Some(Field::KeyOrder));
    }
}

// --- trees that no store makes ---

/// A batch on top of `tree`; `None` when it is refused, with an error that names a chunk.
fn changed(cache: &Cache, tree: Tree, text: &str) -> Option<Vec<Sealed>> {
    let mut forest = Forest::new();
    forest.set(ROWS, tree);
    let mut ingest = Ingest::new(forest, Vec::new(), Shape::with_target(64));
    ingest.feed(text.as_bytes().to_vec(), text.len(), Vec::new(), Format::Pairs);
    let mut budget = Budget::of(usize::MAX);
    let mut sealed = Vec::new();
    for finish in [false, true] {
        if finish {
            ingest.finish();
        }
        loop {
            match ingest.step(cache, &mut budget) {
                Ok(Step::Done(())) => break,
                Ok(_) => {}
                Err(Error::CorruptChunk { .. } | Error::MissingChunk(_)) => return None,
                Err(error) => panic!("{error}"),
            }
            sealed.extend(ingest.sealed());
        }
    }
    sealed.extend(ingest.sealed());
    Some(sealed)
}

fn check_nodes(sealed: &[Sealed]) {
    for Sealed { bytes, table } in sealed {
        for at in 0..table.len() {
            let chunk = &bytes[table.range(at)];
            let result = match ChunkKind::decode(chunk) {
                Ok(ChunkKind::Commit) => Forest::decode(chunk).map(|_| ()),
                _ => Node::decode(chunk).map(|_| ()),
            };
            assert_eq!(result, Ok(()), "a chunk was made that cannot be read");
        }
    }
}

#[test]
fn a_tree_that_claims_the_highest_count_takes_no_more_entries() {
    // Many a last entry ends a leaf by its own hash, so that the next one stays shut;
    // one edit takes the fast path, two are a merge.
    for last in (0..60).map(|number| format!("b{number}")) {
        let last = last.as_bytes();
        let first = leaf(&[(0, b"a", b"1"), (0, b"ab", b"2"), (0, last, &[b'3'; 100])]);
        let top = inner(1, &[(last, 3, Hash::of(&first)), (b"z", u64::MAX, Hash([1; 32]))]);
        let (cache, hashes) = cache(&[&first, &top]);
        let tree = Tree { root: hashes[1], count: u64::MAX };
        for text in ["[\"ac\",1]", "[\"ac\",1,\"ad\",2]", "[\"ab\",7]"] {
            if let Some(sealed) = changed(&cache, tree, text) {
                check_nodes(&sealed);
            }
        }
    }
}

#[test]
fn a_tree_of_the_highest_level_grows_no_higher() {
    let last = leaf(&[(0, b"y", b"1"), (0, b"z", b"2")]);
    let mut chunks = vec![last];
    for level in 1..MAX_LEVEL {
        let below = Hash::of(&chunks[chunks.len() - 1]);
        chunks.push(inner(level, &[(b"z", 2, below)]));
    }
    let keys: Vec<_> = (0..60).map(|at| format!("k{at:02}")).collect();
    let mut children: Vec<(&[u8], u64, Hash)> =
        keys.iter().zip(1..).map(|(key, count)| (key.as_bytes(), count, Hash([9; 32]))).collect();
    children.push((b"z", 62, Hash::of(&chunks[chunks.len() - 1])));
    chunks.push(inner(MAX_LEVEL, &children));
    let (cache, hashes) = cache(&chunks.iter().map(|chunk| &chunk[..]).collect::<Vec<_>>());
    let tree = Tree { root: hashes[hashes.len() - 1], count: 62 };
    assert!(matches!(get(&cache, tree, b"y"), Ok(Fetch::Here(Some(_)))));
    if let Some(sealed) = changed(&cache, tree, "[\"y\",3,\"zz\",4]") {
        check_nodes(&sealed);
    }
}

/// A few nodes that stand for more than can be counted: each names the one below it 60 times.
fn bomb(chunks: &mut Vec<Vec<u8>>, levels: u8) {
    let keys: Vec<_> = (0..60).map(|at| format!("k{at:02}")).collect();
    for level in 1..=levels {
        let below = Hash::of(&chunks[chunks.len() - 1]);
        let child = |(key, count): (&'_ String, u64)| (key.clone(), count);
        let children: Vec<_> = keys.iter().zip(1..).map(child).collect();
        let children: Vec<_> =
            children.iter().map(|(key, count)| (key.as_bytes(), *count, below)).collect();
        chunks.push(inner(level, &children));
    }
}

/// Fails when `act` is still at it after five seconds.
fn in_time(act: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        act();
        let _ = done.send(());
    });
    assert!(wait.recv_timeout(Duration::from_secs(5)).is_ok(), "no end in sight");
}

#[test]
fn a_census_of_nodes_named_again_and_again_ends() {
    let mut chunks = vec![leaf(&[(0, b"k59", b"1")])];
    bomb(&mut chunks, 12);
    in_time(move || {
        let (cache, hashes) = cache(&chunks.iter().map(|chunk| &chunk[..]).collect::<Vec<_>>());
        let mut census = Census::new(Tree { root: hashes[12], count: 60 });
        // As many steps as there are nodes would do.
        for _ in 0..1000 {
            match census.step(&cache, &mut Budget::of(4096)) {
                Ok(Step::Yield) => {}
                Ok(step) => panic!("{step:?}"),
                Err(error) => {
                    cause(error);
                    return;
                }
            }
        }
        panic!("nodes are counted again and again");
    });
}

#[test]
fn looking_ahead_past_nodes_named_again_and_again_ends() {
    let mut chunks = vec![leaf(&[(0, b"k59", b"1")])];
    bomb(&mut chunks, 12);
    let wanted = leaf(&[(0, b"a", b"1")]);
    let mut below = Hash::of(&wanted);
    for level in 1..=12 {
        chunks.push(inner(level, &[(b"a", 1, below)]));
        below = Hash::of(&chunks[chunks.len() - 1]);
    }
    chunks.push(inner(13, &[(b"a", 1, below), (b"k59", 61, Hash::of(&chunks[12]))]));
    in_time(move || {
        let (mut cache, hashes) = cache(&chunks.iter().map(|chunk| &chunk[..]).collect::<Vec<_>>());
        let mut packer = Packer::new();
        packer.put(Stream::Leaf, |out| out.extend_from_slice(&wanted));
        packer.seal();
        cache.add_table(2, packer.take_sealed().remove(0).table);
        let tree = Tree { root: hashes[hashes.len() - 1], count: 61 };
        let parts = Parts { keys: true, values: true };
        let mut scan = Scan::new(tree, Range::ALL, false, 99, parts);
        let step = scan.step(&cache, &mut Budget::of(4096), &mut Output::new());
        assert_eq!(step, Ok(Step::Need(vec![2])));
    });
}

/// Keys ascend in each node of the tree, but not from one to the next: two leaves under
/// parents of their own, `first` before `second`.
fn crossed(first: &[u8], second: &[u8]) -> (Cache, Tree) {
    let last = |leaf: &[u8]| match Node::decode(leaf) {
        Ok(node) => (node.last_key().to_vec(), node.total()),
        Err(error) => panic!("{error}"),
    };
    let [(key, count), (other, more)] = [first, second].map(last);
    let parents = [
        inner(1, &[(&key, count, Hash::of(first))]),
        inner(1, &[(&other, more, Hash::of(second))]),
    ];
    let [left, right] = [0, 1].map(|at| Hash::of(&parents[at]));
    let top = inner(2, &[(&key, count, left), (&other, count + more, right)]);
    let (cache, hashes) = cache(&[first, second, &parents[0], &parents[1], &top]);
    (cache, Tree { root: hashes[4], count: count + more })
}

fn diffed(cache: &Cache, old: Tree, new: Tree) -> Result<Step<()>, Error> {
    Diff::new(old, new, Range::ALL).step(cache, &mut Budget::of(usize::MAX), &mut Output::new())
}

#[test]
fn keys_that_do_not_ascend_across_nodes_are_refused_by_a_diff() {
    let first = leaf(&[(0, b"a", b"1"), (0, b"d", b"2")]);
    let lasts =
        [leaf(&[(0, b"c", b"1"), (0, b"e", b"2")]), leaf(&[(0, b"d", b"1"), (0, b"e", b"2")])];
    for last in lasts {
        let (cache, tree) = crossed(&first, &last);
        for (old, new) in [(tree, Tree::EMPTY), (Tree::EMPTY, tree)] {
            let (hash, cause) = failed(diffed(&cache, old, new));
            assert_eq!((hash, cause), (Hash::of(&last), Some((Field::KeyOrder, 0, 0, 0))));
        }
    }
    let (cache, tree) = crossed(&first, &leaf(&[(0, b"da", b"1"), (0, b"e", b"2")]));
    assert_eq!(diffed(&cache, tree, Tree::EMPTY), Ok(Step::Done(())));
}

/// The empty key is a key: nothing may come before it, and it may not come again.
#[test]
fn an_empty_key_that_comes_again_is_refused_by_walks() {
    let (cache, tree) = crossed(
        &leaf(&[(0, b"", b"1")]),
        &leaf(&[(0, b"", b"1"), (0, b"a", b"2"), (0, b"b", b"3")]),
    );
    let order = Some((Field::KeyOrder, 0, 0, 0));
    assert_eq!(failed(diffed(&cache, tree, Tree::EMPTY)).1, order, "diff");
    for reverse in [false, true] {
        let mut scan = Scan::new(tree, Range::ALL, reverse, 9, Parts { keys: true, values: false });
        let step = scan.step(&cache, &mut Budget::of(usize::MAX), &mut Output::new());
        assert_eq!(failed(step).1, order, "scan, reverse: {reverse}");
    }
    let rows: Vec<_> = ["a", "b"].into_iter().map(|key| format!("\"{key}\",7")).collect();
    let made = changed(&cache, tree, &format!("[{}]", rows.join(",")));
    assert!(made.is_none(), "merge");
}

/// A few nodes that stand for more than can be walked, though each is what its parent says:
/// on every third level, a node whose children all begin with the one below it. That none
/// of them may, their parents' parents would have to say.
#[test]
fn a_diff_of_a_subtree_that_comes_again_and_again_ends() {
    const WIDTH: usize = 20;
    const ROUNDS: u8 = 9;
    let name = |round: u8, at: usize| format!("{round}/{at:02}");
    let mut chunks = vec![leaf(&[(0, b"", b"1")])];
    let mut make = |bytes: Vec<u8>| {
        chunks.push(bytes);
        Hash::of(&chunks[chunks.len() - 1])
    };
    let (mut below, mut last, mut count) = (Hash::of(&leaf(&[(0, b"", b"1")])), String::new(), 1);
    for round in 0..ROUNDS {
        let level = 3 * round;
        let mut children = Vec::new();
        for at in 0..WIDTH {
            let key = name(round, at);
            let key = key.as_bytes();
            let mut alone = make(leaf(&[(0, key, b"2")]));
            for level in 1..=level {
                alone = make(inner(level, &[(key, 1, alone)]));
            }
            let both = [(last.as_bytes(), count, below), (key, count + 1, alone)];
            let pair = make(inner(level + 1, &both));
            children.push(make(inner(level + 2, &[(key, count + 1, pair)])));
        }
        let named: Vec<_> = (0..WIDTH).map(|at| name(round, at)).collect();
        let of = |at: usize| (named[at].as_bytes(), (at as u64 + 1) * (count + 1), children[at]);
        below = make(inner(level + 3, &(0..WIDTH).map(of).collect::<Vec<_>>()));
        (last, count) = (named[WIDTH - 1].clone(), WIDTH as u64 * (count + 1));
    }
    let (cache, _) = cache(&chunks.iter().map(|chunk| &chunk[..]).collect::<Vec<_>>());
    let mut diff = Diff::new(Tree { root: below, count }, Tree::EMPTY, Range::ALL);
    for _ in 0..1000 {
        match diff.step(&cache, &mut Budget::of(4096), &mut Output::new()) {
            Ok(Step::Yield) => {}
            Ok(step) => panic!("{step:?}"),
            Err(error) => {
                assert_eq!(cause(error).1.map(|facts| facts.0), Some(Field::KeyOrder));
                return;
            }
        }
    }
    panic!("nodes are walked again and again");
}

/// Where both trees hold a subtree, a diff passes it unread; but they must agree on it.
#[test]
fn a_shared_subtree_of_which_two_trees_say_different_things_is_refused_by_a_diff() {
    let shared = leaf(&[(0, b"c", b"1"), (0, b"p", b"2")]);
    let rest = leaf(&[(0, b"q", b"3")]);
    let of = |key: &[u8], count| {
        inner(1, &[(key, count, Hash::of(&shared)), (b"q", count + 1, Hash::of(&rest))])
    };
    let (honest, chunks) = (of(b"p", 2), [of(b"d", 2), of(b"p", 3)]);
    let facts = [(Field::ChildKey, 0, 1, 1), (Field::ChildCount, 2, 2, 3)];
    for ((lying, count), expected) in chunks.iter().zip([3, 4]).zip(facts) {
        let (cache, hashes) = cache(&[&shared, &rest, &honest, lying]);
        let lie = Tree { root: hashes[3], count };
        let truth = Tree { root: hashes[2], count: 3 };
        assert_eq!(failed(diffed(&cache, truth, lie)), (hashes[0], Some(expected)));
        assert_eq!(diffed(&cache, truth, truth), Ok(Step::Done(())));
        // The other tree is nothing but the shared node.
        let whole = Tree { root: hashes[0], count: 2 };
        for (old, new) in [(whole, lie), (lie, whole)] {
            let (hash, cause) = failed(diffed(&cache, old, new));
            assert_eq!((hash, cause.map(|facts| facts.0)), (hashes[0], Some(expected.0)));
        }
        assert_eq!(diffed(&cache, whole, truth), Ok(Step::Done(())));
    }
}

// --- damaged segments ---

#[test]
fn a_chunk_with_a_flipped_bit_is_refused_by_its_hash() {
    let good = good_leaf();
    let (_, hashes) = cache(&[&good]);
    let second = leaf(&[(0, b"x", b"y")]);
    for bit in 0..8 * good.len() {
        let mut packer = Packer::new();
        packer.put(Stream::Leaf, |out| out.extend_from_slice(&good));
        let other = packer.put(Stream::Leaf, |out| out.extend_from_slice(&second));
        packer.seal();
        let Sealed { mut bytes, table } = packer.take_sealed().remove(0);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let mut cache = Cache::new(1 << 20);
        cache.add_table(1, table);
        cache.load(1, bytes);
        for _ in 0..2 {
            assert_eq!(failed(cache.node(&hashes[0])), (hashes[0], None), "bit {bit}");
        }
        // What else is in the segment stays readable.
        assert!(matches!(cache.node(&other), Ok(Fetch::Here(Node::Leaf(_)))));
    }
}

#[test]
fn a_segment_that_is_too_short_loses_only_what_is_cut_off() {
    let chunks = [good_leaf(), leaf(&[(0, b"x", b"y")])];
    let mut packer = Packer::new();
    let put = |chunk: &Vec<u8>| packer.put(Stream::Leaf, |out| out.extend_from_slice(chunk));
    let hashes: Vec<Hash> = chunks.iter().map(put).collect();
    packer.seal();
    let Sealed { bytes, table } = packer.take_sealed().remove(0);
    for cut in 0..bytes.len() {
        let mut cache = Cache::new(1 << 20);
        cache.add_table(1, table.clone());
        cache.load(1, bytes[..cut].to_vec());
        assert_eq!(failed(cache.node(&hashes[1])), (hashes[1], None), "cut at {cut}");
        assert_eq!(cache.node(&hashes[0]).is_ok(), cut >= chunks[0].len(), "cut at {cut}");
    }
}

#[test]
fn a_later_version_is_told_from_a_fault() {
    for (version, later) in [(0, false), (2, true), (255, true)] {
        let chunk = with(&good_leaf(), 1, &[version]);
        let (cache, hashes) = cache(&[&chunk]);
        let error = cache.node(&hashes[0]).expect_err("an error");
        if later {
            assert_eq!(error, Error::UnsupportedFormat { version });
        } else {
            assert_eq!(cause(error), (hashes[0], Some((Field::Version, 1, 1, 0))));
        }
    }
}

#[test]
fn a_chunk_asked_for_as_the_wrong_kind_is_refused_even_after_it_was_verified() {
    let commit = good_commit();
    let (leaf, part, list) = (good_leaf(), [0xe0, VERSION, 7], [0xe1, VERSION]);
    for wrong_first in [false, true] {
        let (cache, hashes) = cache(&[&leaf, &part, &commit, &list]);
        let as_piece = |hash: &Hash| cache.chunk(hash, |bytes| piece(bytes).map(|_| ()));
        let as_commit = |hash: &Hash| cache.chunk(hash, |bytes| Forest::decode(bytes).map(|_| ()));
        let right = || {
            assert!(matches!(cache.node(&hashes[0]), Ok(Fetch::Here(_))));
            assert!(matches!(as_piece(&hashes[1]), Ok(Fetch::Here(_))));
            assert!(matches!(as_commit(&hashes[2]), Ok(Fetch::Here(_))));
        };
        if !wrong_first {
            right();
        }
        let kind = |expected, got| Some((Field::Kind, 0, expected, got));
        for _ in 0..2 {
            assert_eq!(failed(cache.node(&hashes[1])), (hashes[1], kind(0, 0xe0)));
            assert_eq!(failed(cache.node(&hashes[2])), (hashes[2], kind(0, 0xc0)));
            assert_eq!(failed(cache.node(&hashes[3])), (hashes[3], kind(0, 0xe1)));
            assert_eq!(failed(as_piece(&hashes[0])), (hashes[0], kind(0xe0, 0)));
            assert_eq!(failed(as_piece(&hashes[2])), (hashes[2], kind(0xe0, 0xc0)));
            assert_eq!(failed(as_commit(&hashes[0])), (hashes[0], kind(0xc0, 0)));
        }
        right();
    }
}

// --- memory ---

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

/// Counts the bytes that each thread asks for.
struct Counting;

// SAFETY: all is handed on as it comes.
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

/// Bytes that `act` asks for, all in all.
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
    assert_eq!(allocated(|| pointer.locate(&deep, 0)), 0);
    assert_eq!(allocated(|| ChunkKind::decode(&deep)), 0);
}

#[test]
fn what_the_core_makes_is_what_is_drawn() {
    let mut host = Host::new(Shape::with_target(64));
    host.put(&(0..40).map(issue).collect::<Vec<_>>());
    let mut nodes = 0;
    for (bytes, table) in host.stored.values() {
        let table = Table::decode(table.clone()).expect("a table");
        for at in 0..table.len() {
            let chunk = &bytes[table.range(at)];
            let Ok(node) = Node::decode(chunk) else { continue };
            nodes += 1;
            let drawn = match node {
                Node::Leaf(node) => {
                    let entries: Vec<_> = (0..node.len()).map(|at| node.entry(at)).collect();
                    leaf(&entries.iter().map(|e| (0, e.key, e.value)).collect::<Vec<_>>())
                }
                Node::Inner(node) => {
                    let child = |at| (node.key(at), node.count_before(at + 1), node.hash(at));
                    inner(node.level(), &(0..node.len()).map(child).collect::<Vec<_>>())
                }
            };
            assert_eq!(drawn, chunk);
        }
    }
    assert!(nodes > 10);
}

// --- text ---

#[test]
fn an_index_in_a_pointer_has_no_sign() {
    let pointer = Pointer::parse("/+1").unwrap();
    assert_eq!(pointer.locate(b"[1,2]", 0), Ok((None, 5)));
}

#[test]
fn text_that_is_not_utf_8_is_refused_as_a_row() {
    for (text, format) in [
        (&b"[\"\xff\",1]"[..], Format::Pairs),
        (b"[\"a\",\"\xff\"]", Format::Pairs),
        (b"[{\"id\":\"a\xc3\"}]", Format::Rows(Pointer::parse("/id").unwrap())),
        (b"[\"\xed\xa0\x80\"]", Format::Deletes),
    ] {
        let mut ingest = Ingest::new(Forest::new(), Vec::new(), Shape::STORED);
        ingest.feed(text.to_vec(), text.len(), Vec::new(), format);
        let mut budget = Budget::of(usize::MAX);
        let result = ingest.step(&Cache::new(0), &mut budget);
        assert!(matches!(result, Err(Error::Row { row: 0, .. })), "{result:?}");
    }
}

//! Strict decoding: good chunks with exactly one fault each, built byte by byte. Every fault is
//! refused, and the error has its offset.

use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::chunk::{piece, piece_list};
use hedgerow::error::{Error, Field};
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::json::Pointer;
use hedgerow::limits::{
    MAX_INLINE_VALUE_BYTES, MAX_KEY_BYTES, MAX_LEVEL, MAX_PACKED_CHUNK_BYTES, MAX_SEGMENT_CHUNKS,
    MAX_TREES, MAX_VALUE_BYTES, PIECE_BYTES,
};
use hedgerow::node::{MAX_INNER_BYTES, MAX_LEAF_BYTES, Node};
use hedgerow::segment::Table;
use hedgerow::step::Budget;
use hedgerow_support::faults::{Facts, facts};
use hedgerow_support::layout::{
    BYTES, FAR, VERSION, and, commit, far, good_commit, good_inner, good_leaf, inner, leaf, table,
    with,
};

const MAX_LEAF: u64 = MAX_LEAF_BYTES as u64;
const MAX_INNER: u64 = MAX_INNER_BYTES as u64;
/// The claimed address of a value.
const SOMEWHERE: Hash = Hash([7; 32]);
const MAX_VALUE: u64 = MAX_VALUE_BYTES as u64;

/// A name, the bytes, and the facts that the error must state.
type Case = (&'static str, Vec<u8>, Facts);

fn check(decode: impl Fn(&[u8]) -> Option<Facts>, good: &[u8], cases: &[Case]) {
    assert_eq!(decode(good), None, "the good one");
    for (name, bytes, expected) in cases {
        assert_eq!(decode(bytes), Some(*expected), "{name}");
    }
}

/// Lists faults of the first two bytes, which all chunks of a kind share.
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

#[test]
fn a_leaf_with_one_fault_is_refused() {
    let good = good_leaf();
    assert_eq!(good.len(), 59);
    let key = [b'k'; MAX_KEY_BYTES + 1];
    let value = [b'1'; MAX_INLINE_VALUE_BYTES + 1];
    let two = |first: &[u8], second: &[u8]| leaf(&[(0, first, b"1"), (0, second, b"2")]);
    let far_of = |len: usize| leaf(&[(FAR, b"c", &far(len as u32, &SOMEWHERE))]);
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
            leaf(&[(FAR, b"c", &far(5000, &SOMEWHERE)[..35])]),
            (Field::ValueLength, 9, 36, 35),
        ),
        (
            "a far address too long",
            leaf(&[(FAR | BYTES, b"c", &and(&far(5000, &SOMEWHERE), b"x"))]),
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
            "more than any leaf has",
            and(&good, &vec![0; MAX_LEAF_BYTES - 58]),
            (Field::Length, 0, MAX_LEAF, MAX_LEAF + 1),
        ),
    ]);
    check(|bytes| facts(Node::decode(bytes)), &good, &cases);
}

#[test]
fn a_leaf_at_its_limits_is_accepted() {
    let key = [b'k'; MAX_KEY_BYTES];
    let value = [b'1'; MAX_INLINE_VALUE_BYTES];
    for bytes in [
        leaf(&[(0, b"", b"")]),
        leaf(&[(BYTES, &key, &value)]),
        leaf(&[(FAR, b"", &far(MAX_INLINE_VALUE_BYTES as u32 + 1, &SOMEWHERE))]),
        leaf(&[(FAR | BYTES, b"", &far(MAX_VALUE_BYTES as u32, &SOMEWHERE))]),
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
            2..4 => (Field::Length, 0, MAX_LEAF, got),
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
            "more than any internal node has",
            and(&good, &vec![0; MAX_INNER_BYTES - 90]),
            (Field::Length, 0, MAX_INNER, MAX_INNER + 1),
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
fn a_count_above_the_highest_is_refused() {
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
            2..4 => (Field::Length, 0, MAX_INNER, got),
            4..8 => (Field::Length, 2, 8, got),
            8..88 => (Field::Length, 2, 88, got),
            88 => (Field::Offset, 4, 0, 1),
            _ => (Field::Offset, 6, 1, 3),
        };
        assert_eq!(facts(Node::decode(&good[..cut])), Some(expected), "cut at {cut}");
    }
}

// --- commits ---

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
        ("descending names", two(b"t", b"r"), (Field::KeyOrder, 47, 0, 1)),
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
    // Hashes at 12 and 44, ends at 76 and 80, lengths at 84 and 88.
    let good = table(&[5, 9]);
    assert_eq!(good.len(), 92);
    let longest = MAX_PACKED_CHUNK_BYTES as u32;
    let magic = u64::from(u32::from_le_bytes(*b"HDGT"));
    let other = u64::from(u32::from_le_bytes(*b"HDGX"));
    let most = MAX_SEGMENT_CHUNKS as u64;
    let mut cases: Vec<Case> = vec![
        ("another magic", with(&good, 3, b"X"), (Field::Kind, 0, magic, other)),
        ("version 0", with(&good, 4, &[0]), (Field::Version, 4, 1, 0)),
        ("version 2", with(&good, 4, &[2]), (Field::Version, 4, 1, 2)),
        ("a stream that there is not", with(&good, 5, &[8]), (Field::Kind, 5, 7, 8)),
        ("all chunks here, told twice", with(&good, 6, &[2]), (Field::Count, 6, 1, 2)),
        ("more chunks here than there are", with(&good, 7, &[1]), (Field::Count, 6, 1, 256)),
        ("no chunks", with(&good, 8, &[0]), (Field::Count, 8, most, 0)),
        (
            "too many chunks",
            with(&good, 8, &(MAX_SEGMENT_CHUNKS as u32 + 1).to_le_bytes()),
            (Field::Count, 8, most, most + 1),
        ),
        ("the most chunks", with(&good, 8, &[255; 4]), (Field::Count, 8, most, 0xffff_ffff)),
        ("as many as there may be", with(&good, 8, &[0, 0, 2]), (Field::Length, 8, 5_242_892, 92)),
        ("one chunk too many", with(&good, 8, &[3]), (Field::Length, 8, 132, 92)),
        ("one chunk too few", with(&good, 8, &[1]), (Field::Length, 8, 52, 92)),
        ("an empty first chunk", table(&[0, 9]), (Field::Offset, 76, 1, 0)),
        ("an empty chunk", table(&[5, 5]), (Field::Offset, 80, 6, 5)),
        ("descending ends", table(&[5, 4]), (Field::Offset, 80, 6, 4)),
        ("longer in the segment than it is", with(&good, 84, &[4]), (Field::Length, 84, 5, 4)),
        (
            "packed, and longer than what is packed",
            with(&good, 88, &(longest + 1).to_le_bytes()),
            (Field::Length, 88, 4, u64::from(longest) + 1),
        ),
        (
            "at a remote, and packed",
            with(&with(&good, 6, &[1]), 88, &[5]),
            (Field::Length, 88, 4, 5),
        ),
        ("a byte left over", and(&good, b"x"), (Field::Length, 8, 92, 93)),
    ];
    for cut in 0..good.len() {
        let at = if cut < 12 { (0, 12) } else { (8, 92) };
        cases.push(("cut", good[..cut].to_vec(), (Field::Length, at.0, at.1, cut as u64)));
    }
    check(|bytes| facts(Table::decode(bytes.to_vec())), &good, &cases);
    assert!(Table::decode(table(&[1, u32::MAX])).is_ok());
    let packed = Table::decode(with(&good, 88, &longest.to_le_bytes())).expect("a table");
    assert_eq!((packed.is_packed(0), packed.is_packed(1)), (false, true));
    assert_eq!(packed.chunk_len(1), longest as usize);
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

// --- text ---

#[test]
fn an_index_in_a_pointer_has_no_sign() {
    let pointer = Pointer::parse("/+1").unwrap();
    assert_eq!(pointer.find(b"[1,2]"), None);
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

//! Reads where they are hard: large values, byte values, a cache that is far too small,
//! segments that are gone or damaged while the rest stays readable.

mod common;

use common::{Host, issue};
use hedgerow::batch::{Batch, Edit};
use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch, SegmentId};
use hedgerow::chunk::ChunkKind;
use hedgerow::error::{Error, Field};
use hedgerow::forest::ROWS;
use hedgerow::hash::Hash;
use hedgerow::ingest::{ByteValue, Format, Ingest};
use hedgerow::limits::{MAX_INLINE_VALUE_BYTES, PIECE_BYTES, SEGMENT_BYTES};
use hedgerow::node::Node;
use hedgerow::output::{Mark, Output};
use hedgerow::segment::{Packer, Sealed, Stream, Table};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Find, Parts, Range, Scan, get};
use hedgerow::value::Kind;
use std::collections::BTreeMap;
use std::ops::Bound;

const BOTH: Parts = Parts { keys: true, values: true };
const KEYS: Parts = Parts { keys: true, values: false };
const VALUES: Parts = Parts { keys: false, values: true };
const NEITHER: Parts = Parts { keys: false, values: false };

const INLINE: usize = MAX_INLINE_VALUE_BYTES;

/// Lengths at which something changes.
const LENGTHS: [usize; 12] = [
    2,
    3,
    INLINE - 1,
    INLINE,
    INLINE + 1,
    PIECE_BYTES - 1,
    PIECE_BYTES,
    PIECE_BYTES + 1,
    2 * PIECE_BYTES - 1,
    2 * PIECE_BYTES,
    2 * PIECE_BYTES + 1,
    5 * PIECE_BYTES + 7,
];

type Values = BTreeMap<String, (Kind, Vec<u8>)>;

/// `len` bytes that differ from place to place.
fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (((at + seed) * 2_654_435_761) >> 16) as u8).collect()
}

/// A JSON string of `len` bytes.
fn text(len: usize, seed: usize) -> Vec<u8> {
    let mut text = bytes(len, seed);
    for byte in &mut text {
        *byte = b'a' + *byte % 26;
    }
    (text[0], text[len - 1]) = (b'"', b'"');
    text
}

/// Values of all lengths and both kinds, and small ones between them.
fn values() -> Values {
    let mut values = Values::new();
    for (at, len) in LENGTHS.into_iter().enumerate() {
        values.insert(format!("{at:02}/bytes"), (Kind::Bytes, bytes(len, at)));
        values.insert(format!("{at:02}/json"), (Kind::Json, text(len, at)));
        values.insert(format!("{at:02}/small"), (Kind::Json, at.to_string().into_bytes()));
    }
    values.insert("empty".to_owned(), (Kind::Bytes, Vec::new()));
    values
}

fn store(host: &mut Host, values: &Values) {
    let (mut text, mut tail, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (row, (key, (kind, value))) in values.iter().enumerate() {
        text.push(if row == 0 { b'[' } else { b',' });
        text.extend_from_slice(format!("\"{key}\",").as_bytes());
        match kind {
            Kind::Json => text.extend_from_slice(value),
            Kind::Bytes => {
                text.push(b'0');
                places.push((row, tail.len(), value.len()));
                tail.extend_from_slice(value);
            }
        }
    }
    text.push(b']');
    let text_len = text.len();
    let place = |(row, start, len): (usize, usize, usize)| ByteValue {
        row: row as u32,
        start: (text_len + start) as u32,
        len: len as u32,
    };
    let places = places.into_iter().map(place).collect();
    let mut ingest = Ingest::new(host.forest.clone(), Vec::new(), host.shape);
    ingest.feed([text, tail].concat(), text_len, places, Format::Pairs);
    host.drive(&mut ingest).expect("good rows");
    host.commit(ingest);
}

/// What a read of these entries hands out.
fn expected<'v>(
    entries: impl Iterator<Item = (&'v String, &'v (Kind, Vec<u8>))>,
    parts: Parts,
) -> (Vec<u8>, Vec<u8>, Vec<Mark>) {
    let (mut members, mut tail, mut marks) = (Vec::new(), Vec::new(), Vec::new());
    for (key, (kind, value)) in entries {
        if parts.keys {
            members.push(format!("\"{key}\"").into_bytes());
        }
        if !parts.values {
            continue;
        }
        members.push(if *kind == Kind::Json { value.clone() } else { b"0".to_vec() });
        if *kind == Kind::Bytes {
            let (member, start) = (members.len() as u32 - 1, tail.len() as u32);
            marks.push(Mark { member, start, len: value.len() as u32 });
            tail.extend_from_slice(value);
        }
    }
    ([&b"["[..], &members.join(&b','), b"]"].concat(), tail, marks)
}

fn scan(host: &mut Host, range: Range, reverse: bool, parts: Parts) -> Result<Output, Error> {
    let mut scan = Scan::new(host.tree(), range, reverse, u64::MAX, parts);
    let mut out = Output::new();
    let result = host.run(|cache, budget| scan.step(cache, budget, &mut out));
    out.close();
    result.map(|()| out)
}

fn parts_of(out: Output) -> (Vec<u8>, Vec<u8>, Vec<Mark>) {
    (out.text, out.bytes, out.marks)
}

// --- values ---

#[test]
fn values_of_every_length_and_kind_read_back_whole() {
    let values = values();
    for (slice, cache_bytes) in [(usize::MAX, 64 << 20), (1, 0), (1000, 1 << 20)] {
        let mut host = Host::new(Shape::STORED);
        host.slice = slice;
        store(&mut host, &values);
        for parts in [BOTH, KEYS, VALUES, NEITHER] {
            host.reopen(cache_bytes);
            let out = scan(&mut host, Range::ALL, false, parts).expect("a scan");
            assert!(parts_of(out) == expected(values.iter(), parts), "{parts:?}");
            host.reopen(cache_bytes);
            let out = scan(&mut host, Range::ALL, true, parts).expect("a scan");
            assert!(parts_of(out) == expected(values.iter().rev(), parts), "{parts:?} reversed");
        }
        host.reopen(cache_bytes);
        let keys: Vec<_> = values.keys().collect();
        let mut find = Find::new(host.tree(), keys.iter().rev().map(|key| key.as_bytes()));
        let (mut out, mut found) = (Output::new(), Vec::new());
        host.run(|cache, budget| find.step(cache, budget, &mut out, &mut found)).expect("a find");
        out.close();
        assert!(parts_of(out) == expected(values.iter(), VALUES));
        assert!((0..keys.len() as u32).rev().eq(found));
    }
}

#[test]
fn a_value_over_the_inline_limit_is_stored_apart() {
    let mut host = Host::new(Shape::STORED);
    let values = values();
    store(&mut host, &values);
    let tree = host.tree();
    for (key, (kind, value)) in &values {
        let Ok(Fetch::Here(Some(entry))) = get(&host.cache, tree, key.as_bytes()) else {
            panic!("{key}");
        };
        assert_eq!(entry.tag.kind, *kind);
        assert_eq!(entry.far().is_some(), value.len() > INLINE, "{key}");
        match entry.far() {
            Some(far) => assert_eq!(far.len as usize, value.len()),
            None => assert_eq!(entry.value, value),
        }
    }
    let mut pieces = 0;
    for (bytes, table) in host.stored.values() {
        let table = Table::decode(table.clone()).expect("a table");
        let kind = |at| ChunkKind::decode(&bytes[table.range(at)]).expect("a kind");
        pieces += (0..table.len()).filter(|at| kind(*at) == ChunkKind::Piece).count();
    }
    // Two kinds of value for each length.
    let needed: usize =
        LENGTHS.iter().filter(|len| **len > INLINE).map(|len| len.div_ceil(PIECE_BYTES)).sum();
    assert_eq!(pieces, 2 * needed);
}

#[test]
fn equal_values_have_one_root_whatever_their_kind_was_before() {
    let mut roots = Vec::new();
    for before in [vec![], text(PIECE_BYTES + 1, 1), text(10, 1)] {
        let mut host = Host::new(Shape::STORED);
        if !before.is_empty() {
            store(&mut host, &Values::from([("k".to_owned(), (Kind::Bytes, before))]));
        }
        store(&mut host, &Values::from([("k".to_owned(), (Kind::Json, text(INLINE + 1, 2)))]));
        roots.push(host.root);
    }
    assert!(roots.iter().all(|root| *root == roots[0]));
    let mut host = Host::new(Shape::STORED);
    store(&mut host, &Values::from([("k".to_owned(), (Kind::Bytes, text(INLINE + 1, 2)))]));
    assert_ne!(host.root, roots[0], "bytes are not the JSON that they spell");
}

#[test]
fn keys_alone_never_load_values() {
    let mut host = Host::new(Shape::STORED);
    let values = values();
    store(&mut host, &values);
    host.reopen(64 << 20);
    scan(&mut host, Range::ALL, false, KEYS).expect("a scan");
    let asked = host.asked.clone();
    for id in asked {
        let (bytes, table) = &host.stored[&id];
        let table = Table::decode(table.clone()).expect("a table");
        let kind = |at: usize| ChunkKind::decode(&bytes[table.range(at)]).expect("a kind");
        let holds_nodes = (0..table.len()).any(|at| matches!(kind(at), ChunkKind::Node(_)));
        assert!(holds_nodes, "a segment of values was loaded");
    }
}

#[test]
fn an_output_taken_between_steps_holds_whole_entries() {
    let values = values();
    let mut host = Host::new(Shape::STORED);
    store(&mut host, &values);
    for budget in [1, 100, 5000, 200_000] {
        host.reopen(0);
        host.slice = budget;
        let mut scan = Scan::new(host.tree(), Range::ALL, false, u64::MAX, BOTH);
        let (mut out, mut blocks) = (Output::new(), Vec::new());
        loop {
            let step = scan.step(&host.cache, &mut Budget::of(budget), &mut out);
            match step.expect("a scan") {
                Step::Need(ids) => {
                    // It may end in the middle of a value.
                    host.load(&ids);
                    continue;
                }
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
            let of = expected(entries.by_ref().take(count), BOTH);
            assert!(parts_of(block) == of, "at {budget} bytes");
        }
        assert_eq!(entries.next(), None);
    }
}

// --- memory ---

#[test]
fn a_cache_far_too_small_reads_everything_and_stays_small() {
    let mut host = Host::new(Shape::STORED);
    let padding = "x".repeat(1500);
    let row = |(key, value): (String, String)| (key, format!("[{value},\"{padding}\"]"));
    let rows: Vec<_> = (0..22_000).map(issue).map(row).collect();
    host.put_blocks(&rows, 5000);
    assert!(host.stored.len() > 60, "more segments than stay in memory in any case");
    let most = 50 * (SEGMENT_BYTES + SEGMENT_BYTES / 4);
    host.reopen(0);
    let same = |host: &mut Host, at: usize| {
        assert_eq!(host.get(&rows[at].0).as_ref(), Some(&rows[at].1));
        assert!(host.cache.held_bytes() <= most);
    };
    // Near and far in turn, so that what is used often stays.
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
fn what_leaves_memory_is_checked_anew_when_it_returns() {
    let mut host = Host::new(Shape::STORED);
    host.put(&(0..100).map(issue).collect::<Vec<_>>());
    let (key, value) = issue(7);
    host.reopen(0);
    assert_eq!(host.get(&key), Some(value));
    let ids: Vec<SegmentId> = host.stored.keys().copied().collect();
    for id in &ids {
        let table = Table::decode(host.stored[id].1.clone()).expect("a table");
        host.cache.remove(*id);
        host.cache.add_table(*id, table);
        host.stored.get_mut(id).unwrap().0.fill(0x5a);
    }
    let tree = host.tree();
    let root = tree.root;
    let result = loop {
        match get(&host.cache, tree, key.as_bytes()) {
            Ok(Fetch::At(id)) => host.load(&[id]),
            Ok(Fetch::Here(_)) => panic!("zeros were read"),
            Err(error) => break error,
        }
    };
    assert_eq!(result, Error::CorruptChunk { hash: root, cause: None });
}

// --- faults ---

/// A store whose leaves have segments of their own, with the address of each leaf and the
/// range of rows that it holds.
struct Torn {
    host: Host,
    rows: Vec<(String, String)>,
    leaves: Vec<(SegmentId, Hash, std::ops::Range<usize>)>,
}

fn torn() -> Torn {
    let mut host = Host::new(Shape::STORED);
    let rows: Vec<_> = (0..2000).map(issue).collect();
    host.put_blocks(&rows, 2000);
    let mut chunks = Vec::new();
    for (bytes, table) in host.stored.values() {
        let table = Table::decode(table.clone()).expect("a table");
        chunks.extend((0..table.len()).map(|at| bytes[table.range(at)].to_vec()));
    }
    host.stored.clear();
    let (mut leaves, mut next) = (Vec::new(), 1);
    for chunk in chunks {
        let mut packer = Packer::new();
        let hash = packer.put(Stream::Leaf, |out| out.extend_from_slice(&chunk));
        packer.seal();
        let Sealed { bytes, table } = packer.take_sealed().remove(0);
        host.stored.insert(next, (bytes, table.bytes().to_vec()));
        if let Ok(Node::Leaf(leaf)) = Node::decode(&chunk) {
            let row = |key: &[u8]| rows.partition_point(|(other, _)| other.as_bytes() < key);
            leaves.push((next, hash, row(leaf.key(0))..row(leaf.key(leaf.len() - 1)) + 1));
        }
        next += 1;
    }
    leaves.sort_by_key(|(_, _, rows)| rows.start);
    host.reopen(64 << 20);
    Torn { host, rows, leaves }
}

impl Torn {
    /// Checks that all rows read but those of the leaf at `index`, which fail with `error`.
    fn only_fails_at(&mut self, index: usize, error: Error) {
        let (_, _, lost) = self.leaves[index].clone();
        let tree = self.host.forest.tree(ROWS);
        for at in 0..self.rows.len() {
            let (key, value) = &self.rows[at];
            let result = loop {
                match get(&self.host.cache, tree, key.as_bytes()) {
                    Ok(Fetch::Here(entry)) => break Ok(entry.expect("a row").value.to_vec()),
                    Ok(Fetch::At(id)) => self.host.load(&[id]),
                    Err(error) => break Err(error),
                }
            };
            if lost.contains(&at) {
                assert_eq!(result, Err(error), "row {at}");
            } else {
                assert_eq!(result.as_deref(), Ok(value.as_bytes()), "row {at}");
            }
        }
        // Scans hand out what comes before the fault, from either side.
        for reverse in [false, true] {
            let mut scan = Scan::new(tree, Range::ALL, reverse, u64::MAX, KEYS);
            let mut out = Output::new();
            let result = self.host.run(|cache, budget| scan.step(cache, budget, &mut out));
            assert_eq!(result, Err(error));
            let before = if reverse { self.rows.len() - lost.end } else { lost.start };
            assert_eq!(out.members() as usize, before);
        }
        // So do scans beside it, and counts that need not look into it.
        let range = |lower: &str, upper: &str| Range {
            lower: Bound::Included(lower.as_bytes().to_vec()),
            upper: Bound::Excluded(upper.as_bytes().to_vec()),
        };
        let (first, after) = (&self.rows[0].0, &self.rows[lost.end].0);
        let before = range(first, &self.rows[lost.start - 1].0);
        let beyond = range(after, "z");
        assert_eq!(self.host.scan(&before, false, u64::MAX).len(), lost.start - 1);
        assert_eq!(self.host.scan(&beyond, false, u64::MAX).len(), self.rows.len() - lost.end);
        assert_eq!(self.host.count(&Range::ALL), self.rows.len() as u64);
        assert_eq!(self.host.count(&range(first, "z")), self.rows.len() as u64);
        // A write elsewhere goes on; one that needs the leaf leaves the store as it was.
        let root = self.host.root;
        let row = |at: usize| [(self.rows[at].0.clone(), "1".to_owned())];
        let [there, elsewhere] = [lost.start, 0].map(|at| common::pairs(&row(at)));
        let mut ingest = Ingest::new(self.host.forest.clone(), Vec::new(), self.host.shape);
        ingest.feed(there.clone().into_bytes(), there.len(), Vec::new(), Format::Pairs);
        self.host.drive(&mut ingest).expect("a good row");
        ingest.finish();
        assert_eq!(self.host.drive(&mut ingest), Err(error));
        assert_eq!((ingest.committed(), self.host.root), (None, root));
        self.host.ingest(&[(elsewhere, Format::Pairs)]).expect("a write elsewhere");
        assert_eq!(self.host.get(&self.rows[0].0).as_deref(), Some("1"));
    }
}

#[test]
fn a_leaf_that_is_gone_is_named_and_the_rest_stays_readable() {
    let mut torn = torn();
    let index = torn.leaves.len() / 2;
    let (id, hash, _) = torn.leaves[index].clone();
    torn.host.cache.remove(id);
    torn.only_fails_at(index, Error::MissingChunk(hash));
}

#[test]
fn a_leaf_that_is_damaged_is_named_and_the_rest_stays_readable() {
    let mut torn = torn();
    let index = torn.leaves.len() / 3;
    let (id, hash, _) = torn.leaves[index].clone();
    let bytes = &mut torn.host.stored.get_mut(&id).unwrap().0;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    torn.only_fails_at(index, Error::CorruptChunk { hash, cause: None });
}

#[test]
fn a_segment_without_bytes_is_damage_not_a_loop() {
    let mut torn = torn();
    let (id, hash, _) = torn.leaves[3].clone();
    torn.host.stored.get_mut(&id).unwrap().0.clear();
    torn.only_fails_at(3, Error::CorruptChunk { hash, cause: None });
}

#[test]
fn a_lost_piece_fails_the_value_and_no_other() {
    let values = values();
    let mut host = Host::new(Shape::STORED);
    store(&mut host, &values);
    let (kind, value) = &values["09/json"];
    assert_eq!((*kind, value.len()), (Kind::Json, 2 * PIECE_BYTES));
    let piece = [&ChunkKind::Piece.header()[..], &value[PIECE_BYTES..]].concat();
    let lost = Hash::of(&piece);
    let mut damaged = 0;
    for (bytes, table) in host.stored.values_mut() {
        let table = Table::decode(table.clone()).expect("a table");
        for at in (0..table.len()).filter(|at| table.hash(*at) == lost) {
            bytes[table.range(at).end - 1] ^= 1;
            damaged += 1;
        }
    }
    assert_eq!(damaged, 1);
    host.reopen(0);
    let error = Error::CorruptChunk { hash: lost, cause: None };
    assert_eq!(scan(&mut host, Range::ALL, false, BOTH).err(), Some(error));
    let keys = scan(&mut host, Range::ALL, false, KEYS).expect("keys alone");
    assert_eq!(keys.members() as usize, values.len());
    for (key, value) in &values {
        let mut find = Find::new(host.tree(), [key.as_bytes()]);
        let (mut out, mut found) = (Output::new(), Vec::new());
        let result = host.run(|cache, budget| find.step(cache, budget, &mut out, &mut found));
        if key == "09/json" {
            assert_eq!(result, Err(error));
        } else {
            assert_eq!(result, Ok(()), "{key}");
            out.close();
            assert!(parts_of(out) == expected([(key, value)].into_iter(), VALUES), "{key}");
        }
    }
}

/// A leaf with one far value of `len` bytes at `hash`, and `chunks` beside it, as a store.
fn lying(len: usize, hash: Hash, chunks: &[&[u8]]) -> Host {
    let mut host = Host::new(Shape::STORED);
    let record =
        [&0x8001_u16.to_le_bytes()[..], b"k", &(len as u32).to_le_bytes(), &hash.0].concat();
    let leaf = [&[0, 1, 1, 0][..], &(record.len() as u16).to_le_bytes(), &record].concat();
    let mut packer = Packer::new();
    for chunk in chunks {
        packer.put(Stream::Value, |out| out.extend_from_slice(chunk));
    }
    let root = packer.put(Stream::Leaf, |out| out.extend_from_slice(&leaf));
    packer.seal();
    host.store(packer.take_sealed());
    host.reopen(1 << 20);
    host.forest.set(ROWS, hedgerow::tree::Tree { root, count: 1 });
    host
}

#[test]
fn a_value_whose_chunks_do_not_fit_its_length_is_refused() {
    let piece = |len: usize| [&ChunkKind::Piece.header()[..], &bytes(len, 1)].concat();
    let list = |hashes: &[Hash]| {
        let hashes: Vec<u8> = hashes.iter().flat_map(|hash| hash.0).collect();
        [&ChunkKind::PieceList.header()[..], &hashes].concat()
    };
    let (full, small) = (piece(PIECE_BYTES), piece(5000));
    let pair = list(&[Hash::of(&full), Hash::of(&small)]);
    let swapped = list(&[Hash::of(&small), Hash::of(&full)]);
    let len = PIECE_BYTES + 5000;
    let mut whole = lying(len, Hash::of(&pair), &[&full, &small, &pair]);
    assert!(scan(&mut whole, Range::ALL, false, BOTH).is_ok());
    let cases: [(usize, &[u8], Field, u64, u64); 7] = [
        (5001, &small, Field::Length, 5001, 5000),
        (4999, &small, Field::Length, 4999, 5000),
        (len + 1, &pair, Field::Length, 5001, 5000),
        (len - 1, &pair, Field::Length, 4999, 5000),
        (len, &swapped, Field::Length, PIECE_BYTES as u64, 5000),
        (2 * PIECE_BYTES + 1, &pair, Field::Length, 96, 64),
        // A list where there should be the only piece.
        (5000, &pair, Field::Kind, 0xe0, 0xe1),
    ];
    for (len, top, field, wanted, got) in cases {
        let mut host = lying(len, Hash::of(top), &[&full, &small, &pair, &swapped]);
        let error = scan(&mut host, Range::ALL, false, BOTH).expect_err("an error");
        let Error::CorruptChunk { cause: Some(cause), .. } = error else { panic!("{error}") };
        assert_eq!((cause.field, cause.expected, cause.got), (field, wanted, got), "{len}");
    }
    // A piece where there should be the list, and nothing at all.
    let mut host = lying(len, Hash::of(&full), &[&full]);
    let error = scan(&mut host, Range::ALL, false, BOTH).expect_err("an error");
    let Error::CorruptChunk { cause: Some(cause), .. } = error else { panic!("{error}") };
    assert_eq!(cause.field, Field::Kind);
    let mut host = lying(len, Hash([7; 32]), &[&full]);
    let error = scan(&mut host, Range::ALL, false, BOTH).err();
    assert_eq!(error, Some(Error::MissingChunk(Hash([7; 32]))));
}

#[test]
fn an_unknown_root_is_missing_at_once() {
    let cache = Cache::new(0);
    let tree = hedgerow::tree::Tree { root: Hash([3; 32]), count: 5 };
    let error = Error::MissingChunk(tree.root);
    assert_eq!(get(&cache, tree, b"k").err(), Some(error));
    let mut out = Output::new();
    let mut budget = Budget::of(1);
    let mut scan = Scan::new(tree, Range::ALL, false, 1, BOTH);
    assert_eq!(scan.step(&cache, &mut budget, &mut out).err(), Some(error));
}

#[test]
fn the_last_of_equal_keys_wins_when_key_and_value_are_empty() {
    for rows in 2..200 {
        let mut batch = Batch::new();
        for row in (0..rows).rev() {
            batch.push(format!("k{row:03}").as_bytes(), Edit::Delete);
            if row == rows / 2 {
                // Neither takes a byte of the batch's memory.
                batch.push(b"", Edit::Put(Kind::Bytes, b""));
                batch.push(b"", Edit::Delete);
                batch.push(b"", Edit::Put(Kind::Bytes, b"last"));
            }
        }
        batch.close_run();
        assert!(batch.sort(&mut Budget::of(usize::MAX)));
        assert_eq!(batch.edit(0), Edit::Put(Kind::Bytes, b"last"), "{rows} rows");
    }
}

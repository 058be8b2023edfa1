//! Stored segments that are missing, cut off or damaged: the error names the chunk, and all other chunks
//! stay readable.

use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch, SegmentId, Want};
use hedgerow::chunk::ChunkKind;
use hedgerow::error::{Error, Field};
use hedgerow::hash::Hash;
use hedgerow::ingest::Format;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::node::Node;
use hedgerow::output::Output;
use hedgerow::segment::Sealed;
use hedgerow::step::Budget;
use hedgerow::tree::{MultiGet, Parts, Range, Scan, Tree, get};
use hedgerow::value::Kind;
use hedgerow_support::faults::{cache, cause, failed};
use hedgerow_support::host::{Host, seal};
use hedgerow_support::layout::{self, FAR, far, good_commit, good_leaf, leaf, with};
use hedgerow_support::output::Expected;
use hedgerow_support::rows::{issue, pairs};
use hedgerow_support::values::{bytes, values};
use std::ops::Bound;

const BOTH: Parts = Parts { keys: true, values: true };
const KEYS: Parts = Parts { keys: true, values: false };
const VALUES: Parts = Parts { keys: false, values: true };

fn scan(host: &mut Host, parts: Parts) -> Result<Output, Error> {
    let (out, result) = host.scanned(host.tree(), &Range::ALL, false, u64::MAX, parts);
    result.map(|()| out)
}

// --- segments ---

#[test]
fn a_chunk_with_a_flipped_bit_is_refused_by_its_hash() {
    let good = good_leaf();
    let second = leaf(&[(0, b"x", b"y")]);
    for bit in 0..8 * good.len() {
        let (hashes, mut sealed) = seal(&[&good, &second]);
        let Sealed { mut bytes, table } = sealed.remove(0);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let mut cache = Cache::new(1 << 20);
        cache.add_table(1, table);
        cache.load(Want::whole_of(1), bytes);
        for _ in 0..2 {
            assert_eq!(failed(cache.node(&hashes[0])), (hashes[0], None), "bit {bit}");
        }
        // Other chunks in the segment stay readable.
        assert!(matches!(cache.node(&hashes[1]), Ok(Fetch::Here(Node::Leaf(_)))));
    }
}

#[test]
fn a_segment_that_is_too_short_loses_only_the_chunks_cut_off() {
    let chunks = [good_leaf(), leaf(&[(0, b"x", b"y")])];
    let (hashes, mut sealed) = seal(&[&chunks[0], &chunks[1]]);
    let Sealed { bytes, table } = sealed.remove(0);
    for cut in 0..bytes.len() {
        let mut cache = Cache::new(1 << 20);
        cache.add_table(1, table.clone());
        cache.load(Want::whole_of(1), bytes[..cut].to_vec());
        assert_eq!(failed(cache.node(&hashes[1])), (hashes[1], None), "cut at {cut}");
        assert_eq!(cache.node(&hashes[0]).is_ok(), cut >= chunks[0].len(), "cut at {cut}");
    }
}

#[test]
fn a_later_version_is_distinguished_from_a_fault() {
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
    let list = layout::piece_list(&[Hash([1; 32]), Hash([2; 32])]);
    let (leaf, part) = (good_leaf(), layout::piece(&[7]));
    for wrong_first in [false, true] {
        let (cache, hashes) = cache(&[&leaf, &part, &commit, &list]);
        let as_piece = |hash: &Hash| cache.chunk(hash, ChunkKind::Piece);
        let as_commit = |hash: &Hash| cache.chunk(hash, ChunkKind::Commit);
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
    let mut torn = Host::new(Shape::STORED);
    (torn.root, torn.forest) = (host.root, host.forest.clone());
    for (_, _, chunk) in host.chunks() {
        torn.store_chunk(&chunk);
    }
    let mut leaves = Vec::new();
    for (id, hash, chunk) in torn.chunks() {
        if let Ok(Node::Leaf(leaf)) = Node::decode(&chunk) {
            let row = |key: &[u8]| rows.partition_point(|(other, _)| other.as_bytes() < key);
            leaves.push((id, hash, row(leaf.key(0))..row(leaf.key(leaf.len() - 1)) + 1));
        }
    }
    leaves.sort_by_key(|(_, _, rows)| rows.start);
    torn.reopen(64 << 20);
    Torn { host: torn, rows, leaves }
}

impl Torn {
    /// Checks that the rows of the leaf at `index` fail with `error`, and that all others read.
    fn only_fails_at(&mut self, index: usize, error: Error) {
        let (_, _, lost) = self.leaves[index].clone();
        let tree = self.host.tree();
        for (at, (key, value)) in self.rows.iter().enumerate() {
            let result = self.host.look_up(tree, key);
            if lost.contains(&at) {
                assert_eq!(result, Err(error), "row {at}");
            } else {
                assert_eq!(result, Ok(Some(value.clone().into_bytes())), "row {at}");
            }
        }
        // Scans return the rows before the fault, from either side.
        for reverse in [false, true] {
            let (out, result) = self.host.scanned(tree, &Range::ALL, reverse, u64::MAX, KEYS);
            assert_eq!(result, Err(error));
            let before = if reverse { self.rows.len() - lost.end } else { lost.start };
            assert_eq!(out.members() as usize, before);
        }
        // Scans next to the leaf succeed, and so do counts, which need not read it.
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
        // A write elsewhere succeeds; one that needs the leaf fails and leaves the store unchanged.
        let root = self.host.root;
        let row = |at: usize| [(self.rows[at].0.clone(), "1".to_owned())];
        let [there, elsewhere] = [lost.start, 0].map(|at| pairs(&row(at)));
        let mut ingest = self.host.ingest();
        self.host.feed(&mut ingest, &there, &Format::Pairs).expect("a good row");
        ingest.finish();
        assert_eq!(self.host.drive(&mut ingest), Err(error));
        assert_eq!((ingest.committed(), self.host.root), (None, root));
        self.host.commit(&[(elsewhere, Format::Pairs)]).expect("a write elsewhere");
        assert_eq!(self.host.get(&self.rows[0].0).as_deref(), Some("1"));
    }
}

#[test]
fn a_missing_leaf_is_named_and_all_others_stay_readable() {
    let mut torn = torn();
    let index = torn.leaves.len() / 2;
    let (id, hash, _) = torn.leaves[index].clone();
    torn.host.cache.remove(id);
    torn.only_fails_at(index, Error::MissingChunk(hash));
}

#[test]
fn a_damaged_leaf_is_named_and_all_others_stay_readable() {
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
    host.put_values(&values);
    let (kind, value) = &values["09/json"];
    assert_eq!((*kind, value.len()), (Kind::Json, 2 * PIECE_BYTES));
    let lost = Hash::of(&layout::piece(&value[PIECE_BYTES..]));
    let mut damaged = 0;
    for (bytes, table) in host.stored.values_mut() {
        for at in (0..table.len()).filter(|at| table.hash(*at) == lost) {
            bytes[table.range(at).end - 1] ^= 1;
            damaged += 1;
        }
    }
    assert_eq!(damaged, 1);
    host.reopen(0);
    let error = Error::CorruptChunk { hash: lost, cause: None };
    assert_eq!(scan(&mut host, BOTH).err(), Some(error));
    let keys = scan(&mut host, KEYS).expect("keys alone");
    assert_eq!(keys.members() as usize, values.len());
    for (key, value) in &values {
        let mut find = MultiGet::new(host.tree(), [key.as_bytes()]);
        let (mut out, mut found) = (Output::new(), Vec::new());
        let result = host.run(|cache, budget| find.step(cache, budget, &mut out, &mut found));
        if key == "09/json" {
            assert_eq!(result, Err(error));
        } else {
            assert_eq!(result, Ok(()), "{key}");
            out.close();
            Expected::entries([(key, value)].into_iter(), VALUES).check(&out, key);
        }
    }
}

/// Makes a store of a leaf with one value out of line, of `len` bytes at `hash`, and of `chunks`.
fn lying(len: usize, hash: Hash, chunks: &[&[u8]]) -> Host {
    let mut host = Host::new(Shape::STORED);
    for chunk in chunks {
        host.store_chunk(chunk);
    }
    let root = host.store_chunk(&leaf(&[(FAR, b"k", &far(len as u32, &hash))]));
    host.forest.set_rows(Tree { root, count: 1 });
    host
}

#[test]
fn a_value_whose_chunks_do_not_match_its_length_is_refused() {
    let piece = |len: usize| layout::piece(&bytes(len, 1));
    let (full, small) = (piece(PIECE_BYTES), piece(5000));
    let pair = layout::piece_list(&[Hash::of(&full), Hash::of(&small)]);
    let swapped = layout::piece_list(&[Hash::of(&small), Hash::of(&full)]);
    let len = PIECE_BYTES + 5000;
    let mut whole = lying(len, Hash::of(&pair), &[&full, &small, &pair]);
    assert!(scan(&mut whole, BOTH).is_ok());
    let cases: [(usize, &[u8], Field, u64, u64); 7] = [
        (5001, &small, Field::Length, 5001, 5000),
        (4999, &small, Field::Length, 4999, 5000),
        (len + 1, &pair, Field::Length, 5001, 5000),
        (len - 1, &pair, Field::Length, 4999, 5000),
        (len, &swapped, Field::Length, PIECE_BYTES as u64, 5000),
        (2 * PIECE_BYTES + 1, &pair, Field::Length, 96, 64),
        // A list in place of the only piece.
        (5000, &pair, Field::Kind, 0xe0, 0xe1),
    ];
    for (len, top, field, wanted, got) in cases {
        let mut host = lying(len, Hash::of(top), &[&full, &small, &pair, &swapped]);
        let error = scan(&mut host, BOTH).expect_err("an error");
        let Error::CorruptChunk { cause: Some(cause), .. } = error else { panic!("{error}") };
        assert_eq!((cause.field, cause.expected, cause.got), (field, wanted, got), "{len}");
    }
    // A piece in place of the list, and a missing chunk.
    let mut host = lying(len, Hash::of(&full), &[&full]);
    let error = scan(&mut host, BOTH).expect_err("an error");
    let Error::CorruptChunk { cause: Some(cause), .. } = error else { panic!("{error}") };
    assert_eq!(cause.field, Field::Kind);
    let mut host = lying(len, Hash([7; 32]), &[&full]);
    let error = scan(&mut host, BOTH).err();
    assert_eq!(error, Some(Error::MissingChunk(Hash([7; 32]))));
}

#[test]
fn an_unknown_root_is_missing_at_once() {
    let cache = Cache::new(0);
    let tree = Tree { root: Hash([3; 32]), count: 5 };
    let error = Error::MissingChunk(tree.root);
    assert_eq!(get(&cache, tree, b"k").err(), Some(error));
    let mut out = Output::new();
    let mut budget = Budget::of(1);
    let mut scan = Scan::new(tree, Range::ALL, false, 1, BOTH);
    assert_eq!(scan.step(&cache, &mut budget, &mut out).err(), Some(error));
}

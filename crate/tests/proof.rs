//! Proofs against a model: present and absent keys and ranges are proved, and verified with the root
//! only.

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::cache::Fetch;
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::limits::{MAX_INLINE_VALUE_BYTES, MAX_VALUE_BYTES, PIECE_BYTES};
use hedgerow::tree::Range;
use hedgerow::value::Kind;
use hedgerow_support::host::Host;
use hedgerow_support::layout;
use hedgerow_support::pace::Pace;
use hedgerow_support::proofs::{HEADER, check_proved, chunks, of_chunks, only, prove, verify};
use hedgerow_support::property::sampled;
use hedgerow_support::rows::issue;
use hedgerow_support::values::{Values, values};
use proptest::prelude::*;
use std::ops::Bound;

const SMALL: Shape = Shape::with_target(128);

fn json(text: &str) -> (Kind, Vec<u8>) {
    (Kind::Json, text.as_bytes().to_vec())
}

fn issues(count: usize) -> Values {
    (0..count).map(|at| issue(10 * at)).map(|(key, value)| (key, json(&value))).collect()
}

fn store(rows: &Values) -> Host {
    let mut host = Host::new(SMALL);
    if !rows.is_empty() {
        host.put_values(rows);
    }
    host
}

/// Proves `range`, and compares the verified rows with the model; returns the number of chunks.
fn holds(host: &mut Host, rows: &Values, range: &Range) -> usize {
    let proof = prove(host, range).expect("a proof");
    for slice in [usize::MAX, 1] {
        let out = verify(host.root, range, &proof, slice).expect("it is valid");
        check_proved(rows, range, &out, range);
    }
    let chunks = chunks(&proof);
    assert_eq!(of_chunks(&chunks), proof, "there is nothing else in it");
    chunks.len()
}

fn levels(host: &mut Host) -> usize {
    let root = host.tree().root;
    if root == Hash::ZERO {
        return 0;
    }
    let Ok(Fetch::Here(node)) = host.cache.node(&root) else { panic!("it is in memory") };
    usize::from(node.level()) + 1
}

/// Lists neighbours of `key`: before it, after it, and where other nodes begin.
fn neighbours(key: &str) -> Vec<String> {
    let mut shorter = key.to_owned();
    shorter.pop();
    vec![key.to_owned(), format!("{key}\0"), format!("{shorter}\u{10ffff}"), shorter]
}

#[test]
fn every_key_and_its_absent_neighbours_are_proved_in_trees_of_every_size() {
    for size in [0, 1, 2, 3, 10, 50, 400, 3000] {
        let rows = issues(size);
        let mut host = store(&rows);
        let step = 1 + size / 200;
        let keys = rows.keys().step_by(step).chain(rows.keys().next_back());
        let mut keys: Vec<String> = keys.flat_map(|key| neighbours(key)).collect();
        keys.extend(["", "\0", "issue", "zzz", "\u{ff5e}", "\u{1f600}"].map(str::to_owned));
        let most = keys.iter().map(|key| holds(&mut host, &rows, &only(key))).max();
        // The commit and one node of each level.
        let levels = levels(&mut host);
        assert_eq!(most, Some(if size == 0 { 0 } else { 1 + levels }), "{size} rows");
        assert!(size < 3000 || levels > 4, "{levels} levels");
    }
}

#[test]
fn every_range_is_proved_whole() {
    for size in [0, 1, 7, 600] {
        let rows = issues(size);
        let mut host = store(&rows);
        let at = |index: usize| issue(5 * index).0.into_bytes();
        let mut ranges = vec![
            Range::ALL,
            Range::prefix(b"issue/"),
            Range::prefix(b"issue/000001"),
            Range::prefix(b"none"),
            Range::prefix(b""),
        ];
        let places = [0, 1, 2, size / 2, size, size + 1, 2 * size - size / 7, 2 * size + 1];
        for lower in places {
            for upper in places {
                for kind in 0..9 {
                    let bound = |kind: usize, key: Vec<u8>| match kind {
                        0 => Bound::Unbounded,
                        1 => Bound::Included(key),
                        _ => Bound::Excluded(key),
                    };
                    let (lower, upper) = (bound(kind % 3, at(lower)), bound(kind / 3, at(upper)));
                    ranges.push(Range { lower, upper });
                }
            }
        }
        for range in sampled(ranges, 8) {
            holds(&mut host, &rows, &range);
        }
    }
}

#[test]
fn a_proof_contains_values_out_of_line_of_its_range_only() {
    let mut rows = values();
    // Repeated pieces are in a proof once.
    rows.insert("zeros".to_owned(), (Kind::Bytes, vec![0; 5 * PIECE_BYTES]));
    rows.insert("zeros again".to_owned(), (Kind::Bytes, vec![0; 5 * PIECE_BYTES]));
    let mut host = store(&rows);
    host.reopen(0);
    let path = holds(&mut host, &rows, &only("00/small"));
    for (key, (_, value)) in &rows {
        let pieces = match value.len() {
            _ if key.starts_with("zeros") => 2,
            len if len <= MAX_INLINE_VALUE_BYTES => 0,
            len if len <= PIECE_BYTES => 1,
            len => 1 + len.div_ceil(PIECE_BYTES),
        };
        let chunks = holds(&mut host, &rows, &only(key));
        assert!(chunks - pieces <= path + 1, "{key}: {chunks} chunks");
        holds(&mut host, &rows, &only(&format!("{key}!")));
    }
    holds(&mut host, &rows, &Range::ALL);
    assert_eq!(holds(&mut host, &rows, &Range::prefix(b"zeros")), 2 + path);
}

#[test]
fn the_empty_store_has_the_shortest_proof() {
    let mut host = Host::new(SMALL);
    assert_eq!(prove(&mut host, &Range::ALL), Ok(HEADER.to_vec()));
    let refused = |root, proof: &[u8]| verify(root, &Range::ALL, proof, 100).map(|_| ());
    assert_eq!(refused(Hash::ZERO, &HEADER), Ok(()));
    for bad in
        [&[][..], &HEADER[..1], &[0xf0, 0], &[0xf1, 1], &[0xf0, 1, 0], &[0xf0, 1, 0, 0, 0, 0]]
    {
        assert_eq!(refused(Hash::ZERO, bad), Err(Error::InvalidProof), "{bad:?}");
    }
    assert_eq!(refused(Hash([1; 32]), &HEADER), Err(Error::InvalidProof));
    assert_eq!(refused(Hash::ZERO, &[0xf0, 2]), Err(Error::UnsupportedFormat { version: 2 }));
}

#[test]
fn rows_and_their_absence_are_proved_in_commits_with_other_trees() {
    let mut host = store(&issues(1));
    let tree = host.tree();
    for (rows, trees) in [
        (issues(1), vec![(&b"a"[..], 9, Hash([7; 32])), (b"r", tree.count, tree.root)]),
        (issues(0), vec![(b"t", 9, Hash([7; 32]))]),
    ] {
        host.root = host.store_chunk(&layout::commit(&trees));
        for key in ["", &issue(0).0, "z"] {
            holds(&mut host, &rows, &only(key));
        }
    }
}

type Record<'r> = (u16, &'r [u8], &'r [u8]);

/// Makes a host with a tree of one leaf of these records.
fn of_leaf(records: &[Record<'_>], more: &[Vec<u8>]) -> Host {
    let mut host = Host::new(SMALL);
    for chunk in more {
        host.store_chunk(chunk);
    }
    let leaf = host.store_chunk(&layout::leaf(records));
    let commit = layout::commit(&[(b"r", records.len() as u64, leaf)]);
    host.root = host.store_chunk(&commit);
    host
}

#[test]
fn a_value_that_is_not_json_cannot_look_like_other_entries() {
    let leaves: [&[Record<'_>]; 3] =
        [&[(0, b"a", b"[1"), (0, b"b", b"2],3,4")], &[(0, b"a", b"")], &[(0, b"a", b"\"\xff\"")]];
    for records in leaves {
        let mut host = of_leaf(records, &[]);
        let proof = prove(&mut host, &Range::ALL).expect("the prover reads no values");
        let result = verify(host.root, &Range::ALL, &proof, usize::MAX).map(|_| ());
        assert_eq!(result, Err(Error::InvalidProof));
    }
}

#[test]
fn a_small_proof_of_too_many_bytes_is_refused() {
    let piece = layout::piece(&vec![7; PIECE_BYTES]);
    let list = layout::piece_list(&vec![Hash::of(&piece); MAX_VALUE_BYTES / PIECE_BYTES]);
    let far = layout::far(MAX_VALUE_BYTES as u32, &Hash::of(&list));
    let tag = layout::FAR | layout::BYTES;
    let keys: Vec<_> = (0..100).map(|at| [b'a', at]).collect();
    let records: Vec<_> = keys.iter().map(|key| (tag, &key[..], &far[..])).collect();
    let mut host = of_leaf(&records, &[piece, list]);
    assert_eq!(prove(&mut host, &Range::ALL), Err(Error::ProofTooLarge));
    // A proof of one row, used for a range that is too large to be proved.
    let one = only("a\0");
    let proof = prove(&mut host, &one).expect("a proof");
    assert!(proof.len() < 120_000);
    let out = verify(host.root, &one, &proof, usize::MAX).expect("it is valid");
    assert_eq!(out.bytes.len(), MAX_VALUE_BYTES);
    let refused = verify(host.root, &Range::ALL, &proof, usize::MAX).map(|_| ());
    assert_eq!(refused, Err(Error::InvalidProof));
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{0,3}",
        "[a-c]{1,2}/[0-9]{1,3}",
        "[\u{0}-\u{7f}é中\u{ff5e}😀]{0,6}",
        "[x-z]{40,60}",
        "[a-b]{1024}",
    ]
}

fn value() -> impl Strategy<Value = (Kind, Vec<u8>)> {
    let bytes = |range| prop::collection::vec(any::<u8>(), range);
    prop_oneof![
        3 => "\"[a-z]{0,300}\"".prop_map(|text| json(&text)),
        1 => bytes(0..200).prop_map(|bytes| (Kind::Bytes, bytes)),
        1 => bytes(4090..4100).prop_map(|bytes| (Kind::Bytes, bytes)),
        1 => "\"[a-z]{4090,4100}\"".prop_map(|text| json(&text)),
    ]
}

fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![
        Just(Bound::Unbounded),
        key().prop_map(|key| Bound::Included(key.into_bytes())),
        key().prop_map(|key| Bound::Excluded(key.into_bytes())),
    ]
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn whatever_is_asked_is_proved_however_slowly(
        rows in prop::collection::btree_map(key(), value(), 0..120),
        ranges in prop::collection::vec((bound(), bound()), 1..4),
        keys in prop::collection::vec(key(), 1..4),
        choices in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let mut host = store(&rows);
        host.reopen(0);
        host.pace = Some(Pace::new(&choices));
        let ranges = ranges.into_iter().map(|(lower, upper)| Range { lower, upper });
        let near = rows.keys().take(3).flat_map(|key| neighbours(key));
        let near = near.filter(|key| key.len() <= 1024);
        let keys = keys.into_iter().chain(near).map(|key| only(&key));
        for range in ranges.chain(keys) {
            holds(&mut host, &rows, &range);
        }
    }
}

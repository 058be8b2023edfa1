//! Forged proofs. A proof that differs in any byte is refused, even a careful forgery. A proof that is
//! valid for another key, range or root never gives a wrong answer. The test prints the numbers of each
//! (`cargo test --test all forged:: -- --nocapture`).

use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::key::Key;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::node::Node;
use hedgerow::tree::Range;
use hedgerow::value::Kind;
use hedgerow_support::host::Host;
use hedgerow_support::layout;
use hedgerow_support::proofs::{
    HEADER, check_proved, chunks, of_chunks, only, prove, rehash, verify,
};
use hedgerow_support::property::{for_seeds, has_all_seeds, sampled};
use hedgerow_support::rows::issue;
use hedgerow_support::values::{Values, bytes};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Each seed forges [`PROOFS`] proofs.
const SEEDS: u64 = 100;
const PROOFS: usize = 1000;

struct Store {
    host: Host,
    rows: Values,
}

/// A query of a store, and its proof.
struct Proof {
    store: usize,
    range: Range,
    bytes: Vec<u8>,
}

/// Stores that share many rows, so that parts of one proof look good in another.
fn stores() -> Vec<Store> {
    let store = |size: usize, changed: usize| {
        let mut rows: Values = (0..size)
            .map(|at| (at, issue(10 * at)))
            .map(|(at, (key, value))| match at {
                _ if at == changed => (key, (Kind::Json, b"\"changed\"".to_vec())),
                _ if at % 50 == 7 => (key, (Kind::Bytes, bytes(5000, at))),
                _ => (key, (Kind::Json, value.into_bytes())),
            })
            .collect();
        if size == 40 {
            rows.insert("large".to_owned(), (Kind::Bytes, bytes(PIECE_BYTES + 9, 1)));
        }
        let mut host = Host::new(Shape::with_target(128));
        if size > 0 {
            host.put_values(&rows);
        }
        Store { host, rows }
    };
    [(0, 0), (1, 9), (5, 9), (5, 3), (40, 99), (300, 999), (300, 150), (2000, 9999)]
        .map(|(size, changed)| store(size, changed))
        .into()
}

fn some_range(random: &mut ChaCha8Rng) -> Range {
    let mut key = || {
        let key = issue(random.random_range(0..3100)).0;
        // One key in four is next to a row.
        if random.random_range(0..4) == 0 { format!("{key}!") } else { key }
    };
    let (a, b) = (key(), key());
    match random.random_range(0..8) {
        0 => Range { lower: Bound::Unbounded, upper: Bound::Included(issue(50).0.into_bytes()) },
        1 => {
            let end = format!("{a}5");
            Range {
                lower: Bound::Excluded(a.into_bytes()),
                upper: Bound::Excluded(end.into_bytes()),
            }
        }
        2 => {
            let (lower, upper) = if a < b { (a, b) } else { (b, a) };
            let near = lower[..lower.len() - 2].to_owned() + "99";
            let upper = upper.min(near);
            Range { lower: Bound::Included(lower.into()), upper: Bound::Included(upper.into()) }
        }
        3 => only("large"),
        _ => only(&a),
    }
}

/// Makes a node of other entries or children; returns it, and whether its parent must be wrong about it.
fn other_node(random: &mut ChaCha8Rng, chunk: &[u8]) -> Option<(Vec<u8>, bool)> {
    let how = random.random_range(0..4);
    Some(match Node::decode(chunk).ok()? {
        Node::Leaf(leaf) => {
            let mut entries: Vec<_> = (0..leaf.len()).map(|at| leaf.entry(at)).collect();
            let at = random.random_range(0..entries.len());
            match how {
                0 => drop(entries.remove(at)),
                1 => entries[at].value = b"null",
                _ => {
                    let key = entries[at].key.bytes();
                    entries[at].key = Key::trusted(&key[..key.len() - 1]);
                }
            }
            (layout::leaf_of(&entries), how == 0)
        }
        Node::Inner(inner) => {
            let mut children: Vec<_> = (0..inner.len()).map(|at| inner.child(at)).collect();
            let at = random.random_range(0..children.len());
            let level = inner.level() + u8::from(random.random_range(0..4) == 0);
            match how {
                0 => children[at].count += 1,
                1 => drop(children.remove(at)),
                2 => children[at].hash = children[0].hash,
                _ => {
                    let key = children[at].key.bytes();
                    children[at].key = Key::trusted(&key[..key.len() - 1]);
                }
            }
            (layout::inner_of(level, &children), how < 2)
        }
    })
}

/// Changes the bytes of a proof; returns the name of the change.
fn change(random: &mut ChaCha8Rng, proof: &mut Vec<u8>, other: &[u8]) -> &'static str {
    let head = proof.len().min(80);
    let end = if random.random() { head } else { proof.len() };
    let at = random.random_range(0..end);
    let to = (at + random.random_range(1..48)).min(proof.len());
    match random.random_range(0..6) {
        0 => proof[at] ^= 1 << random.random_range(0..8),
        1 => proof[at] = random.random(),
        2 => proof.truncate(at),
        3 => proof.insert(at, random.random()),
        4 => drop(proof.drain(at..to)),
        _ => proof.extend_from_slice(&other[..random.random_range(0..other.len())]),
    }
    "bytes"
}

/// Changes the chunks of a proof; returns the name of the change.
fn shuffle(random: &mut ChaCha8Rng, proof: &mut Vec<u8>, other: &[u8]) -> &'static str {
    let (mut own, other) = (chunks(proof), chunks(other));
    let at = random.random_range(0..=own.len());
    let from = random.random_range(0..=own.len());
    let foreign = || other.get(at.min(from)).cloned();
    let how = match random.random_range(0..5) {
        0 if at < own.len() && from < own.len() => {
            own.swap(at, from);
            "chunks swapped"
        }
        1 if from < own.len() => {
            own.insert(at, own[from].clone());
            "a chunk twice"
        }
        2 if from < own.len() => {
            own.remove(from);
            "a chunk less"
        }
        3 => {
            own.splice(at..at, foreign());
            "a foreign chunk more"
        }
        _ => {
            own.splice(from..own.len().min(from + 1), foreign());
            "a foreign chunk instead"
        }
    };
    *proof = of_chunks(&own);
    how
}

/// Changes a chunk of a proof and all chunks that name it; returns the root that fits, and whether
/// the proof is false under that, too.
fn forge(random: &mut ChaCha8Rng, proof: &mut Vec<u8>) -> Option<(Hash, bool)> {
    let mut own = chunks(proof);
    let at = random.random_range(0..own.len().max(1));
    let (forged, is_false) = if random.random_range(0..4) == 0 {
        let mut bytes = own.get(at)?.clone();
        let place = random.random_range(0..bytes.len());
        bytes[place] ^= 1 << random.random_range(0..8);
        (bytes, false)
    } else {
        other_node(random, own.get(at)?)?
    };
    rehash(&mut own, at, forged);
    *proof = of_chunks(&own);
    Some((Hash::of(&own[0]), is_false))
}

fn is_refused<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::InvalidProof | Error::UnsupportedFormat { .. }))
}

#[test]
fn forged_proofs_are_refused_or_true() {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_122);
    let mut stores = stores();
    let mut proofs = Vec::new();
    for (store, Store { host, rows }) in stores.iter_mut().enumerate() {
        for _ in 0..60 {
            let range = some_range(&mut random);
            let bytes = prove(host, &range).expect("a proof");
            let out = verify(host.root, &range, &bytes, usize::MAX).expect("it is valid");
            check_proved(rows, &range, &out, &range);
            // Large values take time to hash, and test no more than small ones.
            if bytes.len() < 10_000 || random.random_range(0..20) == 0 {
                proofs.push(Proof { store, range, bytes });
            }
        }
    }
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for_seeds(SEEDS, |seed, _| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut forged = 0;
        while forged < PROOFS {
            let proof = &proofs[random.random_range(0..proofs.len())];
            let other = &proofs[random.random_range(0..proofs.len())];
            let root = stores[proof.store].host.root;
            let mut bytes = proof.bytes.clone();
            let how = random.random_range(0..10);
            if how >= 8 {
                // A valid proof for another query.
                let (range, store, kind) = match random.random_range(0..3) {
                    0 => (&proof.range, other.store, "another root"),
                    1 => (&other.range, other.store, "all else"),
                    _ => (&other.range, proof.store, "another range"),
                };
                let Store { host, rows } = &stores[store];
                let result = verify(host.root, range, &bytes, usize::MAX);
                match &result {
                    Ok(out) => check_proved(rows, range, out, range),
                    Err(error) => assert_eq!(*error, Error::InvalidProof),
                }
                counts.entry(kind).or_default()[usize::from(result.is_ok())] += 1;
                forged += 1;
                continue;
            }
            let mut kind = "all hashes fit but the root";
            match how {
                0..=2 => kind = change(&mut random, &mut bytes, &other.bytes),
                3..=5 => kind = shuffle(&mut random, &mut bytes, &other.bytes),
                _ => {
                    let forged = forge(&mut random, &mut bytes);
                    if let Some((forged, is_false)) = forged.filter(|_| bytes != proof.bytes) {
                        let result = verify(forged, &proof.range, &bytes, usize::MAX);
                        assert!(!is_false || is_refused(&result), "{bytes:02x?}");
                        let key =
                            if is_false { "false under its own root" } else { "its own root" };
                        counts.entry(key).or_default()[usize::from(result.is_ok())] += 1;
                    }
                }
            }
            if bytes != proof.bytes {
                let result = verify(root, &proof.range, &bytes, usize::MAX);
                assert!(is_refused(&result), "{kind}: {bytes:02x?}");
                counts.entry(kind).or_default()[0] += 1;
                forged += 1;
            }
        }
        Ok(())
    });
    println!("| forged | refused | accepted |\n|---|---|---|");
    for (kind, [refused, accepted]) in &counts {
        println!("| {kind} | {refused} | {accepted} |");
    }
    if !has_all_seeds(SEEDS) {
        return;
    }
    // The test is useful only if all changes were made.
    assert!(counts["bytes"][0] > 20_000);
    assert!(counts["all hashes fit but the root"][0] > 10_000);
    for kind in ["another root", "another range", "all else"] {
        assert!(counts[kind].iter().all(|count| *count > 50), "{kind}: {:?}", counts[kind]);
    }
    assert!(counts["its own root"].iter().all(|count| *count > 500));
    assert!(counts["false under its own root"][0] > 3000);
}

#[test]
fn every_cut_and_every_changed_bit_of_a_proof_is_refused() {
    let mut stores = stores();
    let Store { host, .. } = &mut stores[5];
    for range in [only(&issue(1500).0), only(&issue(1501).0)] {
        let good = prove(host, &range).expect("a proof");
        assert!(good.len() > HEADER.len() + 300);
        for end in 0..good.len() {
            assert!(is_refused(&verify(host.root, &range, &good[..end], usize::MAX)), "{end}");
        }
        for bit in sampled(0..8 * good.len(), 8) {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(is_refused(&verify(host.root, &range, &bad, usize::MAX)), "bit {bit}");
        }
    }
}

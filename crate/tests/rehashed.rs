//! Damaged chunks under their right hashes, as a hostile peer would send them. Each is refused by
//! name, or is a valid chunk: then an independent encoder makes the same bytes. The test prints the
//! numbers of each (`cargo test --test all rehashed:: -- --nocapture`).

use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch};
use hedgerow::chunk::{ChunkKind, VERSION, piece, piece_list, pieces_of};
use hedgerow::error::Error;
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::segment::Packer;
use hedgerow_support::faults::cache;
use hedgerow_support::host::Host;
use hedgerow_support::layout;
use hedgerow_support::property::{for_seeds, has_all_seeds};
use hedgerow_support::rows::issue;
use hedgerow_support::values::values;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// The number of chunks that share a segment, and a seed.
const BATCH: usize = 500;
const SEEDS: u64 = 200;
/// Larger chunks are many bytes of one value: a fault in them rarely meets other bytes.
const MAX_BYTES: usize = 3000;

/// Makes chunks of every kind with the core.
fn honest() -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    for target in [64, 512] {
        let mut host = Host::new(Shape::with_target(target));
        host.put(&(0..400).map(issue).collect::<Vec<_>>());
        host.put_values(&values());
        chunks.extend(host.chunks().map(|(_, _, bytes)| bytes));
    }
    let hash = |at: u8| Hash([at; 32]);
    chunks.push(layout::commit(&[(b"a", 1, hash(1)), (b"b", 22, hash(2)), (b"c/d", 333, hash(3))]));
    chunks.push(layout::piece(b"[1,2,3]"));
    chunks.retain(|chunk| chunk.len() <= MAX_BYTES);
    chunks
}

fn kind_of(bytes: &[u8]) -> &'static str {
    match ChunkKind::decode(bytes) {
        Ok(ChunkKind::Node(0)) => "leaf",
        Ok(ChunkKind::Node(_)) => "internal node",
        Ok(ChunkKind::Commit) => "commit",
        Ok(ChunkKind::Piece) => "piece",
        Ok(ChunkKind::PieceList) => "list of pieces",
        Ok(ChunkKind::SumPiece | ChunkKind::SumTop) => "piece of a sum tree",
        Err(_) => "no kind",
    }
}

/// Puts one fault into `bytes`, mostly at places that matter.
fn fault(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    if bytes.is_empty() {
        bytes.push(random.random());
        return;
    }
    let head = bytes.len().min(64);
    let at = if random.random() {
        random.random_range(0..head)
    } else {
        random.random_range(0..bytes.len())
    };
    let end = (at + random.random_range(1..48)).min(bytes.len());
    match random.random_range(0..9) {
        0 => bytes[at] = random.random(),
        1 => bytes[at] ^= 1 << random.random_range(0..8),
        2 => bytes[at] = bytes[at].wrapping_add(if random.random() { 1 } else { u8::MAX }),
        3 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.random_range(0..5)],
        4 => bytes.truncate(at),
        5 => bytes.insert(at, random.random()),
        6 => drop(bytes.drain(at..end)),
        7 => {
            // A part of itself again.
            let to = random.random_range(0..=bytes.len());
            let part = bytes[at..end].to_vec();
            bytes.splice(to..to, part);
        }
        _ => {
            let from = random.random_range(0..other.len());
            let len = (end - at).min(other.len() - from);
            bytes[at..at + len].copy_from_slice(&other[from..from + len]);
        }
    }
}

/// Encodes the chunk `hash` again, if it is accepted.
fn accepted(cache: &Cache, hash: &Hash, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    fn here<T>(fetched: Fetch<T>) -> T {
        match fetched {
            Fetch::Here(found) => found,
            Fetch::At(want) => panic!("{want:?} is in memory"),
        }
    }
    // The leaf that names a list gives the length of its value: take the length that fits best.
    let len = bytes.len().saturating_sub(2) / 32 * PIECE_BYTES;
    Ok(match ChunkKind::decode(bytes) {
        Ok(ChunkKind::Commit) => {
            let malformed = |cause| Error::CorruptChunk { hash: *hash, cause: Some(cause) };
            let bytes = here(cache.chunk(hash, ChunkKind::Commit)?);
            let forest = Forest::decode(bytes).map_err(malformed)?;
            let mut packer = Packer::new();
            forest.commit(&mut packer).expect("no larger than it was");
            packer.seal();
            packer.take_sealed().remove(0).bytes
        }
        Ok(ChunkKind::Piece) => {
            let bytes = here(cache.chunk(hash, ChunkKind::Piece)?);
            layout::piece(piece(bytes).expect("it was checked"))
        }
        Ok(ChunkKind::PieceList) => {
            let bytes = here(cache.chunk(hash, ChunkKind::PieceList)?);
            let pieces = piece_list(bytes, len).expect("it was checked");
            assert_eq!(pieces.len(), pieces_of(len));
            layout::piece_list(&pieces)
        }
        // A chunk that is not a node is refused.
        Ok(ChunkKind::Node(_) | ChunkKind::SumPiece | ChunkKind::SumTop) | Err(_) => {
            layout::node(&here(cache.node(hash)?))
        }
    })
}

#[test]
fn damaged_chunks_are_refused_or_canonical() {
    let honest = honest();
    let mut by_kind: BTreeMap<&str, Vec<&Vec<u8>>> = BTreeMap::new();
    for chunk in &honest {
        by_kind.entry(kind_of(chunk)).or_default().push(chunk);
    }
    let by_kind: Vec<_> = by_kind.into_values().collect();
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for_seeds(SEEDS, |seed, _| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut chunks = Vec::new();
        while chunks.len() < BATCH {
            // Kinds in equal shares, however many there are of each.
            let mut pick = || {
                let chunks = &by_kind[random.random_range(0..by_kind.len())];
                chunks[random.random_range(0..chunks.len())]
            };
            let (good, other) = (pick(), pick());
            let mut bytes = good.clone();
            for _ in 0..random.random_range(1..4) {
                fault(&mut random, &mut bytes, other);
            }
            // An empty chunk has no place in a segment.
            if bytes != *good && !bytes.is_empty() {
                chunks.push(bytes);
            }
        }
        let (cache, hashes) = cache(&chunks);
        for (hash, bytes) in hashes.iter().zip(&chunks) {
            assert_eq!(*hash, Hash::of(bytes));
            let took = match accepted(&cache, hash, bytes) {
                Ok(again) => {
                    assert!(again == *bytes, "{bytes:02x?} becomes {again:02x?}");
                    true
                }
                Err(Error::CorruptChunk { hash: named, cause: Some(_) }) => {
                    assert_eq!(named, *hash);
                    false
                }
                Err(Error::UnsupportedFormat { version }) => {
                    assert!(version > VERSION && version == bytes[1]);
                    false
                }
                Err(error) => panic!("{error} of {bytes:02x?}"),
            };
            counts.entry(kind_of(bytes)).or_default()[usize::from(took)] += 1;
        }
        Ok(())
    });
    let total: usize = counts.values().map(|[refused, accepted]| refused + accepted).sum();
    println!("{total} damaged chunks\n| kind | refused | accepted |\n|---|---|---|");
    for (kind, [refused, accepted]) in &counts {
        println!("| {kind} | {refused} | {accepted} |");
    }
    // A chunk of an unknown kind is never accepted.
    assert_eq!(counts["no kind"][1], 0);
    if !has_all_seeds(SEEDS) {
        return;
    }
    // The test is useful only with both results.
    for kind in ["leaf", "internal node", "commit", "piece", "list of pieces"] {
        assert!(counts[kind].iter().all(|count| *count > 500), "{kind}: {:?}", counts[kind]);
    }
}

#[test]
fn undamaged_chunks_are_accepted() {
    let honest = honest();
    let (cache, hashes) = cache(&honest);
    for (hash, bytes) in hashes.iter().zip(&honest) {
        assert_eq!(accepted(&cache, hash, bytes).as_ref(), Ok(bytes));
    }
}

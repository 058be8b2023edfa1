//! A verification of a sum tree accepts sound trees, and finds every fault under right hashes of chunks:
//! pieces are rewritten, and the pieces above them are adjusted as far as possible.

use hedgerow::boundary::Shape;
use hedgerow::error::{Error, Field};
use hedgerow::hash::Hash;
use hedgerow::sum_tree::{Rules, SumVerify};
use hedgerow::tree::Tree;
use hedgerow_support::host::{Host, seal};
use hedgerow_support::property::{for_seeds, has_all_seeds};
use hedgerow_support::sums::{Leaves, Sums};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

const FIXED: usize = 74;

/// The seeds of rewritten trees.
const SEEDS: u64 = 50;

fn leaves(random: &mut ChaCha8Rng, count: usize) -> Leaves {
    let mut leaves = Leaves::new();
    for at in 0..count {
        let len = [0, 6, 6, 6, 200, 256, 257, 3000, 70_000][random.random_range(0..9)];
        let len = if at % 20 == 0 { len } else { len.min(256) };
        let mut key: [u8; 32] = random.random();
        if at % 3 == 0 {
            // Some keys share many bits.
            key[..28].fill(0);
        }
        leaves.insert(key, (vec![at as u8; len], random.random_range(1..1000)));
    }
    leaves
}

fn claim(sums: &Sums) -> Vec<u8> {
    [&sums.root.hash[..], &sums.root.sum.to_le_bytes()].concat()
}

fn walk(sums: &mut Sums, tree: Tree, claim: &[u8]) -> Result<[u64; 3], Error> {
    let mut verify = SumVerify::new(&sums.rules, tree, claim);
    sums.host.run(|cache, budget| verify.step(cache, budget))?;
    Ok(verify.tally())
}

#[test]
fn sound_trees_are_accepted_in_steps_of_any_size() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for (count, slice) in [(0, 1), (1, 1), (2, 1), (40, 1), (700, 1), (3000, usize::MAX)] {
        let all = leaves(&mut random, count);
        let mut sums = Sums::of(Host::new(Shape::STORED), &all);
        let far = all.values().filter(|(value, _)| value.len() > 256).count() as u64;
        let pieces = sums.reached().0.iter().filter(|hash| is_piece(&sums, hash)).count() as u64;
        let (tree, claim) = (sums.tree, claim(&sums));
        sums.host.reopen(if slice == 1 { 0 } else { 1 << 20 });
        sums.host.slice = slice;
        assert_eq!(walk(&mut sums, tree, &claim), Ok([all.len() as u64, pieces, far]));
    }
}

fn is_piece(sums: &Sums, hash: &Hash) -> bool {
    let (_, _, bytes) = sums.host.chunks().find(|(_, other, _)| other == hash).expect("a chunk");
    bytes[0] & 0xfe == 0xd0
}

#[test]
fn a_wrong_claim_of_the_root_is_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for count in [0, 1, 2, 300] {
        let mut sums = Sums::of(Host::new(Shape::STORED), &leaves(&mut random, count));
        let (tree, honest) = (sums.tree, claim(&sums));
        for at in 0..40 {
            let mut claim = honest.clone();
            claim[at] ^= 1 << random.random_range(0..8);
            let error = walk(&mut sums, tree, &claim).expect_err("another root");
            assert!(is_field(error, Field::SumHash), "{count} leaves, byte {at}: {error:?}");
        }
        if count > 0 {
            for count in [tree.count - 1, tree.count + 1] {
                let tree = Tree { count, ..tree };
                assert!(count == 0 || walk(&mut sums, tree, &honest).is_err());
            }
        }
    }
    let claim = [&Rules::new().empty_hash(0)[..], &[0; 8]].concat();
    let mut sums = Sums::new(Host::new(Shape::STORED));
    assert_eq!(walk(&mut sums, Tree::EMPTY, &claim), Ok([0; 3]));
}

fn is_field(error: Error, field: Field) -> bool {
    matches!(error, Error::CorruptChunk { cause: Some(cause), .. } if cause.field == field)
}

/// A piece taken apart, by an independent reader.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    header: Vec<u8>,
    records: Vec<Vec<u8>>,
}

fn head(record: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([record[72], record[73]]))
}

fn is_link(record: &[u8]) -> bool {
    head(record) >= 0x8000 && record.len() == FIXED + 42
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

impl Piece {
    fn of(chunk: &[u8]) -> Self {
        let start = if chunk[0] == 0xd1 { 42 } else { 2 };
        let (mut at, mut records) = (start, Vec::new());
        while at < chunk.len() {
            let rest = match head(&chunk[at..]) {
                0x4000 => 68,
                len if len < 0x4000 => len,
                _ => 42,
            };
            records.push(chunk[at..at + FIXED + rest].to_vec());
            at += FIXED + rest;
        }
        Self { header: chunk[..start].to_vec(), records }
    }

    fn bytes(&self) -> Vec<u8> {
        [&self.header[..], &self.records.concat()].concat()
    }
}

struct Forger {
    chunks: BTreeMap<Hash, Vec<u8>>,
    /// Whether links and the top are updated to match the pieces below.
    mends: bool,
}

struct Made {
    hash: Hash,
    sum: u64,
    count: u64,
    size: usize,
}

impl Forger {
    fn put(&mut self, bytes: &[u8]) -> Hash {
        let hash = seal(&[bytes]).0[0];
        self.chunks.insert(hash, bytes.to_vec());
        hash
    }

    /// Rewrites the pieces from `hash` down; `change` changes the piece `target`.
    fn rewrite(
        &mut self,
        hash: Hash,
        target: Hash,
        change: &mut dyn FnMut(&mut Self, &mut Piece),
    ) -> Made {
        let mut piece = Piece::of(&self.chunks[&hash]);
        if hash == target {
            change(self, &mut piece);
        }
        for record in piece.records.iter_mut().filter(|record| is_link(record)) {
            let below = Hash(record[84..116].try_into().expect("a hash"));
            if !self.chunks.contains_key(&below) {
                continue;
            }
            let made = self.rewrite(below, target, change);
            record[84..116].copy_from_slice(&made.hash.0);
            if self.mends && made.hash != below {
                record[64..72].copy_from_slice(&made.sum.to_le_bytes());
                record[74..82].copy_from_slice(&made.count.to_le_bytes());
                record[82..84].copy_from_slice(&(made.size as u16).to_le_bytes());
            }
        }
        let count = |record: &Vec<u8>| if is_link(record) { u64_at(record, 74) } else { 1 };
        let sum = |record: &Vec<u8>| u64_at(record, 64);
        let sum = piece.records.iter().map(sum).fold(0, u64::wrapping_add);
        let count = piece.records.iter().map(count).fold(0, u64::wrapping_add);
        if self.mends && piece.header.len() == 42 {
            piece.header[34..42].copy_from_slice(&sum.to_le_bytes());
        }
        let size = piece.records.iter().map(Vec::len).sum();
        Made { hash: self.put(&piece.bytes()), sum, count, size }
    }
}

/// Changes a piece in one of many ways; returns the name of the way.
fn forge(random: &mut ChaCha8Rng, forger: &mut Forger, piece: &mut Piece) -> &'static str {
    let links: Vec<_> =
        (0..piece.records.len()).filter(|at| is_link(&piece.records[*at])).collect();
    let plain: Vec<_> = (0..piece.records.len()).filter(|at| !links.contains(at)).collect();
    let any = |random: &mut ChaCha8Rng| random.random_range(0..piece.records.len());
    let (a, b) = (any(random), any(random));
    match random.random_range(0..12) {
        0 => {
            let bit = random.random_range(0..8 * piece.header.len());
            piece.header[bit / 8] ^= 1 << (bit % 8);
            "header"
        }
        1 => {
            piece.records[a][random.random_range(64..72)] ^= 1 << random.random_range(0..8);
            "sum"
        }
        2 => {
            piece.records[a][random.random_range(32..64)] ^= 1 << random.random_range(0..8);
            "hash"
        }
        3 => {
            piece.records[a][random.random_range(0..32)] ^= 1 << random.random_range(0..8);
            "path"
        }
        4 => {
            piece.records.swap(a, b);
            "order"
        }
        5 => {
            // Two records swap everything but their paths.
            let (mut one, mut other) = (piece.records[a].clone(), piece.records[b].clone());
            one[..32].swap_with_slice(&mut other[..32]);
            (piece.records[a], piece.records[b]) = (other, one);
            "swapped"
        }
        6 => {
            piece.records.remove(a);
            "missing"
        }
        7 => {
            let twin = piece.records[a].clone();
            piece.records.insert(a, twin);
            "twice"
        }
        8 if !links.is_empty() => {
            // A piece that was cut off moves in: all hashes of the tree stay the same.
            let at = links[random.random_range(0..links.len())];
            let below = Hash(piece.records[at][84..116].try_into().expect("a hash"));
            let below = Piece::of(&forger.chunks[&below]);
            piece.records.splice(at..=at, below.records);
            "taken in"
        }
        9 if links.len() > 1 => {
            let at = links[random.random_range(0..links.len())];
            let other = links[random.random_range(0..links.len())];
            let chunk = piece.records[other][74..116].to_vec();
            piece.records[at][74..116].copy_from_slice(&chunk);
            "another piece"
        }
        10 => {
            let far = piece.records.iter_mut().find(|record| head(record) == 0x4000);
            let Some(record) = far else { return "nothing" };
            let hash = Hash(record[78..110].try_into().expect("a hash"));
            let mut value = forger.chunks[&hash].clone();
            let last = value.len() - 1;
            value[last] ^= 1;
            let hash = forger.put(&value);
            record[78..110].copy_from_slice(&hash.0);
            "long value"
        }
        _ if !plain.is_empty() => {
            let record = &mut piece.records[plain[random.random_range(0..plain.len())]];
            let at = random.random_range(72..record.len());
            record[at] ^= 1 << random.random_range(0..8);
            "rest"
        }
        _ => {
            piece.records[a][random.random_range(74..116)] ^= 1 << random.random_range(0..8);
            "link"
        }
    }
}

#[test]
fn every_fault_of_a_rewritten_tree_is_found() {
    let mut found: BTreeMap<&str, u32> = BTreeMap::new();
    for_seeds(SEEDS, |seed, steps| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let count = [1, 2, 5, 60, 900][seed as usize % 5];
        let mut sums = Sums::of(Host::new(Shape::STORED), &leaves(&mut random, count));
        let (tree, honest) = (sums.tree, claim(&sums));
        let chunks: BTreeMap<Hash, Vec<u8>> =
            sums.host.chunks().map(|(_, hash, bytes)| (hash, bytes)).collect();
        let pieces: Vec<_> =
            sums.reached().0.into_iter().filter(|hash| is_piece(&sums, hash)).collect();
        let stored: BTreeSet<_> = chunks.keys().copied().collect();
        for _ in 0..25 {
            let mends = random.random();
            let mut forger = Forger { chunks: chunks.clone(), mends };
            // The top has most of the links.
            let any = pieces[random.random_range(0..pieces.len())];
            let target = if random.random_range(0..3) == 0 { tree.root } else { any };
            let mut how = "";
            let made = forger.rewrite(tree.root, target, &mut |forger, piece| {
                how = forge(&mut random, forger, piece);
            });
            steps.begin((how, "of a tree of", count));
            if made.hash == tree.root {
                continue;
            }
            for (hash, bytes) in &forger.chunks {
                if !stored.contains(hash) {
                    sums.host.store_chunk(bytes);
                }
            }
            let top = &forger.chunks[&made.hash];
            let restated = if top.len() < 42 { honest.clone() } else { top[2..42].to_vec() };
            let forged =
                Tree { root: made.hash, count: if mends { made.count.max(1) } else { tree.count } };
            for claim in [&honest, &restated, &Vec::new()] {
                let walked = walk(&mut sums, forged, claim);
                assert!(walked.is_err(), "{how} of a tree of {count}: {walked:?}");
            }
            *found.entry(how).or_default() += 1;
        }
        Ok(())
    });
    println!("{found:?}");
    if has_all_seeds(SEEDS) {
        assert!(found.len() >= 13 && found.values().all(|count| *count > 5), "{found:?}");
    }
}

//! Proofs of sum trees: arbitrary bytes, and honest proofs with some bytes changed. An independent
//! decoder says which bytes are a proof, and its root: the proof verifies under that root only.
//! Proofs of many keys verify in little memory, with the same result in steps of any size. Pieces
//! with some bytes changed are refused or read, and every walk over them ends.

use crate::allocation::peak_of;
use crate::input::Input;
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::step::{Budget, Step};
use hedgerow::sum_tree::{Root, Rules, SumClaim, VerifySums, verify};
use hedgerow::tree::Tree;
use hedgerow_support::host::Host;
use hedgerow_support::sum_models::{Sided, empty, leaf, root_of};
use hedgerow_support::sums::{Held, Leaves, Sums, batch};

type Key = [u8; 32];

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let how = input.below(4);
    let leaves: Leaves =
        (0..input.below(40)).map(|_| (key(&mut input), held(&mut input))).collect();
    let leaves = leaves.into_iter().filter(|(_, leaf)| *leaf != (vec![], 0)).collect();
    let mut sums = Sums::of(Host::new(Shape::with_target(64)), &leaves);
    let known: Vec<Key> = leaves.keys().copied().collect();
    let asked = match input.below(3) {
        0 if !known.is_empty() => known[input.below(known.len())],
        _ => key(&mut input),
    };
    match how {
        0 => {
            let claim = held(&mut input);
            single(&sums.rules, &asked, &claim, input.rest());
        }
        1 => {
            let honest = sums.prove(&[asked], false).expect("a proof");
            let claim = leaves.get(&asked).cloned().unwrap_or_default();
            single(&sums.rules, &asked, &claim, &honest);
            let forged = changed(&mut input, honest.clone());
            single(&sums.rules, &asked, &claim, &forged);
            let verified = verify(&sums.rules, &sums.root, &asked, some(&claim), &forged).is_ok();
            assert_eq!(verified, forged == honest, "another proof of the same");
        }
        2 => {
            let mut keys = known;
            keys.extend((0..input.below(4)).map(|_| key(&mut input)));
            keys.sort_unstable();
            keys.dedup();
            let honest = sums.prove(&keys, true).expect("a proof");
            let forged = changed(&mut input, honest.clone());
            let claims: Vec<_> = keys.iter().map(|key| (*key, leaves.get(key).cloned())).collect();
            if claims.is_empty() {
                assert!(many(sums.root, &[], &honest).is_err(), "a proof of nothing");
                return;
            }
            assert_eq!(many(sums.root, &claims, &honest), Ok(()));
            assert_eq!(many(sums.root, &claims, &forged).is_ok(), forged == honest);
            let fewer = &claims[..input.below(claims.len() + 1)];
            assert!(many(sums.root, fewer, &honest).is_err() || fewer.len() == claims.len());
        }
        _ => pieces(&mut input, &mut sums, &leaves),
    }
}

/// Makes a key that shares many bits with others.
fn key(input: &mut Input<'_>) -> Key {
    let mut key = [input.byte() & 3; 32];
    let bit = input.below(256);
    key[bit / 8] ^= 1 << (bit % 8);
    key
}

fn held(input: &mut Input<'_>) -> Held {
    let len = input.one_of(&[0, 1, 5, 300]);
    (vec![input.byte(); len], [0, 1, u64::MAX >> 8][input.below(3)])
}

fn some(claim: &Held) -> Option<(&[u8], u64)> {
    let is_leaf = *claim != (vec![], 0);
    is_leaf.then_some((claim.0.as_slice(), claim.1))
}

/// Decodes the siblings of a proof, strictly by the rules.
fn decode(proof: &[u8]) -> Option<Vec<Sided>> {
    let count = usize::from(u16::from_be_bytes(proof.get(..2)?.try_into().ok()?));
    if count > 256 || proof.len() != 34 + 40 * count {
        return None;
    }
    let (nodes, bitmap) = proof[2..].split_at(40 * count);
    let mut nodes = nodes.chunks_exact(40);
    let empty = empty();
    let mut siblings = Vec::new();
    for at in 0..256 {
        let nothing = empty[256 - at];
        if bitmap[at / 8] >> (at % 8) & 1 == 1 {
            siblings.push(nothing);
            continue;
        }
        let (hash, sum) = nodes.next()?.split_at(32);
        let sum = u64::from_be_bytes(sum.try_into().ok()?);
        let node = Sided { hash: hash.try_into().ok()?, sum };
        if node == nothing {
            return None;
        }
        siblings.push(node);
    }
    nodes.next().is_none().then_some(siblings)
}

fn single(rules: &Rules, key: &Key, claim: &Held, proof: &[u8]) {
    let node = leaf(&claim.0, claim.1);
    let expected = decode(proof).and_then(|siblings| root_of(key, node, &siblings).ok());
    let holds = |root| {
        let (result, peak) = peak_of(|| verify(rules, &root, key, some(claim), proof));
        assert!(peak == 0, "{peak} bytes for a verification");
        result.is_ok()
    };
    let root =
        expected.map_or(Root { hash: [7; 32], sum: 7 }, |Sided { hash, sum }| Root { hash, sum });
    assert_eq!(holds(root), expected.is_some());
    assert!(!holds(Root { sum: root.sum ^ 1, ..root }));
    let mut other = root;
    other.hash[9] ^= 1;
    assert!(!holds(other));
}

fn many(root: Root, claims: &[(Key, Option<Held>)], proof: &[u8]) -> Result<(), Error> {
    let answer = |slice| -> Result<(), Error> {
        let claims = claims
            .iter()
            .map(|(key, leaf)| SumClaim::new(key, leaf.as_ref().and_then(some)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut verify = VerifySums::new(&Rules::new(), root, &claims, proof.to_vec())?;
        loop {
            match verify.step(&mut Budget::of(slice))? {
                Step::Done(()) => return Ok(()),
                Step::Yield => {}
                Step::Need(wanted) => panic!("a verification has no segments {wanted:?}"),
            }
        }
    };
    let (at_once, peak) = peak_of(|| answer(usize::MAX));
    assert!(peak <= (64 << 10) + 400 * claims.len() + 4 * proof.len(), "{peak} bytes");
    assert_eq!(at_once, answer(1), "steps matter");
    at_once
}

/// Puts some faults into `bytes`.
fn changed(input: &mut Input<'_>, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..=input.below(4) {
        let at = input.below(bytes.len().min(1 << 16));
        let end = (at + 1 + input.below(120)).min(bytes.len());
        match input.below(6) {
            0 if at < end => bytes[at] = input.byte(),
            1 if at < end => bytes[at] ^= 1 << input.below(8),
            2 => bytes.truncate(at),
            3 if at < end => drop(bytes.drain(at..end)),
            4 if at < end => {
                let part = bytes[at..end].to_vec();
                let to = input.below(bytes.len().min(1 << 16));
                bytes.splice(to..to, part);
            }
            _ => bytes.insert(at, input.byte()),
        }
    }
    bytes
}

/// Walks over a top under its right hash, with some bytes changed.
fn pieces(input: &mut Input<'_>, sums: &mut Sums, leaves: &Leaves) {
    let root = sums.tree.root;
    let top = sums.host.chunks().find(|(_, hash, _)| *hash == root).map(|(_, _, top)| top.to_vec());
    let Some(top) = top else { return };
    let forged = changed(input, top.clone());
    let honest = sums.tree;
    let root = sums.host.store_chunk(&forged);
    sums.tree = Tree { root, count: honest.count + input.below(2) as u64 };
    let keys: Vec<Key> = leaves.keys().copied().chain([key(input)]).collect();
    drop(sums.contents());
    drop(sums.find(&keys));
    drop(sums.diff(honest));
    let mut prove = hedgerow::sum_tree::SumProve::many(&sums.rules, sums.tree, &keys);
    if sums.host.run(|cache, budget| prove.step(cache, budget)).is_ok() {
        // A proof verifies under the root that comes with it.
        let (told, proof) = prove.proof();
        let Ok(found) = sums.find(&keys) else { return };
        let mut claims: Vec<_> = keys.iter().copied().zip(found).collect();
        claims.sort_by_key(|(key, _)| *key);
        claims.dedup_by_key(|(key, _)| *key);
        assert_eq!(many(told, &claims, &proof), Ok(()));
    }
    let edits = Leaves::from([(key(input), held(input))]);
    if sums.merge(batch(&edits)).is_ok() {
        // Only a read finds a longer value that does not have its hash.
        let Ok(contents) = sums.contents() else { return };
        let total: u64 = contents.values().map(|(_, sum)| sum).sum();
        assert_eq!(total, sums.root.sum);
    }
}

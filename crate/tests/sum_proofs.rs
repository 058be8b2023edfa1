//! Proofs of sum trees: every leaf and every absent key has one, and no other claim verifies.

use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::step::{Budget, Step};
use hedgerow::sum_tree::{Root, Rules, SumClaim, VerifySums, verify};
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::property::{for_seeds, sampled};
use hedgerow_support::sum_models::{Full, Model, encode};
use hedgerow_support::sums::{Held, Leaves, Sums, batch, forge_sum_proofs};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Claim = ([u8; 32], Option<Held>);

fn leaves(random: &mut ChaCha8Rng, count: usize) -> Leaves {
    let mut all = Leaves::new();
    let mut last = [0; 32];
    while all.len() < count {
        let mut key: [u8; 32] = random.random();
        if random.random_range(0..3) == 0 {
            key = last;
            let bit: usize = [0, 255, random.random_range(0..256)][random.random_range(0..3)];
            key[bit / 8] ^= 1 << (bit % 8);
        }
        last = key;
        let len = [0, 3, 40, 300][random.random_range(0..4)];
        let value = (0..len).map(|_| random.random()).collect();
        all.insert(key, (value, 1 + random.random_range(0..1 << 30)));
    }
    all
}

fn tree(all: &Leaves) -> Sums {
    Sums::of(Host::new(Shape::STORED), all)
}

fn borrowed(leaf: Option<&Held>) -> Option<(&[u8], u64)> {
    leaf.map(|(value, sum)| (value.as_slice(), *sum))
}

fn verify_many(root: Root, claims: &[Claim], proof: &[u8], slice: usize) -> Result<(), Error> {
    let claims = claims
        .iter()
        .map(|(key, leaf)| SumClaim::new(key, borrowed(leaf.as_ref())))
        .collect::<Result<Vec<_>, _>>()?;
    let mut verify = VerifySums::new(&Rules::new(), root, &claims, proof.to_vec())?;
    loop {
        match verify.step(&mut Budget::of(slice))? {
            Step::Done(()) => return Ok(()),
            Step::Yield => {}
            Step::Need(_) => unreachable!("a verification has no store"),
        }
    }
}

#[test]
fn every_leaf_and_every_absent_key_proves_and_verifies() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for count in [0, 1, 2, 3, 10, 150, 400] {
        let all = leaves(&mut random, count);
        let mut sums = tree(&all);
        let mut full = Full::default();
        for (key, leaf) in &all {
            full.insert(key, leaf).expect("sums that fit");
        }
        let absent = leaves(&mut random, 30).into_keys().filter(|key| !all.contains_key(key));
        let near = all.keys().take(60).map(|key| {
            let mut key = *key;
            key[31] ^= 0x80;
            key
        });
        let absent: Vec<_> = absent.chain(near).filter(|key| !all.contains_key(key)).collect();
        let rules = Rules::new();
        for key in all.keys().chain(&absent) {
            let proof = sums.prove(&[*key], false).expect("a proof");
            assert_eq!(proof, encode(&full.siblings(key)));
            let leaf = borrowed(all.get(key));
            assert_eq!(verify(&rules, &sums.root, key, leaf, &proof), Ok(()));
            // A present key is not absent, and an absent key is not present.
            let other = if leaf.is_some() { None } else { Some((&b"v"[..], 1)) };
            let refused = verify(&rules, &sums.root, key, other, &proof);
            assert_eq!(refused, Err(Error::InvalidProof));
        }
    }
}

#[test]
fn a_proof_is_refused_with_any_bit_changed() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let rules = Rules::new();
    for count in [1, 2, 40] {
        let all = leaves(&mut random, count);
        let mut sums = tree(&all);
        let (key, (value, sum)) = all.iter().next().expect("a leaf");
        let mut absent = *key;
        absent[20] ^= 4;
        let claims = [(*key, Some((value.as_slice(), *sum))), (absent, None)];
        for (key, leaf) in claims {
            let honest = sums.prove(&[key], false).expect("a proof");
            let root = sums.root;
            let refused = |root: &Root, key: &[u8; 32], leaf, proof: &[u8]| {
                assert_eq!(verify(&rules, root, key, leaf, proof), Err(Error::InvalidProof));
            };
            for bit in 0..8 * honest.len() {
                let mut proof = honest.clone();
                proof[bit / 8] ^= 1 << (bit % 8);
                refused(&root, &key, leaf, &proof);
            }
            for bit in 0..256 {
                let mut other = key;
                other[bit / 8] ^= 1 << (bit % 8);
                // The neighbour of an absent key may be absent under the same siblings: if both
                // sides at this bit are empty.
                if leaf.is_some() {
                    refused(&root, &other, leaf, &honest);
                }
                let mut other = root;
                other.hash[bit / 8] ^= 1 << (bit % 8);
                refused(&other, &key, leaf, &honest);
            }
            for bit in 0..64 {
                let other = Root { sum: root.sum ^ 1 << bit, ..root };
                refused(&other, &key, leaf, &honest);
                if let Some((value, sum)) = leaf {
                    refused(&root, &key, Some((value, sum ^ 1 << bit)), &honest);
                }
            }
            for end in 0..honest.len() {
                refused(&root, &key, leaf, &honest[..end]);
            }
            for byte in [0, 1, 0xff] {
                refused(&root, &key, leaf, &[&honest[..], &[byte]].concat());
            }
            refused(&root, &key, Some((&[], 0)), &honest);
        }
    }
}

#[test]
fn an_empty_sibling_that_is_listed_in_full_is_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let all = leaves(&mut random, 5);
    let mut sums = tree(&all);
    let key = all.keys().next().expect("a key");
    let leaf = borrowed(all.get(key));
    let honest = sums.prove(&[*key], false).expect("a proof");
    let count = u16::from_be_bytes([honest[0], honest[1]]);
    let (nodes, bitmap) = honest[2..].split_at(40 * usize::from(count));
    assert_eq!(bitmap[0] & 1, 1, "the sibling of a leaf among few is empty");
    let mut forged = (count + 1).to_be_bytes().to_vec();
    forged.extend_from_slice(&sums.rules.empty_hash(256));
    forged.extend_from_slice(&0u64.to_be_bytes());
    forged.extend_from_slice(nodes);
    forged.extend_from_slice(bitmap);
    let at = forged.len() - 32;
    forged[at] &= !1;
    let result = verify(&sums.rules, &sums.root, key, leaf, &forged);
    assert_eq!(result, Err(Error::InvalidProof));
}

#[test]
fn many_keys_share_a_proof() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let sizes = [(0, 3), (2000, 100), (1, 2), (300, 40), (50, 1), (50, 50)];
    for (count, asked) in sampled(sizes, 3) {
        let all = leaves(&mut random, count);
        let mut sums = tree(&all);
        let mut keys: Vec<_> = all.keys().copied().collect();
        keys.extend(leaves(&mut random, asked).into_keys());
        let mut claims: Vec<Claim> = Vec::new();
        while claims.len() < asked {
            let key = keys[random.random_range(0..keys.len())];
            if claims.iter().all(|(other, _)| *other != key) {
                claims.push((key, all.get(&key).cloned()));
            }
        }
        let keys: Vec<_> = claims.iter().map(|(key, _)| *key).collect();
        let proof = sums.prove(&keys, true).expect("a proof");
        assert_eq!(verify_many(sums.root, &claims, &proof, usize::MAX), Ok(()));
        assert_eq!(verify_many(sums.root, &claims, &proof, 1), Ok(()));
        let mut single = 0;
        for key in &keys {
            single += sums.prove(&[*key], false).expect("a proof").len();
        }
        println!("{asked} of {count}: {} bytes, apart {single}", proof.len());
        assert!(asked < 2 || proof.len() < single, "{} of {single}", proof.len());
        if asked == 1 {
            let apart = sums.prove(&keys, false).expect("a proof");
            assert_eq!(proof[4..], apart[2..]);
        }
        // In steps, from a tiny cache.
        sums.host.pace = Some(Pace::new(&[3, 0xe7, 1, 5, 2, 0xff, 9]));
        sums.host.reopen(1);
        assert_eq!(sums.prove(&keys, true).expect("a proof"), proof);
        if asked < 2 {
            continue;
        }
        let refused = |claims: &[Claim], proof: &[u8]| {
            let result = verify_many(sums.root, claims, proof, usize::MAX);
            assert_eq!(result, Err(Error::InvalidProof));
        };
        for _ in 0..300 {
            let bit = random.random_range(0..8 * proof.len());
            let mut forged = proof.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            refused(&claims, &forged);
        }
        for at in 0..claims.len() {
            let mut others = claims.clone();
            let (key, leaf) = &mut others[at];
            match leaf {
                Some((_, sum)) => *sum += 1,
                None => *leaf = Some((vec![], 1)),
            }
            let key = *key;
            refused(&others, &proof);
            refused(&[&claims[..], &[(key, None)]].concat(), &proof);
            others.remove(at);
            refused(&others, &proof);
        }
        refused(&claims, &[&proof[..], &[0]].concat());
        refused(&claims, &proof[..proof.len() - 1]);
        refused(&claims, &[]);
    }
}

#[test]
fn a_proof_whose_sums_overflow_is_refused() {
    let rules = Rules::new();
    // Two leaves whose sums wrap around to the sum of the root.
    let (a, mut b) = ([0; 32], [0; 32]);
    b[0] = 1;
    let mut sums = tree(&Leaves::from([(a, (b"a".to_vec(), 5)), (b, (b"b".to_vec(), 6))]));
    let honest = sums.prove(&[a], false).expect("a proof");
    let mut forged = honest.clone();
    forged[34..42].copy_from_slice(&u64::MAX.to_be_bytes());
    let root = Root { sum: 4, ..sums.root };
    assert_eq!(verify(&rules, &root, &a, Some((b"a", 5)), &forged), Err(Error::InvalidProof));
}

#[test]
fn forged_proofs_are_refused() {
    // `cargo run --release -p hedgerow --example sum_proofs` forges a million.
    for_seeds(10, |seed, steps| {
        steps.same("forged proofs that verified", &forge_sum_proofs(seed, 2000), &0)
    });
}

#[test]
fn proofs_of_an_old_root_do_not_verify_under_a_new_one() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let all = leaves(&mut random, 100);
    let mut sums = tree(&all);
    let key = all.keys().next().expect("a key");
    let (old, proof) = (sums.root, sums.prove(&[*key], false).expect("a proof"));
    sums.merge(batch([(&random.random(), &(b"new".to_vec(), 9))])).expect("sums that fit");
    let leaf = borrowed(all.get(key));
    assert_eq!(verify(&sums.rules, &old, key, leaf, &proof), Ok(()));
    let refused = verify(&sums.rules, &sums.root, key, leaf, &proof);
    assert_eq!(refused, Err(Error::InvalidProof));
}

#[test]
fn a_proof_without_claims_is_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut sums = tree(&leaves(&mut random, 50));
    let made = sums.prove(&[], true).expect("a proof");
    for proof in [made, vec![0; 4]] {
        assert_eq!(verify_many(sums.root, &[], &proof, 1), Err(Error::InvalidProof));
    }
}

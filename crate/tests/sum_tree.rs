//! Sum trees against models: random histories with keys, steps and caches of many kinds.

#[path = "sum_tree/leaves.rs"]
mod leaves;

use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::limits::MAX_SUM_VALUE_BYTES;
use hedgerow::sum_tree::{SumBatch, path};
use hedgerow::tree::Tree;
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::property::{for_seeds, is_deep, sampled};
use hedgerow_support::sum_models::{Compacted, Full, Model};
use hedgerow_support::sums::{Leaves, Sums, batch};
use leaves::{key, leaf, leaves, total};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

fn host() -> Host {
    Host::new(Shape::STORED)
}

/// Checks that the tree is as in a fresh store: its chunks, its root and all reads.
fn check(sums: &mut Sums, leaves: &Leaves) {
    let fresh = Sums::of(host(), leaves);
    assert_eq!((sums.tree, sums.root), (fresh.tree, fresh.root));
    assert_eq!(sums.reached(), fresh.reached());
    let all = fresh.host.chunks().map(|(_, hash, _)| hash).collect();
    assert_eq!(fresh.reached().0, all, "a fresh store holds nothing else");
    assert_eq!(sums.root.sum, total(leaves));
    assert_eq!(sums.contents().expect("readable"), *leaves);
}

#[test]
fn random_histories_give_the_trees_of_fresh_stores_and_of_the_models() {
    for_seeds(60, |seed, steps| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut sums = Sums::new(host());
        let mut known = Leaves::new();
        let mut full = Full::default();
        let mut compacted = Compacted::default();
        for round in 0..8 {
            let (before, old) = (sums.tree, known.clone());
            let keys: Vec<_> = known.keys().copied().collect();
            let mut edits = BTreeMap::new();
            for _ in 0..random.random_range(0..30) {
                let key = match random.random_range(0..3) {
                    0 if !keys.is_empty() => keys[random.random_range(0..keys.len())],
                    _ => key(&mut random, &keys),
                };
                let delete = random.random_range(0..3) == 0;
                edits.insert(key, if delete { (vec![], 0) } else { leaf(&mut random) });
            }
            if round == 6 {
                edits = known.keys().map(|key| (*key, (vec![], 0))).collect();
            }
            steps.begin(("round", round, "edits", edits.len()));
            for (key, leaf) in &edits {
                full.insert(key, leaf).expect("sums that fit");
                compacted.insert(key, leaf).expect("sums that fit");
                if *leaf == (vec![], 0) {
                    known.remove(key);
                } else {
                    known.insert(*key, leaf.clone());
                }
            }
            if seed % 2 == 0 {
                sums.merge(batch(&edits)).expect("sums that fit");
            } else {
                let mut edits: Vec<_> = edits.iter().collect();
                edits.shuffle(&mut random);
                for edit in edits {
                    sums.merge(batch([edit])).expect("sums that fit");
                }
            }
            check(&mut sums, &known);
            for root in [full.root(), compacted.root()] {
                steps.same(
                    "root and sum",
                    &(sums.root.hash, sums.root.sum),
                    &(root.hash, root.sum),
                )?;
            }
            for _ in 0..5 {
                let key = key(&mut random, &keys);
                assert_eq!(full.siblings(&key), compacted.siblings(&key));
            }
            let asked: Vec<_> = keys.iter().copied().chain([key(&mut random, &keys)]).collect();
            let found = sums.find(&asked).expect("readable");
            for (key, found) in asked.iter().zip(found) {
                assert_eq!(found.as_ref(), known.get(key));
                assert_eq!(sums.get(key), Ok(known.get(key).map(|(_, sum)| *sum)));
            }
            let changes = sums.diff(before).expect("readable");
            let all: std::collections::BTreeSet<_> = old.keys().chain(known.keys()).collect();
            let expected = all.into_iter().filter(|key| old.get(*key) != known.get(*key));
            let expected: BTreeMap<_, _> = expected
                .map(|key| (*key, (old.get(key).cloned(), known.get(key).cloned())))
                .collect();
            steps.same_items("changes", changes, expected)?;
        }
        Ok(())
    });
}

#[test]
fn thousands_of_leaves_are_added_and_deleted_and_leave_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let all = leaves(&mut random, 3000);
    let mut sums = Sums::of(host(), &all);
    check(&mut sums, &all);
    let mut order: Vec<_> = all.keys().copied().collect();
    order.shuffle(&mut random);
    let mut left = all.clone();
    for part in order.chunks(500) {
        let gone: Leaves = part.iter().map(|key| (*key, (vec![], 0))).collect();
        for key in part {
            left.remove(key);
        }
        sums.merge(batch(&gone)).expect("deletions");
        check(&mut sums, &left);
    }
    assert_eq!(sums.tree, Tree::EMPTY);
    for part in order.chunks(700) {
        let back: Leaves = part.iter().map(|key| (*key, all[key].clone())).collect();
        left.extend(back.clone());
        sums.merge(batch(&back)).expect("sums that fit");
    }
    check(&mut sums, &all);
}

#[test]
fn steps_and_caches_of_any_size_give_the_same_tree() {
    for_seeds(25, |seed, steps| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let all = leaves(&mut random, 300);
        let smooth = Sums::of(host(), &all);
        let mut slow = host();
        let choices: Vec<u8> = (0..64).map(|_| random.random()).collect();
        slow.pace = Some(Pace::new(&choices));
        let mut slow = Sums::new(slow);
        let mut keys: Vec<_> = all.keys().collect();
        keys.shuffle(&mut random);
        for keys in keys.chunks(75) {
            steps.begin("75 keys");
            slow.host.reopen(1);
            slow.merge(batch(keys.iter().map(|key| (*key, &all[*key])))).expect("sums that fit");
        }
        steps.begin("reads");
        steps.same("tree and root", &(slow.tree, slow.root), &(smooth.tree, smooth.root))?;
        slow.host.reopen(1);
        assert_eq!(slow.contents().expect("readable"), all);
        slow.host.reopen(1);
        let keys: Vec<_> = all.keys().copied().collect();
        let found = slow.find(&keys).expect("readable");
        assert!(keys.iter().zip(found).all(|(key, found)| found.as_ref() == all.get(key)));
        slow.host.reopen(1);
        assert_eq!(slow.diff(smooth.tree).expect("readable").len(), 0);
        let half: Leaves = keys[..150].iter().map(|key| (*key, (vec![], 0))).collect();
        let before = slow.tree;
        slow.merge(batch(&half)).expect("deletions");
        let left: Leaves = keys[150..].iter().map(|key| (*key, all[key].clone())).collect();
        steps.begin("deletions");
        steps.same("tree", &slow.tree, &Sums::of(host(), &left).tree)?;
        slow.host.reopen(1);
        steps.same("changes", &slow.diff(before).expect("readable").len(), &150)
    });
}

#[test]
fn equal_leaves_under_keys_that_differ_in_one_bit_are_independent() {
    for bit in [0, 7, 8, 100, 127, 248, 255] {
        let a = [0x5a; 32];
        let mut b = a;
        b[bit / 8] ^= 1 << (bit % 8);
        let leaf = (b"equal".to_vec(), 5);
        let both = Leaves::from([(a, leaf.clone()), (b, leaf.clone())]);
        for (gone, stays) in [(a, b), (b, a)] {
            let mut sums = Sums::of(host(), &both);
            assert_eq!(sums.root.sum, 10);
            let mut delete = SumBatch::new();
            delete.delete(&gone);
            sums.merge(delete).expect("a deletion");
            check(&mut sums, &Leaves::from([(stays, leaf.clone())]));
            assert_eq!(sums.get(&gone), Ok(None));
        }
    }
}

#[test]
fn a_batch_that_changes_nothing_packs_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let all = leaves(&mut random, 400);
    let mut sums = Sums::of(host(), &all);
    let (tree, stored) = (sums.tree, sums.host.chunks().count());
    let known: Vec<_> = all.keys().copied().collect();
    let absent = leaves(&mut random, 300).into_keys().filter(|key| !all.contains_key(key));
    let near = known.iter().map(|key| {
        let mut key = *key;
        key[31] ^= 0x80;
        key
    });
    let absent: Leaves = absent
        .chain(near.filter(|key| !all.contains_key(key)))
        .map(|key| (key, (vec![], 0)))
        .collect();
    assert!(absent.len() > 300);
    sums.merge(batch(&absent)).expect("nothing to do");
    sums.merge(batch(&all)).expect("nothing to do");
    sums.merge(SumBatch::new()).expect("nothing to do");
    assert_eq!((sums.tree, sums.host.chunks().count()), (tree, stored));
    let mut empty = Sums::new(host());
    empty.merge(batch(&absent)).expect("nothing to do");
    assert_eq!((empty.tree, empty.host.chunks().count()), (Tree::EMPTY, 0));
    assert_eq!(empty.contents(), Ok(Leaves::new()));
    assert_eq!(empty.get(&[1; 32]), Ok(None));
}

#[test]
fn the_last_edit_of_a_key_counts() {
    let mut sums = Sums::new(host());
    let mut edits = SumBatch::new();
    for sum in [u64::MAX, 1, 7] {
        edits.put(&[1; 32], b"v", sum).expect("a short value");
        edits.put(&[2; 32], b"w", sum).expect("a short value");
    }
    edits.delete(&[2; 32]);
    sums.merge(edits).expect("only the last ones count");
    check(&mut sums, &Leaves::from([([1; 32], (b"v".to_vec(), 7))]));
}

#[test]
fn sums_that_do_not_fit_are_refused_and_change_nothing() {
    let near = |bit: usize| {
        let mut key = [9; 32];
        key[bit / 8] ^= 1 << (bit % 8);
        key
    };
    let some = |sum| (b"v".to_vec(), sum);
    let half = 1 << 63;
    let base = Leaves::from([([9; 32], some(half)), (near(3), some(1))]);
    let refused = |edits: &Leaves| {
        let mut sums = Sums::of(host(), &base);
        let before = (sums.tree, sums.root, sums.host.chunks().count());
        assert_eq!(sums.merge(batch(edits)), Err(Error::SumOverflow));
        assert_eq!((sums.tree, sums.root, sums.host.chunks().count()), before);
        check(&mut sums, &base);
        for edit in edits {
            let _ = sums.merge(batch([edit]));
        }
        assert_ne!(sums.contents().expect("readable"), *edits);
    };
    // The sums of the batch alone; of a branch and its neighbour; of the root and an added leaf.
    refused(&Leaves::from([(near(200), some(half)), (near(201), some(half))]));
    refused(&Leaves::from([(near(255), some(half))]));
    refused(&Leaves::from([(near(0), some(half)), (near(3), some(0))]));
    refused(&Leaves::from([(near(3), some(half))]));
    // Only its changes count.
    let mut sums = Sums::of(host(), &base);
    let replaced = Leaves::from([([9; 32], some(half + 5)), (near(3), some(half - 6))]);
    sums.merge(batch(&replaced)).expect("all of 64 bits");
    check(&mut sums, &replaced);
    assert_eq!(sums.root.sum, u64::MAX);
    let swapped = Leaves::from([([9; 32], some(half - 6)), (near(3), some(half + 5))]);
    sums.merge(batch(&swapped)).expect("as much as before");
    let moved = Leaves::from([([9; 32], (vec![], 0)), (near(77), some(half - 6))]);
    sums.merge(batch(&moved)).expect("what is deleted makes room");
    check(&mut sums, &Leaves::from([(near(3), some(half + 5)), (near(77), some(half - 6))]));
    assert_eq!(sums.merge(batch([(&[9; 32], &some(1))])), Err(Error::SumOverflow));
    sums.merge(batch([(&near(3), &some(half + 5))])).expect("equal");
}

#[test]
fn values_of_every_length_read_back() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut all = Leaves::new();
    for len in [0, 1, 54, 55, 56, 63, 64, 65, 255, 256, 257, 4096, 65_536, 65_537, 200_000] {
        let mut value = vec![0; len];
        random.fill_bytes(&mut value);
        all.insert(random.random(), (value, 5));
    }
    all.insert([3; 32], (vec![], 5));
    all.insert([4; 32], (vec![8; 257], 0));
    let mut sums = Sums::of(host(), &all);
    check(&mut sums, &all);
    sums.merge(batch(&all)).expect("equal ones");
    let mut other = all.clone();
    for (value, _) in other.values_mut() {
        if let Some(last) = value.last_mut() {
            *last ^= 1;
        }
    }
    sums.merge(batch(&other)).expect("sums that fit");
    check(&mut sums, &other);
    let mut too_long = SumBatch::new();
    assert!(too_long.put(&[1; 32], &vec![0; MAX_SUM_VALUE_BYTES], 1).is_ok());
    assert!(too_long.put(&[1; 32], &vec![0; MAX_SUM_VALUE_BYTES + 1], 1).is_err());
}

#[test]
fn scans_start_anywhere() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let all = leaves(&mut random, 500);
    let mut sums = Sums::of(host(), &all);
    let mut paths: Vec<_> = all.keys().map(path).collect();
    paths.sort_unstable();
    for _ in 0..60 {
        let known: Vec<_> = all.keys().copied().collect();
        let from = key(&mut random, &known);
        let found: Vec<_> =
            sums.scan(Some(&from)).expect("readable").iter().map(|(key, _)| path(key)).collect();
        assert_eq!(found, paths[paths.partition_point(|other| *other < path(&from))..]);
    }
}

/// Makes keys that branch off one path at each of its bits, with subtrees of all sizes there.
fn spines(random: &mut ChaCha8Rng, below: usize) -> Leaves {
    let spine: [u8; 32] = random.random();
    let mut all = Leaves::new();
    for bit in 0..256 {
        for _ in 0..below {
            let mut at: [u8; 32] = path(&random.random());
            let spine = path(&spine);
            let whole = bit / 8;
            at[..whole].copy_from_slice(&spine[..whole]);
            let mask = 0xffu8.checked_shr(bit as u32 % 8 + 1).unwrap_or(0);
            let own = 0x80 >> (bit % 8);
            at[whole] = (spine[whole] & !mask & !own) | (!spine[whole] & own) | (at[whole] & mask);
            all.insert(path(&at), (vec![], 1));
        }
    }
    all
}

#[test]
fn no_path_leads_through_many_pieces() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut longest = Vec::new();
    for below in sampled([1, 2, 3, 4, 8, 24, 60, 150], 4) {
        let mut sums = Sums::of(host(), &spines(&mut random, below));
        longest.push((below, sums.reached().1));
        if below == 8 {
            let leaves = sums.contents().expect("readable");
            check(&mut sums, &leaves);
        }
    }
    println!("leaves at each of 256 branches, pieces of the longest path: {longest:?}");
    assert!(longest.iter().all(|(_, pieces)| *pieces <= 20), "{longest:?}");
    let count = if is_deep() { 100_000 } else { 10_000 };
    let all: Leaves = (0..count).map(|_| (random.random(), (vec![7; 8], 1))).collect();
    let sums = Sums::of(host(), &all);
    let (chunks, pieces) = sums.reached();
    let bytes: usize = sums.host.stored.values().map(|(bytes, _)| bytes.len()).sum();
    println!("{count} random leaves: {} chunks, {bytes} bytes, {pieces} deep", chunks.len());
    assert!(pieces <= 5, "{pieces}");
    assert!(bytes < count * 110, "{bytes}");
}

#[test]
fn a_small_change_makes_few_chunks_and_a_diff_reads_few() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let all: Leaves = (0..20_000).map(|_| (random.random(), (vec![7; 8], 1))).collect();
    let mut sums = Sums::of(host(), &all);
    let (before, stored) = (sums.tree, sums.host.chunks().count());
    let one = Leaves::from([(random.random(), (vec![1], 1))]);
    sums.merge(batch(&one)).expect("sums that fit");
    let made = sums.host.chunks().count() - stored;
    assert!(made <= 6, "{made}");
    // With each chunk in a segment of its own, the segments asked for are the chunks read.
    let mut apart = host();
    apart.pace = Some(Pace::new(&[7]));
    let mut apart = Sums::of(apart, &all);
    apart.host.pace = None;
    apart.merge(batch(&one)).expect("sums that fit");
    apart.host.reopen(1 << 30);
    assert_eq!(apart.diff(before).expect("readable").len(), 1);
    let asked = apart.host.asked.len();
    assert!(asked <= 2 * made + 4, "{asked}");
    apart.host.reopen(1 << 30);
    assert_eq!(apart.get(one.keys().next().expect("a key")), Ok(Some(1)));
    assert!(apart.host.asked.len() <= 4, "{:?}", apart.host.asked.len());
    assert_ne!(apart.tree.root, Hash::ZERO);
}

//! Untrusted pieces of sum trees: every fault is refused with the right error.

use hedgerow::boundary::Shape;
use hedgerow::error::{Error, Field};
use hedgerow::hash::Hash;
use hedgerow::sum_tree::{Rules, leaf_hash, path};
use hedgerow::tree::Tree;
use hedgerow_support::host::Host;
use hedgerow_support::layout;
use hedgerow_support::sums::{Leaves, Sums, batch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

const TOP: usize = 42;
const RECORD: usize = 74;

fn leaves(count: usize) -> Leaves {
    let mut random = ChaCha8Rng::seed_from_u64(count as u64);
    (0..count).map(|_| (random.random(), (vec![7; 6], 3))).collect()
}

fn host() -> Host {
    Host::new(Shape::STORED)
}

fn bytes_of(sums: &Sums, hash: Hash) -> Vec<u8> {
    let found = sums.host.chunks().find(|(_, other, _)| *other == hash);
    found.expect("a stored chunk").2
}

/// Makes the tree whose top is `top`, in the store of `sums`.
fn under(sums: &mut Sums, top: &[u8], count: u64) -> Tree {
    Tree { root: sums.host.store_chunk(top), count }
}

/// Returns the first error of each operation on a tree.
fn errors(sums: &mut Sums, tree: Tree, keys: &[[u8; 32]]) -> Vec<Option<Error>> {
    let honest = std::mem::replace(&mut sums.tree, tree);
    let old_root = sums.root;
    let mut found = vec![
        sums.contents().err(),
        sums.find(keys).err(),
        sums.diff(honest).err(),
        sums.merge(batch(keys.iter().zip(&vec![(b"new".to_vec(), 1); keys.len()]))).err(),
    ];
    sums.tree = tree;
    // A proof computes its own root.
    let mut prove = hedgerow::sum_tree::SumProve::many(&Rules::new(), tree, keys);
    found.push(sums.host.run(|cache, budget| prove.step(cache, budget)).err());
    (sums.tree, sums.root) = (honest, old_root);
    found
}

fn fields(errors: &[Option<Error>]) -> BTreeSet<String> {
    errors
        .iter()
        .flatten()
        .map(|error| match error {
            Error::CorruptChunk { cause: Some(cause), .. } => format!("{:?}", cause.field),
            other => format!("{other:?}"),
        })
        .collect()
}

/// Checks that all operations refuse the top, by this field.
fn refused(sums: &mut Sums, top: &[u8], count: u64, field: Field) {
    let tree = under(sums, top, count);
    let found = errors(sums, tree, &[[1; 32]]);
    assert!(found.iter().all(Option::is_some), "{field:?}: {found:?}");
    assert_eq!(fields(&found), BTreeSet::from([format!("{field:?}")]));
}

#[test]
fn each_fault_of_a_piece_is_refused_by_name() {
    let all = leaves(4);
    let mut sums = Sums::of(host(), &all);
    let top = bytes_of(&sums, sums.tree.root);
    assert_eq!(top.len(), TOP + 4 * (RECORD + 6));
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut top = top.clone();
        change(&mut top);
        top
    };
    let record = |at: usize| TOP + at * (RECORD + 6);
    let mut refuse = |field, change: &dyn Fn(&mut Vec<u8>)| {
        refused(&mut sums, &changed(change), 4, field);
    };
    // Sound chunks of another kind.
    refuse(Field::Kind, &|top| drop(top.splice(..TOP, [0xd0, 1])));
    refuse(Field::Kind, &|top| *top = layout::leaf(&[(0, b"a", b"1")]));
    refuse(Field::Kind, &|top| *top = layout::piece(b"1"));
    refuse(Field::Length, &|top| top.truncate(TOP));
    refuse(Field::Length, &|top| top.truncate(1));
    refuse(Field::Length, &|top| top.resize(TOP + 4097, 0));
    for end in [record(1) + 1, record(2) - 1, record(3) + RECORD] {
        refuse(Field::Length, &|top| top.truncate(end));
    }
    refuse(Field::Length, &|top| top.push(0));
    refuse(Field::ValueLength, &|top| top[record(0) + 73] = 2);
    refuse(Field::ValueLength, &|top| top[record(0) + 72..record(0) + 74].fill(0xff));
    refuse(Field::ValueLength, &|top| {
        // An empty leaf must not be stored.
        let start = record(3);
        top[start + 64..start + 74].fill(0);
        top.truncate(start + RECORD);
    });
    refuse(Field::ValueLength, &|top| {
        // A short value out of line.
        let start = record(3);
        top.truncate(start + RECORD);
        top[start + 73] = 0x40;
        top.extend_from_slice(&[0; 68]);
    });
    refuse(Field::KeyOrder, &|top| {
        let first = top[record(0)..record(1)].to_vec();
        top.extend_from_slice(&first);
    });
    refuse(Field::KeyOrder, &|top| {
        let first = top[record(0)..record(1)].to_vec();
        top.splice(record(0)..record(0), first);
    });
    let later = Error::UnsupportedFormat { version: 9 };
    let tree = under(&mut sums, &changed(&|top| top[1] = 9), 4);
    assert!(errors(&mut sums, tree, &[[1; 32]]).iter().all(|error| *error == Some(later)));
}

#[test]
fn a_top_with_a_wrong_root_is_refused_by_operations_that_hash() {
    let all = leaves(4);
    let mut sums = Sums::of(host(), &all);
    let top = bytes_of(&sums, sums.tree.root);
    let keys: Vec<_> = all.keys().copied().collect();
    let mut refuse = |count, field: Field, at: usize| {
        let mut top = top.clone();
        top[at] ^= 1;
        let tree = under(&mut sums, &top, count);
        let found = errors(&mut sums, tree, &keys);
        assert_eq!(fields(&found[3..]), BTreeSet::from([format!("{field:?}")]), "byte {at}");
        assert!(found[3..].iter().all(Option::is_some));
    };
    // The hash and the sum that the top states, then a leaf's hash and sum, then the count.
    refuse(4, Field::SumHash, 2);
    refuse(4, Field::SumHash, 33);
    refuse(4, Field::Sum, 34);
    refuse(4, Field::SumHash, TOP + 40);
    refuse(4, Field::Sum, TOP + 64);
    refuse(5, Field::EntryCount, TOP);
}

#[test]
fn a_leaf_that_does_not_have_its_hash_is_not_proved() {
    let key = [1; 32];
    let mut sums = Sums::of(host(), &Leaves::from([(key, (b"value".to_vec(), 3))]));
    let mut top = bytes_of(&sums, sums.tree.root);
    let at = top.len() - 1;
    top[at] ^= 1;
    let tree = under(&mut sums, &top, 1);
    let found = errors(&mut sums, tree, &[key]);
    assert!(matches!(
        found[4],
        Some(Error::CorruptChunk { cause: Some(cause), .. }) if cause.field == Field::SumHash
    ));
}

#[test]
fn links_are_checked_against_their_pieces() {
    use Field::{Boundary, ChildCount, ChildKey, EntryCount, Length, Sum, SumHash};
    let all = leaves(300);
    let mut sums = Sums::of(host(), &all);
    let top = bytes_of(&sums, sums.tree.root);
    let link = (TOP..top.len() - 116).find(|at| top[at + 73] == 0x80).expect("a link");
    let keys: Vec<_> = all.keys().copied().collect();
    let mut refuse = |at: usize, byte: u8, expected: &[Field]| {
        let mut top = top.clone();
        top[link + at] ^= byte;
        let tree = under(&mut sums, &top, 300);
        let found = errors(&mut sums, tree, &keys);
        // A diff passes over links to one piece.
        let seen = |at| at == 2 || Option::is_some(&found[at]);
        assert!((0..found.len()).all(seen), "byte {at}: {found:?}");
        let expected: BTreeSet<_> = expected.iter().map(|field| format!("{field:?}")).collect();
        assert!(fields(&found).is_subset(&expected), "byte {at}: {:?}", fields(&found));
    };
    refuse(72, 1, &[ChildKey, Length, Boundary, SumHash, Field::KeyOrder]);
    refuse(31, 1, &[ChildKey]);
    refuse(64, 1, &[Sum]);
    refuse(74, 1, &[ChildCount, EntryCount]);
    refuse(81, 0x80, &[ChildCount, EntryCount]);
    refuse(82, 1, &[Length, Boundary]);
    let mut other = top.clone();
    other[link + 84] ^= 1;
    let tree = under(&mut sums, &other, 300);
    let found = errors(&mut sums, tree, &keys);
    assert!(found.iter().all(|error| matches!(error, Some(Error::MissingChunk(_)))), "{found:?}");
    // Only operations that hash see the hash of a link.
    let mut other = top.clone();
    other[link + 32] ^= 1;
    let tree = under(&mut sums, &other, 300);
    let found = errors(&mut sums, tree, &keys);
    assert_eq!(fields(&found[3..]), BTreeSet::from(["SumHash".into()]));
}

#[test]
fn a_tree_with_other_cuts_is_refused() {
    // Three leaves in one piece that the rule would cut nowhere, put behind a link.
    let all = leaves(3);
    let mut sums = Sums::of(host(), &all);
    let top = bytes_of(&sums, sums.tree.root);
    let mut paths: Vec<_> = all.keys().map(path).collect();
    paths.sort_unstable();
    let mut piece = vec![0xd0, 1];
    piece.extend_from_slice(&top[TOP..]);
    let chunk = sums.host.store_chunk(&piece);
    let mut link = top[..TOP].to_vec();
    link.extend_from_slice(&top[TOP..TOP + RECORD + 6]);
    link.extend_from_slice(&[0xff; 32]);
    link.extend_from_slice(&leaf_hash(b"", 1));
    link.extend_from_slice(&9u64.to_le_bytes());
    link.extend_from_slice(&[0xff, 0x80]);
    link.extend_from_slice(&3u64.to_le_bytes());
    link.extend_from_slice(&((piece.len() - 2) as u16).to_le_bytes());
    link.extend_from_slice(&chunk.0);
    let tree = under(&mut sums, &link, 4);
    let found = errors(&mut sums, tree, &[[0xff; 32]]);
    assert!(found.iter().all(Option::is_some), "{found:?}");
}

#[test]
fn random_faults_under_right_hashes_are_refused_or_harmless() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let all = leaves(400);
    let keys: Vec<_> = all.keys().copied().take(40).collect();
    let mut sums = Sums::of(host(), &all);
    let top = bytes_of(&sums, sums.tree.root);
    let (mut caught, mut read) = (0, 0);
    for _ in 0..1500 {
        let mut top = top.clone();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..top.len());
            match random.random_range(0..4) {
                0 => top[at] = random.random(),
                1 => top[at] ^= 1 << random.random_range(0..8),
                2 => top.truncate(at.max(2)),
                _ => {
                    let end = (at + 116).min(top.len());
                    let part = top[at..end].to_vec();
                    top.splice(at..at, part);
                }
            }
        }
        let tree = under(&mut sums, &top, random.random_range(399..402));
        if errors(&mut sums, tree, &keys)[4].is_some() {
            caught += 1;
        } else {
            read += 1;
        }
    }
    println!("{caught} refused, {read} equal to the honest one or never read");
    assert!(caught > 1300, "{caught}");
}

#[test]
fn a_missing_or_damaged_piece_is_reported_and_nothing_is_stored() {
    let all = leaves(400);
    let keys: Vec<_> = all.keys().copied().collect();
    let honest = Sums::of(host(), &all);
    let chunks: Vec<_> = honest.host.chunks().map(|(_, hash, bytes)| (hash, bytes)).collect();
    for (lost, _) in &chunks {
        for damaged in [false, true] {
            let mut host = host();
            for (hash, bytes) in &chunks {
                if hash != lost {
                    host.store_chunk(bytes);
                }
            }
            if damaged {
                let bytes = &chunks.iter().find(|(hash, _)| hash == lost).expect("it").1;
                let id = host.stored.keys().max().map_or(1, |id| id + 1);
                let (_, mut sealed) = hedgerow_support::host::seal(&[bytes]);
                let mut sealed = sealed.remove(0);
                sealed.bytes[5] ^= 1;
                host.cache.add_table(id, sealed.table.clone());
                host.stored.insert(id, (sealed.bytes, sealed.table));
            }
            let mut sums = Sums { host, tree: honest.tree, root: honest.root, rules: Rules::new() };
            let expected = if damaged {
                Error::CorruptChunk { hash: *lost, cause: None }
            } else {
                Error::MissingChunk(*lost)
            };
            let before = sums.host.chunks().count();
            let tree = sums.tree;
            sums.host.reopen(1 << 20);
            let found = errors(&mut sums, tree, &keys);
            // A diff to the same tree does not read.
            for at in [0, 1, 3, 4] {
                assert_eq!(found[at], Some(expected));
            }
            assert_eq!(sums.host.chunks().count(), before);
        }
    }
}

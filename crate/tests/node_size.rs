//! Reads refuse nodes larger than any that encoders make. An edit of one entry never makes a node that is
//! too large to be read again.

use hedgerow::boundary::Shape;
use hedgerow::error::{Error, Field};
use hedgerow::hash::Hash;
use hedgerow::ingest::Format;
use hedgerow::node::{MAX_INNER_BYTES, MAX_LEAF_BYTES, Node};
use hedgerow::tree::{Tree, Verify};
use hedgerow_support::host::Host;
use hedgerow_support::layout::{BYTES, inner, leaf};
use hedgerow_support::rows::{list, pairs};

/// Makes a leaf of about `len` bytes: entries of 400 bytes and a last one of a few.
fn leaf_of(len: usize) -> (Vec<u8>, u64) {
    let keys: Vec<_> = (0..len / 404).map(|at| format!("k{at:03}")).collect();
    let value = [b'v'; 396];
    let mut records: Vec<_> = keys.iter().map(|key| (BYTES, key.as_bytes(), &value[..])).collect();
    records.push((BYTES, b"z", b""));
    (leaf(&records), records.len() as u64)
}

/// Makes a host whose rows are the tree under the chunk `top`.
fn host_of(chunks: &[Vec<u8>], count: u64) -> Host {
    let mut host = Host::new(Shape::STORED);
    let root = chunks.iter().fold(Hash::ZERO, |_, chunk| host.store_chunk(chunk));
    host.forest.set_rows(Tree { root, count });
    host
}

/// Checks that everything in storage can be read with an empty cache.
fn check(host: &mut Host) {
    for (_, _, chunk) in host.chunks() {
        if chunk[0] <= 40 {
            assert_eq!(Node::decode(&chunk).map(|_| ()), Ok(()), "{} bytes", chunk.len());
        }
    }
    host.reopen(0);
    let mut verify = Verify::new(host.tree(), host.shape);
    host.run(|cache, budget| Ok(verify.step(cache, budget))).expect("a walk");
    assert_eq!((verify.take_faults(), verify.tally().rows), (vec![], host.tree().count));
}

#[test]
fn a_leaf_beyond_what_encoders_make_is_refused() {
    let (chunk, count) = leaf_of(64_000);
    assert!(chunk.len() > 63_000 && chunk.len() < usize::from(u16::MAX));
    let mut host = host_of(&[chunk], count);
    let value = "x".repeat(4000);
    for edit in
        [pairs(&[("z".into(), format!("\"{value}\""))]), pairs(&[("k000".into(), "1".into())])]
    {
        match host.commit(&[(edit, Format::Pairs)]) {
            Err(Error::CorruptChunk { cause: Some(cause), .. }) => {
                assert_eq!((cause.field, cause.expected), (Field::Length, MAX_LEAF_BYTES as u64));
            }
            other => panic!("{:?}", other.map(|_| ())),
        }
    }
}

#[test]
fn an_edit_of_the_last_entry_of_an_overfull_leaf_makes_readable_leaves() {
    // As much as decoding accepts: more than a full leaf, which no encoder makes.
    let (chunk, count) = leaf_of(21_000);
    assert!(chunk.len() > 20_000 && chunk.len() <= MAX_LEAF_BYTES);
    let long = "z".repeat(1024);
    for key in ["z", "zz", &long] {
        let mut host = host_of(std::slice::from_ref(&chunk), count);
        let value = format!("\"{}\"", "x".repeat(4090));
        host.put(&[(key.to_owned(), value.clone())]);
        assert_eq!(host.get(key), Some(value), "{key}");
        let last = host.tree();
        host.delete(&["k000".to_owned()]);
        assert!(host.tree() != last);
        for (_, _, chunk) in host.chunks() {
            assert!(chunk[0] > 40 || Node::decode(&chunk).is_ok(), "{key}: {} bytes", chunk.len());
        }
    }
}

#[test]
fn a_longer_last_key_does_not_make_a_large_node_unreadable() {
    // A node of 1,000-byte keys, as large as decoding accepts, that ends with a short one.
    let long = |at: usize| format!("a{at:03}{}", "k".repeat(1020));
    let entry = |key: &str| leaf(&[(BYTES, key.as_bytes(), b"")]);
    let mut keys: Vec<_> = (0..16).map(long).collect();
    keys.push("b".into());
    let leaves: Vec<_> = keys.iter().map(|key| entry(key)).collect();
    let hashes: Vec<_> = leaves.iter().map(|leaf| Hash::of(leaf)).collect();
    let children: Vec<_> = (keys.iter().zip(&hashes).zip(1..))
        .map(|((key, hash), count)| (key.as_bytes(), count, *hash))
        .collect();
    let top = inner(1, &children);
    assert!(top.len() <= MAX_INNER_BYTES && top.len() + 1023 > MAX_INNER_BYTES, "{}", top.len());
    let all: Vec<_> = leaves.iter().cloned().chain([top]).collect();
    let longest = "c".repeat(1024);
    let mut host = host_of(&all, 17);
    host.put(&[(longest.clone(), "1".into())]);
    for (_, _, chunk) in host.chunks() {
        assert!(chunk[0] > 40 || Node::decode(&chunk).is_ok(), "{} bytes", chunk.len());
    }
    // The last entry goes, and the one before it has a longer key.
    let mut host = host_of(&all, 17);
    host.commit(&[(list(&["b".to_owned()]), Format::Deletes)]).expect("a deletion");
    for (_, _, chunk) in host.chunks() {
        assert!(chunk[0] > 40 || Node::decode(&chunk).is_ok(), "{} bytes", chunk.len());
    }
}

#[test]
fn nodes_as_large_as_encoders_make_them_are_read() {
    // Entries up to one byte below a full leaf, with keys mined so that they do not end the leaf,
    // and then the largest entry.
    let full = Shape::STORED.full as usize;
    let (mut rows, mut filled, mut mined) = (Vec::new(), 0, 0..);
    while filled < full - 1 {
        let left = full - 1 - filled;
        let size = if left < 128 { left } else { 64 };
        let ends = |key: &String| {
            Shape::STORED.ends(0, key.as_bytes(), filled, filled + size, rows.len() + 1)
        };
        let key = mined.by_ref().map(|at: u32| format!("k{at:07}")).find(|key| !ends(key));
        // An entry takes four bytes besides its key and value.
        rows.push((key.expect("a key"), format!("\"{}\"", "v".repeat(size - 14))));
        filled += size;
    }
    rows.push(("z".repeat(1024), format!("\"{}\"", "v".repeat(4094))));
    let mut host = Host::new(Shape::STORED);
    host.put_blocks(&rows, usize::MAX);
    let largest = host.chunks().map(|(_, _, chunk)| chunk.len()).max();
    assert_eq!(largest, Some(MAX_LEAF_BYTES));
    check(&mut host);
}

//! A lazy clone of a remote that lies: it takes records of internal nodes, and makes leaves from deltas. Either it
//! refuses them, or the chunks have the hashes that it asked for.

use crate::input::Input;
use hedgerow::cache::{Cache, Fetch};
use hedgerow::delta::Encoder;
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::lazy::{Leaves, NewNodes, NodeAt, Taken, land_nodes};
use hedgerow::node::Node;
use hedgerow::segment::{Sealed, Table};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Tree, get};
use hedgerow::value::Kind;
use hedgerow_support::deltas::HEADER;
use hedgerow_support::store::{a_key, build, rows};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Enough for nodes of two levels.
const ROWS: usize = 6000;

/// The contents of an honest remote.
struct Honest {
    rows: Vec<(String, String)>,
    tree: Tree,
    chunks: BTreeMap<[u8; 32], Vec<u8>>,
    /// The record of each internal node, from the top down.
    records: Vec<Vec<u8>>,
    /// The hash, the last key and the number of rows of each leaf.
    leaves: Vec<(Hash, Vec<u8>, u64)>,
}

static HONEST: LazyLock<Honest> = LazyLock::new(|| {
    let rows = rows(ROWS);
    let (tree, mut packer) = build(&rows);
    packer.seal();
    let mut cache = Cache::new(usize::MAX);
    let mut chunks = BTreeMap::new();
    for (id, sealed) in (1..).zip(packer.take_sealed()) {
        for at in 0..sealed.table.len() {
            chunks.insert(
                sealed.table.hash(at).0,
                sealed.table.chunk(&sealed.bytes, at).into_owned(),
            );
        }
        cache.add_fresh(id, sealed);
    }
    let mut walk = NewNodes::new(Tree::EMPTY, tree);
    while walk.step(&cache, &mut Budget::of(usize::MAX)).expect("all is here") != Step::Done(()) {}
    let bytes = walk.take();
    let mut records = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let len = usize::from(u16::from_le_bytes([bytes[at + 1], bytes[at + 2]]));
        let children = usize::from(u16::from_le_bytes([bytes[at + 5], bytes[at + 6]]));
        let end = at + 3 + len + 2 * children;
        records.push(bytes[at + 1..end].to_vec());
        at = end;
    }
    let mut leaves: Vec<_> = chunks
        .iter()
        .filter(|(_, bytes)| bytes[0] == 0)
        .map(|(hash, bytes)| {
            let node = Node::decode(bytes).expect("a leaf");
            (Hash(*hash), node.last_key().to_vec(), node.total())
        })
        .collect();
    leaves.sort_by(|a, b| a.1.cmp(&b.1));
    Honest { rows, tree, chunks, records, leaves }
});

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    if input.byte() & 1 == 0 { nodes(&mut input) } else { leaves(&mut input) }
}

/// Changes some bytes.
fn damage(input: &mut Input<'_>, bytes: &mut Vec<u8>) {
    for _ in 0..input.below(4) {
        let at = usize::from(input.word()) % bytes.len().max(1);
        match input.below(4) {
            0 if !bytes.is_empty() => bytes[at] = input.byte(),
            1 => bytes.truncate(at),
            2 => bytes.insert(at.min(bytes.len()), input.byte()),
            _ if !bytes.is_empty() => drop(bytes.remove(at)),
            _ => {}
        }
    }
}

/// Returns the chunks in segments, each under the hash of its bytes; chunks at a remote have no bytes.
fn chunks_of(sealed: &[Sealed]) -> BTreeMap<[u8; 32], Cow<'_, [u8]>> {
    let mut found = BTreeMap::new();
    for Sealed { bytes, table } in sealed {
        for at in (0..table.len()).filter(|at| !table.is_remote(*at)) {
            let chunk = table.chunk(bytes, at);
            assert_eq!(Hash::of(&chunk), table.hash(at), "a chunk under another hash");
            found.insert(table.hash(at).0, chunk);
        }
        assert!(bytes.len() <= u32::MAX as usize);
    }
    found
}

fn nodes(input: &mut Input<'_>) {
    let honest = &*HONEST;
    let mut cache = Cache::new(64 << 20);
    let mut stored: BTreeMap<u64, (Vec<u8>, Table)> = BTreeMap::new();
    let mut keep = |cache: &mut Cache, sealed: Vec<Sealed>| {
        for one in sealed {
            let id = 1 + stored.len() as u64;
            stored.insert(id, (one.bytes.clone(), one.table.clone()));
            cache.add_fresh(id, one);
            cache.stored(id);
        }
    };
    let has_top = input.byte() & 1 == 0;
    if has_top {
        let top = land_nodes(&cache, &honest.records[0], Taken::Below(honest.tree.root));
        keep(&mut cache, top.expect("the top"));
    }
    for _ in 0..=input.below(3) {
        let mut records = Vec::new();
        for _ in 0..=input.below(5) {
            let mut one = honest.records[input.below(honest.records.len())].clone();
            if input.below(3) == 0 {
                damage(input, &mut one);
            }
            records.extend(one);
        }
        if input.below(8) == 0 {
            records.extend_from_slice(input.rest());
        }
        let taken = input.one_of(&[
            Taken::Known,
            Taken::Below(honest.tree.root),
            Taken::Again,
            Taken::Known,
        ]);
        let Ok(made) = land_nodes(&cache, &records, taken) else { continue };
        let chunks = chunks_of(&made);
        for (hash, bytes) in &chunks {
            assert!(matches!(Node::decode(bytes), Ok(Node::Inner(_))), "no internal node");
            let is_known = cache.copies(&Hash(*hash)).next().is_some();
            if taken == Taken::Known {
                assert!(is_known, "a node that nobody names");
            }
            // All hashes from the root down are right, so all nodes are honest.
            if taken != Taken::Again && has_top {
                assert_eq!(honest.chunks.get(hash).map(Vec::as_slice), Some(&**bytes));
            }
        }
        // A segment does not have a chunk of its own twice, or a chunk without bytes.
        for Sealed { table, .. } in &made {
            let mut seen = BTreeSet::new();
            for at in 0..table.len() {
                assert!(seen.insert(table.hash(at).0) || table.is_remote(at), "a chunk twice");
                assert!(!table.range(at).is_empty(), "a chunk without bytes");
            }
        }
        if taken == Taken::Again {
            // A repair takes only the chunk that it has asked for.
            continue;
        }
        keep(&mut cache, made);
    }
    // Every read ends: with an honest row, at the remote, or with an error that names a chunk.
    for nth in (0..honest.rows.len()).step_by(701) {
        let (key, value) = &honest.rows[nth];
        match get(&cache, honest.tree, key.as_bytes()) {
            Ok(Fetch::Here(entry)) => {
                assert_eq!(
                    entry.map(|entry| entry.value.to_vec()),
                    Some(value.clone().into_bytes())
                );
            }
            Ok(Fetch::At(want)) => assert!(
                want.is_remote() || want.segment().is_some_and(|id| stored.contains_key(&id))
            ),
            Err(Error::MissingChunk(_) | Error::CorruptChunk { .. }) => {}
            Err(other) => panic!("a read ended with {other}"),
        }
    }
}

fn leaves(input: &mut Input<'_>) {
    let honest = &*HONEST;
    let nth = input.below(honest.leaves.len());
    let (hash, last_key, count) = &honest.leaves[nth];
    let end = honest.rows.partition_point(|(key, _)| key.as_bytes() <= &last_key[..]);
    // Some more rows than the leaf has, or some fewer.
    let wanted = usize::try_from(*count).expect("few") + 8;
    let begin = end.saturating_sub(wanted.saturating_sub(input.below(16)));
    let mut encoder = Encoder::new();
    for (key, value) in &honest.rows[begin..(end + input.below(3)).min(honest.rows.len())] {
        encoder.put(a_key(key), Kind::Json, value.len());
        encoder.out().extend_from_slice(value.as_bytes());
    }
    encoder.end();
    let mut delta = encoder.out().clone();
    if input.below(2) == 0 {
        damage(input, &mut delta);
    }
    let count = input.one_of(&[*count, *count, *count, 0, 1, *count + 1, u64::MAX]);
    let other = honest.leaves[input.below(honest.leaves.len())].0;
    let wanted = input.one_of(&[*hash, *hash, other, Hash::ZERO]);
    let header = input.one_of(&[&HEADER[..], &[]]);
    let later = [header, input.rest()].concat();
    let mut leaves = Leaves::new();
    if leaves.add(&delta).is_err() {
        return;
    }
    // Edits of a later layer, if any.
    if later.len() > HEADER.len() && leaves.add(&later).is_err() {
        return;
    }
    leaves.sort();
    let is_made = leaves.make(&NodeAt { hash: wanted, last_key, count });
    let is_value = leaves.make_value(last_key, &wanted);
    let made = leaves.take();
    let chunks = chunks_of(&made);
    if !is_made {
        assert!(is_value || chunks.is_empty(), "chunks of what was not made");
        return;
    }
    let bytes = chunks.get(&wanted.0).expect("the node that was wanted");
    assert_eq!(honest.chunks.get(&wanted.0).map(Vec::as_slice), Some(&**bytes));
}

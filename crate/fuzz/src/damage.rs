//! Faults in the chunks of a small tree, from the leaves up, all under their right hashes.

use crate::input::Input;
use hedgerow::boundary::Shape;
use hedgerow::hash::Hash;
use hedgerow::key::Key;
use hedgerow::limits::MAX_LEVEL;
use hedgerow::node::{Child, Entry, Node};
use hedgerow::tree::Tree;
use hedgerow::value::{Kind, Tag};
use hedgerow_support::host::Host;
use hedgerow_support::layout;
use hedgerow_support::pace::Pace;
use std::collections::BTreeMap;

pub(crate) const SHAPE: Shape = Shape::with_target(64);

/// Puts faults into some chunks, and the new hashes of changed chunks into their parents.
pub fn damage(
    input: &mut Input<'_>,
    chunks: Vec<Vec<u8>>,
    tree: Tree,
    repair: bool,
) -> (Host, Tree) {
    let mut faults: BTreeMap<usize, usize> = BTreeMap::new();
    for _ in 0..input.below(6) {
        *faults.entry(input.below(chunks.len())).or_default() += 1;
    }
    let mut host = Host::new(SHAPE);
    // Small slices, so that endless work is noticed.
    host.pace = Some(Pace::new(&[5]));
    let mut moved: BTreeMap<Hash, Hash> = BTreeMap::new();
    let mut made: Vec<(Hash, Vec<u8>)> = Vec::new();
    for (at, chunk) in chunks.into_iter().enumerate() {
        let before = Hash::of(&chunk);
        let mut bytes = follow(chunk, &moved, &made, repair);
        for _ in 0..faults.get(&at).copied().unwrap_or(0) {
            bytes = fault(input, bytes, &made);
        }
        let after = host.store_chunk(&bytes);
        moved.insert(before, after);
        made.push((after, bytes));
    }
    let mut tree = Tree { root: moved[&tree.root], ..tree };
    if input.byte() & 7 == 1 {
        tree = tower(input, &mut host, tree, &made);
    }
    match input.byte() & 15 {
        1 => tree.count = u64::MAX,
        2 => tree.count = 1,
        3 => tree.root = made[input.below(made.len())].0,
        _ => {}
    }
    (host, tree)
}

fn find<'m>(made: &'m [(Hash, Vec<u8>)], hash: &Hash) -> Option<Node<'m>> {
    let (_, bytes) = made.iter().find(|(other, _)| other == hash)?;
    Node::decode(bytes).ok()
}

/// Makes a chunk point to its changed children. With `repair`, it also states their new keys and
/// counts.
fn follow(
    chunk: Vec<u8>,
    moved: &BTreeMap<Hash, Hash>,
    made: &[(Hash, Vec<u8>)],
    repair: bool,
) -> Vec<u8> {
    let new = |hash: Hash| moved.get(&hash).copied().unwrap_or(hash);
    if let Ok(Node::Inner(inner)) = Node::decode(&chunk) {
        let mut children: Vec<Child<'_>> = (0..inner.len()).map(|at| inner.child(at)).collect();
        for child in &mut children {
            child.hash = new(child.hash);
            if repair && let Some(node) = find(made, &child.hash) {
                (child.key, child.count) = (Key::trusted(node.last_key()), node.total());
            }
        }
        return layout::inner_of(inner.level(), &children);
    }
    // Addresses of large values and lists of pieces: by their bytes.
    let mut bytes = chunk;
    for (before, after) in moved {
        if before != after
            && let Some(at) = bytes.windows(32).position(|window| window == before.0)
        {
            bytes[at..at + 32].copy_from_slice(&after.0);
        }
    }
    bytes
}

fn fault(input: &mut Input<'_>, bytes: Vec<u8>, made: &[(Hash, Vec<u8>)]) -> Vec<u8> {
    if input.below(4) == 0 {
        return raw_fault(input, bytes);
    }
    match Node::decode(&bytes) {
        Ok(Node::Leaf(leaf)) => {
            leaf_fault(input, (0..leaf.len()).map(|at| leaf.entry(at)).collect())
        }
        Ok(Node::Inner(inner)) => {
            let children = (0..inner.len()).map(|at| inner.child(at)).collect();
            inner_fault(input, inner.level(), children, made)
        }
        Err(_) => raw_fault(input, bytes),
    }
}

fn raw_fault(input: &mut Input<'_>, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = input.below(bytes.len());
    match input.below(4) {
        0 => bytes[at] = input.byte(),
        1 => bytes.truncate(at),
        2 => bytes.insert(at, input.byte()),
        _ => drop(bytes.remove(at)),
    }
    if bytes.is_empty() { vec![0] } else { bytes }
}

const KEYS: [&str; 8] = ["", "\0", "k", "k000x", "k020", "k045", "k999", "\u{10ffff}"];

/// An address without a chunk.
const FAR: [u8; 36] = {
    let mut far = [7; 36];
    far[3] = 0; // the highest byte of the length, so that it is allowed
    far
};

fn leaf_fault(input: &mut Input<'_>, mut entries: Vec<Entry<'_>>) -> Vec<u8> {
    let at = input.below(entries.len());
    match input.below(6) {
        0 => entries[at].key = input.one_key(&KEYS),
        1 => entries[at].value = b"",
        2 => {
            entries[at].tag = Tag { kind: Kind::Bytes, is_ref: true };
            entries[at].value = &FAR;
        }
        3 => {
            entries.remove(at);
        }
        4 => {
            let tag = Tag { kind: Kind::Json, is_ref: false };
            entries.push(Entry { key: input.one_key(&KEYS), tag, value: b"1" });
        }
        _ => entries.swap(0, at),
    }
    if entries.is_empty() { vec![0, 1, 0, 0] } else { layout::leaf_of(&entries) }
}

fn inner_fault(
    input: &mut Input<'_>,
    mut level: u8,
    mut children: Vec<Child<'_>>,
    made: &[(Hash, Vec<u8>)],
) -> Vec<u8> {
    let at = input.below(children.len());
    match input.below(9) {
        0 => children[at].hash = made[input.below(made.len())].0,
        1 => children[at].key = input.one_key(&KEYS),
        2 => {
            children[at].count = input.one_of(&[0, 1, u64::from(u32::MAX), u64::MAX / 2, u64::MAX]);
        }
        3 => level = input.byte() % (MAX_LEVEL + 1),
        4 => {
            children.remove(at);
        }
        5 => children.push(Child { key: input.one_key(&KEYS), ..children[at] }),
        6 => children.swap(0, at),
        7 => children.truncate(1),
        _ => {
            let hash = children[at].hash;
            for child in &mut children {
                child.hash = hash;
            }
        }
    }
    if children.is_empty() { vec![level, 1, 0, 0] } else { layout::inner_of(level, &children) }
}

/// Puts many levels on top, each of nodes that name one child many times.
fn tower(input: &mut Input<'_>, host: &mut Host, tree: Tree, made: &[(Hash, Vec<u8>)]) -> Tree {
    let Some(node) = find(made, &tree.root) else { return tree };
    let (levels, width) = (input.below(usize::from(MAX_LEVEL) + 1), 1 + input.below(64));
    let mut keys: Vec<String> = (1..width).map(|number| format!("a{number:02}")).collect();
    let Ok(last) = core::str::from_utf8(node.last_key()) else { return tree };
    keys.push(last.to_owned());
    let mut top = Tree { root: tree.root, count: node.total() };
    for level in node.level() + 1..=(node.level() + levels as u8).min(MAX_LEVEL) {
        let Tree { root: hash, count } = top;
        let texts = keys.iter().map(|key| Key::trusted(key.as_bytes()));
        let children: Vec<_> = texts.map(|key| Child { key, hash, count }).collect();
        let total = top.count.saturating_mul(width as u64);
        top = Tree { root: host.store_chunk(&layout::inner_of(level, &children)), count: total };
    }
    top
}

//! Arbitrary bytes into every decoder: no decoder panics, and accepted bytes are encoded as they were.

use hedgerow::chunk::{ChunkKind, piece, piece_list, pieces_of};
use hedgerow::forest::{Forest, INDEX, PARTIAL_INDEX, SUM_ROOT_BYTES};
use hedgerow::hash::Hash;
use hedgerow::index::{self, Entries, Members, secondary_end, write_secondary};
use hedgerow::json::{JsonFault, Pointer, Scanner, push_string, skip_space, skip_value, unquote};
use hedgerow::limits::{MAX_JSON_DEPTH, MAX_KEY_BYTES, MAX_PACKED_CHUNK_BYTES, PIECE_BYTES};
use hedgerow::node::Node;
use hedgerow::segment::{Packer, Stream, Table};
use hedgerow::sum_piece::{Named, Names, check};
use hedgerow::sum_tree::{Definition, Name, names};
use hedgerow_support::layout;
use serde_json::Value;
use std::collections::BTreeSet;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    chunk(bytes);
    node(bytes);
    sum_piece(bytes);
    let _ = Definition::parse(bytes);
    index(bytes);
    forest(bytes);
    table(bytes);
    packed(bytes);
    json(bytes);
}

/// Checks that a definition of an index is the name of its tree, and that its entries are keys. The first line of the
/// input is the definition, the rest a value.
fn index(bytes: &[u8]) {
    let (text, value) =
        bytes.split_at(bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len()));
    let Ok(text) = core::str::from_utf8(text) else { return };
    let Some(definition) = index::Definition::parse(text) else { return };
    for (first, complete) in [(INDEX, true), (PARTIAL_INDEX, false)] {
        let named = index::Definition::of_tree(&definition.name(first)).expect("an index");
        assert_eq!((named.0.text(), named.1), (text, complete));
    }
    let value = value.get(1..).unwrap_or_default();
    let (mut members, mut entries) = (Members::default(), Entries::default());
    definition.entries(b"key", value, &mut members, &mut entries);
    let keys: BTreeSet<Vec<u8>> = entries.iter().map(|entry| entry.to_vec()).collect();
    assert_eq!(keys.len(), entries.len(), "an entry comes twice");
    for key in keys {
        let end = secondary_end(&key, definition.columns()).expect("a secondary key");
        assert_eq!(&key[end..], b"key");
        let mut secondary = Vec::new();
        write_secondary(&key[..end], definition.columns(), &mut secondary);
        assert!(serde_json::from_slice::<Value>(&secondary).is_ok());
    }
}

fn chunk(bytes: &[u8]) {
    let kind = ChunkKind::decode(bytes);
    if let Ok(kind) = kind {
        assert_eq!(kind.header(), bytes[..2]);
    }
    let part = piece(bytes);
    if let Ok(part) = part {
        assert_eq!([&ChunkKind::Piece.header(), part].concat(), bytes);
        assert!(!part.is_empty() && part.len() <= PIECE_BYTES);
    }
    // The length that fits, if any does, and its neighbours.
    let fitting = bytes.len().saturating_sub(2) / 32 * PIECE_BYTES;
    for len in [0, 1, fitting.saturating_sub(PIECE_BYTES), fitting, fitting + 1, usize::MAX] {
        if let Ok(list) = piece_list(bytes, len) {
            let hashes: Vec<u8> = list.iter().flat_map(|hash| hash.0).collect();
            assert_eq!([&ChunkKind::PieceList.header()[..], &hashes].concat(), bytes);
            assert_eq!(list.len(), pieces_of(len));
        }
    }
    assert!(part.is_err() || kind == Ok(ChunkKind::Piece));
}

fn node(bytes: &[u8]) {
    let Ok(node) = Node::decode(bytes) else { return };
    assert_eq!(ChunkKind::decode(bytes), Ok(ChunkKind::Node(node.level())));
    assert_eq!(layout::node(&node), bytes);
    assert!(node.total() > 0);
    assert!(node.first_key() <= node.last_key());
    let keys: Vec<&[u8]> = match &node {
        Node::Leaf(leaf) => (0..leaf.len()).map(|at| leaf.key(at)).collect(),
        Node::Inner(inner) => (0..inner.len()).map(|at| inner.key(at)).collect(),
    };
    assert!(keys.is_sorted_by(|a, b| a < b));
    for (at, key) in keys.iter().enumerate() {
        assert!(key.len() <= MAX_KEY_BYTES && core::str::from_utf8(key).is_ok());
        match &node {
            Node::Leaf(leaf) => assert_eq!(leaf.search(0, key), Ok(at)),
            Node::Inner(inner) => {
                assert_eq!(inner.route(0, key), at);
                assert!(inner.child(at).count > 0);
                // The comparison ends with any child.
                let _ = node.check_parent(inner, at);
            }
        }
    }
}

/// Checks that collections and sum trees, which read pieces by different code, find the same names.
fn sum_piece(bytes: &[u8]) {
    let mut found = Vec::new();
    names(bytes, |name| {
        found.push(match name {
            Name::Piece(hash) => (hash, None),
            Name::Value(far) => (far.hash, Some(far)),
        });
    });
    let mut named = Names::of(bytes);
    let told: Vec<_> = named
        .by_ref()
        .map(|name| match name {
            Named::Piece(hash) => (hash, None),
            Named::Value(far) => (far.hash, Some(far)),
        })
        .collect();
    if check(bytes).is_ok() {
        assert!(named.is_whole());
        assert_eq!(told, found);
    }
}

fn forest(bytes: &[u8]) {
    let Ok(forest) = Forest::decode(bytes) else { return };
    for named in forest.sums() {
        let told = named.reach.as_ref().expect("what is told of it").len();
        assert_eq!(told, SUM_ROOT_BYTES + named.sum_definition().len());
        assert!(!named.tree.is_empty() || !named.sum_definition().is_empty());
    }
    let mut packer = Packer::new();
    assert_eq!(forest.commit(&mut packer), Ok(Hash::of(bytes)), "a commit reads back as it was");
    packer.seal();
    assert_eq!(packer.take_sealed()[0].bytes, bytes);
}

fn table(bytes: &[u8]) {
    let Ok(table) = Table::decode(bytes.to_vec()) else { return };
    assert_eq!(table.bytes(), bytes);
    let (mut end, mut here) = (0, 0);
    for at in 0..table.len() {
        let range = table.range(at);
        assert!(range.start == end && range.end > end);
        end = range.end;
        if table.is_remote(at) {
            assert!(!table.is_packed(at));
        } else {
            here = end;
        }
        let _ = table.hash(at);
        let chunk = table.chunk(bytes, at);
        assert!(chunk.is_empty() || chunk.len() == table.chunk_len(at));
    }
    assert_eq!(table.segment_len(), here);
}

/// Unpacks the bytes as a stored chunk, and packs them as a new one.
fn packed(bytes: &[u8]) {
    let stored = bytes.len() as u32;
    let of = |chunk: u32| {
        let mut table = layout::table(&[stored]);
        table.truncate(table.len() - 4);
        table.extend_from_slice(&chunk.to_le_bytes());
        Table::decode(table)
    };
    for len in [stored + 1, 3 * stored, MAX_PACKED_CHUNK_BYTES as u32, u32::MAX] {
        let Ok(table) = of(len) else { continue };
        let chunk = table.chunk(bytes, 0);
        assert!(chunk.is_empty() || chunk.len() == len as usize);
    }
    if !bytes.is_empty() {
        let mut packer = Packer::new();
        let hash = packer.put(Stream::Leaf, |out| out.extend_from_slice(bytes));
        packer.seal();
        let sealed = packer.take_sealed().remove(0);
        assert_eq!((sealed.table.hash(0), &*sealed.table.chunk(&sealed.bytes, 0)), (hash, bytes));
        assert!(sealed.bytes.len() <= bytes.len());
    }
}

/// Compares with `serde_json`, an independent reader of the same grammar.
fn json(bytes: &[u8]) {
    let at = skip_space(bytes, 0);
    let end = match skip_value(bytes, 0) {
        Ok(end) => end,
        Err(JsonFault::TooDeep(fault)) => {
            assert!(fault >= MAX_JSON_DEPTH);
            return;
        }
        Err(JsonFault::TooLarge(_)) => panic!("a scan prints no numbers"),
        Err(JsonFault::Syntax(fault)) => {
            assert!(fault <= bytes.len());
            let theirs: Result<Value, _> = serde_json::from_slice(bytes);
            assert!(theirs.is_err(), "JSON was refused");
            return;
        }
    };
    assert!(at < end && end <= bytes.len());
    let Ok(text) = core::str::from_utf8(&bytes[at..end]) else { return };
    let theirs = match serde_json::from_str::<Value>(text) {
        Ok(theirs) => theirs,
        Err(error) => {
            // `serde_json` nests less deep, and refuses lone surrogates earlier.
            let message = error.to_string();
            let excuse = ["recursion limit", "surrogate", "hex escape", "out of range"];
            assert!(excuse.iter().any(|part| message.contains(part)), "{message}: {text}");
            return;
        }
    };
    if let Value::String(theirs) = &theirs {
        let (mut ours, mut again, mut back) = (vec![], vec![], vec![]);
        unquote(text.as_bytes(), &mut ours).expect("serde_json took it");
        assert_eq!(ours, theirs.as_bytes());
        push_string(&mut again, &ours);
        assert_eq!(skip_value(&again, 0), Ok(again.len()));
        unquote(&again, &mut back).expect("no half pair in UTF-8");
        assert_eq!(back, ours);
    }
    // A pointer needs normal form, which the target for bytes compares with another reading.
    let mut scanner = Scanner::default();
    let scanned = scanner.scan(text.as_bytes(), 0, None).expect("a value that was framed");
    let normal = if scanned.normal { text.as_bytes() } else { scanner.normalized() };
    let theirs: Value = serde_json::from_slice(normal).expect("normal form is JSON");
    let found = |pointer: &Pointer| {
        let range = pointer.find(normal)?;
        Some(serde_json::from_slice::<Value>(&normal[range]).expect("part of a value is a value"))
    };
    for path in ["", "/", "/a", "/id", "/0", "/1", "/+1", "/01", "/a/b", "/a/0", "/0/a", "/a~1b"] {
        let pointer = Pointer::parse(path).expect("a pointer");
        assert_eq!(found(&pointer).as_ref(), theirs.pointer(path), "{path} in {text}");
    }
    // A pointer that the input itself names.
    if let Some(path) = theirs.get("path").and_then(Value::as_str) {
        match Pointer::parse(path) {
            None => {
                let is_deep = path.split('/').count() > MAX_JSON_DEPTH;
                let is_malformed = !path.starts_with('/') || path.contains('~');
                assert!(!path.is_empty() && (is_malformed || is_deep));
            }
            Some(pointer) => assert_eq!(found(&pointer).as_ref(), theirs.pointer(path)),
        }
    }
}

//! Verification: it counts sound rows and nodes, reports the keys that each damaged chunk covers, and
//! continues after it. The report is enough to cut the damage out.

use hedgerow::boundary::Shape;
use hedgerow::cache::SegmentId;
use hedgerow::chunk::ChunkKind;
use hedgerow::error::{Error, Field};
use hedgerow::hash::Hash;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::node::Node;
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Fault, Part, Range, Tally, Tree, Verify};
use hedgerow_support::host::Host;
use hedgerow_support::layout::{BYTES, FAR, far, inner, leaf, piece};
use hedgerow_support::pace::Pace;
use hedgerow_support::property::{for_seeds, sampled};
use hedgerow_support::rows::{Rows, issue};
use hedgerow_support::values::{bytes, values};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Bound;

const SMALL: Shape = Shape::with_target(128);

fn verify(host: &mut Host) -> (Tally, Vec<Fault>) {
    let mut verify = Verify::new(host.tree(), host.shape);
    let mut faults = Vec::new();
    host.run(|cache, budget| {
        let step = verify.step(cache, budget);
        faults.extend(verify.take_faults());
        Ok(step)
    })
    .expect("a walk never fails");
    (verify.tally(), faults)
}

fn rows(count: usize) -> Rows {
    (0..count).map(issue).collect()
}

/// Makes a store with each chunk in a segment of its own, and an empty cache.
fn apart(rows: &Rows) -> Host {
    let mut host = Host::new(SMALL);
    host.pace = Some(Pace::new(&[]));
    host.put(&rows.clone().into_iter().collect::<Vec<_>>());
    host.pace = None;
    host.reopen(0);
    host
}

/// Lists the nodes of the store: segment, hash, level and number of rows.
fn nodes(host: &Host) -> Vec<(SegmentId, Hash, u8, u64)> {
    let mut reached = vec![host.tree().root];
    let mut found = Vec::new();
    while let Some(hash) = reached.pop() {
        let (id, _, chunk) = host.chunks().find(|(_, other, _)| *other == hash).expect("a chunk");
        let node = Node::decode(&chunk).expect("a node");
        found.push((id, hash, node.level(), node.total()));
        if let Node::Inner(inner) = node {
            reached.extend((0..inner.len()).map(|at| inner.hash(at)));
        }
    }
    found
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Damage {
    Flip,
    Cut,
    Gone,
}

const DAMAGES: [Damage; 3] = [Damage::Flip, Damage::Cut, Damage::Gone];

fn damage(host: &mut Host, id: SegmentId, damage: Damage) {
    match damage {
        Damage::Flip => {
            let (bytes, _) = host.stored.get_mut(&id).expect("a segment");
            let at = bytes.len() / 2;
            bytes[at] ^= 4;
        }
        Damage::Cut => {
            let (bytes, _) = host.stored.get_mut(&id).expect("a segment");
            bytes.truncate(bytes.len() / 2);
        }
        Damage::Gone => {
            host.stored.remove(&id);
            host.cache.remove(id);
        }
    }
}

fn expected(hash: Hash, damage: Damage) -> Error {
    match damage {
        Damage::Gone => Error::MissingChunk(hash),
        _ => Error::CorruptChunk { hash, cause: None },
    }
}

fn inside<'r>(rows: &'r Rows, faults: &'r [Fault]) -> impl Iterator<Item = &'r String> {
    rows.keys().filter(|key| faults.iter().any(|fault| fault.range.contains(key.as_bytes())))
}

/// Cuts the damage out, from right to left: a deletion must read only nodes to the right of its range,
/// which are sound by then.
fn cut_out(host: &mut Host, faults: &[Fault]) {
    for fault in faults.iter().rev() {
        host.delete_range(&fault.range);
    }
}

#[test]
fn all_of_a_sound_tree_is_counted_in_steps_of_any_size() {
    let all = rows(500);
    let mut host = apart(&all);
    let nodes = nodes(&host);
    let bytes: usize = nodes.iter().map(|(id, ..)| host.stored[id].1.chunk_len(0)).sum();
    let (nodes_read, bytes) = (nodes.len() as u64, bytes as u64);
    let tally = Tally { rows: 500, nodes: nodes_read, bytes, ..Tally::default() };
    assert!(nodes.len() > 100 && nodes.iter().any(|(.., level, _)| *level > 2));
    assert_eq!(verify(&mut host), (tally, vec![]));
    for choices in [&[][..], &[0, 0xe8, 3, 1, 2, 7, 0xff, 0xe1, 5], &[0xe0, 4, 2]] {
        host.reopen(0);
        host.pace = Some(Pace::new(choices));
        assert_eq!(verify(&mut host), (tally, vec![]), "{choices:?}");
    }
    let mut empty = Host::new(SMALL);
    assert_eq!(verify(&mut empty), (Tally::default(), vec![]));
}

#[test]
fn values_out_of_line_are_read_too() {
    let values = values();
    let mut host = Host::new(Shape::STORED);
    host.put_values(&values);
    host.reopen(1 << 20);
    let (tally, faults) = verify(&mut host);
    let large = values.values().filter(|(_, value)| value.len() > 4096).count();
    let bytes: usize = values.values().map(|(_, value)| value.len()).sum();
    assert_eq!((tally.rows, tally.values, faults), (values.len() as u64, large as u64, vec![]));
    assert!(tally.bytes > bytes as u64, "{tally:?}");
}

#[test]
fn segments_are_asked_for_ahead_and_once() {
    let all = rows(400);
    let mut host = apart(&all);
    host.reopen(1 << 30);
    let mut verify = Verify::new(host.tree(), host.shape);
    let mut most = 0;
    host.run(|cache, budget| {
        let step = verify.step(cache, budget);
        if let Step::Need(wanted) = &step {
            most = most.max(wanted.len());
        }
        Ok(step)
    })
    .expect("a walk");
    assert_eq!(most, 8);
    let mut asked = host.asked.clone();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!((asked.len(), host.asked.len()), (nodes(&host).len(), nodes(&host).len()));
}

#[test]
fn each_damaged_node_is_reported_with_its_keys_and_can_be_cut_out() {
    let all = rows(300);
    let sound = apart(&all);
    let root = sound.tree().root;
    for (nth, (id, hash, level, total)) in sampled(nodes(&sound).into_iter().enumerate(), 8) {
        let how = DAMAGES[nth % DAMAGES.len()];
        let mut host = apart(&all);
        damage(&mut host, id, how);
        let (tally, faults) = verify(&mut host);
        let part = Part::Node((hash != root).then_some(level));
        let [fault] = &faults[..] else { panic!("{faults:?}") };
        assert_eq!((fault.hash, fault.part, fault.rows), (hash, part, total), "{how:?}");
        assert_eq!(fault.error, expected(hash, how));
        assert_eq!(tally.rows, 300 - total);
        assert_eq!(inside(&all, &faults).count() as u64, total);
        if hash == root {
            continue;
        }
        cut_out(&mut host, &faults);
        let rest: Rows = all
            .iter()
            .filter(|(key, _)| !fault.range.contains(key.as_bytes()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        host.reopen(0);
        assert_eq!(host.contents(), rest, "level {level}");
        assert_eq!(host.root, Host::of(SMALL, &rest).root, "level {level}");
        assert_eq!(verify(&mut host).1, vec![]);
    }
}

#[test]
fn many_faults_are_reported_in_order_and_can_be_cut_out() {
    for_seeds(60, |seed, steps| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |most: usize| random.random_range(0..most);
        let all = rows(200 + below(300));
        let mut host = apart(&all);
        let nodes = nodes(&host);
        let count = 1 + below(if seed % 2 == 0 { 4 } else { nodes.len() / 4 });
        let mut hit = Vec::new();
        for _ in 0..count {
            let (id, hash, ..) = nodes[1 + below(nodes.len() - 1)];
            if !hit.contains(&hash) {
                damage(&mut host, id, DAMAGES[below(3)]);
                hit.push(hash);
            }
        }
        steps.begin((all.len(), "rows", &hit));
        let (tally, faults) = verify(&mut host);
        assert!(faults.iter().all(|fault| hit.contains(&fault.hash)));
        let lost: u64 = faults.iter().map(|fault| fault.rows).sum();
        assert_eq!(inside(&all, &faults).count() as u64, lost);
        assert_eq!(tally.rows + lost, all.len() as u64);
        for pair in faults.windows(2) {
            let (Bound::Included(end), Bound::Excluded(start)) =
                (&pair[0].range.upper, &pair[1].range.lower)
            else {
                panic!("{pair:?}")
            };
            assert!(end <= start, "{pair:?}");
        }
        // Steps of any size give the same report.
        host.pace = Some(Pace::new(&[0, 0xe8, 3, 1, 2, 7, 0xff, 0xe1, 5]));
        assert_eq!(verify(&mut host), (tally, faults.clone()));
        host.pace = None;
        // Without a sound row no row can be kept.
        if tally.rows == 0 {
            return Ok(());
        }
        cut_out(&mut host, &faults);
        let mut rest = all.clone();
        inside(&all, &faults).for_each(|key| drop(rest.remove(key)));
        steps.same("root", &host.root, &Host::of(SMALL, &rest).root)
    });
}

#[test]
fn each_damaged_chunk_of_a_value_is_reported_with_its_key_and_can_be_cut_out() {
    let values = values();
    let store = || {
        let mut host = Host::new(Shape::STORED);
        host.pace = Some(Pace::new(&[]));
        host.put_values(&values);
        host.pace = None;
        host.reopen(1 << 20);
        host
    };
    let parts: Vec<_> = store()
        .chunks()
        .filter(|(_, _, chunk)| {
            matches!(ChunkKind::decode(chunk), Ok(ChunkKind::Piece | ChunkKind::PieceList))
        })
        .map(|(id, hash, _)| (id, hash))
        .collect();
    assert!(parts.len() > 20);
    for (nth, &(_, hash)) in sampled(parts.iter().enumerate(), 8) {
        let how = DAMAGES[nth % DAMAGES.len()];
        let mut host = store();
        // All copies of it: a chunk may be stored more than once.
        for (id, _) in parts.iter().filter(|(_, other)| *other == hash) {
            damage(&mut host, *id, how);
        }
        let (tally, faults) = verify(&mut host);
        assert!(!faults.is_empty());
        let mut keys = Vec::new();
        for fault in &faults {
            assert_eq!((fault.hash, fault.part, fault.rows), (hash, Part::Value, 1));
            assert_eq!(fault.error, expected(hash, how));
            let Bound::Included(key) = &fault.range.lower else { panic!("{fault:?}") };
            assert_eq!(fault.range.upper, Bound::Included(key.clone()));
            keys.push(String::from_utf8(key.clone()).expect("a key"));
        }
        keys.dedup();
        assert_eq!(tally.rows, (values.len() - keys.len()) as u64);
        for key in keys.iter().rev() {
            let bound = || Bound::Included(key.clone().into_bytes());
            host.delete_range(&Range { lower: bound(), upper: bound() });
        }
        assert_eq!(verify(&mut host).1, vec![]);
        let mut rest = values.clone();
        rest.retain(|key, _| !keys.contains(key));
        let mut fresh = Host::new(Shape::STORED);
        fresh.put_values(&rest);
        assert_eq!(host.root, fresh.root);
    }
}

/// Makes a store of one leaf and `chunks`.
fn of_leaf(records: &[(u16, &[u8], &[u8])], chunks: &[Vec<u8>]) -> Host {
    let mut host = Host::new(Shape::STORED);
    for chunk in chunks {
        host.store_chunk(chunk);
    }
    let root = host.store_chunk(&leaf(records));
    host.forest.set_rows(Tree { root, count: records.len() as u64 });
    host
}

#[test]
fn a_stored_text_that_is_not_json_is_a_fault_of_its_row() {
    let long = bytes(5000, 1);
    let chunk = piece(&long);
    let address = far(5000, &Hash::of(&chunk));
    let records: [(u16, &[u8], &[u8]); 6] = [
        (0, b"a", b"[1"),
        (BYTES, b"b", b"[1"),
        (0, b"c", b"1"),
        (0, b"d", b""),
        (FAR, b"e", &address),
        (FAR | BYTES, b"f", &address),
    ];
    let (tally, faults) = verify(&mut of_leaf(&records, &[chunk]));
    assert_eq!((tally.rows, tally.values), (3, 1));
    let reported: Vec<_> = faults
        .iter()
        .map(|fault| {
            let Error::CorruptChunk { cause: Some(cause), .. } = fault.error else { panic!() };
            assert_eq!(cause.field, Field::ValueText);
            (fault.range.lower.clone(), fault.part)
        })
        .collect();
    let at = |key: &[u8]| Bound::Included(key.to_vec());
    let in_leaf = Part::Node(Some(0));
    assert_eq!(reported, [(at(b"a"), in_leaf), (at(b"d"), in_leaf), (at(b"e"), Part::Value)]);
}

#[test]
fn a_piece_of_the_wrong_length_is_a_fault() {
    let chunk = piece(&bytes(5000, 1));
    for len in [4999_u32, 5001, PIECE_BYTES as u32] {
        let address = far(len, &Hash::of(&chunk));
        let mut host = of_leaf(&[(FAR | BYTES, b"k", &address)], std::slice::from_ref(&chunk));
        let (tally, faults) = verify(&mut host);
        assert_eq!((tally.rows, faults.len()), (0, 1), "{len}");
    }
}

#[test]
fn a_later_format_is_distinguished_from_a_fault() {
    let mut later = leaf(&[(0, b"b", b"1")]);
    later[1] = 9;
    let first = leaf(&[(0, b"a", b"1")]);
    let mut host = Host::new(Shape::STORED);
    let hashes = [host.store_chunk(&first), host.store_chunk(&later)];
    let root = host.store_chunk(&inner(1, &[(b"a", 1, hashes[0]), (b"b", 2, hashes[1])]));
    host.forest.set_rows(Tree { root, count: 2 });
    let (tally, mut faults) = verify(&mut host);
    // The first leaf does not end where one should.
    faults.retain(|fault| fault.part != Part::Form);
    assert_eq!((tally.rows, faults.len()), (1, 1));
    assert_eq!(faults[0].hash, hashes[1]);
    assert_eq!(faults[0].error, Error::UnsupportedFormat { version: 9 });
}

/// A node was sound when the walk entered it, and is missing when it is needed again.
#[test]
fn a_node_lost_during_the_walk_is_reported_with_its_remaining_rows() {
    let all = rows(300);
    let sound = apart(&all);
    for (id, hash, level, _) in sampled(nodes(&sound), 8) {
        let mut host = apart(&all);
        let mut verify = Verify::new(host.tree(), host.shape);
        let mut faults = Vec::new();
        let mut entered = false;
        for _ in 0..100_000 {
            let step = verify.step(&host.cache, &mut Budget::of(1));
            faults.extend(verify.take_faults());
            match step {
                Step::Done(()) => break,
                Step::Need(wanted) => {
                    assert!(wanted.iter().all(|want| want.is_whole()), "a part");
                    let ids: Vec<_> = wanted.iter().filter_map(|want| want.segment()).collect();
                    assert!(!entered || !ids.contains(&id), "asked for what is unknown");
                    let here = ids.contains(&id) && ids[0] == id && !entered;
                    for id in ids {
                        host.load(id);
                    }
                    if here {
                        // Entered by the next step.
                        let _ = verify.step(&host.cache, &mut Budget::of(1));
                        host.cache.remove(id);
                        entered = true;
                    }
                }
                Step::Yield => {}
            }
        }
        let lost: u64 = faults.iter().map(|fault| fault.rows).sum();
        assert_eq!(verify.tally().rows + lost, 300, "level {level}");
        assert!(faults.iter().all(|fault| fault.hash == hash), "level {level}");
        assert_eq!(inside(&all, &faults).count() as u64, lost, "level {level}");
    }
}

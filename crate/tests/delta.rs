//! Deltas: the delta from one store to another is one sequence of bytes. Applied to the first it gives the
//! root of the second, in slices of any size. Applied to another store it gives another root.

#[path = "delta/faults.rs"]
mod faults;
#[path = "delta/vectors.rs"]
mod vectors;

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::delta::{Decoder, DeltaError, Next};
use hedgerow::error::Error;
use hedgerow::index::Definition;
use hedgerow::limits::MAX_VALUE_BYTES;
use hedgerow::tree::Tree;
use hedgerow::value::Kind;
use hedgerow_support::deltas::{Edits, apply, encoded, made, made_cut, take};
use hedgerow_support::host::Host;
use hedgerow_support::output::Value;
use hedgerow_support::pace::Pace;
use hedgerow_support::property::Steps;
use hedgerow_support::rows::{Rows, issue};
use hedgerow_support::values::{Values, text, values};
use proptest::prelude::*;

const SMALL: Shape = Shape::with_target(128);

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{0,3}",
        "[a-c]{1,2}/[0-9]{1,3}",
        "[\u{0}-\u{7f}é中\u{ff5e}😀]{0,6}",
        "[x-z]{40,60}"
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let json = |text: String| (Kind::Json, text.into_bytes());
    prop_oneof![
        4 => (0_u32..4).prop_map(move |number| json(number.to_string())),
        2 => "\"[a-z]{0,200}\"".prop_map(json),
        1 => prop::collection::vec(any::<u8>(), 0..20).prop_map(|bytes| (Kind::Bytes, bytes)),
        1 => (4095_usize..4099).prop_map(|len| (Kind::Json, text(len, len))),
        1 => Just((Kind::Bytes, vec![7; 70_000])),
    ]
}

fn store() -> impl Strategy<Value = Values> {
    prop::collection::btree_map(key(), value(), 0..120)
}

/// Finds the edits that turn `a` into `b`.
fn edits(a: &Values, b: &Values) -> Edits {
    let puts = b.iter().filter(|(key, value)| a.get(*key) != Some(value));
    let deletes = a.keys().filter(|key| !b.contains_key(*key));
    puts.map(|(key, value)| (key.clone().into_bytes(), Some(value.clone())))
        .chain(deletes.map(|key| (key.clone().into_bytes(), None)))
        .collect()
}

/// Encodes deltas of these edits. Each ends with the edit by which it has `cut` bytes; the last one may be empty.
fn cut_at(edits: &Edits, cut: usize) -> Vec<Vec<u8>> {
    let without_end = |group: &Edits| {
        let mut ends = 2;
        let mut count = group.len();
        while count >= 0x80 {
            (ends, count) = (ends + 1, count >> 7);
        }
        encoded(group).len() - ends
    };
    let mut groups = vec![Edits::new()];
    for (key, value) in edits {
        let group = groups.last_mut().expect("it has one");
        group.insert(key.clone(), value.clone());
        if without_end(group) >= cut {
            groups.push(Edits::new());
        }
    }
    groups.iter().map(encoded).collect()
}

/// Makes a host with these rows. Its commits are the same in every host.
fn host_of(values: &Values) -> Host {
    let mut host = Host::new(SMALL);
    host.put_values(values);
    host
}

/// Moves a host to other rows, by the edits between them; returns its new tree.
fn moved(host: &mut Host, from: &Values, to: &Values) -> Tree {
    host.put_values(to.iter().filter(|(key, value)| from.get(*key) != Some(value)));
    let gone: Vec<_> = from.keys().filter(|key| !to.contains_key(*key)).cloned().collect();
    host.delete(&gone);
    host.tree()
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_delta_leads_from_any_store_to_any_other(
        a in store(),
        b in store(),
        wrong in store(),
        related in any::<bool>(),
        part in prop_oneof![Just(usize::MAX), 1_usize..300],
        slice in prop_oneof![Just(usize::MAX), 1_usize..2000],
        pace in prop::option::of(prop::collection::vec(any::<u8>(), 0..8)),
        spill in prop_oneof![Just(None), Just(Some(1)), Just(Some(20_000))],
    ) {
        let b: Values = if related { a.clone().into_iter().chain(b.into_iter().take(6)).skip(2).collect() } else { b };
        let mut steps = Steps::new();
        steps.begin((a.len(), b.len(), part, slice, &pace, spill));
        let mut host = host_of(&a);
        let old = host.tree();
        let new = moved(&mut host, &a, &b);
        host.reopen(1000);
        host.slice = slice;
        host.pace = pace.as_deref().map(Pace::new);
        let delta = made(&mut host, old, new, usize::MAX).expect("a delta without a limit");
        let expected = encoded(&edits(&a, &b));
        steps.same("the bytes of the edits", &delta, &expected)?;
        steps.same("with the limit of its length", &made(&mut host, old, new, delta.len()), &Some(expected))?;
        steps.same("with one byte less", &made(&mut host, old, new, delta.len() - 1), &None)?;

        for cut in [1, 90, 3000] {
            steps.same("cut", &made_cut(&mut host, old, new, cut), &cut_at(&edits(&a, &b), cut))?;
        }

        let mut receiver = host_of(&a);
        receiver.reopen(1000);
        receiver.slice = slice;
        receiver.pace = pace.as_deref().map(Pace::new);
        let mut ingest = receiver.ingest();
        if let Some(bytes) = spill {
            ingest.spill_at(bytes);
        }
        let count = take(&mut receiver, &mut ingest, &delta, part).expect("a good delta");
        steps.same("the number of edits", &(count as usize), &edits(&a, &b).len())?;
        receiver.finish(&mut ingest).expect("a commit");
        steps.same("the root before the commit is stored", &ingest.row_trees().1, &new)?;
        steps.same("the root of a fresh build", &receiver.root, &host_of(&b).root)?;

        // On another base its edits apply as well, and give another root.
        let mut other = host_of(&wrong);
        apply(&mut other, &delta, part).expect("a good delta");
        let mut rows = wrong.clone();
        for (key, value) in edits(&a, &b) {
            let key = String::from_utf8(key).expect("a key");
            match value {
                Some(value) => drop(rows.insert(key, value)),
                None => drop(rows.remove(&key)),
            }
        }
        steps.same("the root of another base", &other.root, &host_of(&rows).root)?;
        steps.same("only equal rows have the root", &(other.tree() == new), &(rows == b))?;
    }

    #[test]
    fn decoding_and_encoding_give_the_same_bytes(a in store(), b in store(), part in 1_usize..50) {
        let bytes = encoded(&edits(&a, &b));
        let mut decoder = Decoder::new();
        let mut found = Edits::new();
        for part in bytes.chunks(part).map(Some).chain([None]) {
            match part {
                Some(part) => decoder.room(part.len()).copy_from_slice(part),
                None => decoder.end(),
            }
            while let Next::Edit(key, edit) = decoder.read().expect("a good delta") {
                found.insert(key.to_vec(), match edit {
                    hedgerow::batch::Edit::Put(value) => Some((value.kind(), value.bytes().to_vec())),
                    _ => None,
                });
            }
        }
        prop_assert_eq!(encoded(&found), bytes);
    }
}

#[test]
fn values_of_every_length_are_carried_whole() {
    let all = values();
    for (a, b) in [(Values::new(), all.clone()), (all.clone(), Values::new())] {
        let mut host = host_of(&a);
        let old = host.tree();
        let new = moved(&mut host, &a, &b);
        let delta = made(&mut host, old, new, usize::MAX).expect("a delta");
        assert_eq!(delta, encoded(&edits(&a, &b)));
        let mut receiver = host_of(&a);
        apply(&mut receiver, &delta, 1000).expect("a good delta");
        assert_eq!(receiver.root, host_of(&b).root);
    }
}

#[test]
fn the_largest_value_fits_into_a_delta() {
    let rows = Values::from([("a".to_owned(), (Kind::Bytes, vec![1; MAX_VALUE_BYTES]))]);
    let mut host = host_of(&rows);
    let new = host.tree();
    let delta = made(&mut host, Tree::EMPTY, new, usize::MAX).expect("a delta");
    let mut receiver = Host::new(SMALL);
    apply(&mut receiver, &delta, 1 << 20).expect("a good delta");
    assert_eq!(receiver.tree(), new);
}

#[test]
fn equal_trees_have_a_delta_without_edits() {
    let mut host = Host::of(SMALL, &(0..100).map(issue).collect());
    let tree = host.tree();
    host.reopen(1000);
    let delta = made(&mut host, tree, tree, 7);
    assert_eq!(delta, Some(b"HDGD\x01\0\0".to_vec()));
    assert_eq!(host.asked.len(), 1, "only the top is read");
    let root = host.root;
    assert_eq!(apply(&mut host, &delta.expect("a delta"), 1), Ok(0));
    assert_eq!(host.root, root);
}

#[test]
fn the_nodes_that_two_trees_share_are_not_read() {
    let rows: Rows = (0..5000).map(issue).collect();
    let mut host = Host::of(SMALL, &rows);
    let old = host.tree();
    host.put(&[("issue/00002500".to_owned(), "1".to_owned())]);
    let new = host.tree();
    host.reopen(64 << 20);
    made(&mut host, old, new, usize::MAX).expect("a delta");
    let chunks = host.chunks().count();
    assert!(host.wanted.len() < 20 && chunks > 3000, "{} of {chunks}", host.wanted.len());
}

#[test]
fn indexes_follow_the_rows_of_a_delta() {
    let definition = Definition::parse(r#"["issue/","/owner"]"#).expect("a definition");
    let (a, b): (Rows, Rows) = ((0..300).map(issue).collect(), (150..450).map(issue).collect());
    let mut host = Host::indexed(SMALL, std::slice::from_ref(&definition), &a);
    let from = |rows: &Rows| -> Values {
        rows.iter()
            .map(|(key, text)| (key.clone(), (Kind::Json, text.clone().into_bytes())))
            .collect()
    };
    apply(&mut host, &encoded(&edits(&from(&a), &from(&b))), 1000).expect("a good delta");
    assert_eq!(host.root, Host::indexed(SMALL, &[definition], &b).root);
}

#[test]
fn of_several_deltas_in_one_change_the_later_wins() {
    let stores: Vec<Values> = (0..4_usize)
        .map(|nth| {
            (0..200)
                .filter(|at| at % 4 != nth)
                .map(|at| (issue(at).0, (Kind::Json, (at % (nth + 2)).to_string().into_bytes())))
                .collect()
        })
        .collect();
    for spill in [None, Some(1)] {
        let mut host = host_of(&stores[0]);
        host.slice = 500;
        let mut ingest = host.ingest();
        if let Some(bytes) = spill {
            ingest.spill_at(bytes);
        }
        for pair in stores.windows(2) {
            take(&mut host, &mut ingest, &encoded(&edits(&pair[0], &pair[1])), 100)
                .expect("a good delta");
        }
        host.finish(&mut ingest).expect("a commit");
        assert_eq!(host.root, host_of(&stores[3]).root);
    }
}

#[test]
fn a_delta_is_placed_onto_the_commit_of_another_writer() {
    let a: Values = values();
    let mut b = a.clone();
    b.insert("00/small".to_owned(), (Kind::Json, b"17".to_vec()));
    b.remove("03/json");
    let mut host = host_of(&a);
    let mut ingest = host.ingest();
    take(&mut host, &mut ingest, &encoded(&edits(&a, &b)), 100).expect("a good delta");
    ingest.finish();
    host.drive(&mut ingest).expect("a commit");
    // Another writer changes one of its keys, and another key.
    let theirs = Values::from([
        ("00/small".to_owned(), (Kind::Json, b"1".to_vec())),
        ("other".to_owned(), (Kind::Json, b"2".to_vec())),
    ]);
    host.put_values(&theirs);
    ingest.rebase(host.forest.clone(), Vec::new());
    host.finish(&mut ingest).expect("a commit");
    b.insert("other".to_owned(), (Kind::Json, b"2".to_vec()));
    assert_eq!(host.root, host_of(&b).root);
}

#[test]
fn damage_under_a_delta_is_the_error_of_the_chunk() {
    let mut host = Host::of(SMALL, &(0..100).map(issue).collect());
    let forest = host.forest.clone();
    host = Host::new(SMALL);
    host.forest = forest;
    let delta = encoded(&Edits::from([(b"issue/00000050".to_vec(), None)]));
    let failed = apply(&mut host, &delta, 100);
    assert!(matches!(failed, Err(DeltaError::Failed(Error::MissingChunk(_)))), "{failed:?}");
}

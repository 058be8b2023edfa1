//! The canonical form. A verification without faults means that this is the only tree of these rows. For
//! any other tree, it reports the parts that are not in canonical form.

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::error::{Error, Field};
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::limits::MAX_INLINE_VALUE_BYTES;
use hedgerow::tree::{Fault, Part, Range, Tally, Tree, Verify};
use hedgerow_support::host::Host;
use hedgerow_support::layout::{FAR, far, inner, leaf, piece};
use hedgerow_support::rows::{Rows, issue};
use proptest::prelude::*;
use std::ops::Bound;

const SMALL: Shape = Shape::with_target(128);

/// Sets the tree of rows of a host that has its chunks.
fn at(mut host: Host, tree: Tree) -> Host {
    let mut forest = Forest::new();
    forest.set_rows(tree);
    host.forest = forest;
    host
}

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

/// Records of `[key, count, hash]` of one level.
type Level = Vec<(Vec<u8>, u64, Hash)>;

/// Splits `len` items into runs; each of `cuts` is the length of the next run.
fn runs(len: usize, cuts: &mut impl Iterator<Item = usize>) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut from = 0;
    while from < len {
        let to = (from + cuts.next().expect("no end").max(1)).min(len);
        runs.push(from..to);
        from = to;
    }
    runs
}

/// Makes a tree of rows whose nodes end where `cuts` say.
fn split(rows: &Rows, cuts: &[usize]) -> Host {
    let mut host = Host::new(SMALL);
    let mut cuts = cuts.iter().copied().cycle();
    let rows: Vec<_> = rows.iter().collect();
    let mut level = Level::new();
    for run in runs(rows.len(), &mut cuts) {
        let records: Vec<_> =
            rows[run.clone()].iter().map(|row| (0, row.0.as_bytes(), row.1.as_bytes())).collect();
        let last = rows[run.end - 1].0.as_bytes().to_vec();
        level.push((last, run.len() as u64, host.store_chunk(&leaf(&records))));
    }
    for height in 1.. {
        if level.len() == 1 {
            break;
        }
        let mut above = Level::new();
        // At least two children, so that it ends.
        let mut cuts = cuts.by_ref().map(|cut| cut.max(2));
        for run in runs(level.len(), &mut cuts) {
            let mut count = 0;
            let children: Vec<_> = level[run.clone()]
                .iter()
                .map(|(key, rows, hash)| {
                    count += rows;
                    (&key[..], count, *hash)
                })
                .collect();
            let last = level[run.end - 1].0.clone();
            above.push((last, count, host.store_chunk(&inner(height, &children))));
        }
        level = above;
    }
    let (_, count, root) = level.pop().expect("a root");
    at(host, Tree { root, count })
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_tree_is_sound_only_if_it_is_the_one_that_its_rows_make(
        rows in prop::collection::btree_map("[a-c]{1,3}[0-9]{0,2}", Just("[1,2]".to_owned()), 1..40),
        cuts in prop::collection::vec(1_usize..6, 1..12),
    ) {
        let made = Host::of(SMALL, &rows);
        let mut other = split(&rows, &cuts);
        let (tally, faults) = verify(&mut other);
        prop_assert_eq!(faults.is_empty(), other.tree() == made.tree());
        // Its rows can be read even if its nodes are not in canonical form.
        prop_assert!(faults.iter().all(|fault| fault.part == Part::Form), "{:?}", faults);
        prop_assert_eq!(tally.rows, rows.len() as u64);
    }
}

#[test]
fn a_tree_of_one_shape_is_not_canonical_under_another() {
    let rows: Rows = (0..3000).map(issue).collect();
    let mut host = Host::of(Shape::STORED, &rows);
    assert_eq!(verify(&mut host).1, []);
    host.shape = Shape::with_target(1000);
    let (tally, faults) = verify(&mut host);
    assert_eq!(tally.rows, 3000);
    assert!(faults.iter().map(|fault| fault.rows).sum::<u64>() > 2500);
    for fault in &faults {
        let field = Field::Boundary;
        assert!(
            matches!(fault.error, Error::CorruptChunk { cause: Some(cause), .. } if cause.field == field)
        );
    }
}

#[test]
fn a_root_with_one_child_is_not_canonical() {
    let rows: Rows = (0..2).map(issue).collect();
    let mut host = Host::of(Shape::STORED, &rows);
    let tree = host.tree();
    let last = rows.keys().next_back().expect("a row").clone();
    let root = host.store_chunk(&inner(1, &[(last.as_bytes(), 2, tree.root)]));
    let mut host = at(host, Tree { root, count: 2 });
    let (tally, faults) = verify(&mut host);
    assert_eq!((tally.rows, tally.nodes), (2, 2));
    let range = Range { lower: Bound::Unbounded, upper: Bound::Included(last.into_bytes()) };
    let error = faults[0].error;
    assert_eq!(faults, [Fault { hash: root, part: Part::Form, error, range, rows: 2 }]);
}

/// Finds the faults of a tree of `a`, `b` and `c`, where `b` has this value, inline or out of line.
fn with_value(text: &[u8], is_far: bool) -> (u64, Vec<Fault>) {
    let mut host = Host::new(SMALL);
    let value = if is_far {
        far(text.len() as u32, &host.store_chunk(&piece(text)))
    } else {
        text.to_vec()
    };
    let tag = if is_far { FAR } else { 0 };
    let leaf = leaf(&[(0, b"a", b"1"), (tag, b"b", &value), (0, b"c", b"3")]);
    let root = host.store_chunk(&leaf);
    host.shape = Shape::STORED;
    let (tally, faults) = verify(&mut at(host, Tree { root, count: 3 }));
    (tally.rows, faults)
}

#[test]
fn a_value_that_is_not_in_normal_form_is_reported_and_not_lost() {
    let key = || Bound::Included(b"b".to_vec());
    for text in [
        "{\"a\": 1}",
        "1.0",
        "1E3",
        "-0",
        "-0.0",
        "0.1000000000000000055",
        "\"\\u0061\"",
        "\"\\/\"",
        "\"\\u001F\"",
        "\"\\uD800\"",
        "\"\\ud83d\\ude00\"",
        "{\"b\":1,\"1\":2}",
        "{\"10\":1,\"9\":2}",
        "{\"a\":1,\"a\":2}",
        "[{\"a\":[1,{\"b\":1.50}]}]",
    ] {
        let long = format!("[{},{text}]", "1,".repeat(MAX_INLINE_VALUE_BYTES / 2) + "1");
        for (text, is_far) in [(text, false), (&long, true)] {
            let (rows, faults) = with_value(text.as_bytes(), is_far);
            assert_eq!(rows, 3, "{text}");
            let [fault] = &faults[..] else { panic!("{text}: {faults:?}") };
            assert_eq!((fault.part, fault.rows), (Part::Form, 1), "{text}");
            assert_eq!(fault.range, Range { lower: key(), upper: key() });
        }
    }
}

#[test]
fn a_value_that_is_not_json_is_lost() {
    for text in ["", " 1", "1 ", "{", "[1,]", "nul", "\"\\x\"", "1 2", "+1", "01", "\"\n\""] {
        let long = format!("[{},{text}", "1,".repeat(MAX_INLINE_VALUE_BYTES / 2) + "1");
        for (text, is_far) in [(text, false), (&long, true)] {
            let (rows, faults) = with_value(text.as_bytes(), is_far);
            assert_eq!((rows, faults.len()), (2, 1), "{text}");
            assert_ne!(faults[0].part, Part::Form, "{text}");
        }
    }
    for text in [&b"\"\xff\""[..], b"\"\xed\xa0\x80\"", b"\"\xc3\""] {
        assert_eq!(with_value(text, false).0, 2, "{text:?}");
    }
}

#[test]
fn a_value_in_normal_form_has_no_fault() {
    for text in [
        "1",
        "-0.5",
        "1e+21",
        "1e-7",
        "\"\\u001f\\ud800\"",
        "{\"1\":1,\"10\":2,\"a\":3,\"A\":4}",
        "[[],{}]",
    ] {
        let long = format!("[{},{text}]", "1,".repeat(MAX_INLINE_VALUE_BYTES / 2) + "1");
        assert_eq!(with_value(text.as_bytes(), false), (3, vec![]), "{text}");
        assert_eq!(with_value(long.as_bytes(), true), (3, vec![]), "{text}");
    }
}

#[test]
fn a_short_value_out_of_line_is_refused() {
    let text = "1".repeat(MAX_INLINE_VALUE_BYTES);
    let (rows, faults) = with_value(text.as_bytes(), true);
    assert_eq!((rows, faults.len()), (0, 1));
    assert_eq!(faults[0].part, Part::Node(None));
}

//! Patches: with any operations, framed in any way, a store then has the rows of a plain model, and the root of a store
//! with these rows, written at once. If an operation is refused, the store is unchanged.

#[path = "patch/model.rs"]
mod model;

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::error::{Error, RowFault};
use hedgerow::ingest::{Format, Ingest};
use hedgerow::rows::{Bytes, Columns, Framing};
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::property::Steps;
use hedgerow_support::rows::{Rows, issue};
use model::{Members, Op, Row, is_moot, quote, step, text_of, unique};
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const SMALL: Shape = Shape::with_target(128);

/// The way to feed a patch to the core.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In blocks of this many operations.
    Blocks(usize),
    /// As lines, or as an array, in parts of this many bytes.
    Bytes(Framing, usize),
}

fn apply(host: &mut Host, ops: &[String], way: Way, spill: Option<usize>) -> Result<(), Error> {
    let mut ingest = match way {
        Way::Blocks(_) => host.ingest(),
        Way::Bytes(..) => {
            let bytes = Bytes::new(Columns::Patch, None, Vec::new());
            Ingest::of_bytes(host.forest.clone(), bytes, host.shape)
        }
    };
    if let Some(bytes) = spill {
        ingest.spill_at(bytes);
    }
    match way {
        Way::Blocks(block) => {
            for ops in ops.chunks(block) {
                host.feed(&mut ingest, &format!("[{}]", ops.join(",")), &Format::Patch)?;
            }
        }
        Way::Bytes(framing, part) => {
            let text = match framing {
                Framing::Lines => ops.join("\n"),
                Framing::Array => format!("[{}]", ops.join(",")),
            };
            for part in text.as_bytes().chunks(part) {
                ingest.bytes().expect("bytes").room(part.len()).copy_from_slice(part);
                host.drive(&mut ingest)?;
            }
            ingest.bytes().expect("bytes").end();
            host.drive(&mut ingest)?;
        }
    }
    host.finish(&mut ingest)
}

#[test]
fn the_vectors_hold() {
    let vectors = include_str!("../../vectors/patch/apply.json");
    let vectors: Value = serde_json::from_str(vectors).expect("vectors");
    let rows = |entries: &Value| -> BTreeMap<String, Value> {
        let entries = entries.as_array().expect("entries").iter();
        entries.map(|entry| (entry[0].as_str().expect("a key").into(), entry[1].clone())).collect()
    };
    let cases = vectors["apply"].as_array().expect("cases");
    assert_eq!(cases.len(), 27);
    for case in cases {
        let name = &case["name"];
        let ops: Vec<_> =
            case["patch"].as_array().expect("a patch").iter().map(Value::to_string).collect();
        for way in [
            Way::Blocks(1),
            Way::Blocks(100),
            Way::Bytes(Framing::Lines, 3),
            Way::Bytes(Framing::Array, 1000),
        ] {
            let initial = rows(&case["initial"]);
            let texts = initial.iter().map(|(key, value)| (key.clone(), value.to_string()));
            let mut host = Host::of(SMALL, &texts.collect());
            let result = apply(&mut host, &ops, way, None);
            assert_eq!(result.is_err(), case["error"] == true, "{name}, {way:?}: {result:?}");
            let expected = if result.is_ok() { rows(&case["expected"]) } else { initial };
            let parse = |text: String| serde_json::from_str::<Value>(&text).expect("JSON");
            let contents = host.contents().into_iter().map(|(key, text)| (key, parse(text)));
            assert_eq!(contents.collect::<BTreeMap<_, _>>(), expected, "{name}, {way:?}");
        }
    }
}

/// Draws a string as `JSON.stringify` prints it.
fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-d]{0,2}", "[a-c][0-9]{1,2}", Just("\u{ff5e}".into()), Just("😀".into())]
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "10", "2", "02", "__proto__", "é", "\"\\\n", "", "😀"])
        .prop_map(Into::into)
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0_u32..5).prop_map(|number| number.to_string()),
        1 => Just("[{\"a\":[]},null]".to_owned()),
        1 => (0_usize..2).prop_map(|kind| quote(&"x".repeat(3000 + 70_000 * kind))),
    ]
}

fn members() -> impl Strategy<Value = Members> {
    prop::collection::vec((name(), value()), 0..5)
}

fn row() -> impl Strategy<Value = Row> {
    prop_oneof![9 => members().prop_map(Row::Object), 1 => value().prop_map(Row::Text)]
}

fn op() -> impl Strategy<Value = Op> {
    let merge = prop::option::weighted(0.8, members());
    let names = || prop::option::weighted(0.3, prop::collection::vec(name(), 0..4));
    let update = (key(), merge, names(), names());
    prop_oneof![
        8 => (key(), row()).prop_map(|(key, row)| Op::Put(key, row)),
        4 => key().prop_map(Op::Del),
        8 => update.prop_map(|(key, merge, keep, drop)| Op::Update(key, merge, keep, drop)),
        1 => Just(Op::Clear),
    ]
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        (1_usize..20).prop_map(Way::Blocks),
        (1_usize..300).prop_map(|part| Way::Bytes(Framing::Lines, part)),
        (1_usize..300).prop_map(|part| Way::Bytes(Framing::Array, part)),
    ]
}

fn texts(rows: &BTreeMap<String, Row>) -> Rows {
    rows.iter().map(|(key, row)| (key.clone(), text_of(row))).collect()
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn a_patch_does_what_it_says(
        base in prop::collection::btree_map(key(), row(), 0..40),
        ops in prop::collection::vec(op(), 0..40),
        way in way(),
        slice in prop_oneof![Just(1_usize), Just(1000), Just(usize::MAX)],
        spill in prop::option::of(prop_oneof![Just(1_usize), Just(40_000)]),
        cold in any::<bool>(),
        pace in prop::option::weighted(0.3, prop::collection::vec(any::<u8>(), 1..30)),
    ) {
        let normal = matches!(way, Way::Blocks(_));
        let base: BTreeMap<_, _> = base.into_iter().map(|(key, row)| (key, unique(&row))).collect();
        let before = texts(&base);
        let mut host = Host::of(SMALL, &before);
        // All operations that fail, and whether one of them is not overridden by a later one.
        let (mut failing, mut fatal) = (BTreeSet::new(), false);
        let mut expected = base;
        for (at, op) in ops.iter().enumerate() {
            if !step(&mut expected, op) {
                failing.insert(at as u64);
                fatal |= !is_moot(&ops, at);
            }
        }
        if cold {
            host.reopen(1000);
        }
        host.slice = slice;
        host.pace = pace.map(|choices| Pace::new(&choices));
        let ops: Vec<_> = ops.iter().map(|op| op.text(normal)).collect();
        let mut steps = Steps::new();
        steps.begin((way, &ops));
        match apply(&mut host, &ops, way, spill) {
            Ok(()) => {
                prop_assert!(!fatal, "an update of what is no object");
                let rows = texts(&expected);
                steps.same_items("rows", host.contents(), rows.clone())?;
                steps.same("the root of a fresh build", &host.root, &Host::of(SMALL, &rows).root)?;
            }
            Err(Error::Row { row, fault, .. }) => {
                prop_assert!(fatal || spill.is_some(), "row {row} was refused, which a later one covers");
                prop_assert!(failing.contains(&row), "row {row} was refused, not one of {failing:?}");
                steps.same("why", &fault, &RowFault::NotObject)?;
                steps.same_items("rows of a refused patch", host.contents(), before)?;
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn malformed_operations_are_refused_with_their_offsets() {
    use RowFault::{
        ClearBounded, IndexEntry, KeyMissing, KeyNotString, KeyTooLong, MergeNotObject,
        NoOperation, NotNames, NotObject, NumberTooLarge, Syntax, TooDeep, UpdateTwice,
        ValueMissing,
    };
    let long = format!(r#"{{"op":"del","key":"{}"}}"#, "k".repeat(1025));
    let deep = format!(r#"{{"op":"put","key":"a","value":{}"#, "[".repeat(600));
    for (text, offset, fault) in [
        ("1", 0, NoOperation),
        ("\"put\"", 0, NoOperation),
        ("[]", 0, NoOperation),
        ("{}", 0, NoOperation),
        (r#"{"op":"PUT","key":"a","value":1}"#, 6, NoOperation),
        (r#"{"op":1}"#, 6, NoOperation),
        (r#"{"op":"put","op":"test","key":"a","value":1}"#, 17, NoOperation),
        (r#"{"op":"put","key":"a"}"#, 0, ValueMissing),
        (r#"{"op":"put","key":"a","newValue":1}"#, 0, ValueMissing),
        (r#"{"op":"add","key":"a","value":1}"#, 0, ValueMissing),
        (r#"{"op":"change","key":"a","oldValue":1}"#, 0, ValueMissing),
        (r#"{"op":"insert","key":"a","value":1}"#, 0, ValueMissing),
        (r#"{"op":"update","key":"list","oldValue":1}"#, 0, ValueMissing),
        (r#"{"op":"change","newValue":1}"#, 0, KeyMissing),
        (r#"{"op":"update","newValue":1}"#, 0, KeyMissing),
        (r#"{"op":"update","key":"a","newValue":1,"merge":{}}"#, 36, UpdateTwice),
        (r#"{"op":"update","unset":["b"],"key":"a","newValue":{}}"#, 50, UpdateTwice),
        (r#"{"op":"update","key":"a","newValue":{},"constrain":[]}"#, 36, UpdateTwice),
        (r#"{"op":"add","key":"a","newValue":[-1e400]}"#, 34, NumberTooLarge),
        (r#"{"op":"add","key":"a","newValue":1,"secondary":2}"#, 47, IndexEntry),
        (r#"{"op":"change","secondary":2,"key":"a","newValue":1}"#, 27, IndexEntry),
        (r#"{"op":"del","key":"a","oldValue":1,"secondary":[2]}"#, 47, IndexEntry),
        (r#"{"op":"delete","key":"a","oldValue":1,"secondary":[2]}"#, 50, IndexEntry),
        (r#"{"op":"insert","key":"a","newValue":1,"secondary":2}"#, 50, IndexEntry),
        (r#"{"op":"update","secondary":2,"key":"a","newValue":1}"#, 27, IndexEntry),
        (r#"{"op":"put","value":1}"#, 0, KeyMissing),
        (r#"{"op":"del"}"#, 0, KeyMissing),
        (r#"{"op":"update","merge":{}}"#, 0, KeyMissing),
        (r#"{"op":"del","key":1}"#, 18, KeyNotString),
        (&long, 18, KeyTooLong),
        (&deep, 542, TooDeep),
        (r#"{"op":"update","key":"a","merge":[]}"#, 33, MergeNotObject),
        (r#"{"op":"update","key":"a","merge":null}"#, 33, MergeNotObject),
        (r#"{"op":"update","key":"a","constrain":{}}"#, 37, NotNames),
        (r#"{"op":"update","key":"a","constrain":["a",1]}"#, 42, NotNames),
        (r#"{"op":"update","key":"a","unset":"b"}"#, 33, NotNames),
        (r#"{"op":"update","key":"a","constrain":[],"unset":[null]}"#, 49, NotNames),
        (r#"{"op":"update","key":"text","merge":{}}"#, 0, NotObject),
        (r#"{"op":"update","key":"list"}"#, 0, NotObject),
        (r#"{"op":"put","key":"a","value":[-1e400]}"#, 31, NumberTooLarge),
        (r#"{"op":"update","key":"a","merge":{"b":1e400}}"#, 38, NumberTooLarge),
        (r#"{"op":"del","key":"a",}"#, 22, Syntax),
        (r#"{"op":"del" "key":"a"}"#, 12, Syntax),
        (r#"{"op":"clear","key":"a"}"#, 20, ClearBounded),
        (r#"{"prefix":"a","op":"clear"}"#, 10, ClearBounded),
        (r#"{"op":"clear","lt":1,"gte":"a"}"#, 19, ClearBounded),
        (r#"{"op":"clear"} 1"#, 15, Syntax),
        (r#"{"op":"clear""#, 13, Syntax),
    ] {
        let first = r#"{"op":"put","key":"new","value":1}"#.to_owned();
        let start = first.len() as u64 + 1;
        let rows: Rows = [("text", "\"a\""), ("list", "[]")]
            .map(|(key, value)| (key.into(), value.into()))
            .into();
        for part in [1, 7, 1000] {
            let mut host = Host::of(SMALL, &rows);
            let ops = [first.clone(), text.to_owned()];
            let result = apply(&mut host, &ops, Way::Bytes(Framing::Lines, part), None);
            let expected = Error::Row { row: 1, offset: start + offset, fault };
            assert_eq!(result, Err(expected), "{text} in parts of {part}");
            assert_eq!(host.contents(), rows);
        }
    }
}

#[test]
fn changes_put_their_new_value_with_any_other_members() {
    let rows: Rows =
        [("a", "1"), ("b", "2"), ("c", "3")].map(|(key, value)| (key.into(), value.into())).into();
    let ops = [
        r#"{"op":"insert","key":"d","newValue":{"n":1},"value":{"no":1e0}}"#,
        r#"{"value":{"no":2},"newValue":{"n":1.50},"op":"upd\u0061te","key":"a","oldValue":1}"#,
        r#"{"op":"put","key":"e","value":{"n":20e-1},"newValue":{"no":3},"secondary":4}"#,
        r#"{"op":"delete","key":"b","secondary":1}"#,
        r#"{"op":"del","key":"c","oldValue":[1,{"n":2}]}"#,
        // Former names.
        r#"{"op":"add","key":"f","newValue":4}"#,
        r#"{"op":"change","key":"f","newValue":5}"#,
    ]
    .map(String::from);
    let expected: Rows =
        [("a", r#"{"n":1.5}"#), ("d", r#"{"n":1}"#), ("e", r#"{"n":2}"#), ("f", "5")]
            .map(|(key, value)| (key.into(), value.into()))
            .into();
    for framing in [Framing::Lines, Framing::Array] {
        for part in [1, 5, 1000] {
            let mut host = Host::of(SMALL, &rows);
            apply(&mut host, &ops, Way::Bytes(framing, part), None).expect("a patch");
            assert_eq!(host.contents(), expected, "{framing:?} in parts of {part}");
        }
    }
}

/// A patch of ten thousand operations on a hundred thousand rows, of all kinds.
#[test]
fn the_cost_does_not_depend_on_the_order_of_operations() {
    let rows: Vec<_> = (0..30_000).map(issue).collect();
    let mut ops = Vec::new();
    for at in (0..30_000).step_by(10) {
        let key = quote(&rows[at].0);
        ops.push(format!(r#"{{"op":"put","key":{key},"value":{at}}}"#));
        ops.push(format!(
            r#"{{"op":"update","key":{},"merge":{{"n":1}}}}"#,
            quote(&rows[at + 1].0)
        ));
        ops.push(format!(r#"{{"op":"del","key":{}}}"#, quote(&rows[at + 2].0)));
    }
    let mut chunks = Vec::new();
    let mut roots = BTreeSet::new();
    for order in 0..3 {
        let mut host = Host::new(Shape::STORED);
        host.put_blocks(&rows, 10_000);
        match order {
            0 => {}
            1 => ops.reverse(),
            _ => ops.insert(0, r#"{"op":"del","key":"none"}"#.into()),
        }
        let mut ingest = host.ingest();
        for ops in ops.chunks(1000) {
            host.feed(&mut ingest, &format!("[{}]", ops.join(",")), &Format::Patch).unwrap();
        }
        host.finish(&mut ingest).unwrap();
        chunks.push(ingest.chunks());
        roots.insert(host.root.0);
        let updated: Map<String, Value> =
            serde_json::from_str(&host.get(&rows[21].0).expect("a row")).expect("an object");
        assert_eq!((updated.len(), &updated["n"]), (6, &Value::from(1)));
    }
    // One merge each: every node above an edit is made once.
    assert_eq!((roots.len(), chunks[0] == chunks[1], chunks[1] == chunks[2]), (1, true, true));
}

#[test]
fn a_clear_deletes_rows_that_others_have_added_meanwhile() {
    let rows = |keys: &[&str]| -> Vec<(String, String)> {
        keys.iter().map(|key| ((*key).into(), "{}".into())).collect()
    };
    let commit = |ops: &str, theirs: &[&str]| {
        let mut host = Host::new(SMALL);
        host.put(&rows(&["a", "b", "c"]));
        let mut ingest = host.ingest();
        host.feed(&mut ingest, ops, &Format::Patch).unwrap();
        ingest.finish();
        host.drive(&mut ingest).unwrap();
        host.put(&rows(theirs));
        ingest.rebase(host.forest.clone(), Vec::new());
        host.drive(&mut ingest).unwrap();
        ingest.committed().expect("a commit").0
    };
    let cleared =
        commit(r#"[{"op":"del","key":"b"},{"op":"clear"},{"op":"update","key":"x"}]"#, &["d", "e"]);
    assert_eq!(cleared, Host::of(SMALL, &rows(&["x"]).into_iter().collect()).root);
    let updated = commit(r#"[{"op":"update","key":"b","merge":{}}]"#, &["d"]);
    assert_eq!(updated, Host::of(SMALL, &rows(&["a", "b", "c", "d"]).into_iter().collect()).root);
}

//! The vectors of `vectors/remote/delta.json`: deltas as hexadecimal, with their edits or their fault, and
//! the roots before and after.

use hedgerow::boundary::Shape;
use hedgerow::delta::DeltaError;
use hedgerow::hash::Hash;
use hedgerow::value::Kind;
use hedgerow_support::deltas::{Edits, apply, encoded, made};
use hedgerow_support::host::Host;
use hedgerow_support::output::Value;
use hedgerow_support::values::Values;
use serde_json::Value as Json;

fn unhex(text: &Json) -> Vec<u8> {
    let text = text.as_str().expect("hexadecimal digits");
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("two digits"))
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Returns a value: its text in `json`, or its bytes in `bytes`.
fn value(cell: &Json) -> Option<Value> {
    match (cell.get("json"), cell.get("bytes")) {
        (Some(text), None) => Some((Kind::Json, text.as_str().expect("a text").into())),
        (None, Some(bytes)) => Some((Kind::Bytes, unhex(bytes))),
        _ => None,
    }
}

fn rows(list: &Json) -> Values {
    let rows = list.as_array().expect("rows").iter();
    rows.map(|row| (row["key"].as_str().expect("a key").into(), value(row).expect("a value")))
        .collect()
}

fn edits(list: &Json) -> Edits {
    let edits = list.as_array().expect("edits").iter();
    edits.map(|edit| (edit["key"].as_str().expect("a key").into(), value(edit))).collect()
}

fn host_of(rows: &Values) -> Host {
    let mut host = Host::new(Shape::STORED);
    host.put_values(rows);
    host
}

#[test]
fn the_vectors_hold() {
    let vectors = include_str!("../../../vectors/remote/delta.json");
    let vectors: Json = serde_json::from_str(vectors).expect("vectors");
    let cases = vectors["deltas"].as_array().expect("cases");
    assert_eq!(cases.len(), 8);
    for case in cases {
        let name = &case["name"];
        let before = rows(&vectors["stores"][case["before"].as_str().expect("a store")]);
        let mut after = before.clone();
        for (key, value) in edits(&case["edits"]) {
            let key = String::from_utf8(key).expect("a key");
            match value {
                Some(value) => drop(after.insert(key, value)),
                None => drop(after.remove(&key)),
            }
        }
        let delta = unhex(&case["delta"]);
        assert_eq!(hex(&encoded(&edits(&case["edits"]))), hex(&delta), "{name}");
        let mut host = host_of(&before);
        let new = host_of(&after);
        let root = |Hash(bytes): Hash| Json::String(hex(&bytes));
        assert_eq!(root(host.tree().root), case["rootBefore"], "{name}");
        assert_eq!(root(new.tree().root), case["rootAfter"], "{name}");
        let old = host.tree();
        apply(&mut host, &delta, 10).expect("a good delta");
        assert_eq!(host.tree(), new.tree(), "{name}");
        let again = made(&mut host, old, new.tree(), usize::MAX).expect("a delta");
        assert_eq!(hex(&again), hex(&delta), "{name}");
    }
    let refused = vectors["refused"].as_array().expect("cases");
    assert_eq!(refused.len(), 12);
    for case in refused {
        let mut host = host_of(&rows(&vectors["stores"]["issues"]));
        let Err(DeltaError::Malformed(fault)) = apply(&mut host, &unhex(&case["delta"]), 3) else {
            panic!("{} is not refused", case["name"]);
        };
        assert_eq!(Json::from(fault.offset), case["offset"], "{}", case["name"]);
        assert_eq!(Json::from(format!("{:?}", fault.field)), case["field"], "{}", case["name"]);
    }
}

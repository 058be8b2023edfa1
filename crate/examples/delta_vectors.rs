//! Prints the vectors of deltas, `vectors/remote/delta.json`. An encoder independent of the core's makes the
//! bytes; only the roots are of the core.
//!
//! ```sh
//! cargo run --release -p hedgerow --example delta_vectors > vectors/remote/delta.json
//! ```

use hedgerow::boundary::Shape;
use hedgerow::delta::{Decoder, Next};
use hedgerow::value::Kind;
use hedgerow_support::deltas::{Edits, HEADER, edit, encoded, varint};
use hedgerow_support::host::Host;
use hedgerow_support::output::Value;
use hedgerow_support::rows::issue;
use hedgerow_support::values::Values;
use serde_json::{Value as Json, json};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn cell(key: &[u8], value: Option<&Value>) -> Json {
    let key = String::from_utf8(key.to_vec()).expect("a key");
    match value {
        None => json!({ "key": key }),
        Some((Kind::Json, text)) => {
            json!({ "key": key, "json": String::from_utf8(text.clone()).expect("a text") })
        }
        Some((Kind::Bytes, bytes)) => json!({ "key": key, "bytes": hex(bytes) }),
    }
}

fn rows(rows: &Values) -> Vec<Json> {
    rows.iter().map(|(key, value)| cell(key.as_bytes(), Some(value))).collect()
}

fn root(rows: &Values) -> String {
    let mut host = Host::new(Shape::STORED);
    host.put_values(rows);
    hex(&host.tree().root.0)
}

fn case(name: &str, (store, before): (&str, &Values), edits: &[(&str, Option<Value>)]) -> Json {
    let mut after = before.clone();
    for (key, value) in edits {
        match value {
            Some(value) => drop(after.insert((*key).to_owned(), value.clone())),
            None => drop(after.remove(*key)),
        }
    }
    let edits: Edits =
        edits.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.clone())).collect();
    json!({
        "name": name,
        "before": store,
        "rootBefore": root(before),
        "edits": edits.iter().map(|(key, value)| cell(key, value.as_ref())).collect::<Vec<_>>(),
        "delta": hex(&encoded(&edits)),
        "rootAfter": root(&after),
    })
}

fn refused(name: &str, parts: &[&[u8]]) -> Json {
    let bytes = parts.concat();
    let mut decoder = Decoder::new();
    decoder.room(bytes.len()).copy_from_slice(&bytes);
    decoder.end();
    let fault = loop {
        match decoder.read() {
            Ok(Next::Edit(..)) => {}
            Ok(other) => panic!("{name}: {other:?}"),
            Err(fault) => break fault,
        }
    };
    let field = format!("{:?}", fault.field);
    json!({ "name": name, "delta": hex(&bytes), "field": field, "offset": fault.offset })
}

fn main() {
    let text = |text: &str| Some((Kind::Json, text.as_bytes().to_vec()));
    let bytes = |bytes: &[u8]| Some((Kind::Bytes, bytes.to_vec()));
    let some: Values = (0..40)
        .map(|at| issue(at * 25))
        .map(|(key, value)| (key, (Kind::Json, value.into_bytes())))
        .collect();
    let empty = Values::new();
    let single = Values::from([("a".to_owned(), (Kind::Json, b"1".to_vec()))]);
    let (issues, none, one_row) = (("issues", &some), ("none", &empty), ("one row", &single));
    let long = format!("\"{}\"", "long ".repeat(820));
    let deltas = [
        case("one row is changed", issues, &[("issue/00000125", text("{\"id\":1}"))]),
        case("no row is changed", issues, &[]),
        case("the first rows of a store", none, &[("a", text("1")), ("b", bytes(&[0, 255]))]),
        case("the last row of a store", one_row, &[("a", None)]),
        case(
            "keys that are prefixes, and not of ASCII",
            none,
            &[
                ("", text("null")),
                ("a", text("[]")),
                ("aa", text("\"\u{e9}\"")),
                ("é", text("{}")),
                ("\u{ff5e}", text("1")),
                ("😀", bytes(&[])),
            ],
        ),
        case(
            "deletes, puts and a kind that changes",
            issues,
            &[
                ("issue/00000000", None),
                ("issue/00000001", text("1")),
                ("issue/00000025", bytes(b"1")),
                ("issue/00000975", None),
            ],
        ),
        case("a value out of line", issues, &[("issue/00000050", text(&long))]),
        case(
            "all rows are deleted",
            issues,
            &some.keys().map(|key| (key.as_str(), None)).collect::<Vec<_>>(),
        ),
    ];
    let one = |bytes: &[u8]| [&HEADER[..], bytes, &[0, 1]].concat();
    let good = one(&edit(b"", b"a", text("1").as_ref()));
    let refused = [
        refused("no bytes", &[]),
        refused("another magic", &[b"HDGT\x01\0\0"]),
        refused("version 2", &[b"HDGD\x02\0\0"]),
        refused("no end", &[&good[..good.len() - 2]]),
        refused("a byte after the end", &[&good, b"x"]),
        refused("another count", &[&good[..good.len() - 1], &[2]]),
        refused("an equal key", &[&HEADER, &[7, 0, b'a', 3, 1], &[0, 2]]),
        refused("a lower key", &[&HEADER, &[7, 0, b'b', 7, 0, b'a'], &[0, 2]]),
        refused(
            "a key that shares less than it could",
            &[&HEADER, &[7, 0, b'a', 11, 0, b'a', b'b'], &[0, 2]],
        ),
        refused("a key that is not UTF-8", &[&one(&[7, 0, 0xff])]),
        refused(
            "a value that is not in normal form",
            &[&one(&edit(b"", b"a", text("[1, 2]").as_ref()))],
        ),
        refused(
            "a length in more bytes than needed",
            &[&HEADER, &[0x87, 0, 0, b'a', 0], &varint(1)],
        ),
    ];
    let stores = json!({ "none": [], "one row": rows(&single), "issues": rows(&some) });
    let vectors = json!({ "stores": stores, "deltas": deltas, "refused": refused });
    println!("{}", serde_json::to_string_pretty(&vectors).expect("JSON"));
}

//! Arbitrary bytes as a patch, cut at arbitrary places, on top of a few rows. Either the rows equal
//! an independent reading and a plain model, or the patch is refused and no row changes.

use crate::input::Input;
use crate::json::{Refusal, Value, parse};
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::ingest::Ingest;
use hedgerow::limits::MAX_KEY_BYTES;
use hedgerow::rows::{Bytes, Columns, Framing};
use hedgerow_support::host::Host;
use hedgerow_support::rows::Rows;
use std::collections::{BTreeMap, BTreeSet};

const ROWS: [(&str, &str); 4] =
    [("a", r#"{"1":1,"x":{"y":2},"b":"\n"}"#), ("b", "\"b\""), ("c", "[]"), ("é", "{}")];

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let framing = input.one_of(&[Framing::Lines, Framing::Array]);
    let spill = input.one_of(&[None, Some(1)]);
    let part = 1 + usize::from(input.byte() % 32);
    let text = input.rest();
    let rows: Rows = ROWS.map(|(key, value)| (key.into(), value.into())).into();
    let mut host = Host::of(Shape::with_target(128), &rows);
    let before = host.contents();
    let whole = apply(&mut host, text, framing, [text], None);
    let contents = host.contents();
    assert!(whole.is_ok() || contents == before);
    let mut other = Host::of(Shape::with_target(128), &rows);
    let parts = apply(&mut other, text, framing, text.chunks(part), spill);
    // A later operation can override a bad update, but not if gathered rows are merged in between.
    if parts != whole {
        assert!(spill.is_some() && matches!(parts, Err(Error::Row { .. })), "{whole:?} {parts:?}");
    } else if whole.is_ok() {
        assert_eq!(other.root, host.root);
    }
    match model(text, framing) {
        Ok(Some(rows)) => {
            assert_eq!(whole, Ok(()));
            let print = |value: Value| {
                let mut text = String::new();
                value.print(&mut text);
                text
            };
            let rows: Rows = rows.into_iter().map(|(key, value)| (key, print(value))).collect();
            assert_eq!(contents, rows);
        }
        Ok(None) => assert!(matches!(whole, Err(Error::Row { .. })), "{whole:?}"),
        Err(_) => {}
    }
}

fn apply<'a>(
    host: &mut Host,
    text: &[u8],
    framing: Framing,
    parts: impl IntoIterator<Item = &'a [u8]>,
    spill: Option<usize>,
) -> Result<(), Error> {
    let bytes = Bytes::new(Columns::Patch, Some(framing), Vec::new());
    let mut ingest = Ingest::of_bytes(host.forest.clone(), bytes, host.shape);
    spill.into_iter().for_each(|bytes| ingest.spill_at(bytes));
    host.slice = text.len().max(1);
    for part in parts {
        ingest.bytes().expect("bytes").room(part.len()).copy_from_slice(part);
        host.drive(&mut ingest)?;
    }
    ingest.bytes().expect("bytes").end();
    host.drive(&mut ingest)?;
    host.finish(&mut ingest)
}

type Model = BTreeMap<String, Value>;

/// Returns the rows after the patch; `None` if it must be refused. An error if the model cannot decide.
fn model(text: &[u8], framing: Framing) -> Result<Option<Model>, Refusal> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let is_space = |byte: &u8| b" \t\r\n".contains(byte);
    let ops = match framing {
        Framing::Lines => text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.iter().all(is_space))
            .map(parse)
            .collect::<Result<Vec<_>, _>>(),
        // An empty text is an empty patch.
        Framing::Array if text.iter().all(is_space) => Ok(Vec::new()),
        Framing::Array => parse(text).and_then(|value| match value {
            Value::Array(ops) => Ok(ops),
            _ => Err(Refusal::Malformed),
        }),
    };
    let ops = match ops {
        Ok(ops) => ops,
        Err(Refusal::Malformed) => return Ok(None),
        Err(Refusal::Beyond) => return Err(Refusal::Beyond),
    };
    let base = |(key, text): (&str, &str)| (key.to_owned(), parse(text.as_bytes()).expect("JSON"));
    let mut rows: Model = ROWS.map(base).into();
    // Keys whose last update was of a value that is not an object.
    let mut bad = BTreeSet::new();
    for op in &ops {
        if step(&mut rows, &mut bad, op).is_none() {
            return Ok(None);
        }
    }
    Ok(bad.is_empty().then_some(rows))
}

/// Applies one operation; returns `None` if it is malformed.
fn step(rows: &mut Model, bad: &mut BTreeSet<String>, op: &Value) -> Option<()> {
    let Value::Object(_) = op else { return None };
    let text = |name: &str| match op.at(&[name])? {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let word = text("op")?;
    if word == "clear" {
        rows.clear();
        bad.clear();
        return Some(());
    }
    let is_of_index = op.at(&["secondary"]).is_some();
    let key = text("key").filter(|key| key.len() <= MAX_KEY_BYTES)?;
    match &word[..] {
        "put" => {
            rows.insert(key.clone(), op.at(&["value"])?.clone());
            bad.remove(&key);
        }
        "update" if op.at(&["newValue"]).is_some() => {
            let merges = ["merge", "constrain", "unset"].iter().any(|name| op.at(&[name]).is_some());
            if merges || is_of_index {
                return None;
            }
            rows.insert(key.clone(), op.at(&["newValue"])?.clone());
            bad.remove(&key);
        }
        "insert" | "add" | "change" if !is_of_index => {
            rows.insert(key.clone(), op.at(&["newValue"])?.clone());
            bad.remove(&key);
        }
        "delete" | "del" if is_of_index && op.at(&["oldValue"]).is_some() => return None,
        "delete" | "del" => {
            rows.remove(&key);
            bad.remove(&key);
        }
        "update" => {
            let merge = match op.at(&["merge"]) {
                None => &Vec::new(),
                Some(Value::Object(members)) => members,
                Some(_) => return None,
            };
            let [mut names, mut unset] = [const { Vec::new() }; 2];
            for (word, names) in [("constrain", &mut names), ("unset", &mut unset)] {
                match op.at(&[word]) {
                    None => {}
                    Some(Value::Array(values)) => {
                        for value in values {
                            let Value::Text(name) = value else { return None };
                            names.push(name.clone());
                        }
                    }
                    Some(_) => return None,
                }
            }
            let row = rows.entry(key.clone()).or_insert_with(|| Value::Object(Vec::new()));
            let Value::Object(members) = row else {
                bad.insert(key);
                return Some(());
            };
            for (name, value) in merge {
                match members.iter_mut().find(|(other, _)| other == name) {
                    Some((_, old)) => *old = value.clone(),
                    None => members.push((name.clone(), value.clone())),
                }
            }
            members.retain(|(name, _)| names.is_empty() || names.contains(name));
            members.retain(|(name, _)| !unset.contains(name));
            let index = |name: &str| {
                name.parse::<u32>().ok().filter(|at| *at < u32::MAX && at.to_string() == name)
            };
            members.sort_by_key(|(name, _)| index(name).map_or(u64::MAX, u64::from));
        }
        _ => return None,
    }
    Some(())
}

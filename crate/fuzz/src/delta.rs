//! Arbitrary bytes as a delta, cut at arbitrary places, on top of a few rows. Either they are refused and no
//! row changes, or they are the one encoding of their edits and the rows equal a plain model.

use crate::input::Input;
use crate::json::parse;
use hedgerow::batch::Edit;
use hedgerow::boundary::Shape;
use hedgerow::delta::{Decoder, DeltaError, Next};
use hedgerow::error::DecodeError;
use hedgerow::value::Kind;
use hedgerow_support::deltas::{Edits, HEADER, encoded, made, take};
use hedgerow_support::host::Host;
use hedgerow_support::output::Value;
use hedgerow_support::values::Values;

const SMALL: Shape = Shape::with_target(128);

fn rows() -> Values {
    let texts = [("", "null"), ("a", "{\"b\":1}"), ("a/1", "[]"), ("b", "\"b\""), ("é", "1")];
    let mut rows: Values =
        texts.map(|(key, text)| (key.to_owned(), (Kind::Json, text.as_bytes().to_vec()))).into();
    rows.extend((0..40).map(|at| (format!("k{at}"), (Kind::Bytes, vec![at; at.into()]))));
    rows.insert("long".to_owned(), (Kind::Bytes, vec![1; 5000]));
    rows
}

fn host() -> Host {
    let mut host = Host::new(SMALL);
    host.put_values(&rows());
    host
}

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let part = 1 + usize::from(input.byte() % 32);
    let spill = input.one_of(&[None, Some(1)]);
    let header = input.one_of(&[&HEADER[..], &[]]);
    let delta = [header, input.rest()].concat();
    let whole = read(&delta, usize::MAX);
    assert_eq!(read(&delta, part), whole, "the parts make no difference");
    let mut host = host();
    let (root, old) = (host.root, host.tree());
    let mut ingest = host.ingest();
    spill.into_iter().for_each(|bytes| ingest.spill_at(bytes));
    host.slice = 1 + 8 * part;
    let taken = take(&mut host, &mut ingest, &delta, part);
    let edits = match whole {
        Ok(edits) => edits,
        Err(fault) => {
            assert_eq!(taken, Err(DeltaError::Malformed(fault)));
            assert_eq!(host.root, root);
            return;
        }
    };
    assert_eq!(taken, Ok(edits.len() as u32));
    assert_eq!(encoded(&edits), delta, "one encoding for one set of edits");
    host.finish(&mut ingest).expect("a commit");
    let mut expected = rows();
    for (key, value) in &edits {
        let key = String::from_utf8(key.clone()).expect("a key is text");
        match value {
            Some(value) => drop(expected.insert(key, value.clone())),
            None => drop(expected.remove(&key)),
        }
    }
    let mut fresh = Host::new(SMALL);
    fresh.put_values(&expected);
    assert_eq!(host.root, fresh.root);
    // The delta of the two trees has every edit that changes a row, and no other.
    let before = rows();
    let mut least = edits;
    least.retain(|key, value| before.get(&*String::from_utf8_lossy(key)) != value.as_ref());
    let new = host.tree();
    assert_eq!(made(&mut host, old, new, usize::MAX), Some(encoded(&least)));
}

/// Reads the edits of a delta, in parts of `part` bytes.
fn read(delta: &[u8], part: usize) -> Result<Edits, DecodeError> {
    let mut decoder = Decoder::new();
    let mut edits = Edits::new();
    for part in delta.chunks(part).map(Some).chain([None]) {
        match part {
            Some(part) => decoder.room(part.len()).copy_from_slice(part),
            None => decoder.end(),
        }
        while let Next::Edit(key, edit) = decoder.read()? {
            let value = value_of(edit);
            assert!(edits.last_key_value().is_none_or(|(last, _)| last[..] < *key));
            edits.insert(key.to_vec(), value);
        }
    }
    Ok(edits)
}

fn value_of(edit: Edit<'_>) -> Option<Value> {
    match edit {
        Edit::Put(value) => {
            if value.kind() == Kind::Json {
                assert!(parse(value.bytes()).is_ok(), "a value that is no JSON");
            }
            Some((value.kind(), value.bytes().to_vec()))
        }
        _ => None,
    }
}

//! Deltas: made and applied by a host, and an encoder of them that is independent of the core's.

use crate::host::Host;
use crate::output::Value;
use hedgerow::delta::{ApplyDelta, DeltaError, Made, MakeDelta};
use hedgerow::ingest::Ingest;
use hedgerow::step::Step;
use hedgerow::tree::Tree;
use hedgerow::value::Kind;
use std::collections::BTreeMap;

/// Edits by their keys: a value, or `None` for a delete.
pub type Edits = BTreeMap<Vec<u8>, Option<Value>>;

/// The first bytes of a delta.
pub const HEADER: [u8; 5] = *b"HDGD\x01";

/// Encodes a number with seven bits a byte.
pub fn varint(number: usize) -> Vec<u8> {
    let low = (number % 128) as u8;
    if number < 128 { vec![low] } else { [vec![low + 128], varint(number / 128)].concat() }
}

/// Encodes one edit, after the key `before`.
pub fn edit(before: &[u8], key: &[u8], value: Option<&Value>) -> Vec<u8> {
    let mut shared = 0;
    while shared < before.len() && shared < key.len() && before[shared] == key[shared] {
        shared += 1;
    }
    let (code, tail) = match value {
        None => (3, Vec::new()),
        Some((kind, bytes)) => {
            let code = if *kind == Kind::Json { 1 } else { 2 };
            (code, [varint(bytes.len()), bytes.clone()].concat())
        }
    };
    let rest = &key[shared..];
    [varint(4 * rest.len() + code), varint(shared), rest.to_vec(), tail].concat()
}

/// Encodes the delta of these edits.
pub fn encoded(edits: &Edits) -> Vec<u8> {
    let mut bytes = HEADER.to_vec();
    let mut before: &[u8] = &[];
    for (key, value) in edits {
        bytes.extend(edit(before, key, value.as_ref()));
        before = key;
    }
    bytes.push(0);
    bytes.extend(varint(edits.len()));
    bytes
}

/// Makes the delta between two trees of a host, of at most `max_bytes`; returns `None` if it is longer.
pub fn made(host: &mut Host, old: Tree, new: Tree, max_bytes: usize) -> Option<Vec<u8>> {
    let mut make = MakeDelta::new(old, new, usize::MAX, max_bytes);
    let mut bytes = Vec::new();
    let result = host.run(|cache, budget| {
        let step = make.step(cache, budget);
        let encoder = make.encoder();
        bytes.extend_from_slice(encoder.out());
        encoder.take();
        assert_eq!(encoder.len(), bytes.len());
        step
    });
    match result.expect("sound trees") {
        Made::Whole => Some(bytes),
        Made::TooLong => None,
    }
}

/// Makes the deltas between two trees of a host, each of which ends with the edit by which it has `cut` bytes.
pub fn made_cut(host: &mut Host, old: Tree, new: Tree, cut: usize) -> Vec<Vec<u8>> {
    let mut make = MakeDelta::new(old, new, cut, usize::MAX);
    let mut all = vec![Vec::new()];
    let result = host.steps(|cache, budget| {
        let step = make.step(cache, budget);
        let encoder = make.encoder();
        all.last_mut().expect("it has one").extend_from_slice(encoder.out());
        encoder.take();
        if make.has_ended() {
            all.push(Vec::new());
        }
        (step, Vec::new())
    });
    assert_eq!(result.expect("sound trees"), Made::Whole);
    all
}

/// Hands a delta to an ingest, in parts of `part` bytes.
///
/// # Errors
/// The errors of [`ApplyDelta::step`].
pub fn take(
    host: &mut Host,
    ingest: &mut Ingest,
    delta: &[u8],
    part: usize,
) -> Result<u32, DeltaError> {
    let mut apply = ApplyDelta::new();
    let mut malformed = None;
    let mut parts = delta.chunks(part);
    loop {
        let part = parts.next();
        match part {
            Some(part) => apply.decoder().room(part.len()).copy_from_slice(part),
            None => apply.decoder().end(),
        }
        let driven = host.steps(|cache, budget| {
            let step = match apply.step(ingest, cache, budget) {
                Ok(step) => Ok(step),
                Err(DeltaError::Failed(error)) => Err(error),
                Err(error) => {
                    malformed = Some(error);
                    Ok(Step::Done(()))
                }
            };
            (step, ingest.sealed())
        });
        driven.map_err(DeltaError::Failed)?;
        match (malformed, part) {
            (Some(error), _) => return Err(error),
            (None, None) => return Ok(apply.decoder().edits()),
            (None, Some(_)) => {}
        }
    }
}

/// Applies a delta to the last commit of a host, in parts of `part` bytes, and moves to its commit.
///
/// # Errors
/// The errors of [`ApplyDelta::step`]; the host stays where it was.
pub fn apply(host: &mut Host, delta: &[u8], part: usize) -> Result<u32, DeltaError> {
    let mut ingest = host.ingest();
    let edits = take(host, &mut ingest, delta, part)?;
    host.finish(&mut ingest).map_err(DeltaError::Failed)?;
    assert_eq!(ingest.row_trees().1, host.tree(), "the root is known before the commit is stored");
    Ok(edits)
}

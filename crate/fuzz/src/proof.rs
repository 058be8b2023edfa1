//! Forged proofs: arbitrary bytes, honest proofs with some bytes changed, and honest proofs with
//! chunks changed and addressed again. Under the root of the honest store only its own proof
//! verifies. Under roots of their own some others verify, and then show entries in order. Every
//! verification ends, in little memory, with the same result in steps of any size.

use crate::allocation::peak_of;
use crate::input::Input;
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::output::Output;
use hedgerow::tree::Range;
use hedgerow_support::host::Host;
use hedgerow_support::output::entries;
use hedgerow_support::proofs::{chunks, of_chunks, only, prove, rehash, verify};
use std::ops::Bound;

/// Memory that does not depend on the proof.
const FIXED_BYTES: usize = 64 << 10;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let how = input.below(3);
    let mut host = store(input.below(60), input.below(3));
    let range = range(&mut input);
    let honest = prove(&mut host, &range).expect("a proof");
    match how {
        0 => {
            let forged = input.rest();
            check(host.root, &range, &honest, forged);
            let len = forged
                .get(2..6)
                .map_or(0, |len| u32::from_le_bytes([len[0], len[1], len[2], len[3]]));
            if let Some(first) = forged.get(6..).and_then(|rest| rest.get(..len as usize)) {
                drop(bounded(Hash::of(first), &range, forged));
            }
        }
        1 => {
            let forged = changed(&mut input, honest.clone());
            check(host.root, &range, &honest, &forged);
        }
        _ => {
            let mut chunks = chunks(&honest);
            for _ in 0..=input.below(3) {
                let at = input.below(chunks.len());
                if let Some(chunk) = chunks.get(at) {
                    let forged = changed(&mut input, chunk.clone());
                    rehash(&mut chunks, at, forged);
                }
            }
            let forged = of_chunks(&chunks);
            check(host.root, &range, &honest, &forged);
            if let Some(first) = chunks.first() {
                drop(same(Hash::of(first), &range, &forged));
            }
        }
    }
}

fn store(rows: usize, large: usize) -> Host {
    let mut host = Host::new(Shape::with_target(64));
    let row = |row: usize| {
        let len = if row == 3 { [0, 5000, PIECE_BYTES + 5000][large] } else { row % 7 };
        (format!("k{row:03}"), format!("\"{}\"", "v".repeat(len)))
    };
    if rows > 0 {
        host.put(&(0..rows).map(row).collect::<Vec<_>>());
    }
    host
}

fn range(input: &mut Input<'_>) -> Range {
    let mut key = || format!("k{:03}", input.below(64));
    let (lower, upper) = (key(), key());
    match input.below(4) {
        0 => Range { lower: Bound::Included(lower.into()), upper: Bound::Excluded(upper.into()) },
        1 => Range::prefix(&lower.as_bytes()[..3]),
        2 => only(&format!("{lower}+")),
        _ => only(&lower),
    }
}

/// Puts some faults into `bytes`.
fn changed(input: &mut Input<'_>, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..=input.below(4) {
        let at = input.below(bytes.len().min(1 << 16));
        let end = (at + 1 + input.below(40)).min(bytes.len());
        match input.below(6) {
            0 if at < end => bytes[at] = input.byte(),
            1 if at < end => bytes[at] = bytes[at].wrapping_add(1),
            2 => bytes.truncate(at),
            3 if at < end => drop(bytes.drain(at..end)),
            4 if at < end => {
                let part = bytes[at..end].to_vec();
                let to = input.below(bytes.len().min(1 << 16));
                bytes.splice(to..to, part);
            }
            _ => bytes.insert(at, input.byte()),
        }
    }
    bytes
}

/// Checks a forged proof under the root of the honest store.
fn check(root: Hash, range: &Range, honest: &[u8], forged: &[u8]) {
    match bounded(root, range, forged) {
        Ok(_) => assert_eq!(forged, honest, "another proof of the same"),
        Err(Error::InvalidProof | Error::UnsupportedFormat { .. }) => assert_ne!(forged, honest),
        Err(error) => panic!("not the fault of a proof: {error}"),
    }
}

fn bounded(root: Hash, range: &Range, proof: &[u8]) -> Result<Output, Error> {
    let (result, peak) = peak_of(|| same(root, range, proof));
    let shown = result.as_ref().map_or(0, Output::len);
    let most = 16 * (proof.len() + shown) + FIXED_BYTES;
    assert!(peak <= most, "{peak} bytes for a proof of {} and {shown} shown", proof.len());
    result
}

/// Verifies in one step and in the smallest ones, with the same result.
fn same(root: Hash, range: &Range, proof: &[u8]) -> Result<Output, Error> {
    let at_once = verify(root, range, proof, usize::MAX);
    let slowly = verify(root, range, proof, 1);
    match (&at_once, &slowly) {
        (Ok(a), Ok(b)) => {
            assert!(a.text == b.text && a.bytes == b.bytes && a.marks == b.marks);
            let keys: Vec<String> = entries(a).into_iter().map(|(key, _)| key).collect();
            assert!(keys.is_sorted_by(|a, b| a < b));
            assert!(keys.iter().all(|key| range.contains(key.as_bytes())));
        }
        (Err(a), Err(b)) => assert_eq!(a, b),
        _ => panic!("steps matter"),
    }
    at_once
}

//! Proofs: makes them with a host, verifies them without one, and takes them apart to forge them.

use crate::host::{Host, MAX_STEPS};
use crate::output::Expected;
use crate::values::Values;
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::output::Output;
use hedgerow::proof::{Prove, VerifyProof};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Parts, Range};
use std::fmt::Debug;
use std::ops::Bound;

/// Bytes before the first chunk of a proof.
pub const HEADER: [u8; 2] = [0xf0, 1];

/// Returns the range that contains only `key`.
pub fn only(key: &str) -> Range {
    let key = key.as_bytes().to_vec();
    Range { lower: Bound::Included(key.clone()), upper: Bound::Included(key) }
}

/// Makes a proof of `range` in the last commit of `host`.
///
/// # Errors
/// The errors of [`Prove::step`].
pub fn prove(host: &mut Host, range: &Range) -> Result<Vec<u8>, Error> {
    let mut prove = Prove::new(host.root, range.clone());
    host.run(|cache, budget| prove.step(cache, budget))?;
    Ok(prove.proof().to_vec())
}

/// Verifies `proof` in steps of `slice` bytes of work; returns the rows that it proves.
///
/// # Errors
/// The errors of [`VerifyProof::step`].
pub fn verify(root: Hash, range: &Range, proof: &[u8], slice: usize) -> Result<Output, Error> {
    let mut verify = VerifyProof::new(root, range.clone(), proof.to_vec());
    let mut out = Output::new();
    for _ in 0..MAX_STEPS {
        match verify.step(&mut Budget::of(slice), &mut out)? {
            Step::Done(()) => {
                out.close();
                return Ok(out);
            }
            Step::Need(wanted) => panic!("a verification has no segments {wanted:?}"),
            Step::Yield => {}
        }
    }
    panic!("no end after {MAX_STEPS} steps");
}

/// Compares the proved rows of `range` with `values`.
pub fn check_proved(values: &Values, range: &Range, out: &Output, context: &dyn Debug) {
    let inside = values.iter().filter(|(key, _)| range.contains(key.as_bytes()));
    Expected::entries(inside, Parts { keys: true, values: true }).check(out, context);
}

/// Returns the chunks of a well-formed proof.
pub fn chunks(proof: &[u8]) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    let mut rest = &proof[HEADER.len()..];
    while let Some((len, more)) = rest.split_first_chunk() {
        let (chunk, more) = more.split_at(u32::from_le_bytes(*len) as usize);
        chunks.push(chunk.to_vec());
        rest = more;
    }
    chunks
}

/// Encodes a proof of `chunks` without any checks: an encoder that is independent of the core's.
pub fn of_chunks(chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut proof = HEADER.to_vec();
    for chunk in chunks {
        proof.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
        proof.extend_from_slice(chunk);
    }
    proof
}

/// Replaces the chunk at `at` by `forged`, and its old hash in the chunks before by the new one, and so
/// on up to the commit. So all hashes match, except for the root.
pub fn rehash(chunks: &mut [Vec<u8>], at: usize, forged: Vec<u8>) {
    let mut changed = vec![(Hash::of(&chunks[at]), Hash::of(&forged))];
    chunks[at] = forged;
    for chunk in chunks[..at].iter_mut().rev() {
        let old = Hash::of(chunk);
        for (from, to) in &changed {
            let named = |place: &usize| chunk[*place..].starts_with(&from.0);
            for place in (0..chunk.len()).filter(named).collect::<Vec<_>>() {
                chunk[place..place + 32].copy_from_slice(&to.0);
            }
        }
        let new = Hash::of(chunk);
        if new != old {
            changed.push((old, new));
        }
    }
}

//! Chunks that may be malformed, and their faults.

use crate::host::seal;
use hedgerow::cache::{Cache, Want};
use hedgerow::error::{DecodeError, Error, Field};
use hedgerow::hash::Hash;
use hedgerow::segment::Sealed;
use hedgerow::tree::{Fault, Part};

/// The parts of a [`DecodeError`]: the field, the offset, the value expected and the value found.
pub type Facts = (Field, usize, u64, u64);

/// Returns the fault, if any.
pub fn facts<T>(result: Result<T, DecodeError>) -> Option<Facts> {
    result.err().map(|error| (error.field, error.offset, error.expected, error.got))
}

/// Returns the chunk that an error names, and its fault: `None` if its hash is wrong.
pub fn cause(error: Error) -> (Hash, Option<Facts>) {
    match error {
        Error::CorruptChunk { hash, cause } => (hash, cause.and_then(|c| facts::<()>(Err(c)))),
        other => panic!("{other}"),
    }
}

/// Calls [`cause`] on a result that must be an error.
pub fn failed<T>(result: Result<T, Error>) -> (Hash, Option<Facts>) {
    cause(result.err().expect("an error"))
}

/// Returns the faults by which rows are lost: all but faults of the form.
pub fn lost(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.retain(|fault| fault.part != Part::Form);
    faults
}

/// Makes a cache with `chunks`, all in one stored segment that is in memory.
pub fn cache(chunks: &[impl AsRef<[u8]>]) -> (Cache, Vec<Hash>) {
    let chunks: Vec<&[u8]> = chunks.iter().map(AsRef::as_ref).collect();
    let (hashes, sealed) = seal(&chunks);
    let mut cache = Cache::new(64 << 20);
    for (id, Sealed { bytes, table }) in (1..).zip(sealed) {
        cache.add_table(id, table);
        cache.load(Want::whole_of(id), bytes);
    }
    (cache, hashes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;

    #[test]
    fn a_fault_is_reported() {
        let (good, bad) = (layout::leaf(&[(0, b"a", b"1")]), layout::leaf(&[]));
        let (cache, hashes) = cache(&[&good, &bad]);
        assert!(cache.node(&hashes[0]).is_ok());
        assert_eq!(failed(cache.node(&hashes[1])), (Hash::of(&bad), Some((Field::Count, 2, 1, 0))));
    }
}

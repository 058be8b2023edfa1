//! Chunks that nobody vouches for, and what is wrong with them.

use crate::host::seal;
use hedgerow::cache::Cache;
use hedgerow::error::{DecodeError, Error, Field};
use hedgerow::hash::Hash;
use hedgerow::segment::Sealed;
use hedgerow::tree::{Fault, Part};

/// What a [`DecodeError`] says: the field, the offset, what was expected and what was found.
pub type Facts = (Field, usize, u64, u64);

/// What is wrong, if anything.
pub fn facts<T>(result: Result<T, DecodeError>) -> Option<Facts> {
    result.err().map(|error| (error.field, error.offset, error.expected, error.got))
}

/// The chunk that an error names, and what is wrong with it: `None` for its hash.
pub fn cause(error: Error) -> (Hash, Option<Facts>) {
    match error {
        Error::CorruptChunk { hash, cause } => (hash, cause.and_then(|c| facts::<()>(Err(c)))),
        other => panic!("{other}"),
    }
}

/// As [`cause`], of what must be an error.
pub fn failed<T>(result: Result<T, Error>) -> (Hash, Option<Facts>) {
    cause(result.err().expect("an error"))
}

/// Those of the faults that a verification finds by which rows are lost: not those of the form.
pub fn lost(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.retain(|fault| fault.part != Part::Form);
    faults
}

/// A cache that knows `chunks`, all in one stored segment that is loaded.
pub fn cache(chunks: &[impl AsRef<[u8]>]) -> (Cache, Vec<Hash>) {
    let chunks: Vec<&[u8]> = chunks.iter().map(AsRef::as_ref).collect();
    let (hashes, sealed) = seal(&chunks);
    let mut cache = Cache::new(64 << 20);
    for (id, Sealed { bytes, table }) in (1..).zip(sealed) {
        cache.add_table(id, table);
        cache.load(id, bytes);
    }
    (cache, hashes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;

    #[test]
    fn a_fault_is_told() {
        let (good, bad) = (layout::leaf(&[(0, b"a", b"1")]), layout::leaf(&[]));
        let (cache, hashes) = cache(&[&good, &bad]);
        assert!(cache.node(&hashes[0]).is_ok());
        assert_eq!(failed(cache.node(&hashes[1])), (Hash::of(&bad), Some((Field::Count, 2, 1, 0))));
    }
}

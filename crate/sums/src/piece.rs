//! Reads pieces of sum trees. [`sum_piece`](hedgerow_trees::sum_piece) has their format. The cache checks
//! their hash and header, and [`fetch`] the rest.

use crate::rules::{State, words};
use hedgerow_trees::cache::{Cache, Fetch};
use hedgerow_trees::chunk::{ChunkKind, HEADER_BYTES};
use hedgerow_trees::error::{DecodeError, Error, Field};
use hedgerow_trees::hash::{HASH_BYTES, Hash};
use hedgerow_trees::le::u64_at;
pub(crate) use hedgerow_trees::sum_piece::{
    FIXED_BYTES, Form, INLINE_BYTES, LINK, LINK_BYTES, Link, MAX_PIECE_BYTES, MIN_PIECE_BYTES, REF,
    REF_BYTES, ROOT_BYTES, Record, Records, common, prefix,
};
use hedgerow_trees::sum_piece::{check, value_ref};
use hedgerow_trees::value::ValueRef;

/// Reads the reference to the value, and the hash of the leaf, from the rest of a leaf with a longer value.
pub(crate) fn ref_and_hash(rest: &[u8]) -> (ValueRef, State) {
    (value_ref(rest), words(&rest[REF_BYTES - HASH_BYTES..]))
}

/// Reads the hash and the sum of a root, at the start of `bytes`.
pub(crate) fn root_at(bytes: &[u8]) -> (State, u64) {
    (words(&bytes[..HASH_BYTES]), u64_at(bytes, HASH_BYTES))
}

/// Returns the hash and the sum that a top states for its tree.
pub(crate) fn stated(top: &[u8]) -> (State, u64) {
    root_at(&top[HEADER_BYTES..])
}

/// Returns the hash of the piece that a link leads to; without a link, of the top.
pub(crate) const fn address_of(root: Hash, link: Option<&Record<'_>>) -> Hash {
    match link {
        Some(Record { form: Form::Link(link), .. }) => link.chunk,
        _ => root,
    }
}

/// Returns the piece that a link leads to; without a link, the top `root`. If it `is_new` to the
/// reader, it is decoded and checked against the link.
///
/// # Errors
/// As [`Cache::node`].
pub(crate) fn fetch<'c>(
    cache: &'c Cache,
    root: Hash,
    link: Option<&Record<'_>>,
    is_new: bool,
) -> Result<Fetch<&'c [u8]>, Error> {
    let hash = address_of(root, link);
    let kind = if link.is_some() { ChunkKind::SumPiece } else { ChunkKind::SumTop };
    let fetched = cache.chunk(&hash, kind)?;
    if let (Fetch::Here(chunk), true) = (&fetched, is_new) {
        let checked = check(chunk).and_then(|()| link.map_or(Ok(()), |of| check_link(chunk, of)));
        checked.map_err(|cause| Error::CorruptChunk { hash, cause: Some(cause) })?;
    }
    Ok(fetched)
}

/// Checks a piece, which [`check`] accepted, against a link to it, except for the hash.
pub(crate) fn check_link(chunk: &[u8], of: &Record<'_>) -> Result<(), DecodeError> {
    let Form::Link(link) = &of.form else { return Ok(()) };
    let records = Records::of(chunk);
    let size = records.size();
    if size != usize::from(link.size) {
        return Err(DecodeError::new(Field::Length, 2, link.size.into(), size as u64));
    }
    let (mut sum, mut count) = (Some(0u64), Some(0u64));
    let mut ends: Option<([u8; 32], [u8; 32])> = None;
    for record in records {
        sum = sum.and_then(|sum| sum.checked_add(record.sum));
        count = count.and_then(|count| count.checked_add(record.count()));
        ends = Some((ends.map_or(record.path, |ends| ends.0), record.path));
    }
    if sum != Some(of.sum) {
        return Err(DecodeError::new(Field::Sum, 2, of.sum, sum.unwrap_or(u64::MAX)));
    }
    if count != Some(link.count) {
        let got = count.unwrap_or(u64::MAX);
        return Err(DecodeError::new(Field::ChildCount, 2, link.count, got));
    }
    let (first, last) = ends.unwrap_or_default();
    let depth = common(&first, &last);
    if depth != link.depth || prefix(&first, depth) != of.path {
        return Err(DecodeError::new(Field::ChildKey, 2, link.depth.into(), depth.into()));
    }
    Ok(())
}

/// Calls `each` with the pieces and the values that a piece names, which [`check`] accepted.
pub fn names(chunk: &[u8], mut each: impl FnMut(Name)) {
    for record in Records::of(chunk) {
        match record.form {
            Form::Link(link) => each(Name::Piece(link.chunk)),
            Form::Ref(rest) => each(Name::Value(value_ref(rest))),
            Form::Inline(_) => {}
        }
    }
}

/// A chunk that a piece names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Another piece.
    Piece(Hash),
    /// A value out of line.
    Value(ValueRef),
}

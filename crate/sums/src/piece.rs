//! How a sum tree is stored: pieces of its compacted trie, each a chunk.
//!
//! ```text
//! piece    0xd0 | version | n x record, in the order of their paths
//! top      0xd1 | version | hash of the root:32 | sum:u64 | n x record
//! record   path:32 | hash:32 | sum:u64 | head:u16 | rest
//!   head   0 to 256        a leaf with so many bytes of value, which are the rest
//!          0x4000          a leaf with a longer value
//!                          rest = length:u32 | hash of piece or piece list:32 | leaf hash:32
//!          0x8000 + depth  a link to another piece, whose first branch is at that depth
//!                          rest = entries:u64 | bytes of its records:u16 | hash of chunk:32
//! ```
//!
//! Which branches a piece has follows from its paths: between two neighbours there is one, at the
//! first bit in which they differ. So nothing is stored of it, and it cannot be stored wrong.
//! The hash of a leaf is that of the tree below the branch above it, in which it is alone; the
//! hash of a link is that of its first branch.

use crate::rules::{State, common, prefix, words};
use hedgerow_trees::cache::{Cache, Fetch};
use hedgerow_trees::chunk::{ChunkKind, HEADER_BYTES};
use hedgerow_trees::error::{DecodeError, Error, Field};
use hedgerow_trees::hash::{HASH_BYTES, Hash};
use hedgerow_trees::limits::{MAX_ENTRIES, MAX_SUM_VALUE_BYTES};
use hedgerow_trees::value::Far;

/// Bytes of a top before its records.
const TOP_BYTES: usize = HEADER_BYTES + 40;
/// Bytes of a record before its rest.
pub(crate) const FIXED_BYTES: usize = 74;
/// Bytes of a link.
pub(crate) const LINK_BYTES: usize = FIXED_BYTES + 42;
/// Bytes of the rest of a leaf with a longer value.
pub(crate) const FAR_BYTES: usize = 68;
/// The longest value that a record holds itself.
pub(crate) const INLINE_BYTES: usize = 256;
/// The records of a piece take no more than that.
pub(crate) const MAX_PIECE_BYTES: usize = 4096;
/// Fewer bytes of records are never cut off, nor is a leaf alone.
pub(crate) const MIN_PIECE_BYTES: usize = 256;

pub(crate) const FAR: u16 = 0x4000;
pub(crate) const LINK: u16 = 0x8000;

/// Another piece, as the one above it tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The depth of its first branch.
    pub(crate) depth: u16,
    /// The number of leaves below.
    pub(crate) count: u64,
    /// Bytes of its records.
    pub(crate) size: u16,
    pub(crate) chunk: Hash,
}

/// What a record is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form<'b> {
    Inline(&'b [u8]),
    Far(&'b [u8]),
    Link(Link),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'b> {
    pub(crate) path: [u8; 32],
    pub(crate) hash: State,
    pub(crate) sum: u64,
    pub(crate) form: Form<'b>,
}

impl Record<'_> {
    /// The depth of its first branch: that of a leaf is below all.
    pub(crate) fn depth(&self) -> u16 {
        if let Form::Link(link) = &self.form { link.depth } else { 256 }
    }

    /// The record of a link, without what it was read from.
    pub(crate) fn link(&self) -> Option<Record<'static>> {
        let Form::Link(link) = self.form else { return None };
        Some(Record { form: Form::Link(link), path: self.path, hash: self.hash, sum: self.sum })
    }

    pub(crate) fn count(&self) -> u64 {
        if let Form::Link(link) = &self.form { link.count } else { 1 }
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// The address in the rest of a leaf with a longer value, and the hash of the leaf.
pub(crate) fn far(rest: &[u8]) -> (Far, State) {
    let len = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
    (Far { len, hash: Hash::read(&rest[4..]) }, words(&rest[4 + HASH_BYTES..]))
}

/// The chunk `hash`, verified against its hash and against `check`. As [`Cache::chunk`], which
/// calls `check` by its address, and so would have it in the table.
pub(crate) fn fetch<'c>(
    cache: &'c Cache,
    hash: &Hash,
    check: impl Fn(&[u8]) -> Result<(), DecodeError>,
) -> Result<Fetch<&'c [u8]>, Error> {
    let fetched = cache.any_chunk(hash)?;
    if let Fetch::Here(bytes) = fetched {
        check(bytes).map_err(|cause| Error::CorruptChunk { hash: *hash, cause: Some(cause) })?;
    }
    Ok(fetched)
}

/// The records of a piece, without its header.
#[derive(Clone, Debug)]
pub(crate) struct Records<'b> {
    pub(crate) bytes: &'b [u8],
    /// Where the next one begins.
    pub(crate) at: usize,
}

impl<'b> Records<'b> {
    /// Those of a chunk that was checked.
    pub(crate) fn of(chunk: &'b [u8]) -> Self {
        let at = if chunk.starts_with(&ChunkKind::SumTop.header()) { TOP_BYTES } else { 2 };
        Self { bytes: chunk, at }
    }

    /// Bytes of all records.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Goes past the next record, of which the end is known to be there.
    fn read(&mut self) -> Result<Record<'b>, DecodeError> {
        let (bytes, at) = (self.bytes, self.at);
        let cut = |end| DecodeError::new(Field::Length, at, end as u64, bytes.len() as u64);
        let mut end = at + FIXED_BYTES;
        let fixed = bytes.get(at..end).ok_or_else(|| cut(end))?;
        let head = u16::from_le_bytes([fixed[72], fixed[73]]);
        end += match head {
            FAR => FAR_BYTES,
            LINK..0x8100 => LINK_BYTES - FIXED_BYTES,
            len if usize::from(len) <= INLINE_BYTES => len.into(),
            _ => {
                let most = INLINE_BYTES as u64;
                return Err(DecodeError::new(Field::ValueLength, at + 72, most, head.into()));
            }
        };
        let rest = bytes.get(at + FIXED_BYTES..end).ok_or_else(|| cut(end))?;
        let form = match head {
            FAR => Form::Far(rest),
            LINK.. => Form::Link(Link {
                depth: head - LINK,
                count: u64_at(rest, 0),
                size: u16::from_le_bytes([rest[8], rest[9]]),
                chunk: Hash::read(&rest[10..]),
            }),
            _ => Form::Inline(rest),
        };
        self.at = end;
        let mut path = [0; 32];
        path.copy_from_slice(&fixed[..32]);
        Ok(Record { path, hash: words(&fixed[32..64]), sum: u64_at(fixed, 64), form })
    }
}

impl<'b> Iterator for Records<'b> {
    type Item = Record<'b>;

    fn next(&mut self) -> Option<Record<'b>> {
        if self.at < self.bytes.len() { self.read().ok() } else { None }
    }
}

/// The hash and the sum that a top tells of its tree.
pub(crate) fn stated(top: &[u8]) -> (State, u64) {
    (words(&top[2..34]), u64_at(top, 34))
}

/// Checks all of a piece that can be seen in it alone, except for hashes.
pub(crate) fn check(chunk: &[u8], is_top: bool) -> Result<(), DecodeError> {
    let kind = if is_top { ChunkKind::SumTop } else { ChunkKind::SumPiece };
    if ChunkKind::decode(chunk)? != kind {
        let expected = kind.header()[0].into();
        return Err(DecodeError::new(Field::Kind, 0, expected, chunk[0].into()));
    }
    let least = if is_top { TOP_BYTES } else { HEADER_BYTES };
    let most = least + MAX_PIECE_BYTES;
    if chunk.len() <= least || chunk.len() > most {
        return Err(DecodeError::new(Field::Length, 0, most as u64, chunk.len() as u64));
    }
    let mut records = Records::of(chunk);
    let mut last: Option<Record<'_>> = None;
    let mut is_alone = true;
    while records.at < chunk.len() {
        let at = records.at;
        let record = records.read()?;
        let bad = |field| Err(DecodeError::new(field, at, 0, 0));
        match &record.form {
            Form::Inline(value) if value.is_empty() && record.sum == 0 => {
                return bad(Field::ValueLength);
            }
            Form::Far(rest) => {
                let len = far(rest).0.len as usize;
                if len <= INLINE_BYTES || len > MAX_SUM_VALUE_BYTES {
                    return bad(Field::ValueLength);
                }
            }
            Form::Link(link) => {
                if record.path != prefix(&record.path, link.depth) {
                    return bad(Field::ChildKey);
                }
                let is_piece = (MIN_PIECE_BYTES..=MAX_PIECE_BYTES).contains(&link.size.into());
                if !is_piece || !(2..=MAX_ENTRIES).contains(&link.count) {
                    return bad(Field::ChildCount);
                }
            }
            Form::Inline(_) => {}
        }
        if let Some(last) = &last {
            is_alone = false;
            // They differ before either of them ends.
            let differ = common(&last.path, &record.path);
            if last.path >= record.path || differ >= last.depth().min(record.depth()) {
                return bad(Field::KeyOrder);
            }
        }
        last = Some(record);
    }
    // Alone stands but the only leaf of a tree.
    let may_be = is_top && last.is_some_and(|last| last.depth() == 256);
    if is_alone && !may_be {
        return Err(DecodeError::new(Field::Count, least, 2, 1));
    }
    Ok(())
}

/// Checks that a piece, itself checked, is what a link to it says; all but the hash.
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

/// The pieces and the values that a piece, itself checked, names.
pub fn names(chunk: &[u8], mut each: impl FnMut(Name)) {
    for record in Records::of(chunk) {
        match record.form {
            Form::Link(link) => each(Name::Piece(link.chunk)),
            Form::Far(rest) => each(Name::Value(far(rest).0)),
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
    Value(Far),
}

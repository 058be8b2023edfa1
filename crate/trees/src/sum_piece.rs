//! How a sum tree is stored: pieces of its compacted trie, each a chunk.
//!
//! The package of sum trees works on them. They are decoded here because collections, which every page
//! loads, read the names of chunks in pieces.
//!
//! ```text
//! piece    0xd0 | version | n x record, in the order of their paths
//! top      0xd1 | version | hash of the root:32 | sum:u64 | n x record
//! record   path:32 | hash:32 | sum:u64 | head:u16 | rest
//!   head   0 to 256        a leaf whose value has this many bytes, which are the rest
//!          0x4000          a leaf with a longer value
//!                          rest = length:u32 | hash of piece or piece list:32 | leaf hash:32
//!          0x8000 + depth  a link to another piece, whose first branch is at that depth
//!                          rest = entries:u64 | bytes of its records:u16 | hash of chunk:32
//! ```
//!
//! The branches of a piece follow from its paths: between two neighbours there is one, at the first bit
//! in which they differ. So branches are not stored, and cannot be stored wrong. The hash of a leaf is
//! the hash of the subtree in which it is the only leaf, below the branch above it. The hash of a link
//! is the hash of its first branch.

use crate::chunk::{ChunkKind, HEADER_BYTES};
use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::le::{u16_at, u64_at};
use crate::limits::{MAX_ENTRIES, MAX_SUM_VALUE_BYTES};
use crate::value::{self, ValueRef};

/// The number of levels of branches of a sum tree.
pub const DEPTH: u16 = 256;
/// Bytes of hash and sum in a top.
pub const ROOT_BYTES: usize = HASH_BYTES + 8;
/// Bytes of a top before its records.
const TOP_BYTES: usize = HEADER_BYTES + ROOT_BYTES;
/// Bytes of a record before its rest.
pub const FIXED_BYTES: usize = HEAD_AT + 2;
/// The offset of the head in a record: after path, hash and sum.
const HEAD_AT: usize = 2 * HASH_BYTES + 8;
/// The offsets of the size and the hash of the chunk in the rest of a link: after its count.
const LINK_SIZE_AT: usize = 8;
const LINK_CHUNK_AT: usize = LINK_SIZE_AT + 2;
/// Bytes of a link.
pub const LINK_BYTES: usize = FIXED_BYTES + LINK_CHUNK_AT + HASH_BYTES;
/// Bytes of the rest of a leaf with a longer value.
pub const REF_BYTES: usize = value::VALUE_REF_BYTES + HASH_BYTES;
/// The longest value that is inline in its record, in bytes.
pub const INLINE_BYTES: usize = 256;
/// The most bytes of the records of a piece.
pub const MAX_PIECE_BYTES: usize = 4096;
/// The fewest bytes of records that are cut off as a piece; a single leaf never is.
pub const MIN_PIECE_BYTES: usize = 256;

/// The head of a leaf with a longer value.
pub const REF: u16 = 0x4000;
/// The head of a link, without its depth.
pub const LINK: u16 = 0x8000;
/// The first number above the heads of links.
const LINK_END: u16 = LINK + DEPTH;

/// Another piece, as a record of the piece above describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The depth of its first branch.
    pub depth: u16,
    /// The number of leaves below.
    pub count: u64,
    /// Bytes of its records.
    pub size: u16,
    /// Its address.
    pub chunk: Hash,
}

/// The form of a record.
#[derive(Clone, Copy, Debug)]
pub enum Form<'b> {
    /// A leaf with this value.
    Inline(&'b [u8]),
    /// A leaf with a longer value: the rest of its record, see [`value_ref`].
    Ref(&'b [u8]),
    /// A link to another piece.
    Link(Link),
}

/// A leaf, or a link to another piece.
#[derive(Clone, Copy, Debug)]
pub struct Record<'b> {
    /// The path of the leaf, or of the first branch of the piece.
    pub path: [u8; 32],
    /// The hash of the subtree.
    pub hash: [u8; 32],
    /// The sum of the subtree.
    pub sum: u64,
    /// The form.
    pub form: Form<'b>,
}

impl Record<'_> {
    /// Returns the depth of its first branch; [`DEPTH`], below all branches, for a leaf.
    #[must_use]
    pub const fn depth(&self) -> u16 {
        if let Form::Link(link) = &self.form { link.depth } else { DEPTH }
    }

    /// Returns the record of a link, without a borrow of the chunk; `None` for a leaf.
    #[must_use]
    pub const fn link(&self) -> Option<Record<'static>> {
        let Form::Link(link) = self.form else { return None };
        Some(Record { form: Form::Link(link), path: self.path, hash: self.hash, sum: self.sum })
    }

    /// Finds the fault of this record, as far as it can be checked alone.
    #[inline(never)]
    fn fault(&self) -> Option<Field> {
        match &self.form {
            Form::Inline(value) => {
                (value.is_empty() && self.sum == 0).then_some(Field::ValueLength)
            }
            Form::Ref(rest) => {
                let may_be = INLINE_BYTES + 1..=MAX_SUM_VALUE_BYTES;
                (!may_be.contains(&(value_ref(rest).len as usize))).then_some(Field::ValueLength)
            }
            Form::Link(link) => {
                let is_piece = (MIN_PIECE_BYTES..=MAX_PIECE_BYTES).contains(&link.size.into());
                let is_many = (2..=MAX_ENTRIES).contains(&link.count);
                let is_prefix = self.path == prefix(&self.path, link.depth);
                let counts = (!is_piece || !is_many).then_some(Field::ChildCount);
                if is_prefix { counts } else { Some(Field::ChildKey) }
            }
        }
    }

    /// Returns the number of leaves.
    #[must_use]
    pub const fn count(&self) -> u64 {
        if let Form::Link(link) = &self.form { link.count } else { 1 }
    }
}

/// Returns the reference to the value, from the rest of a leaf with a longer value.
#[must_use]
pub fn value_ref(rest: &[u8]) -> ValueRef {
    ValueRef::read(&rest[..REF_BYTES - HASH_BYTES])
}

/// Returns the number of leading bits that two paths share.
#[must_use]
#[inline(never)]
pub fn common(a: &[u8; 32], b: &[u8; 32]) -> u16 {
    for at in (0..32).step_by(8) {
        let differ = u64_at(a, at) ^ u64_at(b, at);
        if differ != 0 {
            // The first byte is the lowest one.
            let bytes = differ.trailing_zeros() / 8;
            let bits = ((differ >> (8 * bytes)) as u8).leading_zeros();
            return (8 * (at as u32 + bytes) + bits) as u16;
        }
    }
    DEPTH
}

/// Returns the first `bits` bits of a path, followed by zeros.
#[must_use]
#[inline(never)]
pub fn prefix(path: &[u8; 32], bits: u16) -> [u8; 32] {
    let mut prefix = [0; 32];
    let whole = usize::from(bits / 8);
    prefix[..whole].copy_from_slice(&path[..whole]);
    if whole < 32 {
        prefix[whole] = path[whole] & !(0xff >> (bits % 8));
    }
    prefix
}

/// Returns the bytes of the rest of a record with this head; `None` for an invalid head.
const fn rest_bytes(head: u16) -> Option<usize> {
    match head {
        REF => Some(REF_BYTES),
        LINK..LINK_END => Some(LINK_BYTES - FIXED_BYTES),
        len if len as usize <= INLINE_BYTES => Some(len as usize),
        _ => None,
    }
}

/// A chunk that a piece names.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    /// Another piece.
    Piece(Hash),
    /// A value.
    Value(ValueRef),
}

/// All chunks that a piece or a top names, in its order. It checks only where records end, and stops at
/// the first incomplete one.
#[derive(Debug)]
pub struct Names<'b> {
    rest: &'b [u8],
}

impl<'b> Names<'b> {
    /// Reads the names in a chunk that the cache has checked.
    #[must_use]
    #[inline]
    pub fn of(chunk: &'b [u8]) -> Self {
        Self { rest: chunk.get(records_at(chunk)..).unwrap_or(chunk) }
    }

    /// Returns, after the last name, whether all records were read.
    #[must_use]
    #[inline]
    pub const fn is_whole(&self) -> bool {
        self.rest.is_empty()
    }
}

impl Iterator for Names<'_> {
    type Item = Named;

    #[inline]
    fn next(&mut self) -> Option<Named> {
        loop {
            let (fixed, after) = self.rest.split_at_checked(FIXED_BYTES)?;
            let head = u16_at(fixed, HEAD_AT);
            let (own, after) = after.split_at_checked(rest_bytes(head)?)?;
            self.rest = after;
            if head >= LINK {
                return Some(Named::Piece(Hash::read(&own[LINK_CHUNK_AT..])));
            }
            if head == REF {
                return Some(Named::Value(value_ref(own)));
            }
        }
    }
}

/// Returns the offset of the first record of a piece or a top.
fn records_at(chunk: &[u8]) -> usize {
    if chunk.starts_with(&ChunkKind::SumTop.header()) { TOP_BYTES } else { HEADER_BYTES }
}

/// The records of a piece, without its header.
#[derive(Clone, Debug)]
pub struct Records<'b> {
    bytes: &'b [u8],
    /// The offset of the next record in the chunk.
    pub at: usize,
}

impl<'b> Records<'b> {
    /// Reads the records of a chunk that [`check`] accepted.
    #[must_use]
    pub fn of(chunk: &'b [u8]) -> Self {
        Self { bytes: chunk, at: records_at(chunk) }
    }

    /// Counts the bytes of the records that are left.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Reads the next record.
    fn read(&mut self) -> Result<Record<'b>, DecodeError> {
        let (bytes, at) = (self.bytes, self.at);
        let cut = |end| DecodeError::new(Field::Length, at, end as u64, bytes.len() as u64);
        let mut end = at + FIXED_BYTES;
        let fixed = bytes.get(at..end).ok_or_else(|| cut(end))?;
        let head = u16_at(fixed, HEAD_AT);
        let Some(rest) = rest_bytes(head) else {
            let most = INLINE_BYTES as u64;
            return Err(DecodeError::new(Field::ValueLength, at + HEAD_AT, most, head.into()));
        };
        end += rest;
        let rest = bytes.get(at + FIXED_BYTES..end).ok_or_else(|| cut(end))?;
        let form = match head {
            REF => Form::Ref(rest),
            LINK.. => Form::Link(Link {
                depth: head - LINK,
                count: u64_at(rest, 0),
                size: u16_at(rest, LINK_SIZE_AT),
                chunk: Hash::read(&rest[LINK_CHUNK_AT..]),
            }),
            _ => Form::Inline(rest),
        };
        self.at = end;
        let (path, hash) = (Hash::read(fixed).0, Hash::read(&fixed[HASH_BYTES..]).0);
        Ok(Record { path, hash, sum: u64_at(fixed, 2 * HASH_BYTES), form })
    }
}

impl<'b> Iterator for Records<'b> {
    type Item = Record<'b>;

    fn next(&mut self) -> Option<Record<'b>> {
        if self.at < self.bytes.len() { self.read().ok() } else { None }
    }
}

/// Checks a piece or a top as far as it can be checked alone, except for hashes.
///
/// # Errors
/// The first fault.
pub fn check(chunk: &[u8]) -> Result<(), DecodeError> {
    let is_top = ChunkKind::decode(chunk)? == ChunkKind::SumTop;
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
        let mut fault = record.fault();
        if let Some(last) = &last {
            is_alone = false;
            // The branch between them must be above both.
            let differ = common(&last.path, &record.path);
            if last.path >= record.path || differ >= last.depth().min(record.depth()) {
                fault = Some(Field::KeyOrder);
            }
        }
        if let Some(field) = fault {
            return Err(DecodeError::new(field, at, 0, 0));
        }
        last = Some(record);
    }
    // Only the top of a tree with one leaf has a single record.
    let may_be = is_top && last.is_some_and(|last| last.depth() == DEPTH);
    if is_alone && !may_be {
        return Err(DecodeError::new(Field::Count, least, 2, 1));
    }
    Ok(())
}

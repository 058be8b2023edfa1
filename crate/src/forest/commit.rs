//! The bytes of a commit chunk.
//!
//! ```text
//! commit   0xc0 | version | n:u16 | n x tree, in ascending order of names
//! tree     name length:u8 | name | count:u64 | root:32 | reach, for names that begin with "j" or "s"
//! reach    length:u16 | key of a row, of a partial index ("j")
//!          length:u16 | hash:32 | sum:u64 | definition, of a sum tree ("s")
//! ```

use super::name::{PARTIAL_INDEX, ROWS, SUMS, TreeName};
use super::named::{Named, SUM_ROOT_BYTES};
use crate::chunk::{ChunkKind, HEADER_BYTES};
use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::le::u64_at;
use crate::limits::{
    MAX_COMMIT_BYTES, MAX_ENTRIES, MAX_KEY_BYTES, MAX_SUM_DEFINITION_BYTES, MAX_TREES,
};
use crate::tree::Tree;
use alloc::vec::Vec;

/// A reach is the key of a row, or no longer than one.
pub(super) const MAX_REACH_BYTES: usize = MAX_KEY_BYTES;

const _: () = assert!(SUM_ROOT_BYTES + MAX_SUM_DEFINITION_BYTES <= MAX_REACH_BYTES);

/// Appends the chunk that names `trees`.
pub(super) fn encode(trees: &[Named], out: &mut Vec<u8>) {
    out.extend_from_slice(&ChunkKind::Commit.header());
    out.extend_from_slice(&(trees.len() as u16).to_le_bytes());
    for Named { name, tree, reach } in trees {
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&tree.count.to_le_bytes());
        out.extend_from_slice(&tree.root.0);
        if let Some(reach) = reach {
            debug_assert!(reach.len() <= MAX_REACH_BYTES, "keys and definitions are shorter");
            out.extend_from_slice(&(reach.len() as u16).to_le_bytes());
            out.extend_from_slice(reach);
        }
    }
}

/// Reads a commit chunk, see [`Forest::decode`](super::Forest::decode).
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<Named>, DecodeError> {
    if ChunkKind::decode(bytes)? != ChunkKind::Commit {
        return Err(DecodeError::new(Field::Kind, 0, 0xc0, bytes[0].into()));
    }
    let short = |at: usize, need: usize| {
        DecodeError::new(Field::Length, at, need as u64, bytes.len() as u64)
    };
    let &[low, high] = bytes.get(HEADER_BYTES..HEADER_BYTES + 2).unwrap_or_default() else {
        return Err(short(HEADER_BYTES, HEADER_BYTES + 2));
    };
    let count = usize::from(u16::from_le_bytes([low, high]));
    check_size(count, bytes.len())?;
    let mut at = HEADER_BYTES + 2;
    let mut trees: Vec<Named> = Vec::new();
    for _ in 0..count {
        let name_len = usize::from(*bytes.get(at).ok_or_else(|| short(at, at + 1))?);
        let end = at + 1 + name_len + 8 + HASH_BYTES;
        let Some(tree) = bytes.get(at + 1..end) else { return Err(short(at, end)) };
        let (name, tree) = tree.split_at(name_len);
        let name = core::str::from_utf8(name).map_err(|error| {
            let valid = error.valid_up_to();
            DecodeError::new(Field::KeyText, at + 1 + valid, name_len as u64, valid as u64)
        })?;
        let name = TreeName::parse(name).ok_or_else(|| short(at, at))?;
        if trees.last().is_some_and(|previous| previous.name >= name) {
            return Err(DecodeError::new(Field::KeyOrder, at + 1, 0, name_len as u64));
        }
        let tree = Tree { count: u64_at(tree, 0), root: Hash::read(&tree[8..]) };
        at = end;
        let is_sum = name.kind() == Some(SUMS);
        let reach = if is_sum || name.kind() == Some(PARTIAL_INDEX) {
            let &[low, high] = bytes.get(at..at + 2).unwrap_or_default() else {
                return Err(short(at, at + 2));
            };
            let len = usize::from(u16::from_le_bytes([low, high]));
            if len > MAX_REACH_BYTES {
                let most = MAX_REACH_BYTES as u64;
                return Err(DecodeError::new(Field::KeyLength, at, most, len as u64));
            }
            at += 2 + len;
            let key = bytes.get(at - len..at).ok_or_else(|| short(at - len, at))?;
            let root_bytes = if is_sum { SUM_ROOT_BYTES } else { 0 };
            let Some(text) = key.get(root_bytes..) else { return Err(short(at - len, at)) };
            if core::str::from_utf8(text).is_err() {
                return Err(DecodeError::new(Field::KeyText, at - len, 0, 0));
            }
            Some(key.to_vec())
        } else {
            None
        };
        let named = Named { name, tree, reach };
        if (tree.is_empty() && !named.is_bound())
            || tree.count > MAX_ENTRIES
            || tree.is_empty() != (tree.root == Hash::ZERO)
        {
            return Err(DecodeError::new(Field::EntryCount, end - HASH_BYTES - 8, 0, tree.count));
        }
        trees.push(named);
    }
    if at != bytes.len() {
        return Err(short(at, at));
    }
    let has_rows = trees.iter().any(|named| &*named.name == ROWS && !named.tree.is_empty());
    if !has_rows && trees.iter().any(Named::is_bound) {
        return Err(DecodeError::new(Field::Count, HEADER_BYTES, 0, count as u64));
    }
    Ok(trees)
}

/// Checks that a commit may name `trees` trees in `bytes` bytes.
pub(super) const fn check_size(trees: usize, bytes: usize) -> Result<(), DecodeError> {
    if trees == 0 || trees > MAX_TREES {
        return Err(DecodeError::new(Field::Count, HEADER_BYTES, MAX_TREES as u64, trees as u64));
    }
    if bytes > MAX_COMMIT_BYTES {
        return Err(DecodeError::new(Field::Length, 0, MAX_COMMIT_BYTES as u64, bytes as u64));
    }
    Ok(())
}

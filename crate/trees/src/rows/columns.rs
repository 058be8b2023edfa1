//! Reads one row of a text: a pair, an object that contains its key, or an operation of a patch.

use super::operation::{Does, Operation, Values, read_operation};
use super::{UPDATE_HEADER_BYTES, fault_of};
use crate::error::RowFault;
use crate::json::{Pointer, Scanned, Scanner, skip_space, skip_value};
use alloc::vec::Vec;
use core::ops::Range;

/// The shape of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// `[key, value]`.
    Two,
    /// The value, with the key at a pointer into it.
    Keyed(Pointer),
    /// An operation of a patch.
    Patch,
}

/// Where the parts of a row are.
#[derive(Debug)]
pub(super) struct Found {
    pub key: Range<usize>,
    /// The key is in the output of the scanner, not in the text.
    pub moved: bool,
    pub value: Range<usize>,
    pub normal: bool,
    pub ascii: bool,
    pub end: usize,
    pub does: Does,
}

/// Reads the row at `at`.
pub(super) fn read_row(
    scanner: &mut Scanner,
    columns: &Columns,
    update: &mut Vec<u8>,
    text: &[u8],
    at: usize,
) -> Result<Found, (usize, RowFault)> {
    match columns {
        Columns::Two => read_pair(scanner, text, at),
        Columns::Keyed(pointer) => {
            let single = pointer.single().filter(|_| text.get(at) == Some(&b'{'));
            let scanned = scanner.scan(text, at, single).map_err(fault_of)?;
            let Scanned { normal, ascii, end, found } = scanned;
            let moved = single.is_none() && !normal;
            let key = match single {
                Some(_) => found,
                None if normal => {
                    let key = pointer.find(&text[at..end]);
                    key.map(|key| at + key.start..at + key.end)
                }
                None => pointer.find(scanner.normalized()),
            };
            let key = key.ok_or((at, RowFault::KeyMissing))?;
            Ok(Found { key, moved, value: at..end, normal, ascii, end, does: Does::Put })
        }
        Columns::Patch => {
            update.clear();
            update.resize(UPDATE_HEADER_BYTES, 0);
            let Operation { does, key, value, normal, end } =
                read_operation(text, at, Values::Any(scanner), update)?;
            let ascii = text[at..end].is_ascii();
            Ok(Found { key, moved: false, value, normal, ascii, end, does })
        }
    }
}

fn read_pair(scanner: &mut Scanner, text: &[u8], at: usize) -> Result<Found, (usize, RowFault)> {
    let expect = |at: usize, byte: u8| {
        let at = skip_space(text, at);
        if text.get(at) == Some(&byte) { Ok(at + 1) } else { Err((at, RowFault::Syntax)) }
    };
    let start = skip_space(text, expect(at, b'[')?);
    let key_end = skip_value(text, start).map_err(fault_of)?;
    let value_at = skip_space(text, expect(key_end, b',')?);
    let value = scanner.scan(text, value_at, None).map_err(fault_of)?;
    let end = expect(value.end, b']')?;
    let ascii = value.ascii && text[start..key_end].is_ascii();
    let (key, normal) = (start..key_end, value.normal);
    let (moved, value) = (false, value_at..value.end);
    Ok(Found { key, moved, value, normal, ascii, end, does: Does::Put })
}

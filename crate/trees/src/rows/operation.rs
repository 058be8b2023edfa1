//! Operations of a patch: `{"op":"put","key":..,"value":..}`, `{"op":"delete","key":..}`, `{"op":"clear"}` and
//! `{"op":"update","key":..,"merge":{..},"unset":[..],"constrain":[..]}`; and the changes that a diff yields:
//! `{"op":"insert","key":..,"newValue":..}`, `{"op":"update",..}` with the same members, and
//! `{"op":"delete","key":..,"oldValue":..}`. `del`, `add` and `change` are other names of `delete`, `insert` and of an
//! `update` with a `newValue`. Members may come in any order. The last of equal names counts, and members with other
//! names are ignored; but a clear with a key or bounds, an update with a `newValue` and members to merge, and an update
//! with an `oldValue` alone are refused, as a part of them would not count.
//!
//! Changes of an index, which have a `secondary` key, are refused: a deleted entry does not mean that
//! its row was deleted.
//!
//! An update is kept as one text: the number of its row and its offset, 64 bits each, for an error; then the object
//! to merge; the array of names to keep, if any; and, after a [`DROPS`], the array of names to remove, if any; all
//! in normal form.

use super::fault_of;
use crate::error::RowFault;
use crate::json::{JsonFault, Members, Printed, Scanned, Scanner, is_string, skip_value};
use alloc::vec::Vec;
use core::ops::Range;

/// Bytes of an update before its texts.
pub const UPDATE_HEADER_BYTES: usize = 16;

/// Begins the names that an update removes.
pub const DROPS: u8 = b'-';

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    Put,
    Delete,
    Clear,
    Update,
}

/// An operation that was read.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) does: Does,
    /// The text of the key; empty for a clear.
    pub(super) key: Range<usize>,
    /// The text of the value of a put; otherwise empty.
    pub(super) value: Range<usize>,
    /// The value is in normal form; if not, [`Values::normalized`] has it.
    pub(super) normal: bool,
    pub(super) end: usize,
}

/// Scans the values of operations.
#[derive(Debug)]
pub(super) enum Values<'s> {
    /// Text that `JSON.stringify` printed.
    Printed(&'s mut Printed),
    /// Untrusted text.
    Any(&'s mut Scanner),
}

impl Values<'_> {
    fn scan(&mut self, text: &[u8], at: usize) -> Result<Scanned, JsonFault> {
        match self {
            Self::Printed(printed) => printed.scan(None, text, at),
            Self::Any(scanner) => scanner.scan(text, at, None),
        }
    }

    fn normalized(&self) -> &[u8] {
        match self {
            Self::Printed(printed) => printed.normalized(),
            Self::Any(scanner) => scanner.normalized(),
        }
    }
}

const NAMES: [&[u8]; 14] = [
    b"op",
    b"key",
    b"value",
    b"newValue",
    b"merge",
    b"constrain",
    b"unset",
    b"oldValue",
    b"secondary",
    b"prefix",
    b"gt",
    b"gte",
    b"lt",
    b"lte",
];
/// The index of `value` in [`NAMES`].
const VALUE: usize = 2;
/// The index of the first bound in [`NAMES`].
const BOUNDS: usize = 9;

const WORDS: [(&[u8], Does); 8] = [
    (b"put", Does::Put),
    (b"delete", Does::Delete),
    (b"del", Does::Delete),
    (b"update", Does::Update),
    (b"clear", Does::Clear),
    (b"insert", Does::Put),
    (b"add", Does::Put),
    (b"change", Does::Put),
];
/// The index in [`WORDS`] of the first operation that only a diff yields.
const CHANGES: usize = 5;

/// Reads the operation at `at`. Appends the texts of an update to `update`.
pub(super) fn read_operation(
    text: &[u8],
    at: usize,
    mut values: Values<'_>,
    update: &mut Vec<u8>,
) -> Result<Operation, (usize, RowFault)> {
    let mut members = Members::of(text, at, b'{').ok_or((at, RowFault::NoOperation))?;
    let mut found = [const { None }; NAMES.len()];
    let mut normal = true;
    while let Some(start) = members.start().map_err(fault_of)? {
        let (name, value) = members.name(start, &NAMES).map_err(fault_of)?;
        members.at = if name == Some(VALUE) {
            let scanned = values.scan(text, value).map_err(fault_of)?;
            normal = scanned.normal;
            scanned.end
        } else {
            skip_value(text, value).map_err(fault_of)?
        };
        if let Some(name) = name {
            found[name] = Some(value..members.at);
        }
    }
    let bound = found[BOUNDS..].iter().flatten().map(|bound| bound.start).min();
    let [op, key, value, new_value, merge, constrain, unset, old_value, secondary, ..] = found;
    let word = op.as_ref().map_or(&[][..], |op| &text[op.clone()]);
    let Some(which) = WORDS.iter().position(|(other, _)| is_string(word, other)) else {
        return Err((op.map_or(at, |op| op.start), RowFault::NoOperation));
    };
    let mut does = WORDS[which].1;
    if does == Does::Update {
        let merges = merge.is_some() || constrain.is_some() || unset.is_some();
        match &new_value {
            Some(new_value) if merges => return Err((new_value.start, RowFault::UpdateTwice)),
            Some(_) => does = Does::Put,
            // A change of a diff that has lost its value.
            None if old_value.is_some() && !merges => does = Does::Put,
            None => {}
        }
    }
    // A deletion with an old value comes from a diff; any other may have any further members.
    let is_diff = which >= CHANGES || (WORDS[which].1 == Does::Update && does == Does::Put);
    let is_change = is_diff || (does == Does::Delete && old_value.is_some());
    if let Some(secondary) = secondary.filter(|_| is_change) {
        return Err((secondary.start, RowFault::IndexEntry));
    }
    let value = if is_change { new_value } else { value };
    let mut operation = Operation { does, key: at..at, value: at..at, normal, end: members.at };
    if does == Does::Clear {
        if let Some(start) = key.map(|key| key.start).or(bound) {
            return Err((start, RowFault::ClearBounded));
        }
    } else {
        operation.key = key.ok_or((at, RowFault::KeyMissing))?;
    }
    match does {
        Does::Put => {
            operation.value = value.ok_or((at, RowFault::ValueMissing))?;
            if is_change {
                let scanned = values.scan(text, operation.value.start).map_err(fault_of)?;
                operation.normal = scanned.normal;
            }
        }
        Does::Update => {
            read_update(text, [merge, constrain, unset], &mut values, update)?;
        }
        Does::Delete | Does::Clear => {}
    }
    Ok(operation)
}

fn read_update(
    text: &[u8],
    [merge, constrain, unset]: [Option<Range<usize>>; 3],
    values: &mut Values<'_>,
    update: &mut Vec<u8>,
) -> Result<(), (usize, RowFault)> {
    match merge {
        Some(merge) if text[merge.start] != b'{' => {
            return Err((merge.start, RowFault::MergeNotObject));
        }
        Some(merge) => append(text, merge, values, update).map_err(fault_of)?,
        None => update.extend_from_slice(b"{}"),
    }
    for (names, drops) in [(constrain, false), (unset, true)] {
        let Some(names) = names else { continue };
        if !has_names(text, names.start)? {
            continue;
        }
        if drops {
            update.push(DROPS);
        }
        append(text, names, values, update).map_err(fault_of)?;
    }
    Ok(())
}

/// Returns whether the array at `at` has names. Refuses everything else.
fn has_names(text: &[u8], at: usize) -> Result<bool, (usize, RowFault)> {
    let mut names = Members::of(text, at, b'[').ok_or((at, RowFault::NotNames))?;
    let mut found = false;
    while let Some(name) = names.element().map_err(fault_of)? {
        if text[name.start] != b'"' {
            return Err((name.start, RowFault::NotNames));
        }
        found = true;
    }
    Ok(found)
}

/// Appends a value in normal form.
fn append(
    text: &[u8],
    value: Range<usize>,
    values: &mut Values<'_>,
    out: &mut Vec<u8>,
) -> Result<(), JsonFault> {
    let is_normal = values.scan(text, value.start)?.normal;
    out.extend_from_slice(if is_normal { &text[value] } else { values.normalized() });
    Ok(())
}

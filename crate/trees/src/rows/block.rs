//! Rows of a block that the wrapper printed: one JSON array, and byte values beside it.

use super::operation::{Does, read_operation};
use super::{Next, UPDATE_HEADER_BYTES, fault_of, read_key, write_header};
use crate::batch::Edit;
use crate::error::{Error, RowFault};
use crate::json::{Pointer, skip_space, skip_value};
use crate::limits::MAX_VALUE_BYTES;
use crate::value::Kind;
use alloc::vec::Vec;
use core::ops::Range;

/// How the rows of a block are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// `[key, value, key, value, ...]`.
    Pairs,
    /// `[row, row, ...]`, the key of each at a pointer.
    Rows(Pointer),
    /// `[key, key, ...]`: rows to be deleted.
    Deletes,
    /// `[operation, operation, ...]` of a patch.
    Patch,
}

/// A byte value of a block of pairs, where the text holds a place for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteValue {
    /// The row, counted from the first of the block.
    pub row: u32,
    /// Where the bytes start in the block.
    pub start: u32,
    /// Their length.
    pub len: u32,
}

/// Where the text of a key is, and that of its value, if there is one.
type Texts = (Range<usize>, Option<Range<usize>>);

/// See the module's text. JSON values are trusted to be in normal form.
#[derive(Debug)]
pub struct Block {
    prefix: Vec<u8>,
    format: Format,
    bytes: Vec<u8>,
    /// Where the text ends and byte values start.
    text_len: usize,
    values: Vec<ByteValue>,
    next_value: usize,
    row: u32,
    at: usize,
    /// The closing bracket was read.
    closed: bool,
    /// Where the row that was found ends, and whether its value is bytes.
    found: (usize, bool),
    /// The texts of its key and value, until the next one is sought.
    texts: Option<Texts>,
    /// See [`Reader::take_cost`](super::Reader::take_cost).
    pub(super) cost: usize,
    /// What the row that was found does, if it is of a patch.
    does: Option<Does>,
    /// If it is an update, its text.
    update: Vec<u8>,
}

impl Block {
    /// A reader without a block yet. `prefix` is put before every key.
    #[must_use]
    pub const fn new(prefix: Vec<u8>) -> Self {
        Self {
            prefix,
            format: Format::Pairs,
            bytes: Vec::new(),
            text_len: 0,
            values: Vec::new(),
            next_value: 0,
            row: 0,
            at: 0,
            closed: false,
            found: (0, false),
            texts: None,
            cost: 0,
            does: None,
            update: Vec::new(),
        }
    }

    /// Takes back the buffer of the last block, to be filled with the next.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }

    /// Gives the next block: `text_len` bytes of JSON, an array, then the byte values that
    /// `values` names in the order of their rows.
    pub fn feed(
        &mut self,
        bytes: Vec<u8>,
        text_len: usize,
        values: Vec<ByteValue>,
        format: Format,
    ) {
        let (prefix, cost) = (core::mem::take(&mut self.prefix), self.cost);
        let text_len = text_len.min(bytes.len());
        *self = Self { format, bytes, text_len, values, cost, ..Self::new(prefix) };
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.at >= self.text_len
    }

    pub(super) fn peek(&mut self, row: u64, key: &mut Vec<u8>) -> Result<Next<'_>, Error> {
        let bad =
            |(offset, fault): (usize, RowFault)| Error::Row { row, offset: offset as u64, fault };
        if self.texts.is_none() {
            let from = self.at;
            self.texts = self.find().map_err(bad)?;
            self.cost += self.found.0.saturating_sub(from);
        }
        let Some((key_text, mut value)) = self.texts.clone() else { return Ok(Next::More) };
        if self.does == Some(Does::Clear) {
            self.found.1 = false;
            return Ok(Next::Clear);
        }
        read_key(&self.bytes[key_text.clone()], &self.prefix, key)
            .map_err(|fault| bad((key_text.start, fault)))?;
        let byte_value = self.values.get(self.next_value).filter(|value| value.row == self.row);
        let kind = if byte_value.is_some() { Kind::Bytes } else { Kind::Json };
        if let Some(bytes) = byte_value {
            let start = bytes.start as usize;
            value = Some(start..start + bytes.len as usize);
        }
        self.found.1 = byte_value.is_some();
        if self.does == Some(Does::Update) {
            write_header(&mut self.update, row, self.at as u64);
            return Ok(Next::Row(Edit::Update(&self.update)));
        }
        let Some(value) = value else { return Ok(Next::Row(Edit::Delete)) };
        let value = self.bytes.get(value).ok_or_else(|| bad((self.at, RowFault::Syntax)))?;
        if value.len() > MAX_VALUE_BYTES {
            return Err(bad((self.at, RowFault::ValueTooLarge)));
        }
        Ok(Next::Row(Edit::Put(kind, value)))
    }

    pub(super) fn advance(&mut self) {
        let (end, is_bytes) = self.found;
        self.at = end;
        self.texts = None;
        self.next_value += usize::from(is_bytes);
        self.row += 1;
    }

    /// The texts of the next row's key and value; none at the end of the block.
    fn find(&mut self) -> Result<Option<Texts>, (usize, RowFault)> {
        if self.is_spent() {
            let whole = self.text_len == 0 || self.closed;
            return if whole { Ok(None) } else { Err((self.text_len, RowFault::Syntax)) };
        }
        let text = &self.bytes[..self.text_len];
        // The bracket or the comma before the row.
        let mut at = skip_space(text, self.at);
        let opening = self.row == 0 && self.at == 0;
        let closing = match text.get(at) {
            Some(b'[') if opening => {
                at = skip_space(text, at + 1);
                text.get(at) == Some(&b']')
            }
            Some(b',') if !opening => {
                at = skip_space(text, at + 1);
                false
            }
            Some(b']') if !opening => true,
            _ => return Err((at, RowFault::Syntax)),
        };
        if closing {
            let end = skip_space(text, at + 1);
            if end < text.len() {
                return Err((end, RowFault::Syntax));
            }
            (self.at, self.closed) = (text.len(), true);
            return Ok(None);
        }
        let (key, value, end) = match &self.format {
            Format::Deletes => {
                let end = skip_value(text, at).map_err(fault_of)?;
                (at..end, None, end)
            }
            Format::Pairs => {
                let end = skip_value(text, at).map_err(fault_of)?;
                let comma = skip_space(text, end);
                if text.get(comma) != Some(&b',') {
                    return Err((comma, RowFault::Syntax));
                }
                let from = skip_space(text, comma + 1);
                let to = skip_value(text, from).map_err(fault_of)?;
                (at..end, Some(from..to), to)
            }
            Format::Patch => {
                self.update.clear();
                self.update.resize(UPDATE_HEADER_BYTES, 0);
                let operation = read_operation(text, at, None, &mut self.update)?;
                self.does = Some(operation.does);
                let value = (operation.does == Does::Put).then_some(operation.value);
                (operation.key, value, operation.end)
            }
            Format::Rows(pointer) => {
                let (found, end) = pointer.locate(text, at).map_err(fault_of)?;
                (found.ok_or((at, RowFault::KeyMissing))?, Some(at..end), end)
            }
        };
        if let Err(error) = core::str::from_utf8(&text[at..end]) {
            return Err((at + error.valid_up_to(), RowFault::Syntax));
        }
        self.found.0 = end;
        Ok(Some((key, value)))
    }
}

//! Reads the rows of a block that the wrapper printed: one JSON array, followed by byte values.

use super::operation::{Does, Values, read_operation};
use super::{Next, UPDATE_HEADER_BYTES, fault_of, read_key, write_header};
use crate::batch::Edit;
use crate::error::{Error, RowFault};
use crate::json::{Pointer, Printed, skip_space, skip_value};
use crate::value::{Kind, Value};
use alloc::vec::Vec;
use core::ops::Range;

/// The format of the rows of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// `[key, value, key, value, ...]`.
    Pairs,
    /// `[row, row, ...]`, the key of each at a pointer.
    Rows(Pointer),
    /// `[key, key, ...]`: rows to delete.
    Deletes,
    /// `[operation, operation, ...]` of a patch.
    Patch,
}

/// A byte value of a block. The text has a placeholder for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteValue {
    /// The row, counted from the first of the block.
    pub row: u32,
    /// Where the bytes start in the block.
    pub start: u32,
    /// Their length.
    pub len: u32,
}

/// A row that was found: where the texts of its key and, for a put, of its value are.
#[derive(Debug)]
struct Found {
    key: Range<usize>,
    value: Option<Range<usize>>,
    /// The value is in normal form; if not, [`Printed::normalized`] has it.
    normal: bool,
    /// All its bytes are ASCII. May be false even so.
    ascii: bool,
    end: usize,
}

/// Reads the rows of a block that the wrapper printed: one JSON array, followed by byte values.
#[derive(Debug)]
pub struct Block {
    prefix: Vec<u8>,
    format: Format,
    bytes: Vec<u8>,
    /// The length of the text; byte values follow it.
    text_len: usize,
    values: Vec<ByteValue>,
    next_value: usize,
    row: u32,
    at: usize,
    /// The closing bracket was read.
    closed: bool,
    /// The current row, until [`Block::advance`].
    found: Option<Found>,
    /// The value of the current row is bytes.
    is_bytes: bool,
    /// See [`Reader::take_cost`](super::Reader::take_cost).
    pub(super) cost: usize,
    /// The operation of the current row, if it is of a patch.
    does: Option<Does>,
    /// The text of the current row, if it is an update.
    update: Vec<u8>,
    printed: Printed,
}

impl Block {
    /// Makes a reader without a block yet. `prefix` is put before every key.
    #[must_use]
    pub fn new(prefix: Vec<u8>) -> Self {
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
            found: None,
            is_bytes: false,
            cost: 0,
            does: None,
            update: Vec::new(),
            printed: Printed::default(),
        }
    }

    /// Takes back the buffer of the last block, to reuse it for the next.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }

    /// Feeds the next block: `text_len` bytes of JSON, an array, and then the byte values, which `values`
    /// lists in the order of their rows.
    pub fn feed(
        &mut self,
        bytes: Vec<u8>,
        text_len: usize,
        values: Vec<ByteValue>,
        format: Format,
    ) {
        self.text_len = text_len.min(bytes.len());
        (self.bytes, self.values, self.format) = (bytes, values, format);
        (self.next_value, self.row, self.at, self.closed) = (0, 0, 0, false);
        (self.found, self.is_bytes, self.does) = (None, false, None);
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.at >= self.text_len
    }

    pub(super) fn peek(&mut self, row: u64, key: &mut Vec<u8>) -> Result<Next<'_>, Error> {
        let bad =
            |(offset, fault): (usize, RowFault)| Error::Row { row, offset: offset as u64, fault };
        if self.found.is_none() {
            let from = self.at;
            self.found = self.find().map_err(bad)?;
            let end = self.found.as_ref().map_or(from, |found| found.end);
            self.cost += end - from + self.printed.take_cost();
        }
        let Some(Found { key: key_text, value, normal, .. }) = &self.found else {
            return Ok(Next::More);
        };
        if self.does == Some(Does::Clear) {
            self.is_bytes = false;
            return Ok(Next::Clear);
        }
        read_key(&self.bytes[key_text.clone()], &self.prefix, key)
            .map_err(|fault| bad((key_text.start, fault)))?;
        let byte_value = self.values.get(self.next_value).filter(|value| value.row == self.row);
        self.is_bytes = byte_value.is_some();
        if self.does == Some(Does::Update) {
            write_header(&mut self.update, row, self.at as u64);
            return Ok(Next::Row(Edit::Update(&self.update)));
        }
        let (kind, bytes) = if let Some(bytes) = byte_value {
            let start = bytes.start as usize;
            let bytes = self.bytes.get(start..start + bytes.len as usize);
            (Kind::Bytes, bytes.ok_or_else(|| bad((self.at, RowFault::Syntax)))?)
        } else if let Some(text) = value.clone() {
            (Kind::Json, if *normal { &self.bytes[text] } else { self.printed.normalized() })
        } else {
            return Ok(Next::Row(Edit::Delete));
        };
        let value = Value::scanned(kind, bytes);
        Ok(Next::Row(Edit::Put(value.map_err(|_| bad((self.at, RowFault::ValueTooLarge)))?)))
    }

    pub(super) fn advance(&mut self) {
        if let Some(found) = self.found.take() {
            self.at = found.end;
        }
        self.next_value += usize::from(self.is_bytes);
        self.row += 1;
    }

    /// Finds the next row; `None` at the end of the block.
    fn find(&mut self) -> Result<Option<Found>, (usize, RowFault)> {
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
        let found = match &self.format {
            Format::Deletes => {
                let end = skip_value(text, at).map_err(fault_of)?;
                Found { key: at..end, value: None, normal: true, ascii: false, end }
            }
            Format::Pairs => {
                let key_end = skip_value(text, at).map_err(fault_of)?;
                let comma = skip_space(text, key_end);
                if text.get(comma) != Some(&b',') {
                    return Err((comma, RowFault::Syntax));
                }
                let from = skip_space(text, comma + 1);
                let scanned = self.printed.scan(None, text, from).map_err(fault_of)?;
                let (normal, end) = (scanned.normal, scanned.end);
                let ascii = scanned.ascii && text[at..key_end].is_ascii();
                Found { key: at..key_end, value: Some(from..end), normal, ascii, end }
            }
            Format::Patch => {
                self.update.clear();
                self.update.resize(UPDATE_HEADER_BYTES, 0);
                let values = Values::Printed(&mut self.printed);
                let operation = read_operation(text, at, values, &mut self.update)?;
                self.does = Some(operation.does);
                let value = (operation.does == Does::Put).then_some(operation.value);
                let (key, normal, end) = (operation.key, operation.normal, operation.end);
                Found { key, value, normal, ascii: false, end }
            }
            Format::Rows(pointer) => {
                let scanned = self.printed.scan(Some(pointer), text, at).map_err(fault_of)?;
                let key = scanned.found.ok_or((at, RowFault::KeyMissing))?;
                let (normal, ascii, end) = (scanned.normal, scanned.ascii, scanned.end);
                Found { key, value: Some(at..end), normal, ascii, end }
            }
        };
        let end = found.end;
        if !found.ascii
            && let Err(error) = core::str::from_utf8(&text[at..end])
        {
            return Err((at + error.valid_up_to(), RowFault::Syntax));
        }
        Ok(Some(found))
    }
}

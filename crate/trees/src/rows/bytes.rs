//! Reads rows from a stream of bytes, NDJSON or one JSON array, that is cut anywhere into parts.

use super::columns::{Columns, Found};
use super::framer::Framer;
use super::operation::Does;
use super::{Framing, Next, read_key, write_header};
use crate::batch::Edit;
use crate::error::{Error, RowFault};
use crate::value::{Kind, Value};
use alloc::vec::Vec;

/// The largest buffer that is kept from one part to the next, in bytes.
const KEPT_BYTES: usize = 4 << 20;

/// Reads rows from a stream of bytes that is cut anywhere into parts. Feed it through [`Bytes::room`],
/// and call [`Bytes::end`] after the last part.
#[derive(Debug)]
pub struct Bytes {
    prefix: Vec<u8>,
    framer: Framer,
    /// `buffer[at..filled]` is not read yet.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Offset in the stream of the buffer's first byte.
    base: u64,
    ended: bool,
    /// The end of the current row.
    end: usize,
    /// The current row, until [`Bytes::advance`] or [`Bytes::room`].
    found: Option<Found>,
    /// Bytes up to here were added to the cost; see [`Reader::take_cost`](super::Reader::take_cost).
    counted: usize,
    pub(super) cost: usize,
}

impl Bytes {
    /// Makes a reader that detects the framing if it is not given. `prefix` is put before every key.
    #[must_use]
    pub fn new(columns: Columns, framing: Option<Framing>, prefix: Vec<u8>) -> Self {
        Self {
            prefix,
            framer: Framer::new(columns, framing),
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            base: 0,
            ended: false,
            end: 0,
            found: None,
            counted: 0,
            cost: 0,
        }
    }

    /// Returns a buffer for the next `len` bytes, which the caller must fill at once.
    pub fn room(&mut self, len: usize) -> &mut [u8] {
        self.found = None;
        if self.at > 0 {
            self.counted = self.counted.saturating_sub(self.at);
            self.buffer.copy_within(self.at..self.filled, 0);
            self.base += self.at as u64;
            self.filled -= self.at;
            self.framer.drop_front(self.at);
            self.at = 0;
            // Frees the memory of a large row once it is read.
            if self.buffer.len() > KEPT_BYTES.max(2 * (self.filled + len)) {
                self.buffer.truncate(self.filled);
                self.buffer.shrink_to_fit();
            }
        }
        let start = self.filled;
        self.filled += len;
        if self.buffer.len() < self.filled {
            self.buffer.resize(self.filled, 0);
        }
        &mut self.buffer[start..self.filled]
    }

    /// Ends the stream.
    pub const fn end(&mut self) {
        self.ended = true;
    }

    /// Counts the bytes of memory that it takes.
    #[cfg(test)]
    pub(super) const fn held_bytes(&self) -> usize {
        self.buffer.capacity() + self.framer.scanner.held_bytes()
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.at >= self.filled
    }

    pub(super) fn peek(&mut self, row: u64, key: &mut Vec<u8>) -> Result<Next<'_>, Error> {
        if self.found.is_none() {
            match self.find_valid() {
                Ok(found) => self.found = found,
                Err((offset, fault)) => return Err(self.error(row, offset, fault)),
            }
        }
        let Some(found) = &self.found else { return Ok(Next::More) };
        let Found { key: name, moved, value, normal, end, does, .. } = found;
        let (moved, normal, end, does) = (*moved, *normal, *end, *does);
        let text = &self.buffer[..self.filled];
        if does == Does::Clear {
            self.end = end;
            return Ok(Next::Clear);
        }
        let key_text = &(if moved { self.framer.scanner.normalized() } else { text })[name.clone()];
        if let Err(fault) = read_key(key_text, &self.prefix, key) {
            return Err(self.error(row, if moved { self.at } else { name.start }, fault));
        }
        self.end = end;
        if does == Does::Delete {
            return Ok(Next::Row(Edit::Delete));
        }
        if does == Does::Update {
            write_header(&mut self.framer.update, row, self.base + self.at as u64);
            return Ok(Next::Row(Edit::Update(&self.framer.update)));
        }
        let value_text =
            if normal { &text[value.clone()] } else { self.framer.scanner.normalized() };
        let put = Value::scanned(Kind::Json, value_text);
        let put = put.map_err(|_| self.error(row, value.start, RowFault::ValueTooLarge))?;
        Ok(Next::Row(Edit::Put(put)))
    }

    pub(super) fn advance(&mut self) {
        self.at = self.end;
        self.found = None;
        self.framer.advance();
    }

    fn error(&self, row: u64, offset: usize, fault: RowFault) -> Error {
        Error::Row { row, offset: self.base + offset as u64, fault }
    }

    /// Finds the next row, checked to be UTF-8; `None` if it is not complete.
    fn find_valid(&mut self) -> Result<Option<Found>, (usize, RowFault)> {
        let found = self.framer.find(&self.buffer[..self.filled], &mut self.at, self.ended)?;
        let end = found.as_ref().map_or(self.at, |found| found.end);
        self.cost += end.saturating_sub(self.counted) + self.framer.scanner.take_cost();
        self.counted = self.counted.max(end);
        if let Some(Found { ascii: false, end, .. }) = found
            && let Err(error) = core::str::from_utf8(&self.buffer[self.at..end])
        {
            return Err((self.at + error.valid_up_to(), RowFault::Syntax));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Pointer;
    use alloc::string::{String, ToString};

    type Rows = Vec<(String, String)>;

    /// Reads `text` in parts of `part` bytes.
    fn read(text: &[u8], pointer: Option<&str>, part: usize) -> Result<Rows, (u64, u64, RowFault)> {
        let columns = pointer
            .map_or(Columns::Two, |pointer| Columns::Keyed(Pointer::parse(pointer).unwrap()));
        let mut bytes = Bytes::new(columns, None, b"p/".to_vec());
        let mut rows = Rows::new();
        let parts: Vec<&[u8]> = text.chunks(part.max(1)).collect();
        for index in 0..=parts.len() {
            match parts.get(index) {
                Some(part) => bytes.room(part.len()).copy_from_slice(part),
                None => bytes.end(),
            }
            loop {
                let mut key = Vec::new();
                match bytes.peek(rows.len() as u64, &mut key) {
                    Ok(Next::More) => break,
                    Ok(Next::Row(Edit::Put(value))) => {
                        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                        rows.push((text(&key), text(value.bytes())));
                    }
                    Ok(other) => panic!("{other:?}"),
                    Err(Error::Row { row, offset, fault }) => return Err((row, offset, fault)),
                    Err(other) => panic!("{other}"),
                }
                bytes.advance();
            }
        }
        assert!(bytes.is_spent());
        Ok(rows)
    }

    /// Reads `text` in parts of every length, which must make no difference.
    fn read_in_parts(text: &[u8], pointer: Option<&str>) -> Result<Rows, (u64, u64, RowFault)> {
        let whole = read(text, pointer, text.len());
        for part in 1..text.len() {
            assert_eq!(read(text, pointer, part), whole, "in parts of {part} bytes");
        }
        whole
    }

    fn rows(expected: &[(&str, &str)]) -> Rows {
        expected.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn lines_and_arrays_are_detected() {
        let expected = rows(&[("p/a", r#"{"id":"a"}"#), ("p/é", r#"{"id":"é","n":[1,2]}"#)]);
        for text in [
            "{\"id\":\"a\"}\n{\"id\":\"é\",\"n\":[1,2]}\n",
            "{\"id\":\"a\"}\n{\"id\":\"é\",\"n\":[1,2]}",
            "\u{feff}{\"id\":\"a\"}\r\n\r\n \t\n{ \"id\": \"\\u00e9\", \"n\": [1, 2.0] } \r\n\n",
            "[{\"id\":\"a\"},{\"id\":\"é\",\"n\":[1,2]}]",
            "\u{feff} [ { \"id\" : \"a\" } ,\n{\"id\":\"\\u00E9\",\"n\":[1,2]}\n]\n",
        ] {
            assert_eq!(read_in_parts(text.as_bytes(), Some("/id")), Ok(expected.clone()), "{text}");
        }
        for text in ["", " \n", "[]", " [ ]\n", "\u{feff}"] {
            assert_eq!(read_in_parts(text.as_bytes(), Some("/id")), Ok(Rows::new()), "{text}");
        }
    }

    #[test]
    fn an_empty_text_has_no_rows_in_any_framing() {
        for framing in [None, Some(Framing::Lines), Some(Framing::Array)] {
            for text in ["", " \r\n\t", "\u{feff}", "\u{feff} \n"] {
                let mut bytes = Bytes::new(Columns::Two, framing, Vec::new());
                bytes.room(text.len()).copy_from_slice(text.as_bytes());
                bytes.end();
                let next = bytes.peek(0, &mut Vec::new());
                assert!(matches!(next, Ok(Next::More)), "{framing:?} {text:?}: {next:?}");
                assert!(bytes.is_spent());
            }
        }
    }

    #[test]
    fn two_columns_in_lines_and_in_an_array() {
        let expected = rows(&[("p/a", "1"), ("p/b", "[true]"), ("p/c", "\"x\"")]);
        for text in [
            "[\"a\",1]\n[\"b\",[true]]\n[\"c\",\"x\"]",
            "[[\"a\",1],[\"b\",[true]],[\"c\",\"x\"]]",
            "[ [ \"a\" , 1.0 ] , [\"b\", [ true ] ],\n[\"\\u0063\",\"x\"] ]",
        ] {
            assert_eq!(read_in_parts(text.as_bytes(), None), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn a_key_is_found_by_a_pointer_of_several_names() {
        let text = "{\"a\":{\"b\":[0,\"k\"]}}\n[{\"a\":1}]";
        let expected = rows(&[("p/k", "{\"a\":{\"b\":[0,\"k\"]}}")]);
        let first = text.lines().next().unwrap();
        assert_eq!(read_in_parts(first.as_bytes(), Some("/a/b/1")), Ok(expected));
        let missing = read_in_parts(text.as_bytes(), Some("/a/b/1"));
        assert_eq!(missing, Err((1, 20, RowFault::KeyMissing)));
    }

    #[test]
    fn malformed_bytes_are_refused_at_their_first_fault() {
        for (text, row, offset, fault) in [
            ("{\"id\":\"a\"}\n{\"id\":", 1, 17, RowFault::Syntax),
            ("{\"id\":\"a\"}\n{\"id\":\n\"b\"}", 1, 17, RowFault::Syntax),
            ("{\"id\":\"a\"} x\n", 0, 11, RowFault::Syntax),
            ("{\"id\":\"a\"}{\"id\":\"b\"}\n", 0, 10, RowFault::Syntax),
            ("[{\"id\":\"a\"},]", 1, 12, RowFault::Syntax),
            ("[{\"id\":\"a\"}", 1, 11, RowFault::Syntax),
            ("[{\"id\":\"a\"", 0, 10, RowFault::Syntax),
            ("[{\"id\":\"a\"}] {", 1, 13, RowFault::Syntax),
            ("[{\"id\":\"a\"} {", 1, 12, RowFault::Syntax),
            ("[{\"id\":\"a\"},\"", 1, 13, RowFault::Syntax),
            ("{\"id\":5}\n", 0, 6, RowFault::KeyNotString),
            ("{\"x\":5}\n", 0, 0, RowFault::KeyMissing),
            ("\n{\"id\":\"\\ud800\"}", 0, 7, RowFault::KeyLoneSurrogate),
            ("nonsense", 0, 1, RowFault::Syntax),
        ] {
            let got = read_in_parts(text.as_bytes(), Some("/id"));
            assert_eq!(got, Err((row, offset, fault)), "{text}");
        }
        let invalid = b"{\"id\":\"a\"}\n{\"id\":\"\xff\"}";
        assert_eq!(read_in_parts(invalid, Some("/id")), Err((1, 18, RowFault::Syntax)));
        for (text, offset) in [("[\"a\"]\n", 4), ("[\"a\",1,2]", 6), ("\"a\"", 0), ("[[\"a\"]]", 5)]
        {
            let got = read_in_parts(text.as_bytes(), None);
            assert_eq!(got, Err((0, offset, RowFault::Syntax)), "{text}");
        }
    }
}

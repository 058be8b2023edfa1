//! Rows from a stream of bytes that comes in parts, cut anywhere: NDJSON, or one JSON array.

use super::columns::{Columns, Found, read_row};
use super::framing::Finder;
use super::operation::Does;
use super::{Framing, Next, read_key, write_header};
use crate::batch::Edit;
use crate::error::{Error, RowFault};
use crate::json::{Scanner, skip_space};
use crate::limits::MAX_ROW_TEXT_BYTES;
use crate::value::{Kind, Value};
use alloc::vec::Vec;

/// Memory that is kept from one part to the next, in bytes.
const KEPT_BYTES: usize = 4 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What comes next in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// A byte order mark, perhaps.
    Mark,
    /// What tells the framing.
    Start,
    /// A row of a line, or of an array after a comma.
    Row,
    /// The first row of an array, or its end.
    RowOrEnd,
    CommaOrEnd,
    /// After the end of an array.
    Nothing,
}

/// Rows from a stream of bytes that comes in parts, cut anywhere. Feed it through [`Bytes::room`],
/// and [`Bytes::end`] it.
#[derive(Debug)]
pub struct Bytes {
    columns: Columns,
    prefix: Vec<u8>,
    framing: Option<Framing>,
    expected: Expected,
    /// What was not read yet is `buffer[at..filled]`.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Offset in the stream of the buffer's first byte.
    base: u64,
    ended: bool,
    /// No line ends before this place; and before the first row, all from `at` to this place
    /// was looked at.
    searched: usize,
    /// Of the row at `at`, if it was found incomplete.
    finder: Option<Finder>,
    scanner: Scanner,
    /// Where the row that was found ends.
    end: usize,
    /// If it is an update, its text.
    update: Vec<u8>,
    /// The row that was found, until the next one is sought or there are more bytes.
    found: Option<Found>,
    /// So far bytes were counted; see [`Reader::take_cost`](super::Reader::take_cost).
    counted: usize,
    pub(super) cost: usize,
}

impl Bytes {
    /// A reader that finds out the framing if it is not given. `prefix` is put before every
    /// key.
    #[must_use]
    pub fn new(columns: Columns, framing: Option<Framing>, prefix: Vec<u8>) -> Self {
        Self {
            columns,
            prefix,
            framing,
            expected: Expected::Mark,
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            base: 0,
            ended: false,
            searched: 0,
            finder: None,
            scanner: Scanner::default(),
            end: 0,
            update: Vec::new(),
            found: None,
            counted: 0,
            cost: 0,
        }
    }

    /// Room for `len` bytes more, which the caller fills before anything else.
    pub fn room(&mut self, len: usize) -> &mut [u8] {
        self.found = None;
        if self.at > 0 {
            self.counted = self.counted.saturating_sub(self.at);
            self.buffer.copy_within(self.at..self.filled, 0);
            self.base += self.at as u64;
            self.filled -= self.at;
            self.searched = self.searched.saturating_sub(self.at);
            self.at = 0;
            // What a large row took is given back once it is read.
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

    /// There are no more bytes.
    pub const fn end(&mut self) {
        self.ended = true;
    }

    /// Bytes of memory that it holds.
    #[cfg(test)]
    pub(super) const fn held_bytes(&self) -> usize {
        self.buffer.capacity() + self.scanner.held_bytes()
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
        let key_text = &(if moved { self.scanner.normalized() } else { text })[name.clone()];
        if let Err(fault) = read_key(key_text, &self.prefix, key) {
            return Err(self.error(row, if moved { self.at } else { name.start }, fault));
        }
        self.end = end;
        if does == Does::Delete {
            return Ok(Next::Row(Edit::Delete));
        }
        if does == Does::Update {
            write_header(&mut self.update, row, self.base + self.at as u64);
            return Ok(Next::Row(Edit::Update(&self.update)));
        }
        let value_text = if normal { &text[value.clone()] } else { self.scanner.normalized() };
        let put = Value::scanned(Kind::Json, value_text);
        let put = put.map_err(|_| self.error(row, value.start, RowFault::ValueTooLarge))?;
        Ok(Next::Row(Edit::Put(put)))
    }

    pub(super) fn advance(&mut self) {
        self.at = self.end;
        self.found = None;
        self.finder = None;
        if self.framing == Some(Framing::Array) {
            self.expected = Expected::CommaOrEnd;
        }
    }

    fn error(&self, row: u64, offset: usize, fault: RowFault) -> Error {
        Error::Row { row, offset: self.base + offset as u64, fault }
    }

    /// The next row, where it is complete and UTF-8.
    fn find_valid(&mut self) -> Result<Option<Found>, (usize, RowFault)> {
        let found = self.find()?;
        let end = found.as_ref().map_or(self.at, |found| found.end);
        self.cost += end.saturating_sub(self.counted) + self.scanner.take_cost();
        self.counted = self.counted.max(end);
        if let Some(Found { ascii: false, end, .. }) = found
            && let Err(error) = core::str::from_utf8(&self.buffer[self.at..end])
        {
            return Err((self.at + error.valid_up_to(), RowFault::Syntax));
        }
        Ok(found)
    }

    /// The next row, where it is complete; moves `at` to its start.
    fn find(&mut self) -> Result<Option<Found>, (usize, RowFault)> {
        if let Expected::Mark | Expected::Start = self.expected
            && !self.start()?
        {
            return Ok(None);
        }
        match self.framing {
            Some(Framing::Array) => self.find_in_array(),
            _ => self.find_line(),
        }
    }

    /// Passes over what precedes the first row, when enough has come to tell.
    fn start(&mut self) -> Result<bool, (usize, RowFault)> {
        let text = &self.buffer[..self.filled];
        if self.expected == Expected::Mark {
            let rest = &text[self.at..];
            if rest.starts_with(BYTE_ORDER_MARK) {
                self.at += BYTE_ORDER_MARK.len();
            } else if BYTE_ORDER_MARK.starts_with(rest) && !self.ended {
                return Ok(false);
            }
            self.expected = Expected::Start;
        }
        self.at = skip_space(text, self.at);
        let first = text.get(self.at).copied();
        self.searched = skip_space(text, self.searched.max(self.at + 1).min(self.filled));
        let second = text.get(self.searched).copied();
        let is_told = match first {
            None => self.ended,
            Some(b'[') => self.ended || self.framing.is_some() || second.is_some(),
            Some(_) => true,
        };
        if !is_told {
            return Ok(false);
        }
        let framing = match (self.framing, first) {
            // No text at all holds no rows, whatever it was to be.
            (_, None) => Framing::Lines,
            (Some(framing), _) => framing,
            (None, _) => Framing::detect(first, second),
        };
        self.framing = Some(framing);
        self.searched = self.at;
        self.expected = Expected::Row;
        if framing == Framing::Array {
            if first != Some(b'[') {
                return Err((self.at, RowFault::Syntax));
            }
            self.at += 1;
            self.expected = Expected::RowOrEnd;
        }
        Ok(true)
    }

    fn find_line(&mut self) -> Result<Option<Found>, (usize, RowFault)> {
        loop {
            let from = self.searched.max(self.at);
            let feed = memchr::memchr(b'\n', &self.buffer[from..self.filled]);
            let end = feed.map_or(self.filled, |length| from + length);
            self.searched = end;
            let line = &self.buffer[..end];
            self.at = skip_space(line, self.at);
            if end - self.at > MAX_ROW_TEXT_BYTES {
                return Err((self.at, RowFault::ValueTooLarge));
            }
            if feed.is_none() && (!self.ended || self.at == end) {
                return Ok(None);
            }
            if self.at == end {
                self.at = end + 1;
                continue;
            }
            let mut found =
                read_row(&mut self.scanner, &self.columns, &mut self.update, line, self.at)?;
            let after = skip_space(line, found.end);
            if after < end {
                return Err((after, RowFault::Syntax));
            }
            found.end = (end + 1).min(self.filled);
            return Ok(Some(found));
        }
    }

    fn find_in_array(&mut self) -> Result<Option<Found>, (usize, RowFault)> {
        loop {
            let text = &self.buffer[..self.filled];
            self.at = skip_space(text, self.at);
            let Some(&byte) = text.get(self.at) else {
                let missing = self.ended && self.expected != Expected::Nothing;
                return if missing { Err((self.at, RowFault::Syntax)) } else { Ok(None) };
            };
            match (self.expected, byte) {
                (Expected::RowOrEnd | Expected::CommaOrEnd, b']') => {
                    self.expected = Expected::Nothing;
                    self.at += 1;
                }
                (Expected::CommaOrEnd, b',') => {
                    self.expected = Expected::Row;
                    self.at += 1;
                }
                (Expected::Row | Expected::RowOrEnd, _) => return self.find_element(byte),
                _ => return Err((self.at, RowFault::Syntax)),
            }
        }
    }

    fn find_element(&mut self, first: u8) -> Result<Option<Found>, (usize, RowFault)> {
        // What would be too long is not looked at, so that the answer is the same however
        // much of it has come.
        let end = self.filled.min(self.at + MAX_ROW_TEXT_BYTES);
        let is_full = end < self.filled;
        let text = &self.buffer[..end];
        // Where a number ends is told by what follows it.
        if !matches!(first, b'{' | b'[' | b'"') {
            self.finder.get_or_insert_default();
        }
        if let Some(finder) = &mut self.finder
            && !(self.ended || is_full || finder.is_complete(&text[self.at..]))
        {
            return Ok(None);
        }
        match read_row(&mut self.scanner, &self.columns, &mut self.update, text, self.at) {
            Err((offset, _)) if offset >= end && is_full => Err((self.at, RowFault::ValueTooLarge)),
            Err((offset, _)) if offset >= end && !self.ended => {
                self.finder.get_or_insert_default().is_complete(&text[self.at..]);
                Ok(None)
            }
            result => result.map(Some),
        }
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
    fn lines_and_arrays_are_told_apart() {
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
    fn no_text_at_all_holds_no_rows_in_any_framing() {
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
    fn a_pointer_goes_as_deep_as_it_says() {
        let text = "{\"a\":{\"b\":[0,\"k\"]}}\n[{\"a\":1}]";
        let expected = rows(&[("p/k", "{\"a\":{\"b\":[0,\"k\"]}}")]);
        let first = text.lines().next().unwrap();
        assert_eq!(read_in_parts(first.as_bytes(), Some("/a/b/1")), Ok(expected));
        let missing = read_in_parts(text.as_bytes(), Some("/a/b/1"));
        assert_eq!(missing, Err((1, 20, RowFault::KeyMissing)));
    }

    #[test]
    fn malformed_bytes_are_refused_where_they_go_wrong() {
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

//! Finds the rows in a text that grows: one on each line, or the elements of one array.

use super::columns::{Columns, Found, read_row};
use super::framing::{Finder, Framing};
use crate::error::RowFault;
use crate::json::{Scanner, skip_space};
use crate::limits::MAX_ROW_TEXT_BYTES;
use alloc::vec::Vec;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The next thing in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// A byte order mark, if there is one.
    Mark,
    /// The first bytes, which decide the framing.
    Start,
    /// A row: on a line, or in an array after a comma.
    Row,
    /// The first row of an array, or its end.
    RowOrEnd,
    CommaOrEnd,
    /// After the end of an array.
    Nothing,
}

/// A fault, and its offset in the text.
type Fault = (usize, RowFault);

/// Finds the rows in a text that grows at its end, and whose front is dropped once it is read.
#[derive(Debug)]
pub(super) struct Framer {
    columns: Columns,
    framing: Option<Framing>,
    expected: Expected,
    /// No line ends before this offset. Before the first row, the text up to this offset is white space.
    searched: usize,
    /// Finds the end of the next row, if that was incomplete.
    finder: Option<Finder>,
    /// Has the value of the current row, if that had to be rewritten.
    pub(super) scanner: Scanner,
    /// The text of the current row, if it is an update.
    pub(super) update: Vec<u8>,
}

impl Framer {
    pub(super) fn new(columns: Columns, framing: Option<Framing>) -> Self {
        Self {
            columns,
            framing,
            expected: Expected::Mark,
            searched: 0,
            finder: None,
            scanner: Scanner::default(),
            update: Vec::new(),
        }
    }

    /// Records that the first `len` bytes of the text were dropped.
    pub(super) const fn drop_front(&mut self, len: usize) {
        self.searched = self.searched.saturating_sub(len);
    }

    /// Continues after the current row.
    pub(super) fn advance(&mut self) {
        self.finder = None;
        if self.framing == Some(Framing::Array) {
            self.expected = Expected::CommaOrEnd;
        }
    }

    /// Finds the next row of `text`, searched from `at`, if it is complete; moves `at` to its start. `text` begins
    /// with the text of the last call, without what was dropped since. `ended` says that the text is complete.
    pub(super) fn find(
        &mut self,
        text: &[u8],
        at: &mut usize,
        ended: bool,
    ) -> Result<Option<Found>, Fault> {
        if let Expected::Mark | Expected::Start = self.expected
            && !self.start(text, at, ended)?
        {
            return Ok(None);
        }
        match self.framing {
            Some(Framing::Array) => self.find_in_array(text, at, ended),
            _ => self.find_line(text, at, ended),
        }
    }

    /// Skips the text before the first row. Returns `false` if more text is needed to detect the framing.
    fn start(&mut self, text: &[u8], at: &mut usize, ended: bool) -> Result<bool, Fault> {
        if self.expected == Expected::Mark {
            let rest = &text[*at..];
            if rest.starts_with(BYTE_ORDER_MARK) {
                *at += BYTE_ORDER_MARK.len();
            } else if BYTE_ORDER_MARK.starts_with(rest) && !ended {
                return Ok(false);
            }
            self.expected = Expected::Start;
        }
        *at = skip_space(text, *at);
        let first = text.get(*at).copied();
        self.searched = skip_space(text, self.searched.max(*at + 1).min(text.len()));
        let second = text.get(self.searched).copied();
        let is_known = match first {
            None => ended,
            Some(b'[') => ended || self.framing.is_some() || second.is_some(),
            Some(_) => true,
        };
        if !is_known {
            return Ok(false);
        }
        let framing = match (self.framing, first) {
            // An empty text has no rows in any framing.
            (_, None) => Framing::Lines,
            (Some(framing), _) => framing,
            (None, _) => Framing::detect(first, second),
        };
        self.framing = Some(framing);
        self.searched = *at;
        self.expected = Expected::Row;
        if framing == Framing::Array {
            if first != Some(b'[') {
                return Err((*at, RowFault::Syntax));
            }
            *at += 1;
            self.expected = Expected::RowOrEnd;
        }
        Ok(true)
    }

    fn find_line(
        &mut self,
        text: &[u8],
        at: &mut usize,
        ended: bool,
    ) -> Result<Option<Found>, Fault> {
        loop {
            let from = self.searched.max(*at);
            let feed = memchr::memchr(b'\n', &text[from..]);
            let end = feed.map_or(text.len(), |length| from + length);
            self.searched = end;
            let line = &text[..end];
            *at = skip_space(line, *at);
            if end - *at > MAX_ROW_TEXT_BYTES {
                return Err((*at, RowFault::ValueTooLarge));
            }
            if feed.is_none() && (!ended || *at == end) {
                return Ok(None);
            }
            if *at == end {
                *at = end + 1;
                continue;
            }
            let mut found =
                read_row(&mut self.scanner, &self.columns, &mut self.update, line, *at)?;
            let after = skip_space(line, found.end);
            if after < end {
                return Err((after, RowFault::Syntax));
            }
            found.end = (end + 1).min(text.len());
            return Ok(Some(found));
        }
    }

    fn find_in_array(
        &mut self,
        text: &[u8],
        at: &mut usize,
        ended: bool,
    ) -> Result<Option<Found>, Fault> {
        loop {
            *at = skip_space(text, *at);
            let Some(&byte) = text.get(*at) else {
                let missing = ended && self.expected != Expected::Nothing;
                return if missing { Err((*at, RowFault::Syntax)) } else { Ok(None) };
            };
            match (self.expected, byte) {
                (Expected::RowOrEnd | Expected::CommaOrEnd, b']') => {
                    self.expected = Expected::Nothing;
                    *at += 1;
                }
                (Expected::CommaOrEnd, b',') => {
                    self.expected = Expected::Row;
                    *at += 1;
                }
                (Expected::Row | Expected::RowOrEnd, _) => {
                    return self.find_element(text, *at, ended);
                }
                _ => return Err((*at, RowFault::Syntax)),
            }
        }
    }

    fn find_element(
        &mut self,
        text: &[u8],
        at: usize,
        ended: bool,
    ) -> Result<Option<Found>, Fault> {
        // Text beyond the limit is ignored, so that the result does not depend on how much has arrived.
        let end = text.len().min(at + MAX_ROW_TEXT_BYTES);
        let is_full = end < text.len();
        let text = &text[..end];
        // A number or a word is complete only when another byte follows.
        if !matches!(text[at], b'{' | b'[' | b'"') {
            self.finder.get_or_insert_default();
        }
        if let Some(finder) = &mut self.finder
            && !(ended || is_full || finder.is_complete(&text[at..]))
        {
            return Ok(None);
        }
        match read_row(&mut self.scanner, &self.columns, &mut self.update, text, at) {
            Err((offset, _)) if offset >= end && is_full => Err((at, RowFault::ValueTooLarge)),
            Err((offset, _)) if offset >= end && !ended => {
                self.finder.get_or_insert_default().is_complete(&text[at..]);
                Ok(None)
            }
            result => result.map(Some),
        }
    }
}

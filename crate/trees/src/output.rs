//! The output of reads for JavaScript: blocks of JSON text, each parsed by one `JSON.parse`.
//!
//! Stored values have a text of their own, apart from keys and other members that the core writes. The
//! core does not parse values when it reads them. If one is not valid JSON, it can only break the text
//! of values: it cannot add a key to the other text. A byte value is a `0` in the text, and a mark says
//! where its bytes are in a third block.

use crate::json::push_string;
use crate::value::Kind;
use alloc::vec::Vec;

/// A byte value in an [`Output`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its index among the values.
    pub value: u32,
    /// Where it starts in the block of bytes.
    pub start: u32,
    /// Its length.
    pub len: u32,
}

/// The placeholder of a value among keys.
const VALUE: &[u8] = b"null";

/// The output of reads for JavaScript: blocks of JSON text, each parsed by one `JSON.parse`.
#[derive(Debug, Default)]
pub struct Output {
    /// All members, with `null` for each value; empty if there are only values. It is an array, without
    /// its closing bracket until [`Output::close`].
    pub keys: Vec<u8>,
    /// The values, as an array like `keys`.
    pub text: Vec<u8>,
    /// The byte values, concatenated.
    pub bytes: Vec<u8>,
    /// Where the byte values are.
    pub marks: Vec<Mark>,
    members: u32,
    values: u32,
    partial: bool,
    closed: bool,
}

#[inline(never)]
fn separate(text: &mut Vec<u8>) {
    text.push(if text.is_empty() { b'[' } else { b',' });
}

impl Output {
    /// Makes an empty output.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties it, and keeps its memory.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.text.clear();
        self.bytes.clear();
        self.marks.clear();
        (self.members, self.values) = (0, 0);
        (self.partial, self.closed) = (false, false);
    }

    /// Empties it if it was closed, as its members were then handed out.
    pub fn reopen(&mut self) {
        if self.closed {
            self.clear();
        }
    }

    /// Adds a member that the core writes itself, the JSON text that `append` writes.
    pub fn say(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        if self.keys.is_empty() {
            for _ in 0..self.members {
                self.add_place();
            }
        }
        separate(&mut self.keys);
        append(&mut self.keys);
        self.members += 1;
    }

    /// Adds the placeholder of a value among the other members.
    fn add_place(&mut self) {
        separate(&mut self.keys);
        self.keys.extend_from_slice(VALUE);
    }

    /// Adds a key.
    pub fn key(&mut self, key: &[u8]) {
        self.say(|text| push_string(text, key));
    }

    /// Adds a value; `append` writes its bytes.
    pub fn value<T>(&mut self, kind: Kind, append: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        if !self.keys.is_empty() {
            self.add_place();
        }
        separate(&mut self.text);
        self.members += 1;
        self.values += 1;
        match kind {
            Kind::Json => append(&mut self.text),
            Kind::Bytes => {
                self.text.push(b'0');
                let start = self.bytes.len();
                let result = append(&mut self.bytes);
                let (start, len) = (start as u32, (self.bytes.len() - start) as u32);
                self.marks.push(Mark { value: self.values - 1, start, len });
                result
            }
        }
    }

    /// Starts a value whose bytes come in parts: they go to [`Output::part`], and [`Output::end`]
    /// ends it.
    pub fn begin(&mut self, kind: Kind) {
        self.value(kind, |_| ());
        self.partial = true;
    }

    /// Returns the buffer for the bytes of a value that was begun.
    pub const fn part(&mut self, kind: Kind) -> &mut Vec<u8> {
        match kind {
            Kind::Json => &mut self.text,
            Kind::Bytes => &mut self.bytes,
        }
    }

    /// Ends a value begun with [`Output::begin`].
    pub fn end(&mut self, kind: Kind) {
        self.partial = false;
        if kind == Kind::Bytes
            && let Some(mark) = self.marks.last_mut()
        {
            mark.len = self.bytes.len() as u32 - mark.start;
        }
    }

    /// Returns whether it ends in the middle of a value, so that it cannot be handed out yet.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        self.partial
    }

    /// Ends the arrays.
    pub fn close(&mut self) {
        if self.text.is_empty() {
            self.text.push(b'[');
        }
        self.text.push(b']');
        if !self.keys.is_empty() {
            self.keys.push(b']');
        }
        self.closed = true;
    }

    /// Returns the number of members: keys, values and others.
    #[must_use]
    pub const fn members(&self) -> u32 {
        self.members
    }

    /// Returns the number of values among them.
    #[must_use]
    pub const fn values(&self) -> u32 {
        self.values
    }

    /// Counts the bytes of all blocks.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.keys.len() + self.text.len() + self.bytes.len()
    }

    /// Returns whether it has no members.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(out: &mut Output) -> (&[u8], &[u8]) {
        out.close();
        (&out.keys, &out.text)
    }

    #[test]
    fn keys_and_values_have_texts_of_their_own() {
        let mut out = Output::new();
        for key in [b"a", b"b"] {
            out.key(key);
            out.value(Kind::Json, |text| text.extend_from_slice(b"[1"));
        }
        assert_eq!((out.members(), out.values()), (4, 2));
        assert_eq!(texts(&mut out), (&br#"["a",null,"b",null]"#[..], &b"[[1,[1]"[..]));
    }

    #[test]
    fn values_alone_need_no_places() {
        let mut out = Output::new();
        out.value(Kind::Json, |text| text.push(b'1'));
        out.value(Kind::Bytes, |bytes| bytes.extend_from_slice(b"xy"));
        assert_eq!(out.marks, [Mark { value: 1, start: 0, len: 2 }]);
        assert_eq!(texts(&mut out), (&b""[..], &b"[1,0]"[..]));
        out.reopen();
        assert_eq!(texts(&mut out), (&b""[..], &b"[]"[..]));
    }

    #[test]
    fn values_before_other_members_get_their_places() {
        let mut out = Output::new();
        for at in 0..2 {
            out.value(Kind::Json, |text| text.push(b'1'));
            out.say(|text| text.push(b'a' + at));
        }
        assert_eq!(texts(&mut out), (&b"[null,a,null,b]"[..], &b"[1,1]"[..]));
    }

    #[test]
    fn it_is_partial_from_the_beginning_of_a_value_to_its_end() {
        let mut out = Output::new();
        for kind in [Kind::Json, Kind::Bytes] {
            out.begin(kind);
            assert!(out.is_partial());
            out.part(kind).extend_from_slice(b"12");
            out.end(kind);
            assert!(!out.is_partial());
        }
        assert_eq!(out.marks, [Mark { value: 1, start: 0, len: 2 }]);
        assert_eq!(texts(&mut out), (&b""[..], &b"[12,0]"[..]));
    }
}

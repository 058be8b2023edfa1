//! What reads hand to JavaScript: one block of JSON text that a single `JSON.parse` reads.
//!
//! The text is one flat array. Byte values cannot be JSON: a `0` holds their place, and a
//! mark tells where their bytes lie in a second block.

use crate::json::push_string;
use crate::value::Kind;
use alloc::vec::Vec;

/// A byte value in an [`Output`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its index in the array.
    pub member: u32,
    /// Where it starts in the block of bytes.
    pub start: u32,
    /// Its length.
    pub len: u32,
}

/// See the module's text.
#[derive(Debug, Default)]
pub struct Output {
    /// The array, without its closing bracket until [`Output::close`].
    pub text: Vec<u8>,
    /// The byte values, one after the other.
    pub bytes: Vec<u8>,
    /// Where they are.
    pub marks: Vec<Mark>,
    members: u32,
    closed: bool,
}

impl Output {
    /// An empty array.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes it an empty array again, keeping its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.bytes.clear();
        self.marks.clear();
        self.members = 0;
        self.closed = false;
    }

    /// Makes it an empty array again if it was closed, and handed out with that.
    pub fn reopen(&mut self) {
        if self.closed {
            self.clear();
        }
    }

    fn separate(&mut self) {
        self.text.push(if self.members == 0 { b'[' } else { b',' });
        self.members += 1;
    }

    /// Adds a key.
    pub fn key(&mut self, key: &[u8]) {
        self.separate();
        push_string(&mut self.text, key);
    }

    /// Adds a value of which `append` writes the bytes.
    pub fn value<T>(&mut self, kind: Kind, append: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.separate();
        match kind {
            Kind::Json => append(&mut self.text),
            Kind::Bytes => {
                self.text.push(b'0');
                let start = self.bytes.len();
                let result = append(&mut self.bytes);
                let (start, len) = (start as u32, (self.bytes.len() - start) as u32);
                self.marks.push(Mark { member: self.members - 1, start, len });
                result
            }
        }
    }

    /// Starts a value whose bytes come in parts: they go to [`Output::part`], and
    /// [`Output::end`] ends it.
    pub fn begin(&mut self, kind: Kind) {
        self.value(kind, |_| ());
    }

    /// Where the bytes of a value begun go.
    pub const fn part(&mut self, kind: Kind) -> &mut Vec<u8> {
        match kind {
            Kind::Json => &mut self.text,
            Kind::Bytes => &mut self.bytes,
        }
    }

    /// Ends a value begun with [`Output::begin`].
    pub fn end(&mut self, kind: Kind) {
        if kind == Kind::Bytes
            && let Some(mark) = self.marks.last_mut()
        {
            mark.len = self.bytes.len() as u32 - mark.start;
        }
    }

    /// Ends the array.
    pub fn close(&mut self) {
        if self.members == 0 {
            self.text.push(b'[');
        }
        self.text.push(b']');
        self.closed = true;
    }

    /// Number of members.
    #[must_use]
    pub const fn members(&self) -> u32 {
        self.members
    }

    /// Bytes of both blocks.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.text.len() + self.bytes.len()
    }

    /// Whether it has no member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members == 0
    }
}

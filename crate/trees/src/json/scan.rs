//! Finds where a JSON value ends, checking its grammar on the way (RFC 8259).

use crate::json::number::skip_number;
use crate::json::string::scan_string;
use crate::limits::MAX_JSON_DEPTH;

/// Why a text is not a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// The byte at this offset cannot stand there, or the text ends there.
    Syntax(usize),
    /// A container at this offset is nested deeper than
    /// [`MAX_JSON_DEPTH`](crate::limits::MAX_JSON_DEPTH).
    TooDeep(usize),
}

/// The containers around a place: a bit each, set for an object.
struct Nesting {
    bits: [u64; MAX_JSON_DEPTH / 64],
    depth: usize,
}

impl Nesting {
    const fn new() -> Self {
        Self { bits: [0; MAX_JSON_DEPTH / 64], depth: 0 }
    }

    const fn depth(&self) -> usize {
        self.depth
    }

    const fn pop(&mut self) {
        self.depth -= 1;
    }

    fn push(&mut self, object: bool, at: usize) -> Result<(), JsonFault> {
        if self.depth == MAX_JSON_DEPTH {
            return Err(JsonFault::TooDeep(at));
        }
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        if object {
            self.bits[word] |= bit;
        } else {
            self.bits[word] &= !bit;
        }
        self.depth += 1;
        Ok(())
    }

    const fn in_object(&self) -> bool {
        let top = self.depth - 1;
        self.bits[top / 64] & (1 << (top % 64)) != 0
    }
}

/// The offset of the first byte from `at` on that is not white space.
#[must_use]
pub fn skip_space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

pub(super) fn expect(text: &[u8], at: usize, byte: u8) -> Result<usize, JsonFault> {
    if text.get(at) == Some(&byte) { Ok(at + 1) } else { Err(JsonFault::Syntax(at)) }
}

/// The offset after the value that starts at `at`. Costs one pass over it.
///
/// # Errors
/// The first fault.
#[inline(never)]
pub fn skip_value(text: &[u8], at: usize) -> Result<usize, JsonFault> {
    let mut nesting = Nesting::new();
    let mut at = skip_space(text, at);
    loop {
        match text.get(at) {
            Some(b'"') => at = skip_string(text, at)?,
            Some(b'{') => {
                let inside = skip_space(text, at + 1);
                if text.get(inside) == Some(&b'}') {
                    at = inside + 1;
                } else {
                    nesting.push(true, at)?;
                    at = skip_name(text, inside)?;
                    continue;
                }
            }
            Some(b'[') => {
                let inside = skip_space(text, at + 1);
                if text.get(inside) == Some(&b']') {
                    at = inside + 1;
                } else {
                    nesting.push(false, at)?;
                    at = inside;
                    continue;
                }
            }
            Some(b'-' | b'0'..=b'9') => at = skip_number(text, at)?.end,
            Some(b't') => at = skip_word(text, at, b"true")?,
            Some(b'f') => at = skip_word(text, at, b"false")?,
            Some(b'n') => at = skip_word(text, at, b"null")?,
            _ => return Err(JsonFault::Syntax(at)),
        }
        loop {
            if nesting.depth() == 0 {
                return Ok(at);
            }
            at = skip_space(text, at);
            let object = nesting.in_object();
            match text.get(at) {
                Some(b',') => {
                    at = skip_space(text, at + 1);
                    if object {
                        at = skip_name(text, at)?;
                    }
                    break;
                }
                Some(b'}') if object => nesting.pop(),
                Some(b']') if !object => nesting.pop(),
                _ => return Err(JsonFault::Syntax(at)),
            }
            at += 1;
        }
    }
}

/// Skips the name of a member, the colon and the space around it.
fn skip_name(text: &[u8], at: usize) -> Result<usize, JsonFault> {
    let end = skip_string(text, at)?;
    let colon = expect(text, skip_space(text, end), b':')?;
    Ok(skip_space(text, colon))
}

pub(super) fn skip_word(text: &[u8], at: usize, word: &[u8]) -> Result<usize, JsonFault> {
    let equal = text[at..].iter().zip(word).take_while(|(byte, other)| byte == other).count();
    if equal == word.len() { Ok(at + equal) } else { Err(JsonFault::Syntax(at + equal)) }
}

/// The offset after the string whose opening quote is at `at`.
fn skip_string(text: &[u8], at: usize) -> Result<usize, JsonFault> {
    scan_string(text, at).map(|string| string.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn values_end_where_they_end() {
        for text in [
            "0",
            "-0",
            "10.5e-3",
            "1E+9",
            "true",
            "false",
            "null",
            "\"\"",
            "\"a\\\"b\\u12aF\"",
            "[]",
            "{}",
            "[1,[2,{\"a\":[]}],\"]\"]",
            "{\"a\":{\"b\":\"}\"},\"c\":[{}]}",
            "{ \"a\" : [ 1 , 2 ] }",
            "\"long enough for eight bytes at a time \\\\\"",
        ] {
            for tail in ["", ",", " ", "]", "}"] {
                let whole = [text, tail].concat();
                assert_eq!(skip_value(whole.as_bytes(), 0), Ok(text.len()), "{whole}");
            }
        }
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_goes_wrong() {
        for (text, at) in [
            ("", 0),
            ("-", 1),
            ("01", 1),
            ("1.", 2),
            ("1e", 2),
            ("tru", 3),
            ("\"a", 2),
            ("\"\\x\"", 2),
            ("\"\\u12g4\"", 5),
            ("\"\n\"", 1),
            ("\"1234567\u{1}\"", 8),
            ("[1 2]", 3),
            ("[1,]", 3),
            ("{\"a\"}", 4),
            ("{a:1}", 1),
            ("{\"a\":1,}", 7),
            ("[1}", 2),
            ("{\"a\":1]", 6),
            ("+1", 0),
            ("'a'", 0),
        ] {
            let got = skip_value(text.as_bytes(), 0);
            if text == "01" {
                assert_eq!(got, Ok(1), "a number ends after its leading zero");
            } else {
                assert_eq!(got, Err(JsonFault::Syntax(at)), "{text}");
            }
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |depth: usize| -> Vec<u8> {
            let mut text = Vec::new();
            text.resize(depth, b'[');
            text.push(b'1');
            text.resize(2 * depth + 1, b']');
            text
        };
        assert_eq!(skip_value(&deep(MAX_JSON_DEPTH), 0), Ok(2 * MAX_JSON_DEPTH + 1));
        let fault = JsonFault::TooDeep(MAX_JSON_DEPTH);
        assert_eq!(skip_value(&deep(MAX_JSON_DEPTH + 1), 0), Err(fault));
    }
}

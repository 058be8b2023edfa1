//! What all readers of JSON text share: its faults, its depth, space and words (RFC 8259).

use crate::json::string::scan_string;
use crate::json::walk::Walk;
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

/// The depth inside a container at `at`, which is at `depth` itself: the one place that bounds it.
#[inline]
pub(super) const fn deeper(depth: usize, at: usize) -> Result<usize, JsonFault> {
    if depth == MAX_JSON_DEPTH { Err(JsonFault::TooDeep(at)) } else { Ok(depth + 1) }
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
    let at = skip_space(text, at);
    // Most members are strings.
    if text.get(at) == Some(&b'"') {
        return scan_string(text, at).map(|string| string.end);
    }
    Ok(Walk::new(false).value(text, at, None)?.0)
}

pub(super) fn skip_word(text: &[u8], at: usize, word: &[u8]) -> Result<usize, JsonFault> {
    let equal = text[at..].iter().zip(word).take_while(|(byte, other)| byte == other).count();
    if equal == word.len() { Ok(at + equal) } else { Err(JsonFault::Syntax(at + equal)) }
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

//! A walk over a JSON value, which checks its grammar and its depth (RFC 8259).
//!
//! For text that `JSON.stringify` has printed, it also finds out whether that is in normal form. It
//! nearly always is, but `JSON.rawJSON` can insert any number or string, and a `Proxy` can list its
//! members in any order.

use crate::json::name::{array_index, is_name as is_name_of};
use crate::json::number::skip_number;
use crate::json::number_form::{Form, form};
use crate::json::string::scan_string;
use crate::json::token::{JsonFault, deeper, expect, skip_space, skip_word};
use crate::limits::MAX_JSON_DEPTH;
use core::ops::Range;

/// The order of names is tracked only in objects up to this depth.
const NAMED_DEPTH: usize = 16;

/// After a name that is not an array index: no index may follow.
const NO_INDEX: u32 = u32::MAX;

/// Returns the offset after the value that starts at `at`. Costs one pass over it.
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

/// A walk over a JSON value, which checks its grammar and its depth (RFC 8259).
#[derive(Debug)]
pub(crate) struct Walk {
    /// A bit for each open container, set for an object.
    objects: [u64; MAX_JSON_DEPTH / 64],
    depth: usize,
    /// For each open object, the smallest array index that may still come as a name.
    next_index: [u32; NAMED_DEPTH],
    /// Whether the form of numbers is checked.
    is_printed: bool,
    /// Printed text was in normal form. May be false even so, for text with half of a surrogate pair.
    pub(crate) is_normal: bool,
    /// There was a byte that is not ASCII. May be true even if all were ASCII.
    pub(crate) is_wide: bool,
}

impl Walk {
    /// Begins a walk over any text, or over text that was printed.
    #[inline(never)]
    pub(crate) const fn new(is_printed: bool) -> Self {
        Self {
            objects: [0; MAX_JSON_DEPTH / 64],
            depth: 0,
            next_index: [0; NAMED_DEPTH],
            is_printed,
            is_normal: true,
            is_wide: false,
        }
    }

    /// Enters a container at `at`, which has members.
    #[inline]
    fn enter(&mut self, is_object: bool, at: usize) -> Result<(), JsonFault> {
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        let depth = deeper(self.depth, at)?;
        if is_object {
            self.objects[word] |= bit;
            if let Some(next) = self.next_index.get_mut(self.depth) {
                *next = 0;
            }
        } else {
            self.objects[word] &= !bit;
        }
        self.depth = depth;
        Ok(())
    }

    const fn in_object(&self) -> bool {
        let top = self.depth - 1;
        self.objects[top / 64] & (1 << (top % 64)) != 0
    }

    /// Records a name of the innermost object, to check that array indices come first, in ascending order.
    #[inline]
    fn order(&mut self, name: &[u8]) {
        if name.first().is_some_and(u8::is_ascii_digit) {
            self.order_index(name);
        } else if let Some(next) = self.next_index.get_mut(self.depth - 1) {
            *next = NO_INDEX;
        }
    }

    #[cold]
    fn order_index(&mut self, name: &[u8]) {
        let mut deep = NO_INDEX;
        let next = self.next_index.get_mut(self.depth - 1).unwrap_or(&mut deep);
        match array_index(name) {
            None => *next = NO_INDEX,
            Some(index) if index >= u64::from(*next) => *next = index as u32 + 1,
            Some(_) => self.is_normal = false,
        }
    }

    /// Returns the offset after the value at `at`, and, if it is an object, where the value of its
    /// last member named `sought` is.
    #[inline(never)]
    pub(crate) fn value(
        &mut self,
        text: &[u8],
        at: usize,
        sought: Option<&[u8]>,
    ) -> Result<(usize, Option<Range<usize>>), JsonFault> {
        (self.depth, self.is_normal, self.is_wide) = (0, true, false);
        let (mut pending, mut found) = (None, None);
        // Whether a name comes next, and not a value.
        let mut is_name = false;
        let mut at = at;
        loop {
            match text.get(at) {
                Some(b'"') => {
                    let string = scan_string(text, at)?;
                    self.is_normal &= string.normal;
                    self.is_wide |= string.wide;
                    let start = at;
                    at = string.end;
                    if is_name {
                        self.order(&text[start + 1..at - 1]);
                        let colon = expect(text, skip_space(text, at), b':')?;
                        let value = skip_space(text, colon);
                        if let Some(sought) = sought
                            && self.depth == 1
                            && is_name_of(&text[start..at], string.escaped, sought)
                        {
                            pending = Some(value);
                        }
                        at = value;
                        is_name = false;
                        continue;
                    }
                }
                _ if is_name => return Err(JsonFault::Syntax(at)),
                Some(&open @ (b'{' | b'[')) => {
                    let inside = skip_space(text, at + 1);
                    // In ASCII, the closing bracket is the opening one plus two.
                    if text.get(inside) == Some(&(open + 2)) {
                        at = inside + 1;
                    } else {
                        self.enter(open == b'{', at)?;
                        is_name = open == b'{';
                        at = inside;
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => {
                    let number = skip_number(text, at)?;
                    if self.is_printed && form(text, number) != Form::Same {
                        self.is_normal = false;
                    }
                    at = number.end;
                }
                Some(b't') => at = skip_word(text, at, b"true")?,
                Some(b'f') => at = skip_word(text, at, b"false")?,
                Some(b'n') => at = skip_word(text, at, b"null")?,
                _ => return Err(JsonFault::Syntax(at)),
            }
            loop {
                if self.depth == 0 {
                    return Ok((at, found));
                }
                if self.depth == 1
                    && let Some(start) = pending.take()
                {
                    found = Some(start..at);
                }
                at = skip_space(text, at);
                let object = self.in_object();
                match text.get(at) {
                    Some(b',') => {
                        at = skip_space(text, at + 1);
                        is_name = object;
                        break;
                    }
                    Some(b'}') if object => self.depth -= 1,
                    Some(b']') if !object => self.depth -= 1,
                    _ => return Err(JsonFault::Syntax(at)),
                }
                at += 1;
            }
        }
    }
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
    fn malformed_json_is_refused_at_its_first_fault() {
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

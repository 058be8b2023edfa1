//! JSON pointers (RFC 6901) into the text of a value.

use crate::json::name::{array_index, is_name};
use crate::json::string::{StringScan, scan_string};
use crate::json::walk::skip_value;
use crate::limits::MAX_JSON_DEPTH;
use alloc::vec::Vec;
use core::ops::Range;

/// The path to a member of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointer {
    tokens: Vec<Vec<u8>>,
}

impl Pointer {
    /// Parses a pointer such as `/id` or `/a~1b/0`; the empty text points to the whole value.
    /// `None` if it is neither empty nor starts with a slash, has a `~` that is not part of `~0` or
    /// `~1`, or has more names than any value has levels.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let mut tokens = Vec::new();
        for part in text.strip_prefix('/')?.split('/') {
            tokens.push(token(part)?);
        }
        (tokens.len() <= MAX_JSON_DEPTH).then_some(Self { tokens })
    }

    /// Returns the only name on the path, if the path has one name.
    #[must_use]
    pub fn single(&self) -> Option<&[u8]> {
        match &self.tokens[..] {
            [token] => Some(token),
            _ => None,
        }
    }

    /// Finds the value that it points to in a value in normal form, which has no repeated names. Costs
    /// a pass over the text up to its end.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        let mut at = 0;
        for token in &self.tokens {
            at = member(text, at, token)?;
        }
        skip_value(text, at).ok().map(|end| at..end)
    }
}

/// Returns where the member `token` of the value at `at` starts.
fn member(text: &[u8], at: usize, token: &[u8]) -> Option<usize> {
    let object = match text.get(at)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let mut next = at + 1;
    for index in 0_usize.. {
        let hit = if object {
            if text.get(next) != Some(&b'"') {
                return None;
            }
            let StringScan { end, escaped, .. } = scan_string(text, next).ok()?;
            let hit = is_name(&text[next..end], escaped, token);
            if text.get(end) != Some(&b':') {
                return None;
            }
            next = end + 1;
            hit
        } else {
            array_index(token) == Some(index as u64)
        };
        if hit {
            return Some(next);
        }
        let end = skip_value(text, next).ok()?;
        if text.get(end) != Some(&b',') {
            return None;
        }
        next = end + 1;
    }
    None
}

fn token(text: &str) -> Option<Vec<u8>> {
    let mut token = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        token.push(match byte {
            b'~' => match bytes.next()? {
                b'0' => b'~',
                b'1' => b'/',
                _ => return None,
            },
            byte => byte,
        });
    }
    Some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(pointer: &str, text: &'a str) -> Option<&'a str> {
        let found = Pointer::parse(pointer).unwrap().find(text.as_bytes());
        found.map(|range| &text[range])
    }

    #[test]
    fn a_pointer_finds_members_at_any_depth() {
        let text = r#"{"a":{"b":[10,{"c":"x"}]},"":1,"a/b":2,"m~n":3,"\u0061\"":4,"id":"é"}"#;
        assert_eq!(at("", text), Some(text));
        assert_eq!(at("/id", text), Some("\"é\""));
        assert_eq!(at("/a/b/0", text), Some("10"));
        assert_eq!(at("/a/b/1/c", text), Some("\"x\""));
        assert_eq!(at("/", text), Some("1"));
        assert_eq!(at("/a~1b", text), Some("2"));
        assert_eq!(at("/m~0n", text), Some("3"));
        assert_eq!(at("/a\"", text), Some("4"));
        for missing in ["/x", "/a/b/2", "/a/b/00", "/a/b/-", "/a/b/x", "/id/x", "/a/b/01"] {
            assert_eq!(at(missing, text), None, "{missing}");
        }
    }

    #[test]
    fn malformed_pointers_are_refused() {
        for pointer in ["id", "/a~", "/a~2"] {
            assert_eq!(Pointer::parse(pointer), None, "{pointer}");
        }
        assert!(Pointer::parse(&"/a".repeat(MAX_JSON_DEPTH)).is_some());
        assert_eq!(Pointer::parse(&"/a".repeat(MAX_JSON_DEPTH + 1)), None);
    }

    #[test]
    fn malformed_text_is_refused() {
        let pointer = Pointer::parse("/a").unwrap();
        for text in ["{\"a\":1", "{\"a\" 1}", "[1,", "{\"a\":1]", "{1:2}", "{\"b\":tru}"] {
            let found = pointer.find(text.as_bytes());
            assert!(found.is_none() || text.starts_with("{\"a\":1"), "{text}");
        }
        for text in ["", "{", "[", "{}", "[]", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"b\":1,", "[1,]"]
        {
            assert_eq!(pointer.find(text.as_bytes()), None, "{text}");
            assert_eq!(Pointer::parse("/1").unwrap().find(text.as_bytes()), None, "{text}");
        }
    }
}

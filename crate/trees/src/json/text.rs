//! JSON text that may be stored, and the check of it.

use crate::json::normal::{Scanned, Scanner};
use crate::json::pointer::Pointer;
use crate::json::token::JsonFault;
use crate::json::walk::Walk;

/// The reason not to store a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFault {
    /// It is not one JSON value in UTF-8, or it is nested too deep.
    NotJson,
    /// It is JSON, but not as `JSON.stringify` prints it.
    NotNormal,
}

/// Checks that untrusted text may be a stored value: one JSON value in normal form, in UTF-8, nested at
/// most [`MAX_JSON_DEPTH`](crate::limits::MAX_JSON_DEPTH) deep. Costs two passes.
///
/// # Errors
/// The first fault, in the order of [`TextFault`].
pub fn check_text(text: &[u8], scanner: &mut Scanner) -> Result<(), TextFault> {
    let scanned = scanner.scan(text, 0, None).map_err(|_| TextFault::NotJson)?;
    if scanned.end != text.len() || core::str::from_utf8(text).is_err() {
        return Err(TextFault::NotJson);
    }
    // A scan does not see that text with half of a surrogate pair is normal, and rewrites it unchanged.
    let is_normal = scanned.normal || scanner.normalized() == text;
    if is_normal { Ok(()) } else { Err(TextFault::NotNormal) }
}

/// Scans text that `JSON.stringify` has printed. Nearly all such text is in normal form, and costs one
/// quick pass.
#[derive(Debug)]
pub struct Printed {
    walk: Walk,
    scanner: Scanner,
}

impl Default for Printed {
    fn default() -> Self {
        Self { walk: Walk::new(true), scanner: Scanner::default() }
    }
}

impl Printed {
    /// Scans the value at `at`, and finds the value at `pointer`. The result is as of [`Scanner::scan`]
    /// as long as no name is repeated, which `JSON.stringify` never does.
    ///
    /// # Errors
    /// The first fault.
    pub fn scan(
        &mut self,
        pointer: Option<&Pointer>,
        text: &[u8],
        at: usize,
    ) -> Result<Scanned, JsonFault> {
        let Self { walk, scanner } = self;
        let single = pointer.and_then(Pointer::single).filter(|_| text.get(at) == Some(&b'{'));
        let (end, mut found) = walk.value(text, at, single)?;
        if let Some(pointer) = pointer.filter(|_| single.is_none()) {
            found = pointer.find(&text[at..end]).map(|found| at + found.start..at + found.end);
        }
        let normal = walk.is_normal || scanner.scan(text, at, None)?.normal;
        Ok(Scanned { end, normal, ascii: !walk.is_wide, found })
    }

    /// Returns the normal form as [`Scanner::normalized`].
    #[must_use]
    pub fn normalized(&self) -> &[u8] {
        self.scanner.normalized()
    }

    /// Takes the cost as [`Scanner::take_cost`].
    pub const fn take_cost(&mut self) -> usize {
        self.scanner.take_cost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_JSON_DEPTH;
    use alloc::string::String;

    fn parse(text: &[u8]) -> Result<(), TextFault> {
        check_text(text, &mut Scanner::default())
    }

    fn nested(depth: usize) -> String {
        ["[".repeat(depth), "1".into(), "]".repeat(depth)].concat()
    }

    #[test]
    fn a_text_is_one_json_value_in_normal_form() {
        let deepest = nested(MAX_JSON_DEPTH);
        for text in ["1", "\"é\"", "{\"b\":1,\"a\":[]}", "\"\\ud800\"", "null", &deepest] {
            assert_eq!(parse(text.as_bytes()), Ok(()), "{text}");
        }
        let deeper = nested(MAX_JSON_DEPTH + 1);
        for text in ["", " ", " 1", "1 ", "1 2", "1,", "{\"a\"}", "[1", "tru", &deeper] {
            assert_eq!(parse(text.as_bytes()), Err(TextFault::NotJson), "{text}");
        }
        assert_eq!(parse(b"\"\xff\""), Err(TextFault::NotJson));
        for text in ["1.0", "-0", "[1, 2]", r#"{"b":1,"1":2}"#, r#""\u0041""#, r#""\ud83d\ude00""#]
        {
            assert_eq!(parse(text.as_bytes()), Err(TextFault::NotNormal), "{text}");
        }
    }

    /// Scans printed text; the result must equal a scan of any text.
    fn printed(text: &str) -> (String, bool) {
        let (mut printed, mut scanner) = (Printed::default(), Scanner::default());
        let expected = scanner.scan(text.as_bytes(), 0, None).unwrap();
        for _ in 0..2 {
            let scanned = printed.scan(None, text.as_bytes(), 0).unwrap();
            assert_eq!((scanned.end, scanned.normal), (text.len(), expected.normal), "{text}");
            assert!(text.is_ascii() || !scanned.ascii, "{text}");
            if !expected.normal {
                assert_eq!(printed.normalized(), scanner.normalized(), "{text}");
            }
        }
        let normal = if expected.normal { text.as_bytes() } else { scanner.normalized() };
        (String::from_utf8(normal.to_vec()).unwrap(), expected.normal)
    }

    #[test]
    fn text_of_json_raw_json_is_brought_to_normal_form() {
        for (text, normal) in [
            ("[1.0]", "[1]"),
            ("{\"a\":[{\"b\":1e-400}]}", "{\"a\":[{\"b\":0}]}"),
            ("{\"a\":-0}", "{\"a\":0}"),
            ("{\"a\":0.10000000000000001}", "{\"a\":0.1}"),
            ("{\"a\":12345678901234567890}", "{\"a\":12345678901234567000}"),
            ("{\"a\":1E3}", "{\"a\":1000}"),
            ("{\"a\":\"\\u0041\\/\"}", "{\"a\":\"A/\"}"),
        ] {
            assert_eq!(printed(text), (normal.into(), false), "{text}");
        }
    }

    #[test]
    fn members_that_a_proxy_lists_in_another_order_are_moved() {
        let deep = |inner: &str| [&"{\"a\":".repeat(30), inner, &"}".repeat(30)].concat();
        for (text, normal) in [
            ("{\"b\":1,\"2\":1}", "{\"2\":1,\"b\":1}"),
            ("{\"2\":1,\"1\":1}", "{\"1\":1,\"2\":1}"),
            ("[{\"2\":{\"b\":0,\"4294967294\":1}}]", "[{\"2\":{\"4294967294\":1,\"b\":0}}]"),
        ] {
            assert_eq!(printed(text), (normal.into(), false), "{text}");
            assert_eq!(printed(&deep(text)), (deep(normal), false), "{text}");
        }
        for text in [
            "{\"0\":1,\"2\":1,\"b\":1,\"4294967295\":1,\"01\":1,\"1a\":1}",
            "{\"2\":{\"1\":1},\"3\":{\"1\":[{\"0\":1},{\"0\":1}]}}",
            "{\"a\":{\"1\":1},\"b\":{\"1\":1}}",
        ] {
            assert_eq!(printed(text), (text.into(), true), "{text}");
            assert_eq!(printed(&deep(text)), (deep(text), true), "{text}");
        }
    }

    #[test]
    fn the_depth_of_a_value_counts_from_its_root_with_any_pointer() {
        let pointer = Pointer::parse("/a/0/b").unwrap();
        let row = |depth: usize| {
            let inner = nested(depth - 3);
            [r#"{"x":"#, &nested(depth - 1), r#","a":[{"b":"#, &inner, "}]}"].concat()
        };
        let text = row(MAX_JSON_DEPTH);
        let found = Printed::default().scan(Some(&pointer), text.as_bytes(), 0).unwrap();
        assert_eq!(found.end, text.len());
        assert_eq!(found.found.map(|at| at.len()), Some(2 * (MAX_JSON_DEPTH - 3) + 1));
        let outer = row(MAX_JSON_DEPTH + 1);
        let inner = outer.replacen(&nested(MAX_JSON_DEPTH), "1", 1);
        for text in [outer, inner] {
            let got = Printed::default().scan(Some(&pointer), text.as_bytes(), 0);
            assert!(matches!(got, Err(JsonFault::TooDeep(_))), "{got:?}");
        }
    }
}

//! How rows follow each other in a stream of bytes, and where an incomplete one ends.

use crate::json::skip_space;

/// How rows follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A row on each line; blank lines are passed over.
    Lines,
    /// One JSON array of rows.
    Array,
}

impl Framing {
    /// Tells the framing by the first bytes; `None` when they are too few. A bracket opens an
    /// array when a row follows it, where a row is an object or, in two columns, an array
    /// itself; else it belongs to the first line's row.
    #[must_use]
    pub fn detect(text: &[u8], ended: bool) -> Option<Self> {
        let at = skip_space(text, 0);
        match text.get(at) {
            Some(b'[') => match text.get(skip_space(text, at + 1)) {
                Some(b'{' | b'[' | b']') => Some(Self::Array),
                Some(_) => Some(Self::Lines),
                None => ended.then_some(Self::Array),
            },
            Some(_) => Some(Self::Lines),
            None => ended.then_some(Self::Lines),
        }
    }
}

/// Finds where a value ends whose bytes come bit by bit, each byte looked at once. Checks
/// nothing: that is for the scan, once the value is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finder {
    seen: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Finder {
    /// Whether `text`, which starts with a container or a string, holds all of it. `text`
    /// starts where it started before, and may have grown.
    pub fn is_complete(&mut self, text: &[u8]) -> bool {
        while let Some(&byte) = text.get(self.seen) {
            if self.depth == 0 && !self.in_string && self.seen > 0 {
                return true;
            }
            self.seen += 1;
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                self.escaped = byte == b'\\';
                self.in_string = byte != b'"';
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
        self.depth == 0 && !self.in_string && self.seen > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_the_framing() {
        for (text, expected) in [
            ("{\"a\":1}", Framing::Lines),
            (" \r\n {", Framing::Lines),
            ("[{", Framing::Array),
            (" [ [", Framing::Array),
            ("[\n]", Framing::Array),
            ("[\"key\",1]", Framing::Lines),
            ("x", Framing::Lines),
        ] {
            assert_eq!(Framing::detect(text.as_bytes(), false), Some(expected), "{text}");
        }
        for text in ["", "  ", "[", "[ "] {
            assert_eq!(Framing::detect(text.as_bytes(), false), None, "{text}");
            assert!(Framing::detect(text.as_bytes(), true).is_some(), "{text}");
        }
    }

    #[test]
    fn a_value_is_complete_with_its_last_byte() {
        for text in [r#"{"a":[1,{"b":"]}\"\\"}],"c":"{"}"#, r#""a\\\"[""#, "[]", "[[],{}]"] {
            let mut finder = Finder::default();
            for len in 1..text.len() {
                assert!(!finder.is_complete(&text.as_bytes()[..len]), "{len} of {text}");
            }
            assert!(finder.is_complete(text.as_bytes()), "{text}");
            assert!(Finder::default().is_complete(&[text.as_bytes(), b",x"].concat()), "{text}");
        }
    }
}

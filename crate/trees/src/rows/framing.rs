//! The framing of rows in a stream of bytes, and a search for the end of a row that is incomplete.

/// The division of a stream into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A row on each line; blank lines are skipped.
    Lines,
    /// One JSON array of rows.
    Array,
}

impl Framing {
    /// Detects the framing by the first two bytes that are not white space. A `[` begins an array of
    /// rows if `{`, `[`, `]` or the end follows; otherwise it belongs to the row of the first line.
    #[must_use]
    pub const fn detect(first: Option<u8>, second: Option<u8>) -> Self {
        match (first, second) {
            (Some(b'['), Some(b'{' | b'[' | b']') | None) => Self::Array,
            _ => Self::Lines,
        }
    }
}

/// Finds the end of a value that arrives in parts, and reads each byte once. Makes no checks: the
/// complete value is scanned later.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finder {
    seen: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Finder {
    /// Returns whether `text`, which starts with a value, has all of it. `text` must start at the same
    /// place in each call, and may grow.
    pub fn is_complete(&mut self, text: &[u8]) -> bool {
        if !matches!(text.first(), Some(b'{' | b'[' | b'"')) {
            // A number or a word ends before any other byte.
            let continues = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            self.seen += text[self.seen..].iter().take_while(|byte| continues(byte)).count();
            return self.seen < text.len();
        }
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
    fn the_framing_is_detected_by_the_first_bytes() {
        for (text, expected) in [
            ("{\"", Framing::Lines),
            ("[{", Framing::Array),
            ("[[", Framing::Array),
            ("[]", Framing::Array),
            ("[", Framing::Array),
            ("[\"", Framing::Lines),
            ("x", Framing::Lines),
            ("", Framing::Lines),
        ] {
            let mut bytes = text.bytes();
            assert_eq!(Framing::detect(bytes.next(), bytes.next()), expected, "{text}");
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
        for text in ["-1.5e+7", "true", "0"] {
            let mut finder = Finder::default();
            for len in 1..=text.len() {
                assert!(!finder.is_complete(&text.as_bytes()[..len]), "{len} of {text}");
            }
            assert!(finder.is_complete(&[text.as_bytes(), b"]"].concat()), "{text}");
        }
    }
}

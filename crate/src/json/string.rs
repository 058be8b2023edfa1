//! Between the bytes of a key and a JSON string.

use alloc::vec::Vec;

/// Appends `text`, which is UTF-8, as a JSON string.
pub fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut clean = 0;
    for (at, &byte) in text.iter().enumerate() {
        let escaped = match byte {
            b'"' | b'\\' => [b'\\', byte, 0, 0, 0, 0],
            0..0x20 => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let [high, low] = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                [b'\\', b'u', b'0', b'0', high, low]
            }
            _ => continue,
        };
        out.extend_from_slice(&text[clean..at]);
        out.extend_from_slice(if byte < 0x20 { &escaped } else { &escaped[..2] });
        clean = at + 1;
    }
    out.extend_from_slice(&text[clean..]);
    out.push(b'"');
}

/// Half of a surrogate pair without the other half: no UTF-8 for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoneSurrogate;

/// Appends the bytes that `quoted` stands for: a JSON string with its quotes, known to be
/// well-formed.
///
/// # Errors
/// [`LoneSurrogate`].
pub fn unquote(quoted: &[u8], out: &mut Vec<u8>) -> Result<(), LoneSurrogate> {
    let inside = &quoted[1..quoted.len() - 1];
    let mut rest = inside;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let unit = hex(rest, at);
        let (character, len) = match rest.get(at + 1) {
            Some(b'u') if unit & 0xfc00 == 0xd800 => {
                let low =
                    if rest.get(at + 6..at + 8) == Some(b"\\u") { hex(rest, at + 6) } else { 0 };
                if low & 0xfc00 != 0xdc00 {
                    return Err(LoneSurrogate);
                }
                (0x1_0000 + ((unit & 0x3ff) << 10) + (low & 0x3ff), 12)
            }
            Some(b'u') => (unit, 6),
            Some(b'b') => (8, 2),
            Some(b'f') => (12, 2),
            Some(b'n') => (10, 2),
            Some(b'r') => (13, 2),
            Some(b't') => (9, 2),
            other => (other.copied().unwrap_or(b'\\').into(), 2),
        };
        let character = char::from_u32(character).ok_or(LoneSurrogate)?;
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = rest.get(at + len..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// The number that the four digits of the escape at `at` stand for.
fn hex(text: &[u8], at: usize) -> u32 {
    let digits = text.get(at + 2..at + 6).unwrap_or_default();
    digits.iter().fold(0, |unit, digit| unit << 4 | char::from(*digit).to_digit(16).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn quoted(text: &str) -> String {
        let mut out = Vec::new();
        push_string(&mut out, text.as_bytes());
        String::from_utf8(out).unwrap()
    }

    fn unquoted(text: &str) -> Result<String, LoneSurrogate> {
        let mut out = Vec::new();
        unquote(text.as_bytes(), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn quoting_escapes_what_must_be() {
        assert_eq!(quoted("a\"b\\c\n\u{1f}\u{7f}é😀"), "\"a\\\"b\\\\c\\u000a\\u001f\u{7f}é😀\"");
    }

    #[test]
    fn unquoting_undoes_every_escape() {
        let text = r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u4e2d\ud83d\ude00z""#;
        assert_eq!(unquoted(text).unwrap(), "\"\\/\u{8}\u{c}\n\r\tAé中😀z");
        for text in ["", "plain", "é😀", "\u{0}\"\\\n"] {
            assert_eq!(unquoted(&quoted(text)).unwrap(), text);
        }
    }

    #[test]
    fn half_a_pair_is_refused() {
        for text in
            [r#""\ud83d""#, r#""\ude00""#, r#""\ud83dx""#, r#""\ud83d\u0041""#, r#""\ud83d\ud83d""#]
        {
            assert_eq!(unquoted(text), Err(LoneSurrogate), "{text}");
        }
    }
}

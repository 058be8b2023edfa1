//! JSON strings: scans, unquotes and quotes them, and writes them as `JSON.stringify` does.

use crate::json::token::{JsonFault, expect, word_at};
use alloc::vec::Vec;

const ONES: u64 = u64::MAX / 255;
const HIGHS: u64 = ONES << 7;

/// Returns the high bit of each byte of `word` that is a quote, a backslash or a control character.
/// Bits above the first such byte may be wrong.
const fn specials(word: u64) -> u64 {
    // With its second bit inverted, a quote is the first byte after the control characters.
    let ends = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let escapes = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
    (ends | escapes) & !word & HIGHS
}

/// A string that was scanned.
#[derive(Clone, Copy, Debug)]
pub(super) struct StringScan {
    /// The offset after it.
    pub(super) end: usize,
    /// It holds a backslash.
    pub(super) escaped: bool,
    /// It is in normal form. May be false even so, for a string with an escaped half of a surrogate pair.
    pub(super) normal: bool,
    /// It holds a byte that is not ASCII. May be true even if only the text after it does.
    pub(super) wide: bool,
}

/// Scans the string whose opening quote is at `at`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "most of a scan is this loop; its result is in registers")]
pub(super) fn scan_string(text: &[u8], at: usize) -> Result<StringScan, JsonFault> {
    let mut at = expect(text, at, b'"')?;
    let mut seen = 0;
    // Eight bytes at a time, up to the first special byte.
    while let Some(word) = word_at(text, at) {
        seen |= word;
        let special = specials(word);
        if special != 0 {
            at += special.trailing_zeros() as usize / 8;
            if text[at] == b'"' {
                let wide = seen & HIGHS != 0;
                return Ok(StringScan { end: at + 1, escaped: false, normal: true, wide });
            }
            break;
        }
        at += 8;
    }
    scan_rest(text, at, seen & HIGHS != 0)
}

/// Scans the rest of a string from `at`, which has no escape before.
#[inline(never)]
fn scan_rest(text: &[u8], at: usize, wide: bool) -> Result<StringScan, JsonFault> {
    let mut scan = StringScan { end: at, escaped: false, normal: true, wide };
    loop {
        let mut seen = 0;
        while let Some(word) = word_at(text, scan.end)
            && specials(word) == 0
        {
            seen |= word;
            scan.end += 8;
        }
        scan.wide |= seen & HIGHS != 0;
        match text.get(scan.end) {
            Some(b'"') => {
                scan.end += 1;
                return Ok(scan);
            }
            Some(b'\\') => {
                let (len, normal) = scan_escape(text, scan.end)?;
                scan.escaped = true;
                scan.normal &= normal;
                scan.end += len;
            }
            Some(byte @ 0x20..) => {
                scan.wide |= !byte.is_ascii();
                scan.end += 1;
            }
            _ => return Err(JsonFault::Syntax(scan.end)),
        }
    }
}

/// Returns the length of the escape at `at`, and whether it is in normal form.
fn scan_escape(text: &[u8], at: usize) -> Result<(usize, bool), JsonFault> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => Ok((2, true)),
        Some(b'/') => Ok((2, false)),
        Some(b'u') => {
            for offset in 2..6 {
                if !text.get(at + offset).is_some_and(u8::is_ascii_hexdigit) {
                    return Err(JsonFault::Syntax(at + offset));
                }
            }
            Ok((6, is_normal_escape(&text[at + 2..at + 6])))
        }
        _ => Err(JsonFault::Syntax(at + 1)),
    }
}

/// Returns whether four digits encode a control character without an escape of its own.
fn is_normal_escape(digits: &[u8]) -> bool {
    matches!(
        digits,
        [b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f']
            | [b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f']
    )
}

/// Appends a well-formed string, with its quotes, in normal form: only what must be escaped is, by the
/// shortest escape. That includes halves of surrogate pairs. (ECMA-262, 25.5.2.3)
pub fn normalize_string(quoted: &[u8], out: &mut Vec<u8>) {
    let mut rest = &quoted[..quoted.len() - 1];
    while let Some(escape) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..escape]);
        let (unit, len) = match rest.get(escape + 1) {
            Some(b'u') => (hex(rest, escape), 6),
            Some(b'/') => (u32::from(b'/'), 2),
            _ => {
                out.extend_from_slice(&rest[escape..escape + 2]);
                rest = &rest[escape + 2..];
                continue;
            }
        };
        let paired = unit & 0xfc00 == 0xd800 && rest.get(escape + 6..escape + 8) == Some(b"\\u");
        let low = if paired { hex(rest, escape + 6) } else { 0 };
        if low & 0xfc00 == 0xdc00 {
            push_unit(0x1_0000 + ((unit & 0x3ff) << 10) + (low & 0x3ff), out);
            rest = &rest[escape + 12..];
        } else {
            push_unit(unit, out);
            rest = &rest[escape + len..];
        }
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends a character, or half of a surrogate pair, with its escape if it needs one.
pub fn push_unit(unit: u32, out: &mut Vec<u8>) {
    let short = match unit {
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        0x22 => b'"',
        0x5c => b'\\',
        _ => 0,
    };
    match char::from_u32(unit) {
        _ if short != 0 => out.extend_from_slice(&[b'\\', short]),
        Some(character) if unit >= 0x20 => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        _ => {
            let digit = |shift: u32| HEX[(unit >> shift & 15) as usize];
            out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
        }
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends `text`, which is UTF-8, as a JSON string.
pub fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut clean = 0;
    for (at, &byte) in text.iter().enumerate() {
        let escaped = match byte {
            b'"' | b'\\' => [b'\\', byte, 0, 0, 0, 0],
            0..0x20 => {
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

/// Half of a surrogate pair without the other half, which UTF-8 cannot encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoneSurrogate;

/// Appends the text of `quoted` as UTF-8, a well-formed JSON string with its quotes.
///
/// # Errors
/// [`LoneSurrogate`].
pub fn unquote(quoted: &[u8], out: &mut Vec<u8>) -> Result<(), LoneSurrogate> {
    let inside = &quoted[1..quoted.len() - 1];
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest) {
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

/// Returns the number of the four hexadecimal digits of the escape at `at`.
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
    fn quoting_escapes_quotes_backslashes_and_control_characters() {
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

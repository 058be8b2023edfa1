//! Secondary keys: JSON scalars as text whose byte order is the order of values.
//!
//! ```text
//! null     01
//! false    02
//! true     03
//! number   04 | 10 x 7 bits of the double, highest first; all bits are inverted if it is negative,
//!             else only the sign, so that bytes have the order of numbers
//! string   05 | UTF-8, where 00 is 01 01 and 01 is 01 02 | 00
//! ```
//!
//! Null comes before booleans, these before numbers, and numbers before strings. Each encoding marks its end, so that
//! columns can be concatenated, and a string comes after its prefixes. All of it is UTF-8, as keys are.

use crate::json::{double, push_double, push_string, unquote};
use crate::limits::MAX_KEY_BYTES;
use alloc::vec::Vec;

const NULL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const NUMBER: u8 = 4;
pub const STRING: u8 = 5;
const ESCAPE: u8 = 1;
pub const END: u8 = 0;

/// The secondary key that is null alone.
pub const NULL_KEY: &[u8] = &[NULL];

/// Bytes of a number after its tag.
const NUMBER_BYTES: usize = 10;

const SIGN: u64 = 1 << 63;

/// Appends the JSON scalar `text`, which is in normal form; no text stands for null. `false` if it cannot be
/// indexed: an object, an array, a string that is not valid text or too long, or null without `nulls`. `out`
/// may then have a part of it.
pub fn push_scalar(text: &[u8], nulls: bool, out: &mut Vec<u8>) -> bool {
    match text.first() {
        None | Some(b'n') if nulls => out.push(NULL),
        Some(b'f') => out.push(FALSE),
        Some(b't') => out.push(TRUE),
        Some(b'"') => return push_text(text, out),
        Some(b'-' | b'0'..=b'9') => {
            let Some(number) = double(text) else { return false };
            push_number(number, out);
        }
        _ => return false,
    }
    true
}

fn push_number(number: f64, out: &mut Vec<u8>) {
    let bits = number.to_bits();
    let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    let mut bytes = [NUMBER; 1 + NUMBER_BYTES];
    for (at, byte) in bytes[1..].iter_mut().enumerate() {
        *byte = (ordered >> (7 * (NUMBER_BYTES - 1 - at))) as u8 & 0x7f;
    }
    out.extend_from_slice(&bytes);
}

fn push_text(text: &[u8], out: &mut Vec<u8>) -> bool {
    // A byte is escaped by at most six: a longer text fits no entry, and is not decoded.
    if text.len() > 6 * MAX_KEY_BYTES + 2 {
        return false;
    }
    out.push(STRING);
    let start = out.len();
    if unquote(text, out).is_err() {
        return false;
    }
    if out[start..].iter().any(|byte| *byte <= ESCAPE) {
        let plain = out.split_off(start);
        for byte in plain {
            if byte <= ESCAPE {
                out.push(ESCAPE);
            }
            out.push(if byte <= ESCAPE { byte + 1 } else { byte });
        }
    }
    out.push(END);
    true
}

/// Returns where the secondary key of an entry ends, which has `columns` columns; `None` if it is malformed.
#[must_use]
pub fn secondary_end(entry: &[u8], columns: usize) -> Option<usize> {
    let mut at = 0;
    for _ in 0..columns {
        at += match *entry.get(at)? {
            NULL | FALSE | TRUE => 1,
            NUMBER => 1 + NUMBER_BYTES,
            STRING => 2 + memchr::memchr(END, &entry[at + 1..])?,
            _ => return None,
        };
    }
    (at <= entry.len()).then_some(at)
}

/// Writes a secondary key as JSON: a scalar, or an array of scalars if it has several columns.
pub fn write_secondary(secondary: &[u8], columns: usize, out: &mut Vec<u8>) {
    let mut rest = secondary;
    for column in 0..columns {
        if columns > 1 {
            out.push(if column == 0 { b'[' } else { b',' });
        }
        let Some(end) = secondary_end(rest, 1) else { break };
        write_scalar(&rest[..end], out);
        rest = &rest[end..];
    }
    if columns > 1 {
        out.push(b']');
    }
}

fn write_scalar(scalar: &[u8], out: &mut Vec<u8>) {
    match scalar {
        [FALSE] => out.extend_from_slice(b"false"),
        [TRUE] => out.extend_from_slice(b"true"),
        [NUMBER, groups @ ..] => {
            let ordered = groups.iter().fold(0_u64, |bits, group| bits << 7 | u64::from(*group));
            let bits = if ordered & SIGN == 0 { !ordered } else { ordered ^ SIGN };
            push_double(f64::from_bits(bits), out);
        }
        [STRING, text @ .., END] if memchr::memchr(ESCAPE, text).is_none() => {
            push_string(out, text);
        }
        [STRING, text @ .., END] => {
            let mut plain = Vec::with_capacity(text.len());
            let mut escaped = false;
            for byte in text {
                if *byte == ESCAPE && !escaped {
                    escaped = true;
                    continue;
                }
                plain.push(if escaped { byte - 1 } else { *byte });
                escaped = false;
            }
            push_string(out, &plain);
        }
        _ => out.extend_from_slice(b"null"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn encoded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(push_scalar(text.as_bytes(), true, &mut out), "{text}");
        out
    }

    #[test]
    fn bytes_have_the_order_of_values_and_read_back() {
        let ascending = [
            "null",
            "false",
            "true",
            "-1.7976931348623157e+308",
            "-1e+21",
            "-2",
            "-1.5",
            "-1",
            "-0.5",
            "-5e-324",
            "0",
            "5e-324",
            "1e-7",
            "0.1",
            "0.5",
            "1",
            "1.5",
            "2",
            "10",
            "9007199254740991",
            "1e+21",
            "1.7976931348623157e+308",
            r#""""#,
            r#""\u0000""#,
            r#""\u0000\u0000""#,
            r#""\u0000\u0001""#,
            r#""\u0000a""#,
            r#""\u0001""#,
            r#""\u0001\u0000""#,
            r#""\u0002""#,
            r#"" ""#,
            r#""A""#,
            r#""a""#,
            r#""a\u0000""#,
            r#""a\u0000b""#,
            r#""a\u0001""#,
            r#""a!""#,
            r#""aa""#,
            r#""ab""#,
            r#""b\"\\""#,
            "\"é\"",
            "\"～\"",
            "\"😀\"",
            "\"😜\"",
        ];
        let keys: Vec<_> = ascending.iter().map(|text| encoded(text)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        for (text, key) in ascending.iter().zip(&keys) {
            assert!(core::str::from_utf8(key).is_ok(), "{text}");
            let mut entry = key.clone();
            entry.extend_from_slice(b"\x05primary\0");
            assert_eq!(secondary_end(&entry, 1), Some(key.len()), "{text}");
            let mut out = Vec::new();
            write_secondary(key, 1, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), *text);
        }
    }

    #[test]
    fn columns_follow_each_other() {
        let columns = ["\"a\\u0000\"", "-1.5", "null", "true", "null"];
        let key = columns.map(encoded).concat();
        assert_eq!(secondary_end(&key, 5), Some(key.len()));
        let mut out = Vec::new();
        write_secondary(&key, 5, &mut out);
        assert_eq!(out, b"[\"a\\u0000\",-1.5,null,true,null]");
    }

    #[test]
    fn only_scalars_are_indexed_and_a_malformed_key_has_no_end() {
        for text in ["null", "{}", "[1]", "\"\\ud800\"", ""] {
            assert!(!push_scalar(text.as_bytes(), false, &mut Vec::new()), "{text}");
        }
        for text in ["{}", "[1]", "\"\\ud800\""] {
            assert!(!push_scalar(text.as_bytes(), true, &mut Vec::new()), "{text}");
        }
        assert_eq!(encoded(""), encoded("null"));
        for key in [&b""[..], b"\x05abc", b"\x04123", b"\x06", b"\x00"] {
            assert_eq!(secondary_end(key, 1), None, "{key:?}");
        }
    }
}

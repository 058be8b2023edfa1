//! Compares strings with names, and reads names that are array indices.

use crate::json::string::unquote;
use alloc::vec::Vec;

/// Returns whether a quoted name, which may be escaped, stands for `sought`.
#[inline]
pub(super) fn is_name(quoted: &[u8], escaped: bool, sought: &[u8]) -> bool {
    if escaped { stands_for(quoted, sought) } else { &quoted[1..quoted.len() - 1] == sought }
}

#[cold]
fn stands_for(quoted: &[u8], sought: &[u8]) -> bool {
    let mut name = Vec::new();
    unquote(quoted, &mut name).is_ok() && name == sought
}

/// Returns whether a JSON text, which is well-formed, is a string that stands for `sought`.
#[must_use]
pub fn is_string(text: &[u8], sought: &[u8]) -> bool {
    text.first() == Some(&b'"') && (is_name(text, false, sought) || stands_for(text, sought))
}

/// Returns the array index that a name is, if any: objects list these first. (ECMA-262, 6.1.7 and 10.1.11.1)
#[inline]
pub(super) fn array_index(name: &[u8]) -> Option<u64> {
    if name.first().is_some_and(u8::is_ascii_digit) { index_of(name) } else { None }
}

#[inline(never)]
fn index_of(name: &[u8]) -> Option<u64> {
    if name.len() > 10 || (name.len() > 1 && name[0] == b'0') {
        return None;
    }
    let mut index = 0_u64;
    for digit in name {
        index = index * 10 + u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    (index < u64::from(u32::MAX)).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_compared_without_their_escapes() {
        for text in [r#""put""#, r#""p\u0075t""#, r#""\u0070\u0075\u0074""#] {
            assert!(is_string(text.as_bytes(), b"put"), "{text}");
        }
        for text in [
            "",
            "put",
            "1",
            "[]",
            r#""""#,
            r#""PUT""#,
            r#""put ""#,
            r#""p\\u0075t""#,
            r#""\ud800""#,
        ] {
            assert!(!is_string(text.as_bytes(), b"put"), "{text}");
        }
    }

    #[test]
    fn array_indices_are_canonical_numbers_below_their_limit() {
        for (name, index) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("4294967294", Some(4_294_967_294)),
            ("4294967295", None),
            ("9999999999", None),
            ("00", None),
            ("01", None),
            ("+1", None),
            ("1a", None),
            ("", None),
        ] {
            assert_eq!(array_index(name.as_bytes()), index, "{name}");
        }
    }
}

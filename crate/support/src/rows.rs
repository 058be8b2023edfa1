//! Sample rows, and rows as blocks of JSON text.

use hedgerow::json::push_string;
use std::collections::BTreeMap;

/// Keys with the JSON text of their values.
pub type Rows = BTreeMap<String, String>;

/// Makes a row like an issue: about 147 bytes of JSON.
pub fn issue(index: usize) -> (String, String) {
    let id = format!("issue/{index:08}");
    let value = format!(
        "{{\"id\":\"{id}\",\"title\":\"The quick brown fox jumps over issue {index}\",\
         \"status\":\"open\",\"owner\":\"user{}\",\"modified\":{}}}",
        index % 97,
        1_700_000_000_000_u64 + index as u64
    );
    (id, value)
}

/// Makes a row of a place, whose coordinates have about 17 digits: about 150 bytes of JSON.
pub fn place(index: usize) -> (String, String) {
    let id = format!("place/{index:08}");
    // These factors give fractions that rarely print with few digits.
    let spread = |step: f64, range: f64| (f64::from(index as u32) * step).fract() * range;
    let value = format!(
        "{{\"id\":\"{id}\",\"lat\":{},\"lon\":{},\"height\":{},\"weight\":{},\"name\":\"Place {index}\",\
         \"kind\":\"village\"}}",
        spread(0.618_033_988_749_894_9, 180.0) - 90.0,
        spread(0.754_877_666_246_692_7, 360.0) - 180.0,
        spread(0.569_840_290_998_053_3, 4000.0),
        spread(0.324_717_957_244_746, 1.0),
    );
    (id, value)
}

/// Makes a JSON string of `len` letters and digits without repeats, so that its chunks are not packed.
#[must_use]
pub fn noise(seed: usize, len: usize) -> String {
    let mut state = seed as u64;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        char::from_digit((state >> 59) as u32, 32).expect("five bits")
    };
    // Similar seeds begin with similar letters.
    let letters: String = (0..len + 8).map(|_| next()).skip(8).collect();
    format!("\"{letters}\"")
}

/// Prints the text of a value as Python does: with a space after each comma and colon between
/// tokens.
pub fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let (mut in_string, mut escaped) = (false, false);
    for character in text.chars() {
        out.push(character);
        match character {
            '"' if !escaped => in_string = !in_string,
            ',' | ':' if !in_string => out.push(' '),
            _ => {}
        }
        escaped = character == '\\' && !escaped;
    }
    out
}

/// Prints a string as JSON text.
pub fn quote(text: &str) -> String {
    let mut out = Vec::new();
    push_string(&mut out, text.as_bytes());
    String::from_utf8(out).expect("JSON text")
}

/// Prints a block of rows, as pairs.
pub fn pairs(rows: &[(String, String)]) -> String {
    let members: Vec<_> =
        rows.iter().map(|(key, value)| format!("{},{value}", quote(key))).collect();
    format!("[{}]", members.join(","))
}

/// Prints a block of keys.
pub fn list(keys: &[String]) -> String {
    let members: Vec<_> = keys.iter().map(|key| quote(key)).collect();
    format!("[{}]", members.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_json() {
        let rows = [("a\"\\".to_owned(), "1".to_owned()), (String::new(), "[]".to_owned())];
        assert_eq!(pairs(&rows), r#"["a\"\\",1,"",[]]"#);
        assert_eq!(list(&rows.map(|(key, _)| key)), r#"["a\"\\",""]"#);
        assert_eq!((pairs(&[]), list(&[])), ("[]".to_owned(), "[]".to_owned()));
        let (key, value) = issue(12);
        assert_eq!(key, "issue/00000012");
        assert!(value.starts_with(r#"{"id":"issue/00000012","#));
        let (_, value) = place(12);
        assert!(value.starts_with(r#"{"id":"place/00000012","lat":-"#) && value.len() > 140);
        assert_eq!(spaced(r#"{"a:\",":[1,{}]}"#), r#"{"a:\",": [1, {}]}"#);
    }
}

//! Sample rows, and rows as blocks of JSON text.

use hedgerow::json::push_string;
use std::collections::BTreeMap;

/// Keys with the JSON text of their values.
pub type Rows = BTreeMap<String, String>;

/// Issue-like rows: about 147 bytes of JSON each.
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

/// A string as JSON text.
pub fn quote(text: &str) -> String {
    let mut out = Vec::new();
    push_string(&mut out, text.as_bytes());
    String::from_utf8(out).expect("JSON text")
}

/// A block of rows, as pairs.
pub fn pairs(rows: &[(String, String)]) -> String {
    let members: Vec<_> =
        rows.iter().map(|(key, value)| format!("{},{value}", quote(key))).collect();
    format!("[{}]", members.join(","))
}

/// A block of keys.
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
    }
}

//! Values of both kinds, with every length at which their storage changes.

use crate::output::Value;
use hedgerow::ingest::ByteValue;
use hedgerow::json::push_string;
use hedgerow::limits::{MAX_INLINE_VALUE_BYTES, PIECE_BYTES};
use hedgerow::value::Kind;
use std::collections::BTreeMap;

const INLINE: usize = MAX_INLINE_VALUE_BYTES;

/// Lengths at which the storage of values changes.
pub const LENGTHS: [usize; 12] = [
    2,
    3,
    INLINE - 1,
    INLINE,
    INLINE + 1,
    PIECE_BYTES - 1,
    PIECE_BYTES,
    PIECE_BYTES + 1,
    2 * PIECE_BYTES - 1,
    2 * PIECE_BYTES,
    2 * PIECE_BYTES + 1,
    5 * PIECE_BYTES + 7,
];

/// Keys with their values.
pub type Values = BTreeMap<String, Value>;

/// Makes `len` bytes that look random.
pub fn bytes(len: usize, seed: usize) -> Vec<u8> {
    // The bytes hardly repeat, so that pieces of them are not packed.
    let mixed = |at: u64| (at ^ at >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) >> 56;
    let scattered = |at: usize| ((at + seed) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..len).map(|at| mixed(scattered(at)) as u8).collect()
}

/// Makes a JSON string of `len` bytes.
pub fn text(len: usize, seed: usize) -> Vec<u8> {
    let mut text = bytes(len, seed);
    for byte in &mut text {
        *byte = b'a' + *byte % 26;
    }
    (text[0], text[len - 1]) = (b'"', b'"');
    text
}

/// Makes values of all [`LENGTHS`] and both kinds, with small ones between them.
pub fn values() -> Values {
    let mut values = Values::new();
    for (at, len) in LENGTHS.into_iter().enumerate() {
        values.insert(format!("{at:02}/bytes"), (Kind::Bytes, bytes(len, at)));
        values.insert(format!("{at:02}/json"), (Kind::Json, text(len, at)));
        values.insert(format!("{at:02}/small"), (Kind::Json, at.to_string().into_bytes()));
    }
    values.insert("empty".to_owned(), (Kind::Bytes, Vec::new()));
    values
}

/// Makes a block of pairs as a host feeds it; returns the text followed by the byte values, the length
/// of the text, and where the byte values are.
pub fn block<'v>(
    rows: impl IntoIterator<Item = (&'v String, &'v Value)>,
) -> (Vec<u8>, usize, Vec<ByteValue>) {
    let (mut text, mut bytes, mut places) = (vec![], vec![], vec![]);
    for (row, (key, (kind, value))) in rows.into_iter().enumerate() {
        text.push(if row == 0 { b'[' } else { b',' });
        push_string(&mut text, key.as_bytes());
        text.push(b',');
        match kind {
            Kind::Json => text.extend_from_slice(value),
            Kind::Bytes => {
                text.push(b'0');
                let (start, len) = (bytes.len() as u32, value.len() as u32);
                places.push(ByteValue { row: row as u32, start, len });
                bytes.extend_from_slice(value);
            }
        }
    }
    text.extend_from_slice(if text.is_empty() { b"[]" } else { b"]" });
    for place in &mut places {
        place.start += text.len() as u32;
    }
    let text_len = text.len();
    ([text, bytes].concat(), text_len, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_says_where_its_bytes_are() {
        let values = Values::from([
            ("a".to_owned(), (Kind::Bytes, vec![1, 2])),
            ("b".to_owned(), (Kind::Json, b"[7]".to_vec())),
            ("c".to_owned(), (Kind::Bytes, vec![3])),
        ]);
        let (all, text_len, places) = block(&values);
        assert_eq!(all[..text_len], *br#"["a",0,"b",[7],"c",0]"#);
        let found: Vec<_> = places
            .iter()
            .map(|place| (place.row, &all[place.start as usize..][..place.len as usize]))
            .collect();
        assert_eq!(found, [(0, &[1, 2][..]), (2, &[3])]);
        assert_eq!(block(&Values::new()).0, b"[]");
    }

    #[test]
    fn texts_are_json_of_their_length() {
        for len in LENGTHS {
            let text = text(len, 3);
            assert_eq!(text.len(), len);
            assert_eq!(hedgerow::json::skip_value(&text, 0), Ok(len));
        }
    }
}

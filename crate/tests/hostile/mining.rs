//! Keys that are mined against the boundary function.

use hedgerow::boundary::Shape;

/// The shape of the trees.
pub const SHAPE: Shape = Shape::STORED;
/// The bytes of an entry without its key and its value.
pub const LEAF_ENTRY_BYTES: usize = 4;
/// Repeats the constant that bounds heights, so that a change in the crate fails here.
pub const MIN_CHILDREN: usize = 2;

/// Counts up in base 36 at the end of a key until `fits`.
fn mine(key: &mut [u8], nonce: usize, mut fits: impl FnMut(&[u8]) -> bool) {
    let start = key.len() - nonce;
    key[start..].fill(b'0');
    while !fits(key) {
        for digit in key[start..].iter_mut().rev() {
            *digit = match *digit {
                b'9' => b'a',
                b'z' => b'0',
                digit => digit + 1,
            };
            if *digit != b'0' {
                break;
            }
        }
    }
}

/// Makes `count` ascending keys of `len` bytes under `m/`, whose last `nonce` bytes are mined.
pub fn mined(
    count: usize,
    len: usize,
    nonce: usize,
    value: &str,
    mut fits: impl FnMut(usize, &[u8]) -> bool,
) -> Vec<(String, String)> {
    (0..count)
        .map(|index| {
            let mut key = format!("m/{index:06}").into_bytes();
            key.resize(len, b'-');
            mine(&mut key, nonce, |key| fits(index, key));
            (String::from_utf8(key).unwrap(), value.to_owned())
        })
        .collect()
}

/// Makes a JSON string that takes `len` bytes.
pub fn text(len: usize) -> String {
    format!("\"{}\"", "v".repeat(len - 2))
}

/// Returns whether the row ends a leaf that begins with it, and so any leaf that it is in.
pub fn ends_alone(key: &[u8], value: &str) -> bool {
    SHAPE.ends(0, key, 0, LEAF_ENTRY_BYTES + key.len() + value.len(), 1)
}

/// Returns whether the key, with an entry of `size` bytes, ends no node below [`Shape::full`].
pub fn dodges(level: u8, key: &[u8], size: usize) -> bool {
    let full = SHAPE.full as usize;
    !SHAPE.ends(level, key, full - 1 - size, full - 1, MIN_CHILDREN)
}

//! Keys, and the one check of them. Decoders of nodes, readers of rows and makers of indexes all use
//! it, so that each key that is written can be read.

use crate::limits::MAX_KEY_BYTES;
use core::ops::Deref;

/// The key of an entry: UTF-8, at most [`MAX_KEY_BYTES`] long. Keys are ordered by their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'k>(&'k [u8]);

/// The reason for which bytes are not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFault {
    /// There are more than [`MAX_KEY_BYTES`].
    TooLong,
    /// They are not UTF-8 at this offset.
    NotText(usize),
}

impl<'k> Key<'k> {
    /// Checks `bytes` as a key. Costs a pass over them.
    ///
    /// # Errors
    /// The first fault; the length comes first.
    pub fn parse(bytes: &'k [u8]) -> Result<Self, KeyFault> {
        match core::str::from_utf8(bytes) {
            _ if bytes.len() > MAX_KEY_BYTES => Err(KeyFault::TooLong),
            Ok(_) => Ok(Self(bytes)),
            Err(error) => Err(KeyFault::NotText(error.valid_up_to())),
        }
    }

    /// Makes a key of bytes that are known to be UTF-8, such as the bytes of a JSON string.
    ///
    /// # Errors
    /// [`KeyFault::TooLong`].
    pub fn of_text(bytes: &'k [u8]) -> Result<Self, KeyFault> {
        debug_assert!(core::str::from_utf8(bytes).is_ok(), "{bytes:?} is not UTF-8");
        if bytes.len() > MAX_KEY_BYTES { Err(KeyFault::TooLong) } else { Ok(Self(bytes)) }
    }

    /// Makes a key of bytes that were checked before, such as a key in the cache or in a list of keys.
    #[must_use]
    pub const fn trusted(bytes: &'k [u8]) -> Self {
        debug_assert!(bytes.len() <= MAX_KEY_BYTES, "no key is so long");
        Self(bytes)
    }

    /// Returns its bytes.
    #[must_use]
    pub const fn bytes(self) -> &'k [u8] {
        self.0
    }
}

impl Deref for Key<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_utf8_of_at_most_a_kibibyte() {
        let longest = [b'k'; MAX_KEY_BYTES];
        assert_eq!(Key::parse(&longest).map(Key::bytes), Ok(&longest[..]));
        assert_eq!(Key::of_text(&longest), Key::parse(&longest));
        let longer = [b'k'; MAX_KEY_BYTES + 1];
        assert_eq!(Key::parse(&longer), Err(KeyFault::TooLong));
        assert_eq!(Key::of_text(&longer), Err(KeyFault::TooLong));
        assert_eq!(Key::parse(b"").map(|key| key.len()), Ok(0));
        assert_eq!(Key::parse(b"ab\xff"), Err(KeyFault::NotText(2)));
        assert_eq!(Key::parse("é".as_bytes()).map(|key| key.len()), Ok(2));
    }

    #[test]
    fn keys_are_ordered_by_their_bytes() {
        let keys = ["", "a", "a\0", "b", "é", "～", "😀"].map(|key| Key::parse(key.as_bytes()));
        assert!(keys.is_sorted_by(|a, b| a.unwrap() < b.unwrap()));
    }
}

//! The words of a text: its runs of letters and digits, in small letters, each as one character.
//! `js/hedgerow/src/core/indexes/words.ts` has the same rule.

use super::compose::composed;
use super::encode::{END, STRING};
use crate::json::push_unit;
use alloc::vec::Vec;
use core::str::Chars;

/// The most characters of a word; a longer one is cut off.
const MAX_WORD_CHARS: usize = 64;

/// Ranges of characters, each with a number: 0 separates words; 1 is a range in which each second character, from
/// the first, is a capital before its small letter; else it is the distance to the small letters. The first range
/// that has a character counts; a character outside all ranges is a letter that stays.
#[rustfmt::skip]
static RULES: [(u16, u16, i16); 43] = [
    (0x00, 0x2f, 0), (0x3a, 0x40, 0), (0x41, 0x5a, 32), (0x5b, 0x60, 0), (0x7b, 0xbf, 0),
    // Latin-1 and Latin Extended-A.
    (0xd7, 0xd7, 0), (0xc0, 0xde, 32), (0x130, 0x130, -199), (0x100, 0x136, 1), (0x139, 0x147, 1),
    (0x14a, 0x176, 1), (0x178, 0x178, -121), (0x179, 0x17d, 1),
    // More Latin, such as Pinyin and Vietnamese.
    (0x1a0, 0x1a4, 1), (0x1af, 0x1af, 1), (0x1b7, 0x1b7, 219), (0x1cd, 0x1db, 1), (0x1de, 0x1ee, 1),
    (0x1f4, 0x1f4, 1), (0x1f8, 0x21e, 1), (0x226, 0x232, 1), (0x1e00, 0x1e94, 1), (0x1ea0, 0x1efe, 1),
    // Greek; the last sigma of a word is one like others.
    (0x386, 0x386, 38), (0x388, 0x38a, 37), (0x38c, 0x38c, 64), (0x38e, 0x38f, 63), (0x391, 0x3ab, 32),
    (0x3c2, 0x3c2, 1),
    // Cyrillic.
    (0x400, 0x40f, 80), (0x410, 0x42f, 32), (0x48a, 0x4be, 1), (0x4c1, 0x4cd, 1), (0x4d0, 0x52e, 1),
    // Punctuation of Arabic and of Indic scripts, punctuation and symbols of all, and wide ones.
    (0x60c, 0x61f, 0), (0x6d4, 0x6d4, 0), (0x964, 0x965, 0), (0x2000, 0x2bff, 0), (0x2e00, 0x3004, 0),
    (0x3008, 0x3020, 0), (0xfeff, 0xff0f, 0), (0xff1a, 0xff20, 0), (0xff5b, 0xff65, 0),
];

/// Returns the small letter of a character; 0 if it separates words.
fn lower(code: u32) -> u32 {
    for (first, last, step) in &RULES {
        let past = code.wrapping_sub(u32::from(*first));
        if past <= u32::from(last - first) {
            return match step {
                0 => 0,
                1 if past & 1 == 1 => code,
                _ => code.wrapping_add_signed(i32::from(*step)),
            };
        }
    }
    code
}

/// Appends the next word of a text, encoded as a scalar; returns whether there is one.
pub fn push_word(text: &mut Chars<'_>, out: &mut Vec<u8>) -> bool {
    let mut chars = 0;
    // The last character is not in the word yet: the next one may be a part of it.
    let mut last = 0;
    out.push(STRING);
    loop {
        let next = text.next().map(|char| lower(char.into()));
        let code = next.unwrap_or(0);
        let made = if last == 0 || code == 0 { 0 } else { composed(last, code) };
        if made != 0 {
            last = made;
            continue;
        }
        if last != 0 {
            chars += 1;
            if chars <= MAX_WORD_CHARS {
                push_unit(last, out);
            }
        }
        last = code;
        if next.is_none() || (code == 0 && chars > 0) {
            break;
        }
    }
    out.push(END);
    chars > 0
}

/** Splits texts into words, as `crate/src/index/words.rs` does in the core. */
import { HedgerowError } from '../../base/errors.js';
import { LONE_SURROGATE } from '../../base/key.js';
import { kindOf } from '../../base/runtime-type-checks.js';

const MAX_WORD_CHARS = 64;

/**
 * Ranges of characters: the first, the last, and a rule. The rule 0 parts words; 1 means that each second character,
 * from the first, is a capital before its small letter; else it is the distance to the small letters. The first range
 * with a character counts; a character outside of all ranges is a letter that stays.
 */
// biome-ignore format: a line for each script
const RULES = [
  0x00, 0x2f, 0, 0x3a, 0x40, 0, 0x41, 0x5a, 32, 0x5b, 0x60, 0, 0x7b, 0xbf, 0,
  // Latin-1 and Latin Extended-A.
  0xd7, 0xd7, 0, 0xc0, 0xde, 32, 0x130, 0x130, -199, 0x100, 0x136, 1, 0x139, 0x147, 1,
  0x14a, 0x176, 1, 0x178, 0x178, -121, 0x179, 0x17d, 1,
  // More Latin, as of Pinyin and Vietnamese.
  0x1a0, 0x1a4, 1, 0x1af, 0x1af, 1, 0x1b7, 0x1b7, 219, 0x1cd, 0x1db, 1, 0x1de, 0x1ee, 1,
  0x1f4, 0x1f4, 1, 0x1f8, 0x21e, 1, 0x226, 0x232, 1, 0x1e00, 0x1e94, 1, 0x1ea0, 0x1efe, 1,
  // Greek; the last sigma of a word counts like any other.
  0x386, 0x386, 38, 0x388, 0x38a, 37, 0x38c, 0x38c, 64, 0x38e, 0x38f, 63, 0x391, 0x3ab, 32,
  0x3c2, 0x3c2, 1,
  // Cyrillic.
  0x400, 0x40f, 80, 0x410, 0x42f, 32, 0x48a, 0x4be, 1, 0x4c1, 0x4cd, 1, 0x4d0, 0x52e, 1,
  // Punctuation of Arabic and of Indic scripts, punctuation and symbols of all, and wide ones.
  0x60c, 0x61f, 0, 0x6d4, 0x6d4, 0, 0x964, 0x965, 0, 0x2000, 0x2bff, 0, 0x2e00, 0x3004, 0,
  0x3008, 0x3020, 0, 0xfeff, 0xff0f, 0, 0xff1a, 0xff20, 0, 0xff5b, 0xff65, 0,
];

/** Returns the small letter of a character, by its number; 0 if the character parts words. */
function lower(code: number): number {
  for (let at = 0; at < RULES.length; at += 3) {
    const [past, step] = [code - (RULES[at] as number), RULES[at + 2] as number];
    if (past < 0 || code > (RULES[at + 1] as number)) continue;
    if (step === 0) return 0;
    return step === 1 && past % 2 === 1 ? code : code + step;
  }
  return code;
}

/** Returns whether a character may join the one before it: a combining mark, or a later letter of a Hangul syllable. */
const isPart = (code: number): boolean =>
  (code >= 0x300 && code <= 0x33f) ||
  (code >= 0x1161 && code <= 0x1175) ||
  (code >= 0x11a8 && code <= 0x11c2);

/**
 * Joins two small characters to the one letter that they look like, in Latin, Greek, Cyrillic and Hangul, as in the
 * normal form NFC; returns 0 if there is no such letter. The dot of a small i makes no other letter.
 */
function composeLetter(code: number, part: number): number {
  if (code === 0x69 && part === 0x307) return code;
  const both = String.fromCodePoint(code, part).normalize('NFC');
  const made = both.length === 1 ? both.charCodeAt(0) : 0;
  const isOfScript =
    (made >= 0xc0 && made <= 0x24f) ||
    (made >= 0x370 && made <= 0x4ff) ||
    (made >= 0x1e00 && made <= 0x1eff) ||
    (made >= 0xac00 && made <= 0xd7a3);
  return isOfScript && lower(made) === made ? made : 0;
}

/**
 * Returns the words of a text, each once, as an index with `{ words }` lists them: its runs of letters and digits, in
 * small letters, each letter as one character in any notation; of more than 64 characters the first 64. A text with
 * half of a surrogate pair has no words.
 */
export function wordsOf(text: string): string[] {
  if (typeof text !== 'string') {
    throw new HedgerowError('invalid-argument', `wordsOf takes text, not ${kindOf(text)}`);
  }
  const words = new Set<string>();
  let word = '';
  let chars = 0;
  // Not in the word yet: the next character may be a part of it.
  let last = 0;
  for (const char of LONE_SURROGATE.test(text) ? '' : `${text} `) {
    const code = lower(char.codePointAt(0) as number);
    const made = last > 0 && isPart(code) ? composeLetter(last, code) : 0;
    if (made > 0) {
      last = made;
      continue;
    }
    if (last > 0 && chars++ < MAX_WORD_CHARS) word += String.fromCodePoint(last);
    last = code;
    if (code > 0) continue;
    if (chars > 0) words.add(word);
    word = '';
    chars = 0;
  }
  return [...words];
}

/**
 * Makes the key of a city. Plain JavaScript, since `prepare.mjs` makes keys in Node and the page makes prefixes of them
 * from typed text: both must fold a name in the same way.
 *
 *     paris/fr/11/1        name / country / first-level division / running number
 *
 * The slash is below every letter, digit and `_` in UTF-8, so a name comes before all longer names that start with it:
 * `paris/...` before `paris_01/...` before `parisot/...`.
 */

/** Letters that Unicode's decomposition leaves unchanged. */
const LETTERS = new Map(
  Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th' }).concat(
    Object.entries({ ħ: 'h', ı: 'i', ŋ: 'ng', ə: 'e', ѳ: 'ф' }),
  ),
);

/**
 * Removes case and accents. Drops apostrophes; every other character that is neither a letter nor a digit becomes one
 * `_`.
 *
 * @param {string} text
 */
export function fold(text) {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\p{M}'’‘ʻʼ`´]/gu, '')
    .replace(/[^a-z0-9]/g, (letter) => LETTERS.get(letter) ?? letter)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '_');
}

/**
 * Makes a city's key without the running number, which distinguishes namesakes in one division.
 *
 * @param {{ name: string, country: string, admin1: string }} city
 */
export function keyStem({ name, country, admin1 }) {
  const folded = fold(name).replace(/^_+|_+$/g, '');
  return `${folded}/${country.toLowerCase()}/${fold(admin1)}/`;
}

/**
 * Returns the prefix of keys that typed text stands for: `Springfield, us` is `springfield/us`.
 *
 * @param {string} typed
 */
export function prefixOf(typed) {
  const parts = typed.trimStart().split(/\s*[,/]\s*/);
  return parts.map(fold).join('/');
}

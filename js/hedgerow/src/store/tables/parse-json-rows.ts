/** Parses rows of complete texts: lines, or the elements of a JSON array. */

/** Codes of the characters that separate rows. */
export const Code = {
  feed: 10,
  quote: 34,
  comma: 44,
  openList: 91,
  backslash: 92,
  closeList: 93,
  open: 123,
  close: 125,
} as const;

/** Thrown if the next row is no JSON, or no row for a table. */
export class NoJson {
  readonly cause: unknown;
  readonly what: string;

  constructor(cause?: unknown, what = 'the text is not JSON') {
    this.cause = cause;
    this.what = what;
  }
}

/** Matches texts with a number that may be no double: `JSON.parse` makes it infinite. */
const LARGE = /\d[eE]\+?\d{3}|\d{200}/;

/** Parses a text. Throws `NoJson` for a number that is no double, as the core does. */
function jsonOf(text: string): unknown {
  if (!LARGE.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value: unknown) => {
    const isInfinite = value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
    if (!isInfinite) return value;
    throw new NoJson(undefined, 'a number is too large: numbers are doubles');
  });
}

let decoder: TextDecoder | undefined;

/** Returns the text of bytes; `undefined` if they are no UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function parseRowText(text: string | undefined): unknown {
  if (text === undefined) throw new NoJson();
  try {
    return jsonOf(text);
  } catch (cause) {
    throw cause instanceof NoJson ? cause : new NoJson(cause);
  }
}

function isSpace(code: number | undefined): boolean {
  return code === 32 || code === Code.feed || code === 13 || code === 9;
}

/** Returns where the spaces from `at` on end. */
export function afterSpaces(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isSpace(bytes[end])) end += 1;
  return end;
}

const NOT_BLANK = /[^ \t\r\n]/;

/** Adds the row of each line that is not blank. Throws `NoJson` at the first malformed line. */
export function addLines(bytes: Uint8Array, rows: unknown[]): void {
  const text = textOf(bytes);
  const lines = text === undefined ? linesOf(bytes) : text.split('\n');
  for (const line of lines) {
    if (line === undefined || NOT_BLANK.test(line)) rows.push(parseRowText(line));
  }
}

/** Returns the lines of bytes that are no UTF-8; `undefined` for a line at fault. */
function* linesOf(bytes: Uint8Array): Generator<string | undefined> {
  let at = 0;
  while (at < bytes.length) {
    const feed = bytes.indexOf(Code.feed, at);
    const end = feed < 0 ? bytes.length : feed;
    yield textOf(bytes.subarray(at, end));
    at = end + 1;
  }
}

/** Adds `count` elements, which commas separate. Throws `NoJson` at the first malformed one. */
export function addElements(bytes: Uint8Array, count: number, rows: unknown[]): void {
  const text = textOf(bytes);
  if (text !== undefined) {
    try {
      // All at once: a call for each takes longer.
      const all = jsonOf(`[${text}]`) as unknown[];
      if (all.length === count) {
        for (const row of all) rows.push(row);
        return;
      }
    } catch {
      // One of them is malformed: find out which.
    }
  }
  let at = 0;
  while (at <= bytes.length) {
    const end = at + valueEnd(bytes.subarray(at), true);
    addElement(bytes.subarray(at, end), rows);
    at = end + 1;
  }
}

/** Adds an element. Throws `NoJson` if it is malformed; also, once it is added, if something follows it. */
export function addElement(bytes: Uint8Array, rows: unknown[]): void {
  const end = valueEnd(bytes, false);
  const text = textOf(bytes.subarray(0, end));
  rows.push(parseRowText(text));
  if (afterSpaces(bytes, end) < bytes.length) throw new NoJson();
}

/** Returns where the first value of a text ends, or, with `isList`, the first element of a list. */
function valueEnd(bytes: Uint8Array, isList: boolean): number {
  let depth = 0;
  let isInString = false;
  const start = isList ? 0 : afterSpaces(bytes, 0);
  for (let at = start; at < bytes.length; at++) {
    const code = bytes[at];
    if (isInString) {
      if (code === Code.backslash) at += 1;
      else if (code === Code.quote) isInString = false;
    } else if (code === Code.quote) isInString = true;
    else if (code === Code.open || code === Code.openList) depth += 1;
    else if (code === Code.close || code === Code.closeList) depth -= 1;
    if (isInString || depth > 0) continue;
    if (isList) {
      if (code === Code.comma && depth === 0) return at;
      continue;
    }
    // An object, a list or a text ends with this character; other values end before a character that they cannot have.
    if (code === Code.quote || code === Code.close || code === Code.closeList) return at + 1;
    if (!isWord(bytes[at + 1])) return at + 1;
  }
  return bytes.length;
}

function isWord(code = 0): boolean {
  return /[\w+.-]/.test(String.fromCharCode(code));
}

/** Decodes the stored form of structured values. */

import { fromBase64 } from './base64.js';
import { dateOfText } from './sortable-date-text.js';
import { StoredFile } from './stored-file.js';
import { BIGINT, Mark, type Members, TILDE, UNDEFINED } from './transit-tags.js';
import { checkDepth, fault } from './value-errors.js';

/**
 * Decodes a stored form, and takes it apart: the value may be made of its lists and objects. Throws
 * `invalid-argument/value` if `encodeStructured` cannot have made it.
 */
export function decodeStructured(stored: unknown): unknown {
  return decode(stored, 0);
}

function decode(stored: unknown, depth: number): unknown {
  if (typeof stored === 'string') return decodeText(stored);
  if (typeof stored !== 'object' || stored === null || ArrayBuffer.isView(stored)) return stored;
  checkDepth(depth);
  return Array.isArray(stored)
    ? decodeList(stored, depth)
    : decodeMembers(stored as Members, depth);
}

function throwMalformed(form: string): never {
  const shown = JSON.stringify(form.slice(0, 40));
  throw fault(`${shown} is no structured value: was it written as plain JSON?`);
}

const NUMBERS: Readonly<Record<string, number>> = {
  '~zNaN': Number.NaN,
  '~zINF': Number.POSITIVE_INFINITY,
  '~z-INF': Number.NEGATIVE_INFINITY,
};

function decodeText(text: string): unknown {
  if (text.charCodeAt(0) !== TILDE) return text;
  const kind = text[1];
  if (kind === '~') return text.slice(1);
  if (kind === 't') return dateOfText(text) ?? throwMalformed(text);
  if (kind === 'b') return fromBase64(text.slice(2)) ?? throwMalformed(text);
  if (BIGINT.test(text)) return BigInt(text.slice(2));
  return text === UNDEFINED ? undefined : (NUMBERS[text] ?? throwMalformed(text));
}

function decodeList(stored: unknown[], depth: number): unknown {
  const [mark] = stored;
  if (mark === Mark.file) return decodeFile(stored);
  const isMarked = typeof mark === 'string' && mark.startsWith('~#');
  for (let at = isMarked ? 1 : 0; at < stored.length; at++) {
    stored[at] = decode(stored[at], depth + 1);
  }
  return isMarked ? decodeMany(mark, stored.slice(1)) : stored;
}

/** Makes a set or a map. Neither has an item or a key twice. */
function decodeMany(mark: string, items: readonly unknown[]): unknown {
  const set = new Set(items);
  if (mark === Mark.set && set.size === items.length) return set;
  const map = new Map<unknown, unknown>();
  for (let at = 0; at < items.length; at += 2) map.set(items[at], items[at + 1]);
  return mark === Mark.map && map.size * 2 === items.length ? map : throwMalformed(mark);
}

function decodeFile([mark, base64, name, type, time, ...more]: unknown[]): StoredFile {
  const bytes = fromBase64(String(base64));
  const isWhole = time !== undefined && more.length === 0;
  if (bytes === undefined || !isWhole) return throwMalformed(String(mark));
  return new StoredFile(bytes, name as string, type as string, (time ?? undefined) as number);
}

function decodeMembers(stored: Members, depth: number): Members {
  for (const name in stored) {
    const member = stored[name];
    const isText = typeof member === 'string';
    // Members of a prototype stay as they are.
    if (
      (isText ? member.charCodeAt(0) === TILDE : typeof member === 'object') &&
      Object.hasOwn(stored, name)
    ) {
      stored[name] = decode(member, depth + 1);
    }
  }
  return Object.hasOwn(stored, UNDEFINED) ? withAbsent(stored) : stored;
}

/** Adds the members that are `undefined`. A value that another device has set, and that was merged, counts. */
function withAbsent({ [UNDEFINED]: absent, ...stored }: Members): Members {
  const isName = (name: unknown) => typeof name === 'string' && name !== UNDEFINED;
  if (!(Array.isArray(absent) && absent.every(isName))) return throwMalformed(UNDEFINED);
  return { ...Object.fromEntries(absent.map((name) => [name, undefined])), ...stored };
}

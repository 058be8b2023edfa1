/** Makes the stored form of structured values: JSON with the tags of Transit. `docs/values.md` has the form. */

import { isPlain, kindOf } from '../../../base/runtime-type-checks.js';
import { toBase64 } from './base64.js';
import { textOfDate } from './sortable-date-text.js';
import { StoredFile } from './stored-file.js';
import { BIGINT, escapedText, Mark, type Members, tagOf, UNDEFINED } from './transit-tags.js';
import { checkDepth, fault, locateFault } from './value-errors.js';

/**
 * Returns the stored form of a value: JSON, or bytes if the whole value is a `Uint8Array`. Equal values have the same
 * form, whatever the order of their members. Throws `invalid-argument/value` with a `pointer`.
 */
export function encodeStructured(value: unknown): unknown {
  try {
    return tagOf(value) === 'Uint8Array' ? value : encode(value);
  } catch (cause) {
    throw locateFault(cause, value, encode);
  }
}

/** `depth` is the number of lists and objects around the value, as it is stored. */
function encode(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
      return escapedText(value);
    case 'number':
      return Number.isFinite(value) ? value : `~z${String(value).replace('Infinity', 'INF')}`;
    case 'boolean':
      return value;
    case 'undefined':
      return UNDEFINED;
    case 'object':
      return value === null ? null : encodeObject(value, depth);
    case 'bigint':
      if (BIGINT.test(`~n${value}`)) return `~n${value}`;
      return lacks('bigint of more than 10,000 digits');
  }
  return lacks(kindOf(value));
}

function lacks(what: string): never {
  throw fault(`structured values have no ${what}`);
}

function encodeObject(value: object, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return encodeMembers(value as Members, depth);
  const tag = tagOf(value);
  if (tag === 'Uint8Array') return `~b${toBase64(value as Uint8Array)}`;
  if (Array.isArray(value)) return encodeList(value, depth);
  if (value instanceof StoredFile) {
    checkDepth(depth);
    const { bytes, name, type, lastModified } = value;
    return [Mark.file, toBase64(bytes), name, type, lastModified ?? null];
  }
  // Without a prototype, or of another realm.
  if (isPlain(value)) return encodeMembers(value as Members, depth);
  // A class that extends one of these is another one.
  if (isPlain(prototype)) {
    if (tag === 'Date')
      return (
        textOfDate(value as Date) ?? lacks('Date that is invalid or not of the years 0 to 9999')
      );
    if (tag === 'Set') return [Mark.set, ...encodeList([...(value as Set<unknown>)], depth)];
    if (tag === 'Map') {
      return [Mark.map, ...encodeList([...(value as Map<unknown, unknown>)].flat(), depth)];
    }
  }
  return lacks(`${kindOf(value)}: take a plain object, a Uint8Array, or await file(blob)`);
}

/** Encodes a list, with its holes, which the store refuses. */
function encodeList(items: readonly unknown[], depth: number): unknown[] {
  checkDepth(depth);
  return items.map((item) => encode(item, depth + 1));
}

function encodeMembers(value: Members, depth: number): Members {
  checkDepth(depth);
  const stored: Members = {};
  const absent: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (name === UNDEFINED) lacks(`member ${name}`);
    if (member === undefined) absent.push(name);
    else if (name !== '__proto__') stored[name] = encode(member, depth + 1);
    else
      Object.defineProperty(stored, name, { value: encode(member, depth + 1), enumerable: true });
  }
  if (absent.length > 0) stored[UNDEFINED] = encodeList(absent, depth + 1);
  return stored;
}

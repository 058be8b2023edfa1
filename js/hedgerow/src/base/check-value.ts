/**
 * Checks that JSON can represent a value in full, or that it is a `Uint8Array`. `JSON.stringify` silently turns
 * anything else into `null` or `{}`, so the check also walks the value.
 */

import { HedgerowError } from './errors.js';
import { isByteArray } from './is-byte-array.js';
import { utf8Length } from './key.js';
import { MAX_VALUE_BYTES } from './limits.js';
import { isPlain, kindOf } from './runtime-type-checks.js';

function refuse(what: string, row?: number, pointer?: string, cause?: unknown): never {
  const where = row === undefined ? '' : `row ${row}: `;
  const place = pointer ? `, at ${pointer}` : '';
  throw new HedgerowError('invalid-argument/value', where + what + place, { row, pointer, cause });
}

/** The message about the loss that the last walk has found. */
let lost = '';

function lose(what: string): string {
  lost = what;
  return '';
}

/** Returns the pointer to the part of `value` that JSON would lose; `undefined` if JSON keeps all. */
function lossIn(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined;
  if (typeof value === 'object')
    return Array.isArray(value) ? lossInArray(value) : lossInObject(value);
  if (typeof value === 'number' && Number.isFinite(value)) return undefined;
  return lose(`JSON has no ${typeof value === 'number' ? value : typeof value}`);
}

function lossInArray(values: readonly unknown[]): string | undefined {
  for (let at = 0; at < values.length; at++) {
    const loss = lossIn(values[at]);
    if (loss !== undefined) return `/${at}${loss}`;
  }
  return undefined;
}

/** Does the same for an object; optimised for plain objects whose members are mostly strings and numbers. */
function lossInObject(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOfClass = prototype !== Object.prototype && prototype !== null;
  if (isOfClass) {
    const { toJSON, arrayBuffer } = value as Record<string, unknown>;
    if (arrayBuffer || ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      const way = 'put its bytes: new Uint8Array(await blob.arrayBuffer())';
      return lose(`JSON has no ${kindOf(value)}; ${way}`);
    }
    if (typeof toJSON === 'function') return lossInMade(value, toJSON);
  }
  let isEmpty = true;
  for (const name in value) {
    // Skip members of a prototype, mostly of classes of the platform.
    if (isOfClass && !Object.hasOwn(value, name)) continue;
    isEmpty = false;
    const member = (value as Record<string, unknown>)[name];
    switch (typeof member) {
      case 'string':
      case 'boolean':
      // JSON leaves these out.
      case 'undefined':
      case 'symbol':
        continue;
      case 'number':
        if (Number.isFinite(member)) continue;
        break;
      case 'function':
        if (name === 'toJSON') return lossInMade(value, member);
        continue;
    }
    const loss = lossIn(member);
    if (loss === undefined || !Object.hasOwn(value, name)) continue;
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return lossInMade(value, toJSON);
    return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}${loss}`;
  }
  // A boxed number has no members, either.
  if (!isEmpty || isPlain(value) || JSON.stringify(value) !== '{}') return undefined;
  return lose(`JSON keeps nothing of ${kindOf(value)}; make it an array or a plain object`);
}

/** Returns the pointer to what JSON loses of the result of `toJSON`. */
function lossInMade(value: object, toJSON: unknown): string | undefined {
  const isDate = value instanceof Date;
  if (isDate && !Number.isNaN(value.getTime())) return undefined;
  const made: unknown = (toJSON as (name: string) => unknown).call(value, '');
  return made === null && Number.isNaN(value.valueOf())
    ? lose(`JSON has no invalid ${kindOf(value)}`)
    : lossIn(made);
}

/** Throws `invalid-argument/value` if JSON loses a part of a value, or if `JSON.stringify` has `failed`. */
export function checkKept(value: unknown, row?: number, failed?: { cause: unknown }): void {
  let loss: string | undefined;
  try {
    loss = lossIn(value);
  } catch (cause) {
    // A getter has thrown, or a circular value has exhausted the stack.
    failed ??= { cause };
  }
  if (loss !== undefined) refuse(lost, row, loss, failed?.cause);
  if (failed !== undefined) refuse('JSON cannot hold it', row, undefined, failed.cause);
}

/** Returns the JSON text of a value. Throws `invalid-argument/value` if the text would not represent all of it. */
export function stringify(value: unknown, row?: number): string {
  let text = '';
  let failed: { cause: unknown } | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    failed = { cause };
  }
  checkKept(value, row, failed);
  return text;
}

/** Copies a value as the store keeps it: JSON text or bytes. Throws `invalid-argument/value`. */
export function keptValue(value: unknown): string | Uint8Array {
  if (isBytes(value)) return new Uint8Array(value);
  const text = stringify(value);
  if (text.length * 3 > MAX_VALUE_BYTES && utf8Length(text) > MAX_VALUE_BYTES) {
    return refuse('the value is larger than 64 MiB');
  }
  return text;
}

/** Returns whether the store keeps a value as bytes. Throws `invalid-argument/value` if it is larger than 64 MiB. */
export function isBytes(value: unknown, row?: number): value is Uint8Array {
  if (!isByteArray(value)) return false;
  if (value.length > MAX_VALUE_BYTES) refuse('the value is larger than 64 MiB', row);
  return true;
}

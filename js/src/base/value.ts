/**
 * What a value may be: what JSON keeps whole, or a `Uint8Array`. `JSON.stringify` makes `null` or `{}`
 * of what it has no word for, without a sound, so that a value is walked once it is text.
 */
import { HedgerowError } from './errors.js';
import { utf8Length } from './key.js';
import { isPlain, kindOf } from './kind.js';
import { MAX_VALUE_BYTES } from './limits.js';

function refuse(what: string, row?: number, pointer?: string, cause?: unknown): never {
  const where = row === undefined ? '' : `row ${row}: `;
  const place = pointer ? `, at ${pointer}` : '';
  throw new HedgerowError('invalid-value', where + what + place, { row, pointer, cause });
}

/** What JSON has no word for, when a walk has found something. */
let lost = '';

function lose(what: string): string {
  lost = what;
  return '';
}

/** The pointer to what JSON would lose of `value`; `undefined` when it keeps all. */
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

/** Written for objects of no class, whose members are mostly texts and numbers. */
function lossInObject(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOfClass = prototype !== Object.prototype && prototype !== null;
  if (isOfClass) {
    const { toJSON, arrayBuffer } = value as Record<string, unknown>;
    if (arrayBuffer || ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      const way = 'put bytes as a value of their own: new Uint8Array(await blob.arrayBuffer())';
      return lose(`JSON has no ${kindOf(value)}; ${way}`);
    }
    if (typeof toJSON === 'function') return lossInMade(value, toJSON);
  }
  let isEmpty = true;
  for (const name in value) {
    // What a class gives, of the platform above all, is no part of the value.
    if (isOfClass && !Object.hasOwn(value, name)) continue;
    isEmpty = false;
    const member = (value as Record<string, unknown>)[name];
    switch (typeof member) {
      case 'string':
      case 'boolean':
      // As in JSON these are left out.
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
  // A boxed number has no members either.
  if (!isEmpty || isPlain(value) || JSON.stringify(value) !== '{}') return undefined;
  return lose(`JSON keeps nothing of ${kindOf(value)}; make it an array or a plain object`);
}

/** What is lost of what `toJSON` makes of `value`. */
function lossInMade(value: object, toJSON: unknown): string | undefined {
  const isDate = value instanceof Date;
  if (isDate && !Number.isNaN(value.getTime())) return undefined;
  const made: unknown = (toJSON as (name: string) => unknown).call(value, '');
  return made === null && Number.isNaN(value.valueOf())
    ? lose(`JSON has no invalid ${kindOf(value)}`)
    : lossIn(made);
}

/** Throws `invalid-value` for what JSON loses of a value, or why it has `failed`. */
export function checkKept(value: unknown, row?: number, failed?: { cause: unknown }): void {
  let loss: string | undefined;
  try {
    loss = lossIn(value);
  } catch (cause) {
    // Of a getter, or for want of stack: what holds itself has no end.
    failed ??= { cause };
  }
  if (loss !== undefined) refuse(lost, row, loss, failed?.cause);
  if (failed !== undefined) refuse('JSON cannot hold it', row, undefined, failed.cause);
}

/** A value's JSON text, which holds all of it; throws `invalid-value`. */
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

/** A value as it is kept, as it is now, which the core will not refuse; throws `invalid-value`. */
export function keptValue(value: unknown): string | Uint8Array {
  if (isBytes(value)) return new Uint8Array(value);
  const text = stringify(value);
  if (text.length * 3 > MAX_VALUE_BYTES && utf8Length(text) > MAX_VALUE_BYTES) {
    return refuse('the value is larger than 64 MiB');
  }
  return text;
}

/** Whether a value is kept as bytes; throws `invalid-value` when there are too many. */
export function isBytes(value: unknown, row?: number): value is Uint8Array {
  // Of a revoked proxy nobody can ask what it is an instance of.
  if (!ArrayBuffer.isView(value) || !(value instanceof Uint8Array)) return false;
  if (value.length > MAX_VALUE_BYTES) refuse('the value is larger than 64 MiB', row);
  return true;
}

/**
 * What a value may be: what JSON keeps whole, or a `Uint8Array`. `JSON.stringify` makes `null` or `{}`
 * of what it has no word for, without a sound, so that a value is walked once it is text.
 */
import { HedgerowError } from './errors.js';
import { utf8Length } from './key.js';
import { isPlain, kindOf } from './kind.js';
import { MAX_VALUE_BYTES } from './limits.js';

/** What JSON would lose, and the JSON pointer to it. */
interface Loss {
  readonly what: string;
  readonly pointer: string;
}

function refuse(what: string, row?: number, pointer?: string, cause?: unknown): never {
  const message = `${row === undefined ? '' : `row ${row}: `}${what}`;
  const where = pointer ? `, at ${pointer}` : '';
  throw new HedgerowError('invalid-value', message + where, { row, pointer, cause });
}

/** A loss in the member `name`, as that of what has the member. */
function inMember({ what, pointer }: Loss, name: string | number): Loss {
  const escaped = String(name).replaceAll('~', '~0').replaceAll('/', '~1');
  return { what, pointer: `/${escaped}${pointer}` };
}

function lost(what: string): Loss {
  return { what, pointer: '' };
}

/**
 * What JSON would lose of `value`, which was made text before, so that it ends. Of one that could
 * not be, `above` are the objects around it: it may hold itself.
 */
function lossIn(value: unknown, above?: Set<unknown>): Loss | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : lost(`JSON has no ${value}`);
  }
  if (typeof value !== 'object') return lost(`JSON has no ${typeof value}`);
  if (above === undefined) return lossWithin(value);
  if (above.has(value)) return lost('JSON cannot hold what holds itself');
  above.add(value);
  const loss = lossWithin(value, above);
  above.delete(value);
  return loss;
}

/** As `lossIn`, written for objects of no class, whose members are mostly texts and numbers. */
function lossWithin(value: object, above?: Set<unknown>): Loss | undefined {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const loss = lossIn(value[at], above);
      if (loss !== undefined) return inMember(loss, at);
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOfClass = prototype !== Object.prototype && prototype !== null;
  const { toJSON } = isOfClass ? (value as { toJSON?: unknown }) : {};
  if (isOfClass && hasBytes(value)) {
    const way = 'bytes are kept as a value of their own: new Uint8Array(await blob.arrayBuffer())';
    return lost(`JSON has no ${kindOf(value)}; ${way}`);
  }
  if (typeof toJSON === 'function') return lossInMade(value, toJSON, above);
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
        if (name === 'toJSON') return lossInMade(value, member, above);
        continue;
    }
    const loss = lossIn(member, above);
    if (loss === undefined || !Object.hasOwn(value, name)) continue;
    const own = (value as { toJSON?: unknown }).toJSON;
    return typeof own === 'function' ? lossInMade(value, own, above) : inMember(loss, name);
  }
  // A boxed number has no members either.
  if (!isEmpty || isPlain(value) || JSON.stringify(value) !== '{}') return undefined;
  return lost(`JSON keeps nothing of ${kindOf(value)}; make a plain object or an array of it`);
}

function hasBytes(value: object): boolean {
  const isBlob = typeof (value as Blob).arrayBuffer === 'function';
  return isBlob || ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** What is lost of what `toJSON` makes of `value`. */
function lossInMade(value: object, toJSON: unknown, above?: Set<unknown>): Loss | undefined {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return undefined;
  const made: unknown = (toJSON as (name: string) => unknown).call(value, '');
  const isInvalid = made === null && Number.isNaN(value.valueOf());
  return isInvalid ? lost(`JSON has no invalid ${kindOf(value)}`) : lossIn(made, above);
}

/** Throws `invalid-value` for what JSON loses of a value that it could make text of. */
export function checkKept(value: unknown, row?: number): void {
  let loss: Loss | undefined;
  try {
    loss = lossIn(value);
  } catch (cause) {
    // Of a getter, or for want of stack.
    refuse('JSON cannot hold it', row, undefined, cause);
  }
  if (loss !== undefined) refuse(loss.what, row, loss.pointer);
}

/** A value's JSON text, which holds all of it; throws `invalid-value`. */
export function stringify(value: unknown, row?: number): string {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    let loss: Loss | undefined;
    try {
      loss = lossIn(value, new Set());
    } catch {}
    return refuse(loss?.what ?? 'JSON cannot hold it', row, loss?.pointer, cause);
  }
  checkKept(value, row);
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

/** What a value may be: anything that `JSON.stringify` keeps, or a `Uint8Array`. */
import { HedgerowError } from './errors.js';
import { utf8Length } from './key.js';
import { kindOf } from './kind.js';
import { MAX_VALUE_BYTES } from './limits.js';

function refuse(reason: string, row: number | undefined, cause?: unknown): never {
  const where = row === undefined ? '' : `row ${row}: `;
  const facts = {
    ...(row === undefined ? {} : { row }),
    ...(cause === undefined ? {} : { cause }),
  };
  throw new HedgerowError('invalid-value', `${where}${reason}`, facts);
}

/**
 * Checks a value that is about to be put among others into one `JSON.stringify`, where it
 * would silently become `null` or `{}` if JSON could not hold it. Returns what to put there.
 */
export function checkValue(value: unknown, row?: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : refuse(`JSON has no ${value}`, row);
    case 'object': {
      if (value === null) return value;
      const prototype: unknown = Object.getPrototypeOf(value);
      const plain =
        prototype === Object.prototype || prototype === Array.prototype || prototype === null;
      return plain && !('toJSON' in value) ? value : checkObject(value, row);
    }
    default:
      return refuse(`JSON has no ${typeof value}`, row);
  }
}

function checkObject(value: object, row: number | undefined): unknown {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return refuse(`of binary values only a Uint8Array is kept, not ${kindOf(value)}`, row);
  }
  if (value instanceof Map || value instanceof Set) {
    return refuse(`JSON keeps nothing of ${kindOf(value)}`, row);
  }
  // A class of its own or a `toJSON`: it may come to nothing, or to something else.
  const text = stringify(value, row);
  return JSON.parse(text);
}

/** A value's JSON text; throws `invalid-value`. */
export function stringify(value: unknown, row?: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    return refuse('JSON cannot hold it', row, cause);
  }
  return text ?? refuse(`JSON has no ${kindOf(value)}`, row);
}

/** A value as it is kept, which the core will not refuse; throws `invalid-value`. */
export function keptValue(value: unknown): string | Uint8Array {
  if (isBytes(value)) return new Uint8Array(value);
  const text = stringify(checkValue(value));
  if (text.length * 3 > MAX_VALUE_BYTES && utf8Length(text) > MAX_VALUE_BYTES) {
    return refuse('the value is larger than 64 MiB', undefined);
  }
  return text;
}

/** Whether a value is kept as bytes; throws `invalid-value` when there are too many. */
export function isBytes(value: unknown, row?: number): value is Uint8Array {
  if (!(value instanceof Uint8Array)) return false;
  if (value.length > MAX_VALUE_BYTES) refuse('the value is larger than 64 MiB', row);
  return true;
}

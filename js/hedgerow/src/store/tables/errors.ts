/** Errors that name the table, and the key, of the row at fault. */

import { HedgerowError, kindOfError } from '../../base/errors.js';
import { kindOf } from '../../base/runtime-type-checks.js';

/** The codes of errors in arguments and rows. Other errors have facts of their own, and no table is at fault. */
const KINDS = /^(invalid-(argument|data\/(row|patch))|newer-version\/schema)/;

const LONGEST_SHOWN = 60;

/** Adds the table, and the key as calls take it, to the error of a row. Returns other errors as they are. */
export function namedError(cause: unknown, table: string, key?: unknown): unknown {
  if (!(cause instanceof HedgerowError) || !KINDS.test(kindOfError(cause))) return cause;
  if (cause.table !== undefined) return cause;
  const { message, pointer, row, offset, issues } = cause;
  const shown = key === undefined ? '' : ` ${describeKey(key)}`;
  return new HedgerowError(kindOfError(cause), `${table}${shown}: ${message}`, {
    cause: cause.cause ?? cause,
    table,
    key: key === undefined ? cause.key : keyText(key),
    pointer,
    row,
    offset,
    issues,
  });
}

/** Returns a key as errors have it: a string as it is, others as JSON. */
export function keyText(key: unknown): string {
  return typeof key === 'string' ? key : jsonOf(key);
}

/** Returns a key as messages show it. */
export function describeKey(key: unknown): string {
  const text = jsonOf(key);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
}

/** Returns a key as JSON; also takes a value that is no key. */
function jsonOf(key: unknown): string {
  try {
    return JSON.stringify(key) ?? kindOf(key);
  } catch {
    return kindOf(key);
  }
}

/** Throws `invalid-argument`, in the name of a table. */
export function throwTableError(table: string, message: string): never {
  throw new HedgerowError('invalid-argument', `${table}: ${message}`, { table });
}

/** Brings a row forward: by the `migrate` of its table, whose result is checked like any row that is put. */

import { keptValue } from '../../../base/check-value.js';
import { HedgerowError, kindOfError } from '../../../base/errors.js';
import { memberAt, parsePointer } from '../../../base/json-pointer.js';
import { namedError } from '../errors.js';
import { checkRow } from '../row-format.js';
import type { NewestRow, Row, Spec } from '../spec.js';

/** Brings a row of a lower version forward. Throws an error that says why `migrate` cannot. */
export function bringRow(spec: Spec, row: Row, from: number): NewestRow {
  // Before `migrate`, which may change the row in place.
  const shown = spec.shownKey(row);
  try {
    const before = spec.keys.ofRow(row);
    const columns = keptColumns(spec, row);
    const made = spec.migrate?.(row, from);
    if (made instanceof Promise) throw new TypeError('it must return the row at once');
    checkRow(made);
    const { key, value } = spec.encodeNewest(made);
    const text = keptValue(value) as string;
    const at = keptColumns(spec, made).findIndex((column, nth) => column !== columns[nth]);
    if (at >= 0) {
      throw new TypeError(`it has changed ${spec.keeps[at]?.slice(1)}, which keeps names`);
    }
    if (key === before) return { key, value, text };
    throw new TypeError('it has changed the key of the row: delete it, and put another');
  } catch (cause) {
    throw namedError(toMigrationError(cause, from), spec.name, shown);
  }
}

/** Returns the values of the columns that `migrate` leaves as they are, as texts. */
function keptColumns(spec: Spec, row: Row): string[] {
  if (spec.keeps.length === 0) return [];
  const form = spec.kept.encode(row);
  return spec.keeps.map((column) =>
    JSON.stringify(memberAt(form, parsePointer(column) ?? []) ?? null),
  );
}

/** Makes the error of a row that cannot be brought forward. */
function toMigrationError(cause: unknown, from: number): HedgerowError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `migrate refuses a row of version ${from}: ${why}`;
  if (!(cause instanceof HedgerowError)) {
    return new HedgerowError('invalid-argument/value', message, { cause });
  }
  const { pointer, issues } = cause;
  return new HedgerowError(kindOfError(cause), message, { cause, pointer, issues });
}

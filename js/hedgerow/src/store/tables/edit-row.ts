/** One edit of a row: the row before it, and the row after it. */

import { HedgerowError } from '../../base/errors.js';
import { isPlain, kindOf } from '../../base/runtime-type-checks.js';
import type { Transaction } from '../../engine/transaction/transaction.js';
import { pointerTo } from './column-json-pointer.js';
import { namedError, throwTableError } from './errors.js';
import { type EncodedRow, type Row, type Spec, VERSION, versionOf } from './spec.js';

/** Encodes a row for the store; errors name the table and the key. */
export function encodeTableRow(spec: Spec, row: unknown): EncodedRow {
  try {
    return spec.encode(row);
  } catch (cause) {
    throw namedError(cause, spec.name, spec.shownKey(row));
  }
}

/** The change of a row: members to set (`undefined`: to remove), or a function of the row. */
export type RowEdit = Row | ((row: Row) => unknown);

/** Changes the row of a key in the store; resolves to the new row, or to `undefined` if there is no row. */
export async function updateTableRow(
  tx: Transaction,
  spec: Spec,
  key: string,
  change: RowEdit,
): Promise<Row | undefined> {
  if (typeof change !== 'function' && !isPlain(change)) {
    const message = `update takes members in a plain object, or a function, not ${kindOf(change)}`;
    throwTableError(spec.name, message);
  }
  const row = spec.decodeFound(await tx.get(key));
  if (row === undefined) return undefined;
  tx.put(key, await changedValue(spec, key, row, change));
  return spec.decodeFound(await tx.get(key));
}

/**
 * Returns the stored value of the row that a change makes of `row`. A function that returns `undefined` leaves the row
 * as it is; it must not change the row in place. Throws `invalid-argument/value` if the key would change.
 */
async function changedValue(spec: Spec, key: string, row: Row, change: RowEdit): Promise<unknown> {
  const isFunction = typeof change === 'function';
  const made = isFunction ? ((await change(row)) ?? row) : mergeRow(spec, row, change);
  const stored = encodeTableRow(spec, made);
  if (stored.key === key) return stored.value;
  const message = 'an update cannot change the key: delete the row, and put another';
  throw new HedgerowError('invalid-argument/value', message, { pointer: '' });
}

function mergeRow(spec: Spec, row: Row, change: Row): Row {
  const version = versionOf(change) ?? spec.version;
  if (version < spec.version) {
    const message = `the members are of version ${version}, and the row has ${spec.version}: put a whole row`;
    throw new HedgerowError('invalid-argument/value', message, { pointer: pointerTo(VERSION) });
  }
  const all: Row = { ...row, ...change };
  for (const [name, value] of Object.entries(change)) if (value === undefined) delete all[name];
  return all;
}

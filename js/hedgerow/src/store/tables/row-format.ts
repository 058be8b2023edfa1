/** The ways to keep the rows of a table, and the forms of their members in index columns. */

import { HedgerowError } from '../../base/errors.js';
import { isRevoked, kindOf } from '../../base/runtime-type-checks.js';
import { throwTableError } from './errors.js';

/** A row as the app has it. */
export type Row = Record<string, unknown>;

/** A way to keep rows. */
export interface RowFormat {
  /** Whether the store keeps rows as they are. */
  readonly isPlain: boolean;
  /** Makes the stored value of a row. Throws `invalid-argument/value`. */
  encode(row: Row): unknown;
  decode(stored: unknown): Row;
  /** Returns the form of a member in a column. The form of a text begins with the form of its beginning. */
  column(value: unknown): unknown;
}

export const JSON_ROWS: RowFormat = {
  isPlain: true,
  encode: (row) => row,
  decode: (stored) => stored as Row,
  column(value) {
    if (!(value instanceof Date)) return value;
    throw new HedgerowError('invalid-argument', "a column has no Date: take values: 'structured'");
  },
};

/** The modules behind definitions that not every app needs. */
export interface FormatModules {
  readonly json: RowFormat;
  /** Absent if no table is structured. */
  readonly structured?: RowFormat | undefined;
  /** Absent if no table has a schema. */
  readonly schemas?:
    | Pick<typeof import('./standard-schema.js'), 'isSchema' | 'validateRow'>
    | undefined;
}

/** Returns the format that a definition names. Throws `invalid-argument`. */
export function keptOf(table: string, values: unknown, ways: FormatModules): RowFormat {
  if (values === 'json') return ways.json;
  if (values === 'structured' && ways.structured !== undefined) return ways.structured;
  const { encode, decode } = (values ?? {}) as Partial<RowFormat>;
  if (typeof encode !== 'function' || typeof decode !== 'function') {
    const what = "values must be 'json', 'structured', or an object with encode and decode";
    throwTableError(table, `${what}, not ${kindOf(values)}`);
  }
  return { ...JSON_ROWS, isPlain: false, encode, decode };
}

/** Throws `invalid-argument/value` unless a row is a plain object, as far as a quick check shows. */
export function checkRow(row: unknown): asserts row is Record<string, unknown> {
  if (typeof row === 'object' && row !== null && !isRevoked(row) && !Array.isArray(row)) return;
  throw new HedgerowError(
    'invalid-argument/value',
    `a row of a table is an object, not ${kindOf(row)}`,
    {
      pointer: '',
    },
  );
}

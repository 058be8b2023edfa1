/** How the rows of a table are kept, and how their members stand in the columns of indexes. */

import { HedgerowError } from '../../base/errors.js';
import { isRevoked, kindOf } from '../../base/kind.js';
import { throwTableError } from './errors.js';

/** A row as the app has it. */
export type Row = Record<string, unknown>;

/** How rows are kept. */
export interface RowFormat {
  /** Whether the store keeps rows as they are. */
  readonly isPlain: boolean;
  /** What the store keeps of a row. Throws `invalid-value`. */
  encode(row: Row): unknown;
  decode(stored: unknown): Row;
  /** How a member stands in a column. What begins with a text there begins with the column of that text. */
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

/** What definitions stand for whose code not every app needs. */
export interface FormatModules {
  readonly json: RowFormat;
  /** Absent if no table is structured. */
  readonly structured?: RowFormat | undefined;
  /** Absent if no table has a schema. */
  readonly schemas?: Pick<typeof import('./schema.js'), 'isSchema' | 'validateRow'> | undefined;
}

/** The way that a definition names. Throws `invalid-argument`. */
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

/** Throws `invalid-value` unless a row is a plain object, as far as that can be told at once. */
export function checkRow(row: unknown): asserts row is Record<string, unknown> {
  if (typeof row === 'object' && row !== null && !isRevoked(row) && !Array.isArray(row)) return;
  throw new HedgerowError('invalid-value', `a row of a table is an object, not ${kindOf(row)}`, {
    pointer: '',
  });
}

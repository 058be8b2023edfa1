/**
 * Rows that are kept as plain JSON, in development builds: each is searched for parts that JSON would lose silently.
 */

import { HedgerowError } from '../../base/errors.js';
import { JSON_ROWS, type RowFormat } from './row-format.js';
import { lossOf } from './values/find-json-loss.js';

export const CHECKED_ROWS: RowFormat = {
  ...JSON_ROWS,
  encode(row) {
    const loss = lossOf(row);
    if (loss === undefined) return row;
    const { what, pointer } = loss;
    throw new HedgerowError('invalid-argument/value', what, { pointer });
  },
};

/** How values of an app stand in the columns of indexes over structured values. */

import { dateOfText, textOfDate } from './date.js';
import { fault } from './fault.js';
import { escapedText, tagOf } from './form.js';

/**
 * A value of an app as a column has it: a `Date` is text, and a string is escaped, so that what begins with a text begins with
 * the column of that. Others are as they are: what no index takes, such as a bigint, a range of it refuses.
 */
export function columnOf(value: unknown): unknown {
  if (typeof value === 'string') return escapedText(value);
  return tagOf(value) === 'Date' ? (textOfDate(value as Date) ?? value) : value;
}

/**
 * The value of an app that stands in a column; `undefined` for the mark of what is no scalar, such as a set. Throws
 * `invalid-value`.
 */
export function ofColumn(column: unknown): unknown {
  if (typeof column !== 'string' || !column.startsWith('~')) return column;
  if (column[1] === '~') return column.slice(1);
  if (column[1] !== 't') return undefined;
  const date = dateOfText(column);
  if (date !== undefined) return date;
  throw fault(`a column has the malformed date ${column.slice(0, 40)}`);
}

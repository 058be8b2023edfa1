/** How values of an app stand in the columns of indexes over structured values. */

import { textOfDate } from './date.js';
import { escapedText, tagOf } from './form.js';

/**
 * A value of an app as a column has it: a `Date` is text, and a string is escaped, so that what begins with a text begins with
 * the column of that. Others are as they are: what no index takes, such as a bigint, a range of it refuses.
 */
export function toColumnValue(value: unknown): unknown {
  if (typeof value === 'string') return escapedText(value);
  return tagOf(value) === 'Date' ? (textOfDate(value as Date) ?? value) : value;
}

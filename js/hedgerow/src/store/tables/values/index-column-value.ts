/** The forms of an app's values in the columns of indexes over structured values. */

import { textOfDate } from './sortable-date-text.js';
import { escapedText, tagOf } from './transit-tags.js';

/**
 * Returns the form of a value in a column: a `Date` is text, and a string is escaped, so that the form of a text begins
 * with the form of its beginning. Others are as they are: a range refuses a value that no index takes, such as a
 * bigint.
 */
export function toColumnValue(value: unknown): unknown {
  if (typeof value === 'string') return escapedText(value);
  return tagOf(value) === 'Date' ? (textOfDate(value as Date) ?? value) : value;
}

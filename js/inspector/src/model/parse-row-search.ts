/** Parses a search: for a range of rows by their keys, or of the entries of an index. */

import type { KeyRange } from 'hedgerow';
import type { IndexRange, Scalar } from 'hedgerow/kit';

/** The order of rows: by their keys, or by the index of this name. */
export type Order = string | undefined;

const isScalar = (value: unknown): value is Scalar =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

/** Parses a secondary key, typed as JSON; returns `undefined` for any other text. */
function secondaryFrom(text: string): Scalar | readonly Scalar[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (isScalar(value)) return value;
    return Array.isArray(value) && value.every(isScalar) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the range of a search. Of keys: the keys that begin with the text. Of an index: a number, `true`, `false`,
 * `null`, a text in quotes or an array is a secondary key, or its first columns; any other text begins the first
 * column.
 */
export function parseSearch(order: Order, text: string): KeyRange | IndexRange {
  if (order === undefined) return text === '' ? {} : { prefix: text };
  if (text === '') return { index: order };
  const equals = secondaryFrom(text);
  return equals === undefined ? { index: order, prefix: text } : { index: order, equals };
}

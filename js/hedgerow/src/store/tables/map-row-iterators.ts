/** Iterators that map each row. A generator that is ended before its first row would not end its source. */

import { endIterator } from '../../engine/write/row-source.js';
import type { RowsIn } from './rows-from-bytes.js';

type Make = (row: unknown) => unknown;

const DONE = { done: true, value: undefined } as const;

/** Maps rows that are at hand. */
export function mappedNow(source: Iterator<unknown>, make: Make): IterableIterator<unknown> {
  return sync(source, () => {
    const { done, value } = source.next();
    return done === true ? DONE : { done: false, value: make(value) };
  });
}

/** Maps rows that come one by one. */
export function mappedLater(source: AsyncIterator<unknown>, make: Make): AsyncIterable<unknown> {
  return async(source, async () => {
    const { done, value } = await source.next();
    return done === true ? DONE : { done: false, value: make(value) };
  });
}

/** Maps rows in bytes. */
export function mappedBytes(
  parts: Iterator<unknown> | AsyncIterator<unknown>,
  rows: RowsIn,
  make: Make,
): Iterable<unknown> | AsyncIterable<unknown> {
  const takeRow = () => ({ done: false, value: make(rows.row) }) as const;
  if (Symbol.iterator in parts) {
    return sync(parts as Iterator<unknown>, () => {
      while (!rows.hasRow) {
        if (rows.isEnded) return DONE;
        rows.take((parts as Iterator<unknown>).next());
      }
      return takeRow();
    });
  }
  return async(parts, async () => {
    while (!rows.hasRow) {
      if (rows.isEnded) return DONE;
      rows.take(await parts.next());
    }
    return takeRow();
  });
}

/** Makes an iterator that ends `source` if it fails, or is ended. */
function sync(
  source: Iterator<unknown>,
  next: () => IteratorResult<unknown>,
): IterableIterator<unknown> {
  return {
    next() {
      try {
        return next();
      } catch (cause) {
        endIterator(source);
        throw cause;
      }
    },
    return() {
      endIterator(source);
      return DONE;
    },
    [Symbol.iterator]() {
      return this;
    },
  };
}

function async(
  source: Iterator<unknown> | AsyncIterator<unknown>,
  next: () => Promise<IteratorResult<unknown>>,
): AsyncIterable<unknown> {
  const iterator: AsyncIterator<unknown> = {
    async next() {
      try {
        return await next();
      } catch (cause) {
        endIterator(source);
        throw cause;
      }
    },
    async return() {
      endIterator(source);
      return DONE;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

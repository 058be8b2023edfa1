/** Iterables of the rows of a source. A generator that is ended before its first row would not end its source. */

import type { OpenSource, Step } from '../../engine/write/opened-source.js';
import type { RowsIn } from './rows-from-bytes.js';

type Make = (row: unknown) => unknown;
type Rows = Iterable<unknown> | AsyncIterable<unknown>;

const DONE = { done: true, value: undefined } as const;

/** Iterates over the members of a source. */
export function iterateSource(source: OpenSource<unknown>): Rows {
  return source.isAsync ? iterateLater(source, source.read) : iterateNow(source, source.read);
}

/** Maps rows. */
export function mapRows(source: OpenSource<unknown>, make: Make): Rows {
  const map = ({ done, value }: Step<unknown>): Step<unknown> =>
    done === true ? DONE : { done: false, value: make(value) };
  return source.isAsync
    ? iterateLater(source, async () => map(await source.read()))
    : iterateNow(source, () => map(source.read()));
}

/** Maps the rows of an array. */
export function mapArray(members: readonly unknown[], make: Make): Rows {
  let at = 0;
  const next = (): Step<unknown> =>
    at < members.length ? { done: false, value: make(members[at++]) } : DONE;
  return iterateNow({ end: () => {} }, next);
}

/** Maps rows in bytes. */
export function mapBytes(source: OpenSource<unknown>, rows: RowsIn, make: Make): Rows {
  const takeRow = () => ({ done: false, value: make(rows.row) }) as const;
  if (!source.isAsync) {
    return iterateNow(source, () => {
      while (!rows.hasRow) {
        if (rows.isEnded) return DONE;
        rows.take(source.read());
      }
      return takeRow();
    });
  }
  return iterateLater(source, async () => {
    while (!rows.hasRow) {
      if (rows.isEnded) return DONE;
      rows.take(await source.read());
    }
    return takeRow();
  });
}

/** Makes an iterator that ends `source` if it fails, or is ended. */
function iterateNow(
  { end }: Pick<OpenSource<unknown>, 'end'>,
  next: () => Step<unknown>,
): IterableIterator<unknown> {
  return {
    next() {
      try {
        return next();
      } catch (cause) {
        end();
        throw cause;
      }
    },
    return() {
      end();
      return DONE;
    },
    [Symbol.iterator]() {
      return this;
    },
  };
}

function iterateLater(
  { end }: OpenSource<unknown>,
  next: () => Promise<Step<unknown>>,
): AsyncIterable<unknown> {
  const iterator: AsyncIterator<unknown> = {
    async next() {
      try {
        return await next();
      } catch (cause) {
        end();
        throw cause;
      }
    },
    async return() {
      end();
      return DONE;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

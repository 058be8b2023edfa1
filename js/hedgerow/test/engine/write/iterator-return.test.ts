import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { failure } from '../../support/models/store-model.js';

describe('the iterator of an async source', () => {
  it('whose return throws does not hide the reason of its end', async () => {
    const db = await open('test', { storage: memory() });
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: ['a', undefined] as [string, undefined] }),
        return: (): never => {
          throw new Error('from return');
        },
      }),
    };
    await expect(db.putMany(source)).rejects.toEqual(failure('invalid-argument/value', { row: 0 }));
  });

  it('that has failed itself gets no call of return', async () => {
    const db = await open('test', { storage: memory() });
    let returned = 0;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: async (): Promise<IteratorResult<[string, number]>> => {
          throw new Error('mine');
        },
        return: async () => {
          returned++;
          return { done: true as const, value: undefined };
        },
      }),
    };
    await expect(db.putMany(source)).rejects.toThrow('mine');
    expect(returned).toBe(0);
  });
});

describe('an iterator gets one call of return if its rows are not all read', () => {
  const encode = (row: string) => new TextEncoder().encode(`${row}\n`);
  const cases: [string, unknown, unknown][] = [
    ['rows', ['a', 1], ['b', undefined]],
    ['parts of bytes', encode('["a",1]'), encode('["b"]')],
  ];
  /** Makes a source of `members`, and then of `rest` without end; counts the calls of `return`. */
  const countReturns = (symbol: symbol, members: unknown[], rest?: unknown) => {
    const left = [...members];
    const calls = { count: 0 };
    const iterator = {
      next: () => ({ done: left.length === 0 && !rest, value: left.shift() ?? rest }),
      return: () => {
        calls.count++;
        return { done: true, value: undefined };
      },
    };
    return { calls, source: { [symbol]: () => iterator } as unknown as Iterable<[string, number]> };
  };

  for (const symbol of [Symbol.iterator, Symbol.asyncIterator]) {
    for (const [title, good, bad] of cases) {
      it(`${title}, of ${symbol.description}`, async () => {
        const db = await open('test', { storage: memory() });
        const begun = countReturns(symbol, [good, bad], good);
        await expect(db.putMany(begun.source)).rejects.toThrow();
        expect(begun.calls.count).toBe(1);
        const unread = countReturns(symbol, [good, good]);
        const key = title === 'rows' ? { format: 'json' as const } : { key: 'no pointer' };
        await expect(db.putMany(unread.source, key)).rejects.toThrow();
        expect(unread.calls.count).toBe(1);
        const whole = countReturns(symbol, [good, good]);
        await db.putMany(whole.source);
        expect(whole.calls.count).toBe(0);
      });
    }
  }
});

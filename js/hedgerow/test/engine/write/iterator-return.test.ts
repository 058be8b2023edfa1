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
    await expect(db.putMany(source)).rejects.toEqual(failure('invalid-value', { row: 0 }));
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

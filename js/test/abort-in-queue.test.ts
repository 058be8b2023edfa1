import { describe, expect, it } from 'vitest';
import { memory, open } from '../src/index.js';
import { failure, within } from './model.js';

describe('an abort', () => {
  it('of a putMany that waits for another settles at once', async () => {
    const db = await open('test', { storage: memory() });
    const first = new AbortController();
    const never = async function* (): AsyncGenerator<[string, number]> {
      yield ['a', 1];
      await new Promise(() => {});
    };
    const blocking = db.putMany(never(), { signal: first.signal });
    blocking.catch(() => {});
    const waiting = db.putMany([['b', 1]], { signal: AbortSignal.timeout(20) });
    await expect(within(1000, waiting)).rejects.toEqual(failure('aborted'));
    first.abort();
    await expect(blocking).rejects.toEqual(failure('aborted'));
    expect(await db.count()).toBe(0);
  });
});

import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { failure, within } from '../../support/models/store-model.js';

describe('an abort', () => {
  it('of a putMany whose commit waits for another settles at once', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    storage.hooks.write = () => {
      delete storage.hooks.write;
      return held;
    };
    const blocking = db.put('a', 1);
    const waiting = db.putMany([['b', 1]], { signal: AbortSignal.timeout(20) });
    await expect(within(waiting)).rejects.toEqual(failure('aborted'));
    release();
    await blocking;
    expect(await db.count()).toBe(1);
  });

  it('of one putMany does not affect another', async () => {
    const db = await open('test', { storage: memory() });
    const abort = new AbortController();
    const never = async function* (): AsyncGenerator<[string, number]> {
      yield ['a', 1];
      await new Promise(() => {});
    };
    const endless = db.putMany(never(), { signal: abort.signal });
    await db.putMany([['b', 1]]);
    await db.put('c', 1);
    abort.abort();
    await expect(endless).rejects.toEqual(failure('aborted'));
    expect(await db.count()).toBe(2);
  });
});

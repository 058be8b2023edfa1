/** The memory of signals and their listeners, as Node reports it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { memory, open } from '../../src/index.js';
import type { Entry } from '../support/models/store-model.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('an async source with a signal', () => {
  it('needs no memory for each row', async () => {
    const db = await open('test', { storage: memory() });
    const heldBy = async (signal?: AbortSignal) => {
      let held = 0;
      collectGarbage();
      const before = process.memoryUsage().heapUsed;
      const source = async function* (): AsyncGenerator<[string, number]> {
        for (let at = 0; at < 300_000; at++) {
          if (at === 299_999) {
            collectGarbage();
            held = process.memoryUsage().heapUsed - before;
          }
          yield [`k${at % 10}`, at];
        }
      };
      await db.putMany(source(), { signal });
      return held;
    };
    await heldBy();
    const without = await heldBy();
    expect((await heldBy(new AbortController().signal)) - without).toBeLessThan(40e6);
  });
});

it('many changes at once cause no warning of a leak of listeners', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const db = await open('test', { storage: memory() });
  for (let round = 0; round < 3; round++) {
    const loads = Array.from({ length: 40 }, async (_, at) => {
      const { signal } = new AbortController();
      const row = (async function* (): AsyncGenerator<Entry> {
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield [`k${at}`, round];
      })();
      await db.putMany(row, at % 2 === 0 ? { signal } : {});
    });
    await Promise.all(loads);
  }
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
  expect(await db.count()).toBe(40);
  await db.close();
});

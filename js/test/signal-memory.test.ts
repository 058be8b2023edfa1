import { describe, expect, it } from 'vitest';
import { memory, open } from '../src/index.js';

describe('an async source with a signal', () => {
  it('costs no memory for each row', async () => {
    const db = await open('test', { storage: memory() });
    const { gc } = globalThis as { gc?: () => void };
    const heldBy = async (signal?: AbortSignal) => {
      let held = 0;
      gc?.();
      const before = process.memoryUsage().heapUsed;
      const source = async function* (): AsyncGenerator<[string, number]> {
        for (let at = 0; at < 300_000; at++) {
          if (at === 299_999) {
            gc?.();
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
  }, 60_000);
});

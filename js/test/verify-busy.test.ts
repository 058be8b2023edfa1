/** A verification while a writer never stops. */
import { expect, it } from 'vitest';
import { memory, open, type Storage, type Store } from '../src/index.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('finds a head to verify, though the ref moves at every read of its history', async () => {
  const inner = memory();
  let db: Store | undefined;
  let puts = 0;
  const writing = new Set<Promise<void>>();
  const storage: Storage = {
    ...inner,
    open: async (...args) => {
      const segments = await inner.open(...args);
      const history = segments.history.bind(segments);
      const busy = async (name: string) => {
        const found = await history(name);
        const put = db?.put('busy', puts++) ?? Promise.resolve();
        writing.add(put);
        // Not only for the put: when the verification makes writers wait, that would never end.
        await Promise.race([put, pause(50)]);
        return found;
      };
      return Object.assign(segments, { history: busy });
    },
  };
  db = await open('busy', { storage });
  await db.putMany(Array.from({ length: 100 }, (_, at) => [`k${at}`, at] as const));
  expect(await db.verify()).toMatchObject({ ok: true, faults: [] });
  expect(puts).toBeGreaterThan(2);
  await Promise.all(writing);
  expect(await db.get('busy')).toBe(puts - 1);
  await db.close();
});

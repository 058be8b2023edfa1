/** A store works while an app's tests fake the timers, also `setImmediate`. */
import { afterEach, expect, it, vi } from 'vitest';
import { memory, open } from '../../src/index.js';

afterEach(() => {
  vi.useRealTimers();
});

it('a store works while timers are fake', async () => {
  vi.useFakeTimers();
  const db = await open('a', { storage: memory() });
  const rows = Array.from({ length: 5000 }, (_, id) => [`row/${id}`, { id }] as const);
  await db.putMany(rows);
  await db.put('single', 1);
  expect(await db.count()).toBe(5001);
  expect((await db.scan().toArray()).length).toBe(5001);
  await db.close();
});

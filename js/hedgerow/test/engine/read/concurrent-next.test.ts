import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';

describe('the iterator of a scan', () => {
  it('answers calls of next that do not wait for each other, in order', async () => {
    const db = await open('test', { storage: memory() });
    const rows = Array.from(
      { length: 3000 },
      (_, at) => [`k${at + 1000}`, 'x'.repeat(99)] as const,
    );
    await db.putMany(rows);
    const iterator = db.scan()[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 3001 }, () => iterator.next()));
    expect(results.at(-1)?.done).toBe(true);
    expect(results.slice(0, -1).map(({ value }) => value)).toEqual(rows);
  });
});

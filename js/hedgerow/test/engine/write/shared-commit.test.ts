import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';

describe('a put that the core refuses', () => {
  const nested = (depth: number) => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level++) value = [value];
    return value;
  };
  for (const [title, bad] of [
    ['for its depth', nested(600)],
    ['for its size', 'x'.repeat((64 << 20) + 10)],
  ] as const) {
    it(`${title} does not affect the others of its turn, and names no row`, async () => {
      const db = await open('test', { storage: memory() });
      const settled = await Promise.allSettled([
        db.put('a', 1),
        db.put('b', bad),
        db.delete('c'),
        db.put('d', 1),
      ]);
      expect(settled.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ]);
      const { reason } = settled[1] as PromiseRejectedResult;
      expect(reason).toMatchObject({ code: 'invalid-argument', detail: 'value' });
      expect(reason.row).toBeUndefined();
      expect(await db.scan().keys().toArray()).toEqual(['a', 'd']);
    });
  }
});

import { describe, expect, it } from 'vitest';
import { memory, open } from '../../src/index.js';
import { kindOf } from '../support/error-kind.js';
import { within } from '../support/models/store-model.js';

describe('sliceMs', () => {
  it('may be Infinity, or is refused', async () => {
    const opening = open('test', {
      storage: memory(),
      advanced: { sliceMs: Number.POSITIVE_INFINITY },
    });
    const db = await opening.catch((cause: { code: string }) => cause);
    if ('code' in db) return expect(kindOf(db)).toBe('invalid-argument');
    await within(db.putMany([['a', 1]]));
    expect(await db.count()).toBe(1);
  });
});

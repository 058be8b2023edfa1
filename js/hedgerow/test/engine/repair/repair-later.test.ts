/** A chunk that a later version of the library wrote is no damage: no repair cuts it out. */
import { expect, it, vi } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { failure } from '../../support/models/store-model.js';

vi.mock('../../../src/engine/verify/verify-store.js', async (importActual) => {
  const actual = await importActual<typeof import('../../../src/engine/verify/verify-store.js')>();
  return {
    ...actual,
    // Only a later version can make such a chunk with a right hash, so the test fakes the fault.
    inspect: async (...args: Parameters<typeof actual.inspect>) => {
      const { inspection, verification } = await actual.inspect(...args);
      const chunk = '07'.repeat(32);
      const fault = {
        code: 'newer-version',
        chunk,
        kind: 'node',
        level: 0,
      } as const;
      const faults = [{ ...fault, range: { lte: 'k' }, rows: 1 }];
      return { inspection, verification: { ...verification, ok: false, faults } };
    },
  };
});

it('a chunk of a later version makes a repair fail without a change', async () => {
  const storage = watched(memory());
  const db = await open('a', { storage });
  await db.put('k', 1);
  await db.put('l', 1);
  const { root } = db;
  const written = storage.written.length;
  for (const salvage of [false, true]) {
    await expect(db.health.repair({ salvage })).rejects.toEqual(
      failure('newer-version/format', { chunk: '07'.repeat(32) }),
    );
  }
  expect(storage.written).toHaveLength(written);
  expect(db.root).toBe(root);
});

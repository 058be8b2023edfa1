import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { kindOf } from '../../support/error-kind.js';

describe('a handle that is behind', () => {
  it('puts a row that it believes to be there', async () => {
    const storage = memory();
    const one = await open('test', { storage });
    await one.put('k', 1);
    const other = await open('test', { storage });
    await one.put('k', 2);
    await other.put('k', 1);
    expect(await (await open('test', { storage })).get('k')).toBe(1);
  });

  it('deletes a row that it believes to be absent', async () => {
    const storage = memory();
    const [one, other] = [await open('test', { storage }), await open('test', { storage })];
    await one.put('k', 1);
    await other.delete('k');
    expect(await (await open('test', { storage })).has('k')).toBe(false);
  });

  it('loads rows that it believes to be there, or learns of the conflict', async () => {
    const storage = memory();
    const one = await open('test', { storage });
    await one.put('k', 1);
    const other = await open('test', { storage });
    await one.put('k', 2);
    const failed = await other
      .putMany([['k', 1]])
      .catch((cause: { code: string }) => kindOf(cause));
    if (failed === 'conflict') await other.putMany([['k', 1]]);
    expect(await (await open('test', { storage })).get('k')).toBe(1);
  });
});

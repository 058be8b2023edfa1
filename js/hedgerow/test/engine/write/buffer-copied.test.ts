import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';

describe('a later change by the caller', () => {
  it('does not change a Buffer that put has taken', async () => {
    const db = await open('test', { storage: memory() });
    const buffer = Buffer.from([1, 2, 3]);
    const put = db.put('k', buffer);
    buffer.fill(9);
    await put;
    expect(await db.get('k')).toEqual(Uint8Array.of(1, 2, 3));
  });
});

import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';

describe('onProgress', () => {
  it('ends with all rows durable, also when no row has changed', async () => {
    const db = await open('test', { storage: memory() });
    const seen: number[] = [];
    const onProgress = ({ durableRows }: { durableRows: number }) => seen.push(durableRows);
    await db.putMany([['a', 1]]);
    await db.putMany([['a', 1]], { onProgress });
    expect(seen.at(-1)).toBe(1);
  });
});

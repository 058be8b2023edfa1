/** An import into a store that already has the same root verifies the file. */
import { describe, expect, it } from 'vitest';
import { importStore, memory, open } from '../../../src/index.js';
import { type Entry, failure } from '../../support/models/store-model.js';

async function scene() {
  const storage = memory();
  const db = await open('app', { storage });
  const rows = Array.from({ length: 5000 }, (_, at): Entry => [`k${at}`, { at, text: 'text' }]);
  await db.putMany(rows);
  await (await db.branches.open('draft')).close();
  const copy = await db.backup.export({ branches: true });
  const bytes = new Uint8Array(await new Response(copy.stream()).arrayBuffer());
  return { db, storage, bytes };
}

const fails = expect.objectContaining({
  help: expect.stringMatching(/(corrupt-chunk\.md|invalid-data\.md#export)$/),
});

describe('an import into a store that has this root already', () => {
  it('of the whole file only reads it', async () => {
    const { db, storage, bytes } = await scene();
    const seen: number[] = [];
    const onProgress = ({ bytes }: { bytes: number }) => seen.push(bytes);
    const result = await importStore('app', bytes, { storage, onProgress });
    expect(result).toMatchObject({
      root: db.root,
      rows: 5000,
      stats: { segments: 0 },
      branches: ['draft'],
    });
    expect(seen.at(-1)).toBe(bytes.length);
    expect(await db.count()).toBe(5000);
  });

  it('of a file that was cut off is refused, wherever it was cut', async () => {
    const { db, storage, bytes } = await scene();
    for (let end = bytes.length - 1; end > 0; end -= Math.ceil(bytes.length / 97)) {
      const importing = importStore('app', bytes.slice(0, end), { storage });
      await expect(importing, `cut at ${end}`).rejects.toEqual(failure('invalid-data/export'));
    }
    expect(await db.count()).toBe(5000);
  });

  it('of a file that was changed is refused, wherever it was changed', async () => {
    const { db, storage, bytes } = await scene();
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 97)) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(importStore('app', changed, { storage }), `at ${at}`).rejects.toEqual(fails);
    }
    const longer = new Blob([bytes, new Uint8Array(1)]);
    await expect(importStore('app', longer, { storage })).rejects.toEqual(fails);
    expect(await db.count()).toBe(5000);
    expect((await db.health.verify()).ok).toBe(true);
  });

  it('ends with its signal', async () => {
    const { storage, bytes } = await scene();
    const abort = new AbortController();
    const importing = importStore('app', bytes, {
      storage,
      signal: abort.signal,
      onProgress: () => abort.abort(),
    });
    await expect(importing).rejects.toEqual(failure('aborted'));
  });
});

/** `first()` of rows: of scans of a store, a snapshot and a transaction, and of changes. */
import { describe, expect, it } from 'vitest';
import type { ScanOptions } from '../../../src/engine/read/scan-options.js';
import { memory, open, type Store } from '../../../src/index.js';
import { type Entry, failure, select, sorted } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

const ROWS: Entry[] = Array.from({ length: 3000 }, (_, at) => [
  `k${String(at).padStart(4, '0')}`,
  { at, group: `g${at % 7}` },
]);

async function indexed(): Promise<Store> {
  const db = await open('test', {
    storage: memory(),
    indexes: { group: { path: ['/group', '/at'] } },
  });
  await db.putMany(ROWS);
  return db;
}

describe('the first row', () => {
  it('of a scan is the row, its key or its value', async () => {
    const db = await indexed();
    expect(await db.scan().first()).toEqual(ROWS[0]);
    expect(await db.scan({ reverse: true }).first()).toEqual(ROWS.at(-1));
    expect(await db.scan({ gt: 'k0007' }).keys().first()).toBe('k0008');
    expect(await db.scan({ offset: 5 }).values().first()).toEqual(ROWS[5]?.[1]);
    expect(await db.scan({ prefix: 'x' }).first()).toBeUndefined();
    expect(await db.scan({ limit: 0 }).first()).toBeUndefined();
    expect(await db.scan({ limit: 2 }).first()).toEqual(ROWS[0]);
  });

  it('of a scan of an index has its secondary key', async () => {
    const db = await indexed();
    const range = { index: 'group', equals: ['g3'], reverse: true } as const;
    const [first] = await db.scan({ ...range, limit: 1 }).toArray();
    expect(await db.scan(range).first()).toEqual(first);
    expect(await db.scan(range).keys().first()).toBe(first?.[0]);
    expect(await db.scan(range).values().first()).toEqual(first?.[1]);
  });

  it('needs a read of one row, not of a block', async () => {
    const db = await open('large', { storage: memory(), advanced: { cacheBytes: 0 } });
    const text = 'x'.repeat(300_000);
    await db.putMany(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((key) => [key, { key, text }]));
    const parse = JSON.parse;
    let parsed = 0;
    JSON.parse = (given: string, ...rest: []) => {
      parsed += given.length;
      return parse(given, ...rest);
    };
    try {
      expect(await db.scan<{ key: string }>().first()).toMatchObject(['a', { key: 'a' }]);
    } finally {
      JSON.parse = parse;
    }
    expect(parsed).toBeLessThan(400_000);
  });

  it('equals the first row of the model, for random scans of a store, a snapshot and a transaction', async () => {
    const db = await indexed();
    const rows = sorted(ROWS);
    using snap = db.snapshot();
    await forSeeds(60, async (from) => {
      const key = () => `k${String(from.below(3100)).padStart(4, '0')}`;
      const options: ScanOptions = {
        ...(from.below(2) === 0 && { gte: key() }),
        ...(from.below(2) === 0 && { lt: key() }),
        ...(from.below(3) === 0 && { after: key() }),
        reverse: from.below(2) === 0,
        offset: from.pick([0, 0, 1, 17]),
        limit: from.pick([0, 1, 2, 1000]),
      };
      const expected = select(rows, options)[0];
      for (const reader of [db, snap]) {
        expect(await reader.scan(options).first()).toEqual(expected);
        expect(await reader.scan(options).keys().first()).toBe(expected?.[0]);
        expect(await reader.scan(options).values().first()).toEqual(expected?.[1]);
      }
      await db.transaction(async (tx) => {
        const edited = from.pick(ROWS)[0];
        tx.put(edited, 'edited');
        const own = select(sorted([...ROWS, [edited, 'edited']]), options)[0];
        expect(await tx.scan(options).first()).toEqual(own);
        expect(await tx.scan(options).keys().first()).toBe(own?.[0]);
        expect(await tx.scan({ index: 'group' }).first()).toBeDefined();
        tx.put(edited, rows.find(([one]) => one === edited)?.[1]);
      });
    });
  });

  it('of a transaction is all that it reads: a change of a later row does not run it again', async () => {
    const db = await indexed();
    const runs: unknown[] = [];
    await db.transaction(async (tx) => {
      runs.push(await tx.scan().first());
      if (runs.length === 1) await db.put('k2000', 'later');
      tx.put('x', 1);
    });
    expect(runs.length).toBe(1);
    await db.transaction(async (tx) => {
      runs.push(await tx.scan().first());
      if (runs.length === 2) await db.put('k0000', 'now');
      tx.put('x', 2);
    });
    expect(runs.slice(1)).toEqual([ROWS[0], ['k0000', 'now']]);
  });

  it('exists for changes and for a diff', async () => {
    const db = await open('test', { storage: memory() });
    const { root } = db;
    expect(await db.history.since(root).first()).toBeUndefined();
    await db.putMany(ROWS);
    const first = { op: 'insert', key: 'k0000', newValue: ROWS[0]?.[1] };
    expect(await db.history.since(root).first()).toEqual(first);
    expect(await db.history.diff(root, db.root).first()).toEqual(first);
  });

  it('fails as a scan does, and leaves no hold', async () => {
    const db = await indexed();
    await expect(db.scan({ prefix: 1 } as never).first()).rejects.toMatchObject(
      failure('invalid-argument/key'),
    );
    await expect(db.scan({ signal: AbortSignal.abort() }).first()).rejects.toMatchObject(
      failure('aborted'),
    );
    for (let at = 0; at < 20; at++) await db.scan().first();
    await db.deleteMany(ROWS.map(([key]) => key));
    const { segments } = await db.health.stats();
    await db.health.compact();
    expect((await db.health.stats()).segments).toBeLessThan(segments);
    await db.close();
    await expect(db.scan().first()).rejects.toMatchObject(failure('closed'));
  });
});

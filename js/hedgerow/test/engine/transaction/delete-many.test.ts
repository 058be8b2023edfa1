/** `deleteMany` deletes the rows of its range, or the rows of its index entries, and no others. */
import { describe, expect, it } from 'vitest';
import { type KeyRange, memory, open, type Store, type Transaction } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  refuses,
  sorted,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

const INDEXES = {
  state: { path: '/state' },
  tag: { path: '/tags' },
  both: { path: ['/state', '/n'] },
};

const ROWS: Entry[] = [
  ['a/1', { state: 'open', n: 1, tags: ['x', 'y'] }],
  ['a/2', { state: 'closed', n: 2, tags: ['x'] }],
  ['b/1', { state: 'open', n: 3, tags: ['y', 'y', 'z'] }],
  ['b/2', { n: 4 }],
];

async function indexed(rows: readonly Entry[] = ROWS, storage = memory()): Promise<Store> {
  const db = await open('test', { storage, indexes: INDEXES });
  await db.putMany(rows);
  return db;
}

const keysOf = async (db: Store) => (await all(db)).map(([key]) => key);

describe('deleteMany of a range', () => {
  const missing: string | undefined = undefined;
  it.each<[string, object]>([
    ['nothing', {}],
    ['a prefix that is undefined', { prefix: missing }],
    ['bounds that are undefined', { gt: undefined, gte: undefined, lt: undefined, lte: undefined }],
    ['a typo', { perfix: 'a/' }],
    ['another typo', { Prefix: 'a/' }],
    ['a word of another library', { start: 'a', end: 'b' }],
    ['an index alone', { index: 'state' }],
    ['an index whose key is undefined', { index: 'state', equals: missing }],
  ])('of %s is refused, in a transaction too', async (_, range) => {
    const db = await indexed();
    await refuses(db, () => db.deleteMany(range as KeyRange), failure('invalid-argument'));
    const inside = () => db.transaction((tx) => tx.deleteMany(range as KeyRange));
    await refuses(db, inside, failure('invalid-argument'));
  });

  it('refuses an empty range, and advises clear()', async () => {
    const db = await indexed();
    const message = expect.stringContaining('clear()') as unknown as string;
    await refuses(db, () => db.deleteMany({}), failure('invalid-argument', { message }));
    await db.clear();
    expect(await all(db)).toEqual([]);
  });

  it('listens to its signal to the end', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    await db.putMany(ROWS);
    const abort = new AbortController();
    // Another commit is in progress, and the deletion waits for it.
    storage.hooks.write = async () => {
      abort.abort('enough');
      await new Promise((resolve) => setTimeout(resolve, 10));
    };
    const put = db.put('c', 1);
    const deleting = db.deleteMany({ prefix: 'a/' }, { signal: abort.signal });
    await expect(deleting).rejects.toEqual(failure('aborted', { cause: 'enough' }));
    await put;
    expect(await db.count({ prefix: 'a/' })).toBe(2);
  });
});

describe('deleteMany of a range of an index', () => {
  it('deletes the rows of its entries, and no others, in one commit', async () => {
    const storage = watched(memory());
    const db = await indexed(ROWS, storage);
    const before = storage.written.filter(({ move }) => move !== undefined).length;
    const result = await db.deleteMany({ index: 'state', equals: 'open' });
    expect(storage.written.filter(({ move }) => move !== undefined).length).toBe(before + 1);
    expect(await keysOf(db)).toEqual(['a/2', 'b/2']);
    expect(result).toMatchObject({ rows: 2, root: db.root });
    expect(await db.count({ index: 'state' })).toBe(1);
  });

  it('counts and deletes a row once, although an array lists it twice', async () => {
    const db = await indexed();
    const { rows } = await db.deleteMany({ index: 'tag', gte: 'y' });
    expect(rows).toBe(2);
    expect(await keysOf(db)).toEqual(['a/2', 'b/2']);
  });

  it('takes ranges of composite keys, prefixes and bounds', async () => {
    const db = await indexed();
    await db.deleteMany({ index: 'both', gte: ['open', 2], lt: ['open', 9] });
    expect(await keysOf(db)).toEqual(['a/1', 'a/2', 'b/2']);
    await db.deleteMany({ index: 'state', prefix: 'clo' });
    expect(await keysOf(db)).toEqual(['a/1', 'b/2']);
  });

  it('makes no commit without a row to delete', async () => {
    const db = await indexed();
    const { root } = db;
    const result = await db.deleteMany({ index: 'state', equals: 'none' });
    expect(result).toMatchObject({ rows: 0, root, stats: { chunks: 0, segments: 0 } });
    expect(db.root).toBe(root);
  });

  it('waits for the build of the index, unless an option says not to', async () => {
    const storage = memory();
    const plain = await open('test', { storage });
    const many = Array.from({ length: 5000 }, (_, at): Entry => [`k${at}`, { state: at % 2 }]);
    await plain.putMany(many);
    await plain.close();
    const db = await open('test', { storage, indexes: INDEXES });
    const range = { index: 'state', equals: 1 } as const;
    const atOnce = db.deleteMany({ ...range, wait: false });
    await expect(atOnce).rejects.toEqual(failure('not-ready'));
    expect((await db.deleteMany(range)).rows).toBe(2500);
    expect(await db.count()).toBe(2500);
  });

  it('does not delete a row that another handle takes out of the range in the meantime', async () => {
    const storage = { ...memory(), isShared: true };
    const spied = watched(storage);
    const db = await indexed(ROWS, spied);
    const other = await open('test', { storage });
    let isFirst = true;
    spied.hooks.write = async ({ move }) => {
      if (move === undefined || !isFirst) return;
      isFirst = false;
      await other.putMany([
        ['a/1', { state: 'closed', n: 9 }],
        ['c/1', { state: 'open', n: 5 }],
      ]);
    };
    const { rows } = await db.deleteMany({ index: 'state', equals: 'open' });
    expect(isFirst).toBe(false);
    expect(rows).toBe(2);
    // As if the deletion had come after the other commit.
    expect(await db.get('a/1')).toEqual({ state: 'closed', n: 9 });
    expect(await keysOf(db)).toEqual(['a/1', 'a/2', 'b/2']);
    expect(await db.count({ index: 'state', equals: 'open' })).toBe(0);
    await other.close();
  });

  it('ends with its signal', async () => {
    const db = await indexed();
    const { root } = db;
    const range = { index: 'state', equals: 'open' } as const;
    const signal = AbortSignal.abort();
    await expect(db.deleteMany(range, { signal })).rejects.toEqual(failure('aborted'));
    const abort = new AbortController();
    const deleting = db.deleteMany(range, { signal: abort.signal });
    queueMicrotask(() => abort.abort());
    await expect(deleting).rejects.toEqual(failure('aborted'));
    expect(db.root).toBe(root);
  });

  it('deletes what a model deletes, with random rows and ranges', async () => {
    await forSeeds(20, async (from, _, begin) => {
      const rows = Array.from({ length: from.below(60) }, (_, at): Entry => {
        const tags = Array.from({ length: from.below(4) }, () => from.pick(['x', 'y', 'z']));
        return [`k${at}`, { state: from.pick(['open', 'closed', 1, true, null]), tags }];
      });
      const db = await indexed(rows);
      const equals = from.pick(['x', 'y', 'z']);
      begin({ deleted: { index: 'tag', equals }, rows });
      const goes = ([, value]: Entry) => (value as { tags: string[] }).tags.includes(equals);
      const { rows: count } = await db.deleteMany({ index: 'tag', equals });
      expect(count).toBe(rows.filter(goes).length);
      expectSame(await all(db), sorted(rows.filter((row) => !goes(row))));
      await db.close();
    });
  });
});

describe('deleteMany of a transaction', () => {
  it('deletes stored rows and own edits of a range, and its reads see the deletion', async () => {
    const db = await indexed();
    await db.transaction(async (tx) => {
      tx.put('a/3', { state: 'open' });
      tx.put('c/1', { state: 'open' });
      tx.delete('a/1');
      expect(await tx.deleteMany({ prefix: 'a/' })).toBe(2);
      expect(await tx.scan().keys().toArray()).toEqual(['b/1', 'b/2', 'c/1']);
      tx.put('a/2', 'again');
    });
    expect(await keysOf(db)).toEqual(['a/2', 'b/1', 'b/2', 'c/1']);
  });

  it('deletes by index, own edits among them, and by keys', async () => {
    const db = await indexed();
    await db.transaction(async (tx) => {
      tx.put('c/1', { tags: ['y', 'x'] });
      expect(await tx.deleteMany({ index: 'tag', gte: 'x', lte: 'y' })).toBe(4);
      expect(await tx.deleteMany(['b/2', 'b/2', 'none'])).toBe(2);
      expect(await tx.count()).toBe(0);
    });
    expect(await all(db)).toEqual([]);
  });

  it('runs again after a row came into its range', async () => {
    const storage = memory();
    const db = await indexed(ROWS, storage);
    const other = await open('test', { storage });
    let runs = 0;
    const count = await db.transaction(async (tx) => {
      const count = await tx.deleteMany({ prefix: 'a/' });
      if (runs++ === 0) await other.put('a/3', 3);
      return count;
    });
    expect([count, runs]).toEqual([3, 2]);
    expect(await keysOf(db)).toEqual(['b/1', 'b/2']);
  });

  it('is refused once the transaction has ended', async () => {
    const db = await indexed();
    let ended: Transaction | undefined;
    await db.transaction((tx) => {
      ended = tx;
    });
    await expect(ended?.deleteMany({ prefix: 'a/' })).rejects.toEqual(failure('closed'));
    expect(await db.count({ prefix: 'a/' })).toBe(2);
  });
});

/** A handle keeps and updates indexes that it does not name, unless it is opened to drop them. */
import { describe, expect, it } from 'vitest';
import { importStore, memory, type OpenOptions, open, type Store } from '../../src/index.js';
import { chunksIn, hashOf, partsOf, plant, replaced, segmentWith } from '../support/forging.js';
import { type Entry, failure } from '../support/models/store-model.js';
import { until } from '../support/watching.js';

const OWNER = { owner: { path: '/owner' } };
const AGE = { age: { path: '/age' } };
const BOTH = { ...OWNER, ...AGE };
const rows = (count: number, from = 0): Entry[] =>
  Array.from({ length: count }, (_, at): Entry => {
    const n = from + at;
    return [`k${1e6 + n}`, { owner: `o${n % 7}`, age: n % 11, text: 'x'.repeat(40) }];
  });

/** Returns the root of a fresh store with these indexes and the rows of a handle. */
async function rootWith(db: Store, indexes: OpenOptions['indexes']): Promise<string> {
  const fresh = await open('fresh', { storage: memory(), indexes });
  await fresh.putMany(await db.scan().toArray());
  const { root } = fresh;
  await fresh.close();
  return root;
}

/** Returns a closed store with both indexes. */
async function made(count = 500) {
  const storage = { ...memory(), isShared: true };
  const db = await open('kept', { storage, indexes: BOTH });
  await db.putMany(rows(count));
  await (await db.branches.open('draft')).close();
  const { root } = db;
  await db.close();
  return { storage, root };
}

/** All ways to change a store. */
async function changeAll(db: Store): Promise<void> {
  await db.put('k1', { owner: 'put', age: 1 });
  await db.putMany(rows(100, 450));
  await db.delete('k1000003');
  await db.deleteMany({ gte: 'k1000100', lt: 'k1000150' });
  await db.applyPatch([{ op: 'update', key: 'k1000200', merge: { owner: 'patched', age: -1 } }]);
  await db.transaction(async (tx) => tx.put('k2', { owner: 'tx', age: await tx.get('none') }));
  const draft = await db.branches.open('other');
  await draft.put('k3', { owner: 'merged', age: 3 });
  await db.branches.merge(draft);
  await draft.close();
}

describe('an index that a handle does not name', () => {
  it.each<[string, OpenOptions]>([
    ['fewer', { indexes: OWNER }],
    ['none', { indexes: {} }],
    ['no definitions', {}],
    ['another', { indexes: { text: { path: '/text' } } }],
  ])('is kept by one that names %s, through every kind of change', async (_, options) => {
    const { storage } = await made();
    const db = await open('kept', { storage, ...options });
    await changeAll(db);
    const all = { ...BOTH, ...options.indexes };
    const root = await rootWith(db, all);
    await until(() => db.root === root);
    await db.close();
    // The handle has no index to build or to wait for.
    const again = await open('kept', { storage, indexes: all });
    expect(again.root).toBe(root);
    for (const index of Object.keys(all)) {
      const isIn = index === 'text' ? 'text' : index;
      const expected = (await again.scan<Record<string, unknown>>().toArray()).filter(
        ([, value]) => value[isIn] !== undefined,
      );
      expect(await again.count({ index, wait: false })).toBe(expected.length);
    }
    expect((await again.health.verify({ checkIndexes: true })).ok).toBe(true);
    await again.close();
  });

  it('is read at once by a handle that names it, under any name', async () => {
    const { storage, root } = await made();
    const db = await open('kept', { storage });
    await expect(db.count({ index: 'owner' })).rejects.toEqual(failure('invalid-argument'));
    await expect(db.count({ index: 'owner' })).rejects.toThrow(/open.*owner/);
    const told: unknown[] = [];
    const onIndexProgress = (progress: unknown) => told.push(progress);
    const indexes = { mine: { path: '/owner' } };
    const tool = await open('kept', { storage, indexes, advanced: { onIndexProgress } });
    expect(await tool.count({ index: 'mine', equals: 'o3', wait: false })).toBe(71);
    await db.put('k1000003', { owner: 'moved' });
    await until(() => tool.root === db.root);
    expect(await tool.count({ index: 'mine', equals: 'moved', wait: false })).toBe(1);
    expect(told).toEqual([]);
    expect(tool.root).not.toBe(root);
    await Promise.all([tool.close(), db.close()]);
  });

  it('is kept on every branch, and after a handle switches to another branch', async () => {
    const { storage } = await made();
    const db = await open('kept', { storage, indexes: {} });
    const draft = await db.branches.open('draft');
    for (const one of [db, draft]) {
      await one.put('k1', { owner: one.branches.current });
      expect(one.root).toBe(await rootWith(one, BOTH));
    }
    await db.branches.switchTo('draft');
    await db.put('k2', { owner: 'switched' });
    expect(db.root).toBe(await rootWith(db, BOTH));
    await db.close();
  });

  it('comes back with a commit that has it, by resetTo', async () => {
    const { storage, root } = await made();
    const text = { text: { path: '/text' } };
    const dropping = { storage, indexes: text, advanced: { dropOtherIndexes: true } };
    const db = await open('kept', dropping);
    const dropped = await rootWith(db, text);
    await until(() => db.root === dropped);
    await db.close();
    const keeping = await open('kept', { storage, indexes: text });
    await keeping.branches.reset('draft');
    const wanted = await rootWith(keeping, { ...BOTH, ...text });
    await until(() => keeping.root === wanted);
    await keeping.branches.reset(root);
    await until(() => keeping.root === wanted);
    await keeping.close();
    // A handle that drops other indexes does not get it.
    const strict = await open('kept', dropping);
    await strict.branches.reset('draft');
    const own = await rootWith(strict, text);
    await until(() => strict.root === own);
    await strict.close();
  });

  it('comes with an import', async () => {
    const { storage, root } = await made();
    const db = await open('kept', { storage });
    const parts: Uint8Array[] = [];
    for await (const part of await db.backup.export()) parts.push(part);
    const copy = memory();
    await importStore('copy', parts, { storage: copy });
    const imported = await open('copy', { storage: copy, indexes: OWNER });
    expect(await imported.count({ index: 'owner', wait: false })).toBe(500);
    expect(imported.root).toBe(root);
    await imported.put('k1', { owner: 'put' });
    expect(imported.root).toBe(await rootWith(imported, BOTH));
    await Promise.all([imported.close(), db.close()]);
  });

  it('goes with the last row, and comes with the first put of a handle that names it', async () => {
    const { storage } = await made();
    const db = await open('kept', { storage, indexes: OWNER });
    await db.clear();
    expect(db.root).toBe('0'.repeat(64));
    await db.putMany(rows(50));
    expect(db.root).toBe(await rootWith(db, OWNER));
    await db.close();
    const other = await open('kept', { storage, indexes: BOTH });
    expect(await other.count({ index: 'age' })).toBe(50);
    expect(other.root).toBe(await rootWith(other, BOTH));
    await other.close();
  });

  it('of a later version of the library is ignored by reads, and never overwritten', async () => {
    const source = memory();
    const before = await open('source', { storage: source, indexes: OWNER });
    await before.putMany(rows(50));
    await before.close();
    const parts = await partsOf(source, 'source');
    const [main] = parts.refs;
    if (main === undefined) throw new Error('there is no main branch');
    const commit = chunksIn(parts).get(Buffer.from(main.commitBytes).toString('hex'));
    const bytes = (text: string) => new TextEncoder().encode(text);
    const [from, to] = ['["","/owner"]', '{"":"/owner"}'].map(bytes) as [Uint8Array, Uint8Array];
    const later = replaced(commit as Uint8Array, from, to);
    const storage = memory();
    const refs = [{ ...main, commitBytes: hashOf(later) }];
    await plant(storage, 'later', { refs, segments: [...parts.segments, segmentWith(later)] });
    for (const options of [
      {},
      { indexes: OWNER },
      { indexes: {}, advanced: { dropOtherIndexes: true } },
    ]) {
      const db = await open('later', { storage, ...options });
      const { root } = db;
      expect(await db.count()).toBe(50);
      const refused = failure('newer-version/format', { retryable: false });
      await expect(db.put('a', 1)).rejects.toEqual(refused);
      await expect(db.put('a', 1)).rejects.toThrow(/newer version/);
      expect(db.root).toBe(root);
      await db.close();
    }
  });
});

describe('dropOtherIndexes', () => {
  it('drops other indexes once, on each branch that is opened', async () => {
    const { storage } = await made();
    const db = await open('kept', {
      storage,
      indexes: OWNER,
      advanced: { dropOtherIndexes: true },
    });
    const root = await rootWith(db, OWNER);
    await until(() => db.root === root);
    const draft = await db.branches.open('draft');
    await until(() => draft.root === root);
    // An index that another handle makes later stays.
    const other = await open('kept', { storage, indexes: BOTH });
    expect(await other.count({ index: 'age' })).toBe(500);
    await until(() => db.root === other.root);
    await db.put('k1', { owner: 'put', age: 5 });
    expect(db.root).toBe(await rootWith(db, BOTH));
    await Promise.all([db.close(), other.close()]);
  });

  it('drops all indexes with empty definitions, and is refused without definitions', async () => {
    const { storage, root } = await made();
    const refused = { storage, advanced: { dropOtherIndexes: true } };
    await expect(open('kept', refused)).rejects.toEqual(failure('invalid-argument'));
    await expect(open('kept', { ...refused, indexes: undefined })).rejects.toThrow(/indexes/);
    const db = await open('kept', { storage, advanced: { dropOtherIndexes: false } });
    expect(db.root).toBe(root);
    await db.close();
    const none = await open('kept', { storage, indexes: {}, advanced: { dropOtherIndexes: true } });
    const bare = await rootWith(none, {});
    await until(() => none.root === bare);
    await none.close();
  });
});

it('two versions of an app that define one name differently each keep their own index', async () => {
  const { storage } = await made();
  const old = await open('kept', { storage, indexes: { by: { path: '/owner' } } });
  const definition = { path: ['/owner', '/age'] } as const;
  const young = await open('kept', { storage, indexes: { by: definition } });
  const composite = { index: 'by', equals: ['o3', 3] } as const;
  expect(await young.count(composite)).toBe(7);
  for (const db of [old, young, old, young]) {
    await db.put('k1', { owner: db === old ? 'old' : 'young', age: 3 });
    await until(() => old.root === young.root);
    const owner = db === old ? 'old' : 'young';
    expect(await old.scan({ index: 'by', equals: owner, wait: false }).keys().toArray()).toEqual([
      'k1',
    ]);
    const range = { index: 'by', equals: [owner, 3], wait: false } as const;
    expect(await young.scan(range).keys().toArray()).toEqual(['k1']);
    expect(db.root).toBe(await rootWith(db, { ...BOTH, composite: definition }));
  }
  await Promise.all([old.close(), young.close()]);
  // The next release removes the old one.
  const last = await open('kept', {
    storage,
    indexes: { by: definition },
    advanced: { dropOtherIndexes: true },
  });
  const root = await rootWith(last, { by: definition });
  await until(() => last.root === root);
  await last.close();
});

/** Entries of indexes, reads of their ranges, and the build of indexes. */
import { describe, expect, it } from 'vitest';
import rules from '../../../../vectors/index/replicache-index-rules.json' with { type: 'json' };
import { indexOf } from '../../src/core/indexes/definition.js';
import { deriveEntries } from '../../src/core/indexes/index-entries.js';
import {
  type IndexDefinitions,
  type IndexProgress,
  memory,
  type OpenOptions,
  open,
  preload,
  type Store,
} from '../../src/index.js';
import { watched } from '../support/doubles/watched-storage.js';
import { entriesOfRows, selectEntries } from '../support/models/index-model.js';
import { compareKeys, type Entry, failure, sorted } from '../support/models/store-model.js';

const INDEXES: IndexDefinitions = {
  owner: { path: '/owner' },
  tags: { path: '/tags' },
  state: { path: ['/state', '/age'] },
  some: { path: '/age', prefix: 'b' },
};

const ROWS: Entry[] = sorted([
  ['a1', { owner: 'ann', tags: ['x', 'y', 'x'], state: 'open', age: -1.5 }],
  ['a2', { owner: 'anna', tags: [], state: 'open', age: 10 }],
  ['a3', { owner: 'bob', tags: 'z', state: 'open', age: 2 }],
  ['b1', { owner: null, tags: [1, true, null, {}, ['n']], state: 'shut', age: 0 }],
  ['b2', { owner: 'ann', state: 'shut', age: 0 }],
  ['b3', { owner: '～', age: 1e300, state: true }],
  ['b4', { owner: '😀', age: false, state: 'open' }],
  ['b5', { owner: 'a\0b', age: '7' }],
  ['b6', new Uint8Array([1, 2])],
  ['b7', 'owner'],
]);

async function indexed(options: OpenOptions = {}) {
  const db = await open('test', { storage: memory(), indexes: INDEXES, ...options });
  await db.putMany(ROWS);
  return db;
}

const keysOf = (db: Store, range: Parameters<Store['scan']>[0]) => db.scan(range).keys().toArray();

describe('an index', () => {
  it('yields rows in the order of their secondary keys, and yields these keys', async () => {
    const db = await indexed();
    for (const [index, definition] of Object.entries(INDEXES)) {
      const expected = entriesOfRows(definition, ROWS);
      expect(expected.length).toBeGreaterThan(2);
      expect(await db.scan({ index }).toArray()).toEqual(expected);
      expect(await db.scan({ index, reverse: true }).toArray()).toEqual(expected.toReversed());
      expect(await db.scan({ index }).keys().toArray()).toEqual(expected.map(([key]) => key));
      expect(await db.scan({ index }).values().toArray()).toEqual(
        expected.map(([, value]) => value),
      );
      expect(await db.count({ index })).toBe(expected.length);
    }
    const streamed = [];
    for await (const [key, , secondary] of db.scan({ index: 'owner', limit: 2 })) {
      streamed.push([key, secondary]);
    }
    expect(streamed).toEqual([
      ['b5', 'a\0b'],
      ['a1', 'ann'],
    ]);
  });

  it.each([
    ['owner', { equals: 'ann' }],
    ['owner', { equals: '' }],
    ['owner', { prefix: 'an' }],
    ['owner', { prefix: 'a\0' }],
    ['owner', { gt: 'ann', lt: '😀' }],
    ['owner', { gte: 'ann', lte: 'bob', reverse: true, limit: 3 }],
    ['owner', { prefix: 'a', gt: 'ann' }],
    ['tags', { equals: 'x' }],
    ['tags', { equals: 1 }],
    ['tags', { gt: false }],
    ['tags', { lt: 'y' }],
    ['tags', { lte: 1 }],
    ['some', { gt: -1 }],
    ['some', { lte: 0 }],
    ['some', { gte: -0 }],
    ['some', { lt: true }],
    ['some', { gte: false, lt: '8' }],
    ['state', { equals: 'open' }],
    ['state', { equals: ['open', 2] }],
    ['state', { gt: ['open', -1.5], lte: 'open' }],
    ['state', { gt: 'open' }],
    ['state', { lt: ['shut', 0] }],
    ['state', { prefix: 'sh', reverse: true }],
  ] as const)('%s is read in the range %j', async (index, range) => {
    const db = await indexed();
    const definition = INDEXES[index];
    if (definition === undefined) throw new Error('no such index');
    const expected = selectEntries(entriesOfRows(definition, ROWS), range);
    expect(await db.scan({ index, ...range }).toArray()).toEqual(expected);
    const { limit, reverse, ...bounds } = range as unknown as Record<string, never>;
    const all = selectEntries(entriesOfRows(definition, ROWS), bounds);
    for (let offset = 0; offset <= all.length; offset++) {
      const window = { ...bounds, reverse: offset % 2 === 1, offset, limit: 2 };
      const shown = selectEntries(entriesOfRows(definition, ROWS), window);
      expect(await db.scan({ index, ...window }).toArray(), `offset ${offset}`).toEqual(shown);
    }
    expect(await db.count({ index, ...bounds })).toBe(all.length);
  });

  it('refuses malformed ranges', async () => {
    const db = await indexed();
    const refused = [
      { index: 'none' },
      { index: 'owner', equals: 'a', gt: 'b' },
      { index: 'owner', gt: 'a', gte: 'b' },
      { index: 'owner', equals: ['a', 'b'] },
      { index: 'owner', equals: [] },
      { index: 'owner', equals: null },
      { index: 'owner', gt: Number.NaN },
      { index: 'owner', prefix: 1 },
      { index: 'state', prefix: ['open'] },
    ];
    for (const range of refused) {
      await expect(db.count(range as never)).rejects.toEqual(failure('invalid-argument'));
      await expect(db.scan(range as never).toArray()).rejects.toEqual(failure('invalid-argument'));
    }
  });

  it.each([
    [{ path: 'owner' }],
    [{ path: '/a~2' }],
    [{ path: [] }],
    [{ path: Array(9).fill('/a') }],
    [{}],
    [{ path: '/a', prefix: 1 }],
    [{ path: `/${'x'.repeat(300)}` }],
    [{ path: '/\ud800' }],
    [null],
  ])('is not made of %j', async (definition) => {
    const opening = open('test', { storage: memory(), indexes: { one: definition as never } });
    await expect(opening).rejects.toEqual(failure('invalid-argument'));
  });

  it.each(rules.getIndexKeys)('takes $pointer of $value as the vectors say', async (rule) => {
    const indexes = { one: { path: rule.pointer } };
    const db = await open('test', { storage: memory(), indexes });
    await db.put(rule.primary, rule.value);
    const found = (await db.scan({ index: 'one' }).toArray()).map(([key, , at]) => [at, key]);
    // Skip values that the vectors refuse, except numbers, which are indexed here.
    const number = (rule.value as { u?: unknown }).u;
    const expected = rule.expected ?? (typeof number === 'number' ? [[number, 'k']] : []);
    expect(found).toEqual([...expected].sort(([a], [b]) => compareKeys(`${a}`, `${b}`)));
  });

  it('has keys in the order that the vectors say', () => {
    const index = indexOf('one', { path: '/a' });
    const position = ([secondary, primary]: string[]) =>
      deriveEntries(index, primary as string, { a: secondary })[0]?.position as string;
    for (const pair of rules.sortedAscending) {
      const [low, high] = pair.map(position) as [string, string];
      expect(compareKeys(low, high), JSON.stringify(pair)).toBeLessThan(0);
    }
  });

  it('exists after reopening, and a handle that does not name it keeps it', async () => {
    const storage = memory();
    const db = await indexed({ storage });
    const other = await open('test', { storage });
    expect(other.root).toBe(db.root);
    await other.put('a2', { owner: 'zoe' });
    await other.delete('a1');
    await other.deleteMany({ prefix: 'b' });
    await other.putMany([['c', { owner: 'cid' }]]);
    const again = await open('test', { storage, indexes: INDEXES });
    expect(await keysOf(again, { index: 'owner' } as never)).toEqual(['a3', 'c', 'a2']);
    const fresh = await open('test', { storage: memory(), indexes: INDEXES });
    await fresh.putMany(await again.scan().toArray());
    expect(again.root).toBe(fresh.root);
    await expect(other.count({ index: 'owner' })).rejects.toEqual(failure('invalid-argument'));
  });

  it('may have two names', async () => {
    const storage = memory();
    const owner = { path: '/owner' };
    const before = await open('test', { storage, indexes: { ...INDEXES, other: { path: '/x' } } });
    await before.putMany(ROWS);
    await before.close();
    const indexes = { ...INDEXES, again: owner, more: owner };
    const db = await open('test', { storage, indexes, advanced: { dropOtherIndexes: true } });
    await expect.poll(() => db.root).toBe((await indexed()).root);
    const fresh = await open('fresh', { storage, indexes: { one: owner, two: owner } });
    await fresh.putMany(ROWS);
    const again = await open('fresh', { storage, indexes: { one: owner, two: owner } });
    for (const index of ['one', 'two']) {
      expect(await again.count({ index })).toBe(await db.count({ index: 'owner' }));
    }
  });

  it('is empty once all rows are deleted, and works again with the next row', async () => {
    const db = await indexed();
    const { root } = db;
    await db.clear();
    expect(db.root).toBe('0'.repeat(64));
    expect(await db.scan({ index: 'owner' }).toArray()).toEqual([]);
    await db.putMany(ROWS);
    expect(db.root).toBe(root);
  });
});

const many = (count: number): Entry[] =>
  Array.from({ length: count }, (_, at) => [
    `k${String(at).padStart(7, '0')}`,
    { owner: `o${at % 997}`, age: (at * 7919) % 1000, text: 'x'.repeat(100) },
  ]);

const BY_OWNER: IndexDefinitions = { owner: { path: '/owner' } };

describe('an index that is added later', () => {
  it('is built in the background, and a scan waits for it unless an option says not to', async () => {
    const storage = memory();
    const rows = many(100_000);
    const before = await open('test', { storage });
    await before.putMany(rows);
    await before.close();
    const told: IndexProgress[] = [];
    const onIndexProgress = (progress: IndexProgress) => told.push(progress);
    // The index could be built while the code of transactions is loaded.
    await preload();
    const db = await open('test', { storage, indexes: BY_OWNER, advanced: { onIndexProgress } });
    const range = { index: 'owner', equals: 'o7' };
    await expect(db.scan({ ...range, wait: false }).toArray()).rejects.toEqual(
      failure('not-ready'),
    );
    await expect(db.count({ ...range, wait: false })).rejects.toEqual(failure('not-ready'));
    const body = () => db.transaction((tx) => tx.scan(range).toArray());
    await expect(body()).rejects.toEqual(failure('not-ready'));
    const stopped = new AbortController();
    const aborted = db.scan({ ...range, signal: stopped.signal }).toArray();
    stopped.abort();
    await expect(aborted).rejects.toEqual(failure('aborted'));
    // Writes continue, and the index includes them.
    const writes = [];
    for (let at = 0; at < 20; at++) writes.push(db.put(`new${at}`, { owner: 'o7' }));
    writes.push(db.delete('k0000007'));
    const found = await db.scan(range).keys().toArray();
    await Promise.all(writes);
    expect(found.length).toBeGreaterThan(99);
    const expected = rows.filter((_, at) => at % 997 === 7 && at !== 7).map(([key]) => key);
    const added = Array.from({ length: 20 }, (_, at) => `new${at}`).sort();
    expect(await db.scan(range).keys().toArray()).toEqual([...expected, ...added]);
    expect(told.length).toBeGreaterThan(1);
    expect(told[0]?.rows).toBeGreaterThan(0);
    expect(told[0]?.rows).toBeLessThan(told[0]?.total as number);
    expect(told.at(-1)?.rows).toBe(told.at(-1)?.total);
    const fresh = await open('test', { storage: memory(), indexes: BY_OWNER });
    await fresh.putMany(await db.scan().toArray());
    expect(db.root).toBe(fresh.root);
    expect(await body()).toHaveLength(expected.length + added.length);
  });

  it('continues where its build stopped', async () => {
    const storage = watched(memory());
    const before = await open('test', { storage });
    await before.putMany(many(120_000));
    await before.close();
    let db: Store | undefined;
    const { rows, total } = await new Promise<IndexProgress>((onIndexProgress) => {
      open('test', { storage, indexes: BY_OWNER, advanced: { onIndexProgress } }).then((opened) => {
        db = opened;
      });
    });
    expect(rows).toBeLessThan(total);
    await db?.close();
    const told: IndexProgress[] = [];
    const onIndexProgress = (progress: IndexProgress) => told.push(progress);
    const again = await open('test', { storage, indexes: BY_OWNER, advanced: { onIndexProgress } });
    await again.scan({ index: 'owner', limit: 1 }).toArray();
    expect(told[0]?.rows).toBeGreaterThan(rows);
    expect(await again.count({ index: 'owner' })).toBe(120_000);
  });

  it('is dropped on request, and built again when its definition has changed', async () => {
    const storage = memory();
    const indexes = { one: { path: '/owner' }, two: { path: '/age' } };
    const db = await open('test', { storage, indexes });
    await db.putMany(many(1000));
    await db.close();
    const changed = await open('test', {
      storage,
      indexes: { one: { path: '/age', prefix: 'k' } },
      advanced: { dropOtherIndexes: true },
    });
    expect(await changed.count({ index: 'one' })).toBe(1000);
    const fresh = await open('test', {
      storage: memory(),
      indexes: { one: { path: '/age', prefix: 'k' } },
    });
    await fresh.putMany(many(1000));
    expect(changed.root).toBe(fresh.root);
    await changed.close();
    const plain = await open('test', {
      storage,
      indexes: {},
      advanced: { dropOtherIndexes: true },
    });
    const none = await open('test', { storage: memory() });
    await none.putMany(many(1000));
    await expect.poll(() => plain.root).toBe(none.root);
  });

  it('is built once for two handles that name it', async () => {
    const storage = memory();
    const before = await open('test', { storage });
    await before.putMany(many(50_000));
    await before.close();
    const handles = await Promise.all(
      [0, 1].map(() => open('test', { storage, indexes: BY_OWNER })),
    );
    const counts = await Promise.all(handles.map((db) => db.count({ index: 'owner' })));
    expect(counts).toEqual([50_000, 50_000]);
  });

  it('rejects waiting reads when storage fails, and is built once storage works', async () => {
    const storage = watched(memory());
    const before = await open('test', { storage });
    await before.putMany(many(1000));
    await before.close();
    const full = new Error('no more room');
    storage.hooks.write = () => {
      throw full;
    };
    const db = await open('test', { storage, indexes: BY_OWNER });
    await expect(db.count({ index: 'owner' })).rejects.toBe(full);
    delete storage.hooks.write;
    expect(await db.count({ index: 'owner' })).toBe(1000);
  });

  it('rejects waiting reads after the close', async () => {
    const storage = memory();
    const before = await open('test', { storage });
    await before.putMany(many(100_000));
    await before.close();
    const db = await open('test', { storage, indexes: BY_OWNER });
    const waiting = db.count({ index: 'owner' });
    waiting.catch(() => {});
    await db.close();
    await expect(waiting).rejects.toEqual(failure('closed'));
  });
});

/** Verification and import check the normal form of a store, and, by an option, indexes against the rows. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  importStore,
  memory,
  open,
  repairStore,
  type Storage,
  verifyStore,
} from '../../../src/index.js';
import {
  chunksIn,
  type Forged,
  forge,
  hashOf,
  partsOf,
  plant,
  replaced,
  segmentWith,
} from '../../support/forging.js';
import { all, type Entry, failure } from '../../support/models/store-model.js';
import { expectEmpty } from '../../support/transferring.js';

const INDEXES = { n: { path: '/n' } };
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Returns the parts of a store of rows. */
async function partsWith(rows: readonly Entry[], indexes = {}): Promise<Forged> {
  const storage = memory();
  const db = await open('made', { storage, indexes });
  await db.putMany(rows);
  await db.close();
  return partsOf(storage, 'made');
}

/** Returns the commit of forged parts. */
function commitOf(parts: Forged): Uint8Array {
  const commit = chunksIn(parts).get(hexOf(parts.refs[0]?.commitBytes as Uint8Array));
  if (commit === undefined) throw new Error('the parts have no commit');
  return commit;
}

/** Returns the same parts with another commit. */
function withCommit(parts: Forged, commit: Uint8Array, ...chunks: Uint8Array[]): Forged {
  return {
    refs: [{ name: 'main', commitBytes: hashOf(commit) }],
    segments: [...parts.segments, ...[...chunks, commit].map(segmentWith)],
  };
}

/** Makes a store with a value `1e2` in place of `100`, which no writer stores. */
async function withOtherNumber(): Promise<Forged> {
  const parts = await partsWith([
    ['a', { n: 1 }],
    ['b', { n: 100 }],
    ['c', 'text'],
  ]);
  const commit = commitOf(parts);
  const [leaf] = [...chunksIn(parts).values()].filter((chunk) => chunk[0] === 0);
  if (leaf === undefined) throw new Error('there is no leaf');
  const other = replaced(leaf, Buffer.from('{"n":100}'), Buffer.from('{"n":1e2}'));
  return withCommit(parts, replaced(commit, hashOf(leaf), hashOf(other)), other);
}

/** Makes a store with the index of other rows: the same keys, other values. */
async function withOtherIndex(): Promise<Forged> {
  const rows = (add: number): Entry[] =>
    Array.from({ length: 50 }, (_, at): Entry => [`k${at}`, { n: at + add }]);
  const [parts, others] = [await partsWith(rows(0), INDEXES), await partsWith(rows(1), INDEXES)];
  // For each tree: the name, the number of entries as 8 bytes, and the root.
  const rootOf = (commit: Uint8Array) => {
    const at = Buffer.from(commit).indexOf('["","/n"]') + 9 + 8;
    return commit.slice(at, at + 32);
  };
  const [commit, other] = [commitOf(parts), commitOf(others)];
  const forged = withCommit(parts, replaced(commit, rootOf(commit), rootOf(other)));
  return { ...forged, segments: [...forged.segments, ...others.segments] };
}

async function planted(parts: Forged): Promise<Storage> {
  const storage = memory();
  await plant(storage, 'test', parts);
  return storage;
}

describe('a value that is not in normal form', () => {
  it('is reported by a verification, with its row, and is not lost', async () => {
    const storage = await planted(await withOtherNumber());
    const found = await verifyStore('test', { storage });
    expect(found).toMatchObject({ ok: false, rows: 3 });
    expect(found.faults).toEqual([
      {
        code: 'corrupt-chunk',
        chunk: expect.stringMatching(/^[0-9a-f]{64}$/),
        kind: 'form',
        range: { gte: 'b', lte: 'b' },
        rows: 1,
      },
    ]);
  });

  it('does not cost the row in a repair', async () => {
    const storage = await planted(await withOtherNumber());
    const before = await verifyStore('test', { storage });
    const done = await repairStore('test', { storage, salvage: true });
    expect(done).toMatchObject({ root: before.root, commitsDropped: 0, lost: [], rowsLost: 0 });
    expect(done.faults).toEqual(before.faults);
    const db = await open('test', { storage });
    expect(await db.get('b')).toEqual({ n: 100 });
    // Rows that are copied to another store are in normal form there.
    const other = await open('other', { storage });
    await other.putMany(db.scan());
    expect(await other.health.verify()).toMatchObject({ ok: true, rows: 3 });
    expect(other.root).not.toBe(db.root);
  });

  it('is not imported', async () => {
    const storage = memory();
    const importing = importStore('copy', [forge(await withOtherNumber())], { storage });
    await expect(importing).rejects.toEqual(failure('corrupt-chunk'));
    await expect(importing).rejects.toThrow('the form that this library writes');
    await expectEmpty(storage);
  });
});

describe('an index that does not match its rows', () => {
  it('is reported by a verification with `checkIndexes`', async () => {
    const storage = await planted(await withOtherIndex());
    const db = await open('test', { storage });
    expect(await db.health.verify()).toMatchObject({ ok: true });
    const { ok, faults } = await db.health.verify({ checkIndexes: true });
    expect(ok).toBe(false);
    expect(faults).toEqual([
      {
        code: 'corrupt-chunk',
        chunk: expect.stringMatching(/^[0-9a-f]{64}$/),
        kind: 'index',
        range: {},
      },
    ]);
  });

  it('is built again by a repair with `checkIndexes`', async () => {
    const storage = await planted(await withOtherIndex());
    const db = await open('test', { storage, indexes: INDEXES });
    const rows = await all(db);
    expect(await db.scan({ index: 'n', equals: 7 }).keys().toArray()).toEqual(['k6']);
    expect(await db.health.repair()).toMatchObject({ faults: [] });
    const done = await db.health.repair({ checkIndexes: true });
    expect(done).toMatchObject({ lost: [], rowsLost: 0, faults: [{ kind: 'index' }] });
    expect(await db.health.verify({ checkIndexes: true })).toMatchObject({ ok: true });
    expect(await db.scan({ index: 'n', equals: 7 }).keys().toArray()).toEqual(['k7']);
    expect(await all(db)).toEqual(rows);
  });

  it('is imported without `checkIndexes`, and refused with it', async () => {
    const bytes = forge(await withOtherIndex());
    const storage = memory();
    const importing = importStore('copy', [bytes], { storage, checkIndexes: true });
    await expect(importing).rejects.toEqual(failure('corrupt-chunk'));
    await expectEmpty(storage);
    await importStore('copy', [bytes], { storage });
  });
});

describe('text of JSON.stringify that is not in normal form', () => {
  type Put = (db: Awaited<ReturnType<typeof open>>, value: object) => Promise<unknown>;
  const puts: Put[] = [
    (db, value) => db.put('k', value),
    (db, value) => db.putMany([value], { key: '/id' }),
    (db, value) => db.applyPatch([{ op: 'put', key: 'k', value }]),
    (db, value) => db.applyPatch([{ op: 'update', key: 'k', merge: value as never }]),
    (db, value) =>
      db.transaction(async (tx) => {
        tx.put('k', value);
      }),
  ];

  /** Puts a value in all ways; its root must equal the root of the row `text` in bytes. */
  async function expectSameRoot(value: object, text: string): Promise<void> {
    const bytes = new TextEncoder().encode(`["k",${text}]\n`);
    const roots = new Set<string>();
    const fromBytes: Put = (db) => db.putMany(bytes, { format: 'ndjson' });
    for (const put of [fromBytes, ...puts]) {
      const db = await open('test', { storage: memory() });
      await put(db, value);
      roots.add(db.root);
      expect(await db.health.verify()).toMatchObject({ ok: true, rows: 1 });
      await db.close();
    }
    expect(roots.size).toBe(1);
  }

  const real = JSON.stringify;
  const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown };
  afterEach(() => {
    JSON.stringify = real;
  });

  /** Returns a value that is printed as `text`, with `JSON.rawJSON` or a replacement for it. */
  function raw(text: string): unknown {
    if (rawJSON !== undefined) return rawJSON(text);
    JSON.stringify = ((...args: Parameters<typeof real>) =>
      real(...args)?.replace(/"raw:((?:[^"\\]|\\.)*)"/g, (_, printed: string) =>
        String(JSON.parse(`"${printed}"`)),
      )) as typeof real;
    return `raw:${text}`;
  }

  it.each(['1.0', '1e-400', '1E2', '-0', '0.10', '"\\u0041"', '"\\/"'])(
    'from JSON.rawJSON(%s), has the root of its meaning',
    async (text) => {
      const value = { id: 'k', n: raw(text), in: [raw(text)] };
      expect(JSON.stringify(value)).toBe(`{"id":"k","n":${text},"in":[${text}]}`);
      await expectSameRoot(value, `{"id":"k","n":${text},"in":[${text}]}`);
    },
  );

  it('from a Proxy, has the root of the same members in their order', async () => {
    const value = new Proxy(
      { id: 'k', b: 1, 2: 2, 1: 3 },
      { ownKeys: () => ['b', '2', 'id', '1'] },
    );
    expect(JSON.stringify(value)).toBe('{"b":1,"2":2,"id":"k","1":3}');
    await expectSameRoot(value, '{"b":1,"2":2,"id":"k","1":3}');
  });
});

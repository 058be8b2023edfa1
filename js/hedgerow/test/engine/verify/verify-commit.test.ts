/** A verification reads all chunks, reports each fault with its keys, and continues after it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { HedgerowError, memory, open, type Store, verifyStore } from '../../../src/index.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import {
  compareKeys,
  type Entry,
  failure,
  select,
  sorted,
} from '../../support/models/store-model.js';
import { partlyNoise } from '../../support/noise.js';
import { forSeeds } from '../../support/property.js';
import { random } from '../../support/random.js';
import { startCore } from '../../support/start-core.js';
import {
  chunksOf,
  chunksOfKind,
  damage as damageIn,
  Kind,
  type StoredChunk,
} from '../../support/stored-chunks.js';

const ROWS = sorted(Array.from({ length: 5000 }, (_, at): Entry => [`k${at}`, partlyNoise(at)]));
const LARGE: Entry = ['large', random(1).bytes(200_000)];
const ALL = [...ROWS, LARGE].sort(([a], [b]) => compareKeys(a, b));
const { leaf: LEAF, piece: PIECE, list: LIST } = Kind;

let storage: WatchedStorage;
let root: string;

beforeEach(async () => {
  storage = watched(memory());
  const db = await open('test', { storage });
  await db.putMany(ALL);
  root = db.root;
  await db.close();
});

const chunks = (kind: number) => chunksOfKind(storage.stored.values(), kind);

const damage = (...damaged: StoredChunk[]) => damageIn(storage, ...damaged);

const reopened = () => open('test', { storage });

/** Returns the keys of the rows that can be read, one by one. */
async function readable(db: Store): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const [key] of ALL) {
    await db.get(key).then(
      () => keys.add(key),
      () => {},
    );
  }
  return keys;
}

describe('a sound store', () => {
  it('has counts of all its rows, nodes, values and bytes', async () => {
    const db = await reopened();
    const { levels } = await db.health.stats();
    const found = await db.health.verify();
    expect(found).toMatchObject({ root, ok: true, rows: ALL.length, values: 1 });
    expect(found).toMatchObject({ faults: [], segmentFaults: [] });
    expect(found.nodes).toBe(levels.reduce((sum, { nodes }) => sum + nodes, 0));
    const nodeBytes = levels.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(found.bytes).toBeGreaterThan(nodeBytes + 200_000);
    expect(found.bytes).toBeLessThan(nodeBytes + 201_000);
  });

  it('that is empty is sound', async () => {
    const db = await open('empty', { storage: memory() });
    expect(await db.health.verify()).toMatchObject({
      ok: true,
      rows: 0,
      nodes: 0,
      root: '0'.repeat(64),
    });
    await db.put('a', 1);
    await db.clear();
    expect(await db.health.verify()).toMatchObject({ ok: true, rows: 0 });
  });

  it('reports the progress of its verification, which can be stopped', async () => {
    const db = await open('test', { storage, advanced: { sliceMs: 1 } });
    const seen: number[] = [];
    await db.health.verify({ onProgress: ({ fraction }) => seen.push(fraction) });
    expect(seen.at(-1)).toBe(1);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    const controller = new AbortController();
    const stopped = db.health.verify({
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(stopped).rejects.toEqual(failure('aborted'));
    await expect(db.health.verify({ signal: AbortSignal.abort() })).rejects.toEqual(
      failure('aborted'),
    );
    expect((await db.health.verify()).ok).toBe(true);
  });

  it('includes the commits of another handle, while this handle writes', async () => {
    const [db, other] = [await reopened(), await reopened()];
    await other.putMany([['new', 1]]);
    const [found] = await Promise.all([db.health.verify(), db.put('mine', 2)]);
    expect(found.ok).toBe(true);
    expect([ALL.length + 1, ALL.length + 2]).toContain(found.rows);
  });
});

it('a verification reads from storage, not from memory', async () => {
  const db = await reopened();
  await startCore(db);
  await db.scan().toArray();
  const leaf = chunks(LEAF)[5]!;
  damage(leaf);
  expect(await db.scan().toArray()).toHaveLength(ALL.length);
  const found = await db.health.verify();
  expect(found.faults.map(({ chunk }) => chunk)).toEqual([leaf.hash]);
  // The verification does not change the cache.
  expect(await db.scan().toArray()).toHaveLength(ALL.length);
});

describe('damage', () => {
  it('of one leaf is reported with its keys, and only reads of these keys fail', async () => {
    const leaf = chunks(LEAF)[20]!;
    damage(leaf);
    const db = await reopened();
    const { ok, faults, rows } = await db.health.verify();
    expect(ok).toBe(false);
    expect(faults).toEqual([
      {
        code: 'corrupt-chunk',
        chunk: leaf.hash,
        kind: 'node',
        level: 0,
        range: { gt: expect.any(String), lte: expect.any(String) },
        rows: expect.any(Number),
      },
    ]);
    const lost = select(ALL, faults[0]!.range).map(([key]) => key);
    expect(lost).toHaveLength(faults[0]!.rows!);
    expect(rows).toBe(ALL.length - lost.length);
    const kept = await readable(db);
    expect(ALL.map(([key]) => key).filter((key) => !kept.has(key))).toEqual(lost);
  });

  it('of any leaves is reported in order, and all other rows can be read', async () => {
    await forSeeds(15, async (from, _, begin) => {
      const leaves = chunks(LEAF);
      const hit = new Set(Array.from({ length: 1 + from.below(8) }, () => from.pick(leaves)));
      begin({ damaged: [...hit].map(({ hash }) => hash) });
      damage(...hit);
      const db = await reopened();
      const { faults, rows } = await db.health.verify();
      expect(new Set(faults.map(({ chunk }) => chunk))).toEqual(
        new Set([...hit].map(({ hash }) => hash)),
      );
      const lost = faults.flatMap(({ range }) => select(ALL, range)).map(([key]) => key);
      expect(lost).toEqual([...lost].sort(compareKeys));
      expect(rows + lost.length).toBe(ALL.length);
      const kept = await readable(db);
      expect(lost.filter((key) => kept.has(key))).toEqual([]);
      expect(kept.size).toBe(rows);
      await db.close();
    });
  });

  it('of a large value names its key', async () => {
    for (const kind of [PIECE, LIST]) {
      const chunk = chunks(kind)[0]!;
      damage(chunk);
      const { faults, rows } = await (await reopened()).health.verify();
      const range = { gte: 'large', lte: 'large' };
      const code = 'corrupt-chunk';
      expect(faults).toEqual([{ code, chunk: chunk.hash, kind: 'value', range, rows: 1 }]);
      expect(rows).toBe(ROWS.length);
    }
  });

  it('of an internal node covers the rows below it', async () => {
    const inner = chunks(1)[0]!;
    damage(inner);
    const { faults, rows } = await (await reopened()).health.verify();
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({ chunk: inner.hash, kind: 'node' });
    expect(rows + faults[0]!.rows!).toBe(ALL.length);
    expect(select(ALL, faults[0]!.range)).toHaveLength(faults[0]!.rows!);
  });

  it('of the commit is reported for an open store, and for one that does not open', async () => {
    const db = await reopened();
    const commit = chunks(Kind.commit).find(({ hash }) => hash === root)!;
    damage(commit);
    const fault = { code: 'corrupt-chunk', chunk: root, kind: 'commit', range: {} };
    expect(await db.health.verify()).toMatchObject({ ok: false, rows: 0, faults: [fault] });
    await expect(reopened()).rejects.toEqual(failure('corrupt-chunk'));
    const closed = storage.closed;
    expect(await verifyStore('test', { storage })).toMatchObject({ ok: false, faults: [fault] });
    expect(storage.closed).toBe(closed + 1);
    await expect(verifyStore('none', { storage })).rejects.toEqual(failure('not-found/store'));
  });
});

describe('segments and tables', () => {
  it('that are missing, cut off, too long or unreadable are reported', async () => {
    const segments = [...new Set(chunks(LEAF).map(({ segment }) => segment))];
    expect(segments.length).toBeGreaterThan(1);
    const { id: segment, segmentBytes } = segments[0]!;
    const changes: ['gone' | 'length', boolean, (bytes: Uint8Array) => Uint8Array | undefined][] = [
      ['gone', false, () => undefined],
      ['length', false, (bytes) => bytes.slice(0, bytes.length - 100)],
      ['length', false, () => new Uint8Array()],
      ['length', true, (bytes) => Uint8Array.from([...bytes, 1])],
      [
        'gone',
        false,
        () => {
          throw new HedgerowError('unavailable/storage', 'the record cannot be read');
        },
      ],
    ];
    for (const [what, ok, change] of changes) {
      storage.hooks.read = (id, bytes) => (id === segment ? change(bytes) : bytes);
      const db = await reopened();
      const found = await db.health.verify();
      expect(found.segmentFaults).toEqual([{ segment, what }]);
      expect(found.ok).toBe(ok);
      const lost = found.faults.reduce((sum, { rows = 0 }) => sum + rows, 0);
      expect(found.rows + lost).toBe(ALL.length);
      expect(found.faults.length).toBeLessThanOrEqual(chunksOf(segments[0]!).length);
      await db.close();
    }
    expect(segmentBytes.length).toBeGreaterThan(0);
  });

  it('with a malformed table are reported, even without a lost row', async () => {
    const { id } = chunks(LEAF)[5]!.segment;
    const only = (broken: number) => {
      storage.hooks.load = ({ tables, ...rest }) => ({
        ...rest,
        tables: tables.map((table) =>
          table.id === broken ? { id: broken, tableBytes: Uint8Array.of(1) } : table,
        ),
      });
    };
    only(id);
    const found = await (await reopened()).health.verify();
    expect(found.segmentFaults).toEqual([{ segment: id, what: 'table' }]);
    expect(new Set(found.faults.map(({ code }) => code))).toEqual(new Set(['missing-chunk']));
    delete storage.hooks.load;
    const db = await reopened();
    await db.clear();
    await db.put('a', 1);
    only(id);
    expect(await (await reopened()).health.verify()).toMatchObject({
      ok: true,
      segmentFaults: [{ segment: id, what: 'table' }],
    });
  });
});

it('a verification fails if storage fails, and the next one succeeds', async () => {
  const error = new HedgerowError('unavailable/disconnected', 'for a test');
  const failing = faulty(storage);
  const db = await open('test', { storage: failing });
  for (const call of ['load', 'read'] as const) {
    failing.fail({ call, at: failing.calls(call) + 1, when: 'before', error });
    await expect(db.health.verify()).rejects.toBe(error);
    failing.heal();
    expect((await db.health.verify()).ok).toBe(true);
  }
  await db.close();
  await expect(db.health.verify()).rejects.toEqual(failure('closed'));
});

it('a segment that another tab collects in the meantime is no fault', async () => {
  const db = await reopened();
  const inner = await storage.open('test');
  let moved = false;
  storage.hooks.read = (id, bytes) => {
    const segment = storage.stored.get(id);
    if (moved || segment === undefined) return bytes;
    moved = true;
    // The other tab stores the chunks again under another id, and deletes the segment.
    void (async () => {
      const again = { ...segment, id: 2 ** 40 };
      await inner.write({ segments: [again], durability: 'relaxed' });
      await inner.delete([id]);
    })();
    return undefined;
  };
  const found = await db.health.verify();
  expect(moved).toBe(true);
  expect(found).toMatchObject({ ok: true, rows: ALL.length });
});

/** Deltas: made of two commits of one store, and applied to another one with its own indexes and sum trees. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import { memory, type OpenOptions, open, type Store } from '../../../src/index.js';
import { applyDeltas, makeDelta, readRowsRoot } from '../../../src/sync/link/delta.js';
import { forCuts } from '../../support/damaged-bytes.js';
import { ofKind } from '../../support/error-kind.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { applied, deltaOf, headOf, unhex } from '../../support/remote-store.js';
import { startCore } from '../../support/start-core.js';

const NOTHING = '0'.repeat(64);

/** A store whose commits have other trees than the maker of the deltas. */
const OTHERS: OpenOptions = {
  indexes: { size: { path: '/n' }, tag: { prefix: 'k', path: ['/tag', '/n'] } },
  advanced: { sums: { total: { sum: '/n', prefix: 'k' } } },
};

async function receiver(): Promise<Store> {
  const db = await open('receiver', { ...OTHERS, storage: memory() });
  await startCore(db);
  return db;
}

async function emptyStore(): Promise<Store> {
  const db = await storeOf();
  await startCore(db);
  return db;
}

/** Returns the receiver's root when its rows are written at once. */
async function rootOf(rows: ReadonlyMap<string, unknown>): Promise<string> {
  const db = await receiver();
  if (rows.size > 0) await db.putMany([...rows]);
  return db.root;
}

function edit(from: Random, rows: Map<string, unknown>): { puts: Entry[]; deletes: string[] } {
  const count = from.below(from.pick([2, 20, 300]));
  const keyOf = () => `${from.pick(['k', 'k', 'other/'])}${from.below(from.pick([20, 600]))}`;
  const valueFor = (): unknown => {
    const n = from.below(1000);
    if (from.below(20) === 0) return { n, long: from.text(5) + 'x'.repeat(from.below(9000)) };
    if (from.below(9) > 0) return { n, tag: from.pick(['a', 'b', null]), more: from.value(2) };
    return { n, tag: from.below(5) };
  };
  const puts = Array.from({ length: count }, (): Entry => {
    const key = keyOf();
    // Only rows below `k` have sums: other rows may have any value.
    const isAny = key.startsWith('other/');
    return [
      key,
      isAny ? from.pick([() => from.value(3), () => from.bytes(from.below(70_000))])() : valueFor(),
    ];
  });
  const deletes = Array.from({ length: from.below(from.pick([2, 30])) }, keyOf);
  for (const [key, value] of puts) rows.set(key, value);
  for (const key of deletes) rows.delete(key);
  return { puts, deletes };
}

describe('random histories', () => {
  it('reach another store as deltas', async () => {
    await forSeeds(30, async (from, _, begin) => {
      const sender = await open('sender', { storage: memory() });
      const db = await receiver();
      const rows = new Map<string, unknown>();
      for (let step = 0; step < 4; step++) {
        const deltas = [];
        const steps = 1 + from.below(3);
        for (let part = 0; part < steps; part++) {
          // No collection deletes the base of a delta.
          const before = await sender.snapshot();
          const { puts, deletes } = edit(from, rows);
          begin({ step, puts: puts.length, deletes: deletes.length });
          if (puts.length > 0) await sender.putMany(puts);
          if (deletes.length > 0) await sender.deleteMany(deletes);
          deltas.push(await deltaOf(sender, before.root, sender.root));
          before.close();
        }
        const before = await db.snapshot();
        const { root } = before;
        const result = await applied(db, deltas);
        expect(result).toMatchObject({ outcome: 'applied', root: db.root });
        expectSame(await all(db), sorted(rows));
        expect(db.root).toBe(await rootOf(rows));
        // The way back to the earlier rows.
        const back = await deltaOf(db, db.root, root);
        const forth = await deltaOf(db, root, db.root);
        expect(await applied(db, [back])).toMatchObject({ outcome: 'applied', root });
        expect(await applied(db, [forth])).toMatchObject({ outcome: 'applied' });
        before.close();
        expect(await deltaOf(db, db.root, db.root)).toMatchObject({ edits: 0 });
      }
      await Promise.all([sender.close(), db.close()]);
    });
  });
});

describe('a delta', () => {
  it('has the bytes and the roots of the vectors', async () => {
    const path = new URL('../../../../../vectors/remote/delta.json', import.meta.url);
    const vectors = JSON.parse(readFileSync(path, 'utf8'));
    type Cell = { key: string; json?: string; bytes?: string };
    const entry = ({ key, json, bytes = '' }: Cell): Entry => [
      key,
      json === undefined ? unhex(bytes) : JSON.parse(json),
    ];
    expect(vectors.deltas.length).toBe(8);
    for (const { name, before, delta, rootBefore, rootAfter, edits } of vectors.deltas) {
      const db = await storeOf(vectors.stores[before].map(entry));
      const { shared } = headOf(db);
      const root = db.root;
      expect(hex((await readRowsRoot(shared, unhex(root))).rootBytes), name).toBe(rootBefore);
      const isDelete = (cell: Cell) => cell.json === undefined && cell.bytes === undefined;
      await db.putMany(edits.filter((cell: Cell) => !isDelete(cell)).map(entry));
      await db.deleteMany(edits.filter(isDelete).map(({ key }: Cell) => key));
      const made = await deltaOf(db, root, db.root);
      expect(hex(made.deltaBytes), name).toBe(delta);
      expect([hex(made.after.rootBytes), made.edits], name).toEqual([rootAfter, edits.length]);
    }
    const db = await storeOf([['a', 1]]);
    for (const { name, delta, offset } of vectors.refused) {
      const code = name === 'version 2' ? 'newer-version/format' : 'invalid-data/delta';
      const good = await deltaOf(db, NOTHING, db.root);
      const root = db.root;
      const refused = applied(db, [{ ...good, deltaBytes: unhex(delta) }]);
      await expect(refused, name).rejects.toMatchObject({
        ...ofKind(code),
        ...(code === 'invalid-data/delta' && { offset }),
      });
      expect(db.root).toBe(root);
    }
  });

  it('is too long from one byte above its limit on', async () => {
    const db = await storeOf(
      Array.from({ length: 50 }, (_, at): Entry => [`k${at}`, 'x'.repeat(at)]),
    );
    const { shared } = headOf(db);
    const { deltaBytes } = await deltaOf(db, NOTHING, db.root);
    const make = (maxBytes: number) =>
      makeDelta(shared, unhex(NOTHING), unhex(db.root), { maxBytes });
    expect(await make(deltaBytes.length)).toMatchObject({ deltaBytes, edits: 50 });
    for (const maxBytes of [deltaBytes.length - 1, 100, 0, -1, Number.NaN]) {
      expect(await make(maxBytes)).toBe('too-long');
    }
  });

  it('leaves no trace if its rows differ from its promise', async () => {
    const sender = await storeOf([['k1', { n: 1 }]]);
    const delta = await deltaOf(sender, NOTHING, sender.root);
    const db = await receiver();
    await db.putMany([['k2', { n: 2 }]]);
    const [root, before] = [db.root, await db.health.stats()];
    const result = await applied(db, [delta]);
    expect(result).toMatchObject({ outcome: 'wrong-root', made: { count: 2 } });
    const { after } = delta;
    const short = { ...delta, after: { ...after, count: 2 } };
    const empty = await receiver();
    expect(await applied(empty, [short])).toMatchObject({ outcome: 'wrong-root', made: after });
    expect(db.root).toBe(root);
    expect((await db.health.stats()).storedBytes).toBe(before.storedBytes);
    await db.put('k3', { n: 3 });
    expect(await db.get('k2')).toEqual({ n: 2 });
    expect(await applied(empty, [delta])).toMatchObject({ outcome: 'applied', rows: 1 });
  });

  it('is not applied to a branch that has moved before or during the call', async () => {
    const sender = await storeOf([['k1', { n: 1 }]]);
    const { deltaBytes, after } = await deltaOf(sender, NOTHING, sender.root);
    const db = await receiver();
    const branchHead = headOf(db);
    const change = { deltas: [deltaBytes], after, durability: 'relaxed' } as const;
    const other = applyDeltas(branchHead, { ...change, onto: new Uint8Array(32).fill(1) });
    expect(await other).toEqual({ outcome: 'moved' });
    const begun = applyDeltas(branchHead, { ...change, onto: unhex(db.root) });
    await db.put('other', 1);
    expect(await begun).toEqual({ outcome: 'moved' });
    expect(await all(db)).toEqual([['other', 1]]);
  });

  it('moves other refs in its transaction, also without changes', async () => {
    const sender = await storeOf([['k1', { n: 1 }]]);
    const { deltaBytes, after } = await deltaOf(sender, NOTHING, sender.root);
    const db = await receiver();
    const branchHead = headOf(db);
    const apply = (deltas: readonly Uint8Array[], generation: number) => {
      const commitBytes = new Uint8Array(32);
      const move = {
        name: 'fork/a/b',
        commitBytes,
        generation,
        format: 1,
        expected: generation - 1,
      };
      const onto = unhex(db.root);
      return applyDeltas(branchHead, { deltas, after, onto, durability: 'relaxed', also: [move] });
    };
    expect(await apply([deltaBytes], 2)).toEqual({ outcome: 'moved' });
    expect(db.root).toBe(NOTHING);
    expect(await apply([deltaBytes], 1)).toMatchObject({ outcome: 'applied' });
    const root = db.root;
    expect(await apply([], 1)).toEqual({ outcome: 'moved' });
    expect(await apply([], 2)).toMatchObject({ outcome: 'applied', stats: { chunks: 0 } });
    expect(branchHead.inventory.refs.get('fork/a/b')?.generation).toBe(2);
    expect(db.root).toBe(root);
  });

  it('is refused when it is cut off anywhere', async () => {
    const sender = await storeOf([
      ['k1', { n: 1 }],
      ['k2', 'x'.repeat(20)],
    ]);
    const delta = await deltaOf(sender, NOTHING, sender.root);
    const db = await emptyStore();
    await forCuts(delta.deltaBytes, async (deltaBytes, offset) => {
      const refused = applied(db, [{ ...delta, deltaBytes }]);
      await expect(refused).rejects.toMatchObject({
        code: 'invalid-data',
        detail: 'delta',
        offset,
      });
    });
    expect(db.root).toBe(NOTHING);
    expect(await applied(db, [delta])).toMatchObject({ outcome: 'applied', root: sender.root });
  });

  it('is refused with the key of the row that a sum tree refuses', async () => {
    const sender = await storeOf([['k1', { n: -1 }]]);
    const delta = await deltaOf(sender, NOTHING, sender.root);
    const db = await receiver();
    await expect(applied(db, [delta])).rejects.toMatchObject({
      ...ofKind('invalid-argument/value'),
      key: 'k1',
    });
    expect(db.root).toBe(NOTHING);
  });

  it('is made and applied in slices if it has many rows, and a signal ends it', async () => {
    const rows = Array.from(
      { length: 60_000 },
      (_, at): Entry => [`k${at}`, { n: at, text: 'x'.repeat(60) }],
    );
    const sender = await storeOf(rows);
    const delta = await deltaOf(sender, NOTHING, sender.root);
    expect(delta.edits).toBe(rows.length);
    const change = { deltas: [delta.deltaBytes], after: delta.after, onto: unhex(NOTHING) };
    for (const turns of [0, 1, 3]) {
      const db = await emptyStore();
      const branchHead = headOf(db);
      const ended = new AbortController();
      const { signal } = ended;
      const { shared } = headOf(sender);
      const applying = applyDeltas(branchHead, { ...change, durability: 'relaxed', signal });
      const calls: Promise<unknown>[] = [
        applying,
        makeDelta(shared, unhex(NOTHING), unhex(sender.root), { signal }),
      ];
      // A short pause of the machine lets a call end within three turns.
      const underWay = new Set(calls);
      for (const call of calls) {
        const over = () => void underWay.delete(call);
        call.then(over, over);
      }
      for (let turn = 0; turn < turns; turn++) await new Promise((done) => setTimeout(done, 0));
      if (turns === 0) expect(underWay.size).toBe(2);
      const ending = [...underWay];
      ended.abort();
      for (const call of ending) await expect(call).rejects.toThrow(failure('aborted'));
      expect(db.root).toBe(ending.includes(applying) ? NOTHING : sender.root);
    }
    const branchHead = headOf(await emptyStore());
    const result = await applyDeltas(branchHead, { ...change, durability: 'relaxed' });
    expect(result).toMatchObject({ outcome: 'applied', root: sender.root, rows: rows.length });
    if (result.outcome === 'applied') expect(result.stats.slices).toBeGreaterThan(3);
  });
});

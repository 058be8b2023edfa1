/** Right after a large store opens, most of its tables have not entered, and every call is right all the same. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Host } from '../../src/core/operation-host.js';
import { open, type Store } from '../../src/index.js';
import type { SegmentStore, Storage } from '../../src/storage/segment-store.js';
import { openParts } from '../../src/store/open.js';
import { kindOf } from '../support/error-kind.js';
import { ALL, copied, fill, filled, keyOf, NAME, ROWS, SOME } from './shelf-store.js';

let storage: Storage;
/** The tables of segments that storage has lost. */
let lost: Set<number>;

/** Returns a storage without the tables of `lost`. */
function losing(inner: Storage): Storage {
  return {
    ...inner,
    open: async (name, options) => {
      const store = await inner.open(name, options);
      const whole = store.load.bind(store);
      const load: SegmentStore['load'] = async (known, since) => {
        const loaded = await whole(known, since);
        return { ...loaded, tables: loaded.tables.filter(({ id }) => !lost.has(id)) };
      };
      return Object.assign(store, { load });
    },
  };
}

beforeAll(fill);

beforeEach(async () => {
  lost = new Set();
  storage = losing(await copied());
});

/** Returns the host of a store, which the reader answers for, with most tables outside of it. */
async function early(): Promise<{
  host: Host;
  startCore(): Promise<Host>;
  close(): Promise<void>;
}> {
  const { host: core, branchHead } = await openParts(NAME, { storage });
  const host = branchHead.shared.opening;
  expect(host.pendingTables).toBeDefined();
  const close = async () => {
    await core.segments.close();
    for (const { engine } of [host, core]) engine.end(new Error('closed') as never);
  };
  return { host, startCore: () => branchHead.shared.ready().then(() => core), close };
}

describe('right after a large store has opened', () => {
  it('most tables enter the core in time, and the reader never', async () => {
    const { host, startCore, close } = await early();
    const before = host.pendingTables?.rest.length;
    const core = await startCore();
    await expect.poll(() => core.pendingTables, { timeout: 20_000 }).toBeUndefined();
    expect(host.pendingTables?.rest).toHaveLength(before as number);
    await close();
  });

  it('a call that needs all tables waits for them', async () => {
    const { host, close } = await early();
    await host.complete();
    expect(host.pendingTables).toBeUndefined();
    await host.complete();
    await close();
  });

  const reads: Record<string, (db: Store) => Promise<unknown>> = {
    'one by one': async (db) => {
      const found: unknown[] = [];
      for (const [key] of SOME) found.push([key, await db.get(key)]);
      return found;
    },
    'many at once': async (db) => {
      const found = await db.getMany(SOME.map(([key]) => key));
      return found.map((row, at) => [SOME[at]?.[0], row]);
    },
    'each by itself, all in one turn': (db) =>
      Promise.all(SOME.map(async ([key]) => [key, await db.get(key)])),
  };
  it.each(Object.keys(reads))('rows are read: %s', async (name) => {
    const db = await open(NAME, { storage });
    expect(await reads[name]?.(db)).toEqual(SOME);
    await db.close();
  });

  it('all rows are scanned', async () => {
    const db = await open(NAME, { storage });
    expect(await db.scan().toArray()).toEqual(ALL);
    await db.close();
  });

  const calls: Record<string, (db: Store) => Promise<unknown>> = {
    'the number of rows': (db) => db.count(),
    'a row by its number': (db) => db.at(ROWS / 3),
    'the number of a key': (db) => db.rank(keyOf(77)),
    'figures of the store': async (db) => {
      const { liveBytes, storedBytes, segments, chunks, levels } = await db.health.stats();
      return { liveBytes, storedBytes, segments, chunks, levels };
    },
    'a verification': async (db) => (await db.health.verify()).faults,
    'a collection': async (db) => {
      const { bytesBefore, bytesAfter, segmentsDeleted } = await db.health.compact();
      return [bytesBefore, bytesAfter, segmentsDeleted, db.root, await db.count()];
    },
    'an export': async (db) =>
      (await new Response((await db.backup.export()).stream()).blob()).size,
    'a put in a place not read yet': async (db) => {
      await db.put(keyOf(4000), { at: 0, text: '' });
      return db.root;
    },
    'a change of many rows': async (db) => {
      await db.putMany(SOME.map(([key]) => [key, { at: 1 }]));
      return [db.root, await db.count()];
    },
    'a deletion of many rows': async (db) => {
      await db.deleteMany(ALL.slice(10_000, 30_000).map(([key]) => key));
      return [db.root, await db.count()];
    },
    'a proof': async (db) => (await db.prove(keyOf(123))).length,
  };
  it.each(Object.keys(calls))('%s has the same result as later', async (name) => {
    const call = calls[name] as (db: Store) => Promise<unknown>;
    const late = await open(NAME, { storage: await copied() });
    // The call needs all tables.
    await late.health.stats();
    const expected = await call(late);
    await late.close();
    const early = await open(NAME, { storage: await copied() });
    expect(await call(early)).toEqual(expected);
    await early.close();
  });

  it('a row whose table is lost is missing, and other rows are read', async () => {
    const whole = await filled.open(NAME);
    const { tables } = await whole.load();
    await whole.close();
    for (const { id } of tables.slice(10, 20)) lost.add(id);
    const db = await open(NAME, { storage });
    const codes = new Set<unknown>();
    for (const [key, row] of SOME) {
      await db.get(key).then(
        (found) => expect(found).toEqual(row),
        (cause) => codes.add(kindOf(cause)),
      );
    }
    await db.close();
    expect([...codes]).toEqual(['missing-chunk']);
  });
});

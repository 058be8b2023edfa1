/** A large store right after it was opened: most of its tables have not entered the core, and every call is right all the same. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Host } from '../../src/core/engine-host.js';
import { open, type Store } from '../../src/index.js';
import type { SegmentStore, Storage } from '../../src/storage/segment-store.js';
import { openParts } from '../../src/store/open.js';
import { ALL, copied, fill, filled, keyOf, NAME, ROWS, SOME } from './shelf-store.js';

let storage: Storage;
/** The tables of segments that storage loses. */
let lost: Set<number>;

/** A storage without the tables of `lost`. */
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

/** The host of a store of which most tables have not entered the core. */
async function early(): Promise<{ host: Host; close(): Promise<void> }> {
  // On a busy machine they may all have, by the time that it is open.
  for (let tries = 0; tries < 100; tries++) {
    const { host } = await openParts(NAME, { storage });
    const close = async () => {
      await host.segments.close();
      host.engine.end(new Error('closed') as never);
    };
    if (host.pendingTables !== undefined) return { host, close };
    await close();
  }
  throw new Error('all tables have entered the core at once');
}

describe('right after a large store was opened', () => {
  it('most tables have not entered the core, until they are wanted or time has passed', async () => {
    const { host, close } = await early();
    await expect.poll(() => host.pendingTables, { timeout: 20_000 }).toBeUndefined();
    await close();
  });

  it('whoever counts on all of them waits for them', async () => {
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
      const { liveBytes, storedBytes, segments, chunks, levels } = await db.stats();
      return { liveBytes, storedBytes, segments, chunks, levels };
    },
    'a verification': async (db) => (await db.verify()).faults,
    'a collection': async (db) => {
      const { bytesBefore, bytesAfter, segmentsDeleted } = await db.compact();
      return [bytesBefore, bytesAfter, segmentsDeleted, db.root, await db.count()];
    },
    'an export': async (db) => (await new Response((await db.export()).stream()).blob()).size,
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
  it.each(Object.keys(calls))('%s is what it is later', async (name) => {
    const call = calls[name] as (db: Store) => Promise<unknown>;
    const late = await open(NAME, { storage: await copied() });
    // It counts on all tables.
    await late.stats();
    const expected = await call(late);
    await late.close();
    const early = await open(NAME, { storage: await copied() });
    expect(await call(early)).toEqual(expected);
    await early.close();
  });

  it('a row whose table is lost is missing, and others are read', async () => {
    const whole = await filled.open(NAME);
    const { tables } = await whole.load();
    await whole.close();
    for (const { id } of tables.slice(10, 20)) lost.add(id);
    const db = await open(NAME, { storage });
    const codes = new Set<unknown>();
    for (const [key, row] of SOME) {
      await db.get(key).then(
        (found) => expect(found).toEqual(row),
        ({ code }) => codes.add(code),
      );
    }
    await db.close();
    expect([...codes]).toEqual(['missing-chunk']);
  });
});

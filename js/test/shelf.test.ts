/** A large store right after it was opened: most of its tables have not entered the core, and every call is right all the same. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Host } from '../src/core/host.js';
import { memory, open, type Store } from '../src/index.js';
import type { SegmentStore, Storage } from '../src/storage/segment-store.js';
import { openParts } from '../src/store/open.js';
import { noise } from './noise.js';
import { isPending, trapIn } from './trapping.js';

/** They fill more segments than have their tables enter the core at once. */
const ROWS = 60_000;
const NAME = 'shelf';

type Row = { at: number; text: string };
const keyOf = (at: number) => `row/${String(at).padStart(6, '0')}`;
const ALL = Array.from({ length: ROWS }, (_, at): [string, Row] => [
  keyOf(at),
  { at, text: noise(at, 480) },
]);
/** In no order: each is in another leaf, and many are in segments of their own. */
const SOME = Array.from({ length: 300 }, (_, nth) => ALL[(nth * 7919) % ROWS] as [string, Row]);

const filled = memory();
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

beforeAll(async () => {
  const db = await open(NAME, { storage: filled });
  await db.putMany(ALL);
  await db.close();
});

beforeEach(async () => {
  lost = new Set();
  storage = losing(await copied());
});

/** The same store in memory of its own. */
async function copied(): Promise<Storage> {
  const copy = memory();
  const [from, to] = await Promise.all([filled.open(NAME), copy.open(NAME)]);
  const { tables, refs } = await from.load();
  const bytes = await from.read(tables.map(({ id }) => id));
  const segments = tables.map(({ id, tableBytes }, at) => ({
    id,
    tableBytes,
    segmentBytes: bytes[at] as Uint8Array,
  }));
  const also = refs.map((ref) => ({ ...ref, expected: 0 }));
  // Numbers of segments that are there are not given out again.
  for (let nth = 0; nth < 2; nth++) await to.reserve();
  await to.write({ segments, also, durability: 'relaxed' });
  await Promise.all([from.close(), to.close()]);
  return copy;
}

/** What of the parts of a store these tests look at. */
async function parts(): Promise<{ host: Host; close(): Promise<void> }> {
  const { host } = await openParts(NAME, { storage });
  const close = async () => {
    await host.segments.close();
    host.engine.end(new Error('closed') as never);
  };
  return { host, close };
}

afterEach(() => trapIn(Number.POSITIVE_INFINITY));

describe('right after a large store was opened', () => {
  it('most tables have not entered the core, until they are wanted or time has passed', async () => {
    const { host, close } = await parts();
    const { shelf } = host;
    expect(shelf).toBeDefined();
    await expect.poll(() => host.shelf, { timeout: 20_000 }).toBeUndefined();
    await close();
  });

  it('whoever counts on all of them waits for them', async () => {
    const { host, close } = await parts();
    const counted = () => host.engine.isReady && host.shelf === undefined;
    expect(counted()).toBe(false);
    await host.complete();
    expect(counted()).toBe(true);
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

  it.each(['add_table', 'await_tables', 'get', 'step'])(
    'a trap in %s loses nothing',
    async (name) => {
      const db = await open(NAME, { storage });
      trapIn(1, name);
      const codes: unknown[] = [];
      for (const [key, row] of SOME) {
        await db.get(key).then(
          (found) => expect(found).toEqual(row),
          ({ code }) => codes.push(code),
        );
      }
      // It may have been in the background.
      await expect.poll(isPending, { timeout: 20_000 }).toBe(false);
      expect(codes.every((code) => code === 'crashed') && codes.length <= 1).toBe(true);
      expect(await db.getMany(SOME.map(([key]) => key))).toEqual(SOME.map(([, row]) => row));
      expect(await db.count()).toBe(ROWS);
      await db.close();
    },
  );
});

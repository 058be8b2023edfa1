/**
 * Rows that several callers share are frozen in builds for development: a change by one caller would reach all of them.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { memory, open, rowType, type Store, table } from '../../src/index.js';
import { live, liveRow } from '../../src/live/index.js';

const opened: Store[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

interface Row {
  id: string;
  n: number;
  author: { names: string[] };
}
const row = (id: string, n: number): Row => ({ id, n, author: { names: ['ann'] } });
const DEFINITIONS = {
  'of plain JSON': table({ schema: rowType<Row>(), key: 'id', indexes: { byN: ['n'] } }),
  structured: table({
    schema: rowType<Row>(),
    key: 'id',
    values: 'structured',
    indexes: { byN: ['n'] },
  }),
  'with a version': table({
    schema: rowType<Row>(),
    key: 'id',
    indexes: { byN: ['n'] },
    version: 2,
    migrate: (old: Row) => old,
  }),
};

/** Each way to change a row throws, so that no other caller sees it. */
function cannotChange(given: Row): void {
  expect(given.author.names).toEqual(['ann']);
  const changes: (() => void)[] = [
    () => {
      given.n = 5;
    },
    () => {
      given.author.names = [];
    },
    () => given.author.names.push('bob'),
    () => Object.assign(given, { more: 1 }),
  ];
  for (const change of changes) expect(change).toThrow(TypeError);
}

describe.each(Object.entries(DEFINITIONS))('rows of a table %s', (name, definition) => {
  const store = async () => {
    const db = await open(`shared ${name}`, { storage: memory(), tables: { t: definition } });
    opened.push(db);
    await db.t.put(row('a', 1));
    return db;
  };

  it('are frozen in live queries: at the first read, and in changes', async () => {
    const db = await store();
    for (const query of [db.t.all(), db.t.orderBy('n')]) {
      const list = live(query);
      const stop = list.subscribe(() => {});
      await expect.poll(() => list.get().rows.length).toBe(1);
      for (const one of list.get().rows) cannotChange(one);
      await db.t.put(row('b', 2));
      await expect.poll(() => list.get().rows.length).toBe(2);
      for (const one of list.get().rows) cannotChange(one);
      await db.t.delete('b');
      await expect.poll(() => list.get().rows.length).toBe(1);
      stop();
    }
    const one = liveRow(db.t, 'a');
    one.subscribe(() => {});
    await expect.poll(() => one.get().status).toBe('ready');
    cannotChange(one.get().value as Row);
  });

  it('are separate for each watch, or frozen', async () => {
    const db = await store();
    const seen: string[] = [];
    const change = (rows: readonly (Row | undefined)[]) => {
      for (const given of rows) {
        if (given === undefined) continue;
        seen.push(given.author.names.join());
        try {
          given.author.names.push('bob');
        } catch {
          // It is frozen.
        }
      }
    };
    const rowsOf = (changes: readonly object[]) =>
      changes.flatMap((one) => [
        (one as { oldValue?: Row }).oldValue,
        (one as { newValue?: Row }).newValue,
      ]);
    for (let n = 0; n < 2; n++) {
      db.t.watch((changes) => change(rowsOf(changes)), { initial: true });
      db.watch({ prefix: 't/' }, (changes) => change(rowsOf(changes)), { initial: true });
    }
    await expect.poll(() => seen.length).toBe(4);
    await db.t.put(row('a', 2));
    await expect.poll(() => seen.length).toBe(12);
    await db.t.delete('a');
    await expect.poll(() => seen.length).toBe(16);
    expect(new Set(seen)).toEqual(new Set(['ann']));
  });

  it('are separate for all other readers', async () => {
    const db = await store();
    const [given] = await db.t.toArray();
    (given as Row).author.names.push('bob');
    expect(await db.t.get('a')).toEqual(row('a', 1));
  });
});

it('reach each callback as a list that other callbacks cannot sort or cut', async () => {
  const db = await open('shared list', { storage: memory() });
  opened.push(db);
  const told: unknown[] = [];
  const throws = (change: () => unknown) => {
    try {
      change();
      return false;
    } catch (cause) {
      return cause instanceof TypeError;
    }
  };
  for (const initial of [false, true]) {
    const callback = (changes: readonly object[]) => {
      const areKept = changes.map((one) => throws(() => Object.assign(one, { key: 'x' })));
      told.push([throws(() => (changes as object[]).push({})), ...areKept]);
    };
    db.watch({}, callback, { initial });
  }
  await expect.poll(() => told).toEqual([[true]]);
  await db.putMany([
    ['a', 1],
    ['b', new Uint8Array([1])],
  ]);
  const both = [true, true, true];
  await expect.poll(() => told).toEqual([[true], both, both]);
});

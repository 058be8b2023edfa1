/** A given condition counts: `undefined` or an empty text never means all rows. */
import { afterEach, describe, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import { live, liveCount } from '../../../src/live/index.js';
import { connect } from '../../../src/worker/index.js';
import { serve } from '../../../src/worker/serve.js';
import { closeAll, opened, wire } from '../../support/doubles/worker-wire.js';
import { ofKind } from '../../support/error-kind.js';
import { rowsIn } from '../../support/models/store-model.js';
import { refused } from './tables-refusing.js';

const items = table({
  schema: rowType<{ id: string; owner: string; title: string; n: number }>(),
  key: 'id',
  indexes: { byOwner: ['owner', 'n'], byN: ['n'], byTitle: ['title'], words: [{ words: 'title' }] },
});
const tables = { items };
const indexes = { byOwner: { prefix: 'plain/', path: ['/owner', '/n'] } };
const ROWS = ['a', 'b', 'c'].map((id, n) => ({
  id,
  owner: n < 2 ? 'ada' : 'bob',
  title: `Row ${id}`,
  n,
}));

// biome-ignore lint/suspicious/noExplicitAny: calls that TypeScript refuses
type Any = any;

afterEach(closeAll);

async function store(): Promise<Any> {
  const db = await open('conditions', { storage: memory(), tables, indexes });
  opened.push(() => db.close());
  await db.items.putMany(ROWS);
  await db.putMany(ROWS.map((row) => [`plain/${row.id}`, row] as const));
  return db;
}

/** The same calls on a store, in a page whose store is in a worker, and in a transaction. */
async function places(
  db: Any,
): Promise<[string, (call: (place: Any) => unknown) => Promise<unknown>][]> {
  const { page, host } = wire();
  const served = serve({ open: async () => db, port: host });
  opened.push(() => served.close());
  const remote: Any = await connect(page);
  opened.push(() => remote.close());
  return [
    ['a store', async (call) => call(db)],
    ['a snapshot', async (call) => call(db.snapshot())],
    ['a transaction', (call) => db.transaction(call)],
    ['a page', async (call) => call(remote)],
    ['a transaction of a page', (call) => remote.transaction(call)],
  ];
}

const UNDEFINED: Record<string, unknown>[] = [
  { owner: undefined },
  { owner: undefined, n: 1 },
  { n: { gte: undefined } },
  { n: { gte: undefined, lt: 2 } },
  { title: { words: undefined } },
  { title: { startsWith: undefined } },
];
const EMPTY = [
  ...['', ' ', '?', '!?-'].map((words) => ({ title: { words } })),
  { title: { startsWith: '' } },
];

/** Ways to read the rows of a query. */
const READS: Record<string, (query: Any) => unknown> = {
  toArray: (query) => query.toArray(),
  count: (query) => query.count(),
  first: (query) => query.first(),
  at: (query) => query.at(0),
  'for await': async (query) => {
    const rows = [];
    for await (const row of query) rows.push(row);
    return rows;
  },
};
const NONE: Record<string, unknown> = {
  toArray: [],
  count: 0,
  first: undefined,
  at: undefined,
  'for await': [],
};

describe('a condition', () => {
  it('that is undefined is refused, by reads and deletions', async () => {
    const db = await store();
    for (const [where, within] of await places(db)) {
      for (const conditions of UNDEFINED) {
        for (const [how, read] of Object.entries({
          ...READS,
          delete: (query: Any) => query.delete(),
        })) {
          const call = () => within((place) => read(place.items.where(conditions)));
          const error = await refused(call);
          expect(error, `${where}: ${how}`).toMatchObject({
            ...ofKind('invalid-argument'),
            table: 'items',
          });
          expect(`${error}`).toMatch(/where: .* is undefined: leave it out, or give a value/);
        }
        if (where === 'a snapshot') continue;
        const many = () => within((place) => place.items.deleteMany(conditions));
        expect(await refused(many), where).toMatchObject(ofKind('invalid-argument'));
      }
      for (const [column, from, to] of [
        ['n', undefined, 2],
        ['n', 1, undefined],
        [undefined, 1, 2],
      ]) {
        const between = () => within((place) => place.items.between(column, from, to).toArray());
        expect(await refused(between), where).toMatchObject(ofKind('invalid-argument'));
      }
    }
    expect(() => db.items.between(Symbol('n') as never, 1, 2)).toThrow(/name of a column/);
    expect(() => live(db.items.where({ owner: undefined }))).toThrow(/owner is undefined/);
    expect(() => db.items.where({ owner: undefined }).watch(() => {})).toThrow(
      /owner is undefined/,
    );
    expect(await db.items.count()).toBe(3);
  });

  it('of a text without letters has no rows, and is refused by deletions', async () => {
    const db = await store();
    for (const [where, within] of await places(db)) {
      for (const conditions of EMPTY) {
        for (const [how, read] of Object.entries(READS)) {
          const found = await within((place) => read(place.items.where(conditions)));
          expect(found, `${where}: ${how}`).toEqual(NONE[how]);
          const some = (place: Any) => place.items.where({ ...conditions, owner: 'ada' }).scan();
          expect(await within((place) => read(some(place))), where).toEqual(NONE[how]);
        }
        if (where === 'a snapshot') continue;
        for (const call of [
          (place: Any) => place.items.where(conditions).delete(),
          (place: Any) => place.items.all().where(conditions).delete(),
          (place: Any) => place.items.where(conditions).limit(1).delete(),
          (place: Any) => place.items.deleteMany(conditions),
        ]) {
          const error = await refused(() => within(call));
          expect(error, where).toMatchObject({ ...ofKind('invalid-argument'), table: 'items' });
          expect(`${error}`).toMatch(/no letters/);
        }
      }
    }
    const shown = live(db.items.where({ title: { startsWith: '' } }));
    const stop = shown.subscribe(() => {});
    await expect.poll(() => shown.get()).toMatchObject({ rows: [], status: 'ready' });
    stop();
    expect(await db.items.count()).toBe(3);
  });

  it('that is empty deletes no rows: only all() and clear() delete all', async () => {
    const db = await store();
    for (const [where, within] of await places(db)) {
      if (where === 'a snapshot') continue;
      for (const call of [
        (place: Any) => place.items.deleteMany({}),
        (place: Any) => place.items.where({}).delete(),
        (place: Any) => place.items.orderBy('n').delete(),
        (place: Any) => place.items.orderBy('n').reverse().using('byN').delete(),
      ]) {
        const error = await refused(() => within(call));
        expect(error, where).toMatchObject({ ...ofKind('invalid-argument'), table: 'items' });
      }
    }
    expect(await db.items.count()).toBe(3);
    for (const [where, within] of await places(db)) {
      if (where === 'a snapshot') continue;
      expect(rowsIn(await within((place) => place.items.all().delete())), where).toBe(3);
      await db.items.putMany(ROWS);
      const one = await within((place) => place.items.orderBy('n').limit(1).delete());
      expect(rowsIn(one), where).toBe(1);
      await db.items.putMany(ROWS);
    }
    expect((await db.items.clear()).rows).toBe(3);
    expect(await db.count()).toBe(3);
  });
});

describe('a range', () => {
  const RANGES: Record<string, unknown>[] = [
    { prefix: undefined },
    { prefix: '' },
    ...['gt', 'gte', 'lt', 'lte'].map((bound) => ({ [bound]: undefined })),
    { prefix: 'plain/', gte: undefined },
    { index: undefined },
    { index: 'byOwner', equals: undefined },
    { index: 'byOwner', gte: undefined },
    { index: 'byOwner', prefix: '' },
  ];

  it('with a bound that is undefined, or an empty prefix, is refused everywhere', async () => {
    const db = await store();
    for (const [where, within] of await places(db)) {
      for (const range of RANGES) {
        const calls: [string, (place: Any) => unknown][] = [
          ['scan', (place) => place.scan(range).toArray()],
          ['keys', (place) => place.scan(range).keys().first()],
          ['count', (place) => place.count(range)],
          ['at', (place) => place.at(0, range)],
          ['rank', (place) => place.rank('index' in range ? [['ada', 1], 'plain/a'] : 'a', range)],
        ];
        if (where !== 'a snapshot') calls.push(['deleteMany', (place) => place.deleteMany(range)]);
        for (const [how, call] of calls) {
          const error = await refused(() => within(call));
          expect(error, `${where}: ${how} ${JSON.stringify(range)}`).toMatchObject({
            ...ofKind('invalid-argument'),
          });
        }
      }
    }
    for (const range of RANGES) {
      expect(await refused(async () => db.watch(range, () => {}))).toMatchObject({
        ...ofKind('invalid-argument'),
      });
      expect(await refused(async () => live(db, range as never))).toMatchObject({
        ...ofKind('invalid-argument'),
      });
      expect(await refused(async () => liveCount(db, range as never))).toMatchObject({
        ...ofKind('invalid-argument'),
      });
      if ('index' in range) continue;
      expect(await refused(() => db.history.diff(db.root, db.root, range).toArray())).toMatchObject(
        {
          ...ofKind('invalid-argument'),
        },
      );
      expect(await refused(() => db.history.since(db.root, range).toArray())).toMatchObject({
        ...ofKind('invalid-argument'),
      });
    }
    expect(await db.count()).toBe(6);
  });

  it('that clear() does not know is refused', async () => {
    const db = await store();
    const aborted = AbortSignal.abort();
    for (const given of [{ prefix: 'plain/' }, { gte: 'a' }, 'plain/', null, [], { signal: 5 }]) {
      for (const [name, place] of [
        ['clear', db],
        ['items.clear', db.items],
      ] as const) {
        const error = await refused(() => place.clear(given));
        expect(error).toMatchObject(ofKind('invalid-argument'));
        expect(`${error}`).toContain(`${name}`);
      }
    }
    expect(await refused(() => db.clear({ signal: aborted }))).toMatchObject({ code: 'aborted' });
    expect(await db.count()).toBe(6);
    await db.clear({ durability: 'strict' });
    expect(await db.count()).toBe(0);
  });

  it('of a clear in a patch is refused', async () => {
    const db = await store();
    const open = { op: 'clear', lt: undefined } as never;
    expect(await refused(() => db.applyPatch([open]))).toMatchObject({
      code: 'invalid-data',
      detail: 'patch',
    });
    for (const clear of [{ prefix: 'plain/' }, { key: 'plain/a' }, { gte: 'plain/' }]) {
      const patch = [{ op: 'clear', ...clear }] as never;
      expect(await refused(() => db.applyPatch(patch))).toMatchObject({
        code: 'invalid-data',
        detail: 'patch',
      });
      const text = new TextEncoder().encode(JSON.stringify(patch));
      expect(await refused(() => db.applyPatch(text, { format: 'json' }))).toMatchObject({
        code: 'invalid-data',
        detail: 'patch',
      });
    }
    for (const key of [undefined, null, 5]) {
      const patch = [{ op: 'delete', key }] as never;
      expect(await refused(() => db.applyPatch(patch)), String(key)).toMatchObject({
        code: 'invalid-data',
        detail: 'patch',
      });
    }
    expect(await db.count()).toBe(6);
  });
});

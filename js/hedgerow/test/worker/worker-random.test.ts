/** Random calls give the same in a worker as in a page, and lead to the same root. */
import { afterEach, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../src/index.js';
import type { RemoteStore } from '../../src/worker/index.js';
import { closeAll, opened } from '../support/doubles/worker-wire.js';
import { kindOf } from '../support/error-kind.js';
import { type Entry, expectSame, rankIn, select, sorted } from '../support/models/store-model.js';
import { forSeeds } from '../support/property.js';
import type { Random } from '../support/random.js';
import { world } from '../support/worlds/worker-world.js';

afterEach(closeAll);

const rows = table({
  schema: rowType<{ id: string; n: number }>(),
  key: 'id',
  indexes: { byN: ['n'] },
});
const tables = { rows };

/** The type that both handles share. */
type Db = RemoteStore<typeof tables>;

const KEYS = [
  'a',
  'a/b',
  'b',
  'é',
  '\u{e000}',
  '～',
  '😀',
  'zz',
  ...Array.from({ length: 30 }, (_, n) => `k${n}`),
];

function optionsOf(from: Random): object {
  const keys = [from.pick(KEYS), from.pick(KEYS)].sort();
  const range = from.pick<object>([
    {},
    { prefix: 'k' },
    { gte: keys[0] },
    { gt: keys[0], lte: keys[1] },
  ]);
  return {
    ...range,
    ...(from.next() < 0.5 && { reverse: true }),
    ...(from.next() < 0.3 && { offset: from.below(4) }),
    ...(from.next() < 0.3 && { limit: from.below(9) }),
  };
}

/** A call, and the result of the model; `undefined` where the two handles are compared alone. */
interface Step {
  readonly what: string;
  run(db: Db): Promise<unknown>;
  readonly expected?: (model: Map<string, unknown>) => unknown;
  edit?(model: Map<string, unknown>): void;
}

const plain = (model: Map<string, unknown>): Entry[] =>
  sorted([...model].filter(([key]) => !key.startsWith('rows/')));

const STEPS: readonly ((from: Random) => Step)[] = [
  (from) => {
    const [key, value] = [from.pick(KEYS), from.value()];
    return { what: `put ${key}`, run: (db) => db.put(key, value), edit: (m) => m.set(key, value) };
  },
  (from) => {
    const key = from.pick(KEYS);
    return { what: `delete ${key}`, run: (db) => db.delete(key), edit: (m) => m.delete(key) };
  },
  (from) => {
    const key = from.pick(KEYS);
    return { what: `get ${key}`, run: (db) => db.get(key), expected: (m) => m.get(key) };
  },
  (from) => {
    const keys = from.shuffle(KEYS).slice(0, from.below(20));
    return {
      what: `getMany ${keys}`,
      run: (db) => db.getMany(new Set(keys)),
      expected: (m) => keys.map((key) => m.get(key)),
    };
  },
  (from) => {
    const options = optionsOf(from);
    const isEach = from.next() < 0.5;
    const run = async (db: Db) => {
      const found: Entry[] = [];
      if (!isEach) return db.scan(options).toArray();
      for await (const row of db.scan(options)) found.push(row);
      return found;
    };
    return { what: `scan ${JSON.stringify(options)}`, run };
  },
  (from) => {
    const key = from.pick(KEYS);
    return {
      what: `rank ${key}`,
      run: (db) => db.rank(key, { lt: 'rows/' }),
      expected: (m) => rankIn(select(plain(m), { lt: 'rows/' }), key),
    };
  },
  (from) => {
    const many = from.shuffle(KEYS).slice(0, from.below(20));
    const entries = many.map((key): Entry => [key, from.value()]);
    const source = from.pick([() => entries, () => entries.values(), () => new Map(entries)]);
    return {
      what: `putMany ${many}`,
      run: async (db) => (await db.putMany(source())).rows,
      expected: () => entries.length,
      edit: (m) => {
        for (const [key, value] of entries) m.set(key, value);
      },
    };
  },
  (from) => {
    const keys = [from.pick(KEYS), from.pick(KEYS)] as const;
    const value = from.value();
    const run = (db: Db) =>
      db.transaction(async (tx) => {
        const found = await tx.get(keys[0]);
        tx.put(keys[1], [found ?? null, value]);
        tx.delete(keys[0]);
        return tx.count();
      });
    const edit = (m: Map<string, unknown>) => {
      const found = m.get(keys[0]);
      m.set(keys[1], [found ?? null, value]);
      m.delete(keys[0]);
    };
    return { what: `transaction ${keys}`, run, edit };
  },
  (from) => {
    const key = from.pick(KEYS);
    const next = (old: unknown) => (old === undefined ? 1 : [old]);
    return {
      what: `update ${key}`,
      run: (db) => db.update(key, next),
      edit: (m) => m.set(key, next(m.get(key))),
    };
  },
  (from) => {
    const id = from.pick(KEYS);
    const n = from.below(20);
    return {
      what: `row ${id}`,
      run: (db) => db.rows.put({ id, n }),
      edit: (m) => m.set(`rows/${id}`, { id, n }),
    };
  },
  (from) => {
    const n = from.below(20);
    const run = async (db: Db) => {
      const query = db.rows.where({ n: { gte: n } }).orderBy('n', 'desc');
      return [await query.count(), await query.limit(5).toArray(), await query.first()];
    };
    return { what: `query ${n}`, run };
  },
  (from) => {
    const key = from.pick(KEYS);
    const run = async (db: Db) => {
      const snapshot = db.snapshot();
      await db.put(key, 'after');
      const found = await snapshot.scan({ prefix: key }).toArray();
      snapshot.close();
      return found;
    };
    return { what: `snapshot ${key}`, run, edit: (m) => m.set(key, 'after') };
  },
  (from) => {
    const key = from.pick(KEYS);
    // Refusals are the same, too.
    const run = (db: Db) => db.insert(key, 1).catch(kindOf);
    const edit = (m: Map<string, unknown>) => {
      if (!m.has(key)) m.set(key, 1);
    };
    return { what: `insert ${key}`, run, edit };
  },
];

it('random calls give the same results in a worker, in a page and in a map', async () => {
  await forSeeds(30, async (from, _seed, begin) => {
    const here = await open('here', { storage: memory(), tables });
    opened.push(() => here.close());
    const there = await world(tables).page();
    const model = new Map<string, unknown>();
    for (let at = 0; at < 60; at++) {
      const step = from.pick(STEPS)(from);
      begin(step.what);
      const before = step.expected?.(model);
      const [one, other] = [await step.run(here as unknown as Db), await step.run(there)];
      expectSame(other, one);
      if (step.expected !== undefined) expectSame(other, before);
      step.edit?.(model);
    }
    expect(await there.root).toBe(here.root);
    expectSame(await there.scan().toArray(), sorted(model));
    await closeAll();
  });
});

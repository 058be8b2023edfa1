import type { BenchCase, Contestant, Sample, Setting } from '../bench-case.js';
import { timed } from '../measure.js';
import { fillDexie, withDexie } from '../peers/dexie.js';
import { fillStore, withStore } from '../peers/hedgerow.js';
import { fillRaw, settled, storedRows, withRaw } from '../peers/raw.js';
import { randomIds } from '../rows.js';

type Get = (id: string) => PromiseLike<unknown>;

/** Random gets, each awaited, after as many that do not count. */
async function inSequence({ rows }: Setting, count: number, get: Get): Promise<Sample> {
  for (const id of randomIds(count, rows, 3)) await get(id);
  const ids = randomIds(count, rows, 4);
  const { ms, result } = await timed(async () => {
    let found = 0;
    for (const id of ids) if ((await get(id)) !== undefined) found += 1;
    return found;
  });
  if (result !== count) throw new Error(`found ${result} of ${count}`);
  return { value: (1000 * count) / ms };
}

const GETS: readonly Contestant[] = [
  {
    name: 'hedgerow',
    kind: 'ours',
    prepare: fillStore,
    sample: (setting) => withStore((db) => inSequence(setting, 10_000, (id) => db.get(id))),
  },
  {
    name: 'IndexedDB get',
    kind: 'peer',
    prepare: fillRaw,
    sample: (setting) =>
      withRaw((db) => inSequence(setting, 1000, (id) => settled(storedRows(db).get(id)))),
  },
  {
    name: 'Dexie get',
    kind: 'peer',
    prepare: fillDexie,
    sample: (setting) => withDexie((db) => inSequence(setting, 1000, (id) => db.rows.get(id))),
  },
];

export const GET: BenchCase = {
  name: 'get',
  title: 'random gets, each awaited before the next, rows in memory where there is a cache',
  unit: 'per second',
  stored: true,
  contestants: GETS,
};

const MANY = 1000;

type GetMany = (ids: string[]) => PromiseLike<unknown[]>;

/** Gets of a thousand random keys at once: the mean of ten, after five that do not count. */
async function atOnce({ rows }: Setting, getMany: GetMany): Promise<Sample> {
  for (let seed = 10; seed < 15; seed++) await getMany(randomIds(MANY, rows, seed));
  const batches = Array.from({ length: 10 }, (_, at) => randomIds(MANY, rows, 20 + at));
  const { ms, result } = await timed(async () => {
    let found = 0;
    for (const ids of batches) {
      for (const row of await getMany(ids)) if (row !== undefined) found += 1;
    }
    return found;
  });
  if (result !== MANY * batches.length) throw new Error(`found ${result}`);
  return { value: ms / batches.length };
}

export const GET_MANY: BenchCase = {
  name: 'get-many',
  title: 'getMany of 1,000 random keys',
  unit: 'ms',
  stored: true,
  contestants: [
    {
      name: 'hedgerow',
      kind: 'ours',
      prepare: fillStore,
      sample: (setting) => withStore((db) => atOnce(setting, (ids) => db.getMany(ids))),
    },
    {
      name: 'Dexie bulkGet',
      kind: 'peer',
      prepare: fillDexie,
      sample: (setting) => withDexie((db) => atOnce(setting, (ids) => db.rows.bulkGet(ids))),
    },
  ],
};

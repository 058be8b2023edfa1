/** The workloads of the sweeps of faults: each is a list of changes. */
import { HedgerowError, open, type Store } from '../../src/index.js';
import type { Storage } from '../../src/storage/segment-store.js';
import { type Entry, select, sorted } from './models/store-model.js';
import { random } from './random.js';

type Rows = Map<string, unknown>;

/** The parameters of a change. */
export interface Scene {
  readonly db: Store;
  /** A second handle, without faults. */
  readonly other: Store;
  /** The storage that has the faults. */
  readonly storage: Storage;
}

/** A change of the store, and its effect on the rows. */
export interface Operation {
  readonly title: string;
  run(scene: Scene): Promise<unknown>;
  model(rows: Rows): void;
  /** Intermediate states that a failed change may leave, each made from the one before. */
  readonly between?: readonly ((rows: Rows) => void)[];
}

const putAll = (entries: readonly Entry[]) => (rows: Rows) => {
  for (const [key, value] of entries) rows.set(key, value);
};

const dropAll = (keys: Iterable<string>) => (rows: Rows) => {
  for (const key of keys) rows.delete(key);
};

export function rows(name: string, count: number, bytes: number): Entry[] {
  const from = random(count);
  return Array.from(
    { length: count },
    (_, at): Entry => [
      `${name}${String(at).padStart(5, '0')}`,
      bytes === 0 ? { at, name } : from.bytes(bytes),
    ],
  );
}

function load(title: string, entries: readonly Entry[]): Operation {
  return { title, run: ({ db }) => db.putMany(entries), model: putAll(entries) };
}

function edits(title: string, puts: readonly Entry[], deletes: readonly string[]): Operation {
  return {
    title,
    run: ({ db }) =>
      Promise.all([
        ...puts.map(([key, value]) => db.put(key, value)),
        ...deletes.map((key) => db.delete(key)),
      ]),
    model: (model) => {
      putAll(puts)(model);
      dropAll(deletes)(model);
    },
  };
}

/** Edits that wait for each other: any of them may be the last to succeed. */
function inTurn(title: string, puts: readonly Entry[]): Operation {
  return {
    title,
    async run({ db }) {
      for (const [key, value] of puts) await db.put(key, value);
    },
    model: putAll(puts),
    between: puts.map((entry) => putAll([entry])),
  };
}

function writer(title: string, puts: readonly Entry[], commitEvery?: number): Operation {
  const size = commitEvery ?? puts.length;
  const parts = Array.from({ length: Math.ceil(puts.length / size) }, (_, at) =>
    puts.slice(at * size, (at + 1) * size),
  );
  return {
    title,
    async run({ db }) {
      const own = db.writer({ commitEvery });
      try {
        for (const [key, value] of puts) await own.put(key, value);
        await own.close();
      } finally {
        await own.abort();
      }
    },
    model: putAll(puts),
    between: commitEvery === undefined ? [] : parts.map(putAll),
  };
}

export async function* slowly<T = Entry>(
  entries: readonly T[],
  at = -1,
  then: () => unknown = () => {},
): AsyncGenerator<T> {
  for (const [index, entry] of entries.entries()) {
    if (index === at) await then();
    yield entry;
  }
}

const text = (entries: readonly Entry[]) => entries.map((entry) => JSON.stringify(entry));

/** Values that do not fit in a node. */
const FAR = rows('far', 4, 20_000);
const SOME = rows('a', 60, 0);
const MORE = rows('m', 40, 0);

export const WORKLOADS: Record<string, readonly Operation[]> = {
  'small changes': [
    load('load', rows('a', 200, 0)),
    edits('put', [['b', 1]], []),
    edits(
      'edits',
      [
        ['c', Uint8Array.of(1)],
        ['a00001', 'new'],
      ],
      ['a00002', 'b'],
    ),
    load('load again', rows('a', 100, 3)),
  ],
  // Its size makes it write segments before the last transaction.
  'a large load': [load('load', rows('a', 45, 40_000)), edits('put', [['a00005', 1]], ['a00006'])],
  'a large load among others': [
    load('load', rows('a', 30, 0)),
    load('load among them', [...rows('a', 10, 7), ...rows('b', 115, 40_000)]),
  ],
  'objects with a key inside': [
    {
      title: 'putMany by pointer',
      run: ({ db }) =>
        db.putMany(
          MORE.map(([id]) => ({ id })),
          { key: '/id', prefix: 'p/' },
        ),
      model: putAll(MORE.map(([id]): Entry => [`p/${id}`, { id }])),
    },
    edits('edit', [['p/m00003', 1]], ['p/m00004']),
  ],
  'rows as NDJSON': [
    load('load', SOME),
    {
      title: 'bytes',
      run: ({ db }) => db.putMany(new TextEncoder().encode(text(MORE).join('\n'))),
      model: putAll(MORE),
    },
  ],
  'rows as a JSON array': [
    {
      title: 'blob',
      run: ({ db }) => db.putMany(new Blob([`[${text(SOME).join(', ')}]`])),
      model: putAll(SOME),
    },
    edits('edit', [['a00001', 'one']], []),
  ],
  'rows that come one by one': [
    { title: 'load', run: ({ db }) => db.putMany(slowly(SOME)), model: putAll(SOME) },
    { title: 'again', run: ({ db }) => db.putMany(slowly(MORE)), model: putAll(MORE) },
  ],
  'a writer': [writer('all at once', SOME), writer('again', rows('a', 70, 5))],
  'a writer that commits now and then': [
    writer('every 20', SOME, 20),
    writer('every 13', rows('a', 40, 9), 13),
  ],
  'a writer that deletes': [
    load('load', SOME),
    {
      title: 'puts and deletes',
      async run({ db }) {
        const own = db.writer();
        for (const [key] of SOME.slice(0, 20)) await own.delete(key);
        for (const [key, value] of MORE) await own.put(key, value);
        await own.close();
      },
      model(model) {
        dropAll(SOME.slice(0, 20).map(([key]) => key))(model);
        putAll(MORE)(model);
      },
    },
  ],
  'keys deleted': [
    load('load', SOME),
    {
      title: 'deleteMany',
      run: ({ db }) => db.deleteMany(SOME.slice(10, 50).map(([key]) => key)),
      model: dropAll(SOME.slice(10, 50).map(([key]) => key)),
    },
    edits('put', [['a00020', 'back']], []),
  ],
  'a range deleted': [
    load('load', [...SOME, ...MORE]),
    {
      title: 'deleteMany',
      run: ({ db }) => db.deleteMany({ gte: 'a00030', lt: 'm00010' }),
      model: (model) =>
        dropAll(select(sorted(model), { gte: 'a00030', lt: 'm00010' }).map(([key]) => key))(model),
    },
  ],
  'a store cleared': [
    load('load', SOME),
    { title: 'clear', run: ({ db }) => db.clear(), model: (model) => model.clear() },
    load('load anew', MORE),
  ],
  'edits in turn': [inTurn('puts', rows('e', 5, 0)), inTurn('the same', rows('e', 5, 6))],
  'values out of line': [
    edits('put', FAR, []),
    edits('replace', [['far00001', 'short']], ['far00002']),
    load('load', rows('far', 6, 9000)),
  ],
  'a value larger than a segment': [
    edits('put', [['big', random(5).bytes(1_300_000)]], []),
    edits('replace', [['big', 1]], []),
  ],
  'a load given up': [
    load('load', SOME),
    {
      title: 'aborted',
      async run({ db }) {
        const controller = new AbortController();
        const source = slowly(rows('b', 60, 40_000), 55, () => controller.abort());
        await db.putMany(source, { signal: controller.signal }).catch((cause: unknown) => {
          if (!(cause instanceof HedgerowError && cause.code === 'aborted')) throw cause;
        });
      },
      model() {},
    },
    load('load after it', MORE),
  ],
  "others' commits in between": [
    load('load', SOME),
    {
      title: 'behind another',
      async run({ db, other }) {
        await other.put('other', 1);
        await db.put('own', 1);
      },
      model: putAll([
        ['other', 1],
        ['own', 1],
      ]),
      between: [putAll([['other', 1]])],
    },
    {
      title: 'far behind another',
      async run({ db, other }) {
        await other.putMany(rows('o', 30, 0));
        await other.delete('a00001');
        await db.putMany(MORE);
      },
      model(model) {
        putAll(rows('o', 30, 0))(model);
        dropAll(['a00001'])(model);
        putAll(MORE)(model);
      },
      between: [putAll(rows('o', 30, 0)), dropAll(['a00001'])],
    },
  ],
  "others' commits in mid-load": [
    load('load', SOME),
    {
      title: 'load',
      run: ({ db, other }) =>
        db.putMany(slowly([...SOME.slice(0, 5), ...MORE], 20, () => other.put('a00003', 'mid'))),
      // The load is the last to commit.
      model: putAll([...SOME.slice(0, 5), ...MORE]),
      between: [putAll([['a00003', 'mid']])],
    },
  ],
  'two handles in turn': [
    load('load', SOME),
    {
      title: 'both',
      async run({ db, storage }) {
        const second = await open('test', { storage, advanced: { cacheBytes: 0 } });
        try {
          await second.put('second', 1);
          await db.put('first', 1);
          await second.deleteMany({ prefix: 'a' });
        } finally {
          await second.close();
        }
      },
      model(model) {
        putAll([
          ['second', 1],
          ['first', 1],
        ])(model);
        dropAll(SOME.map(([key]) => key))(model);
      },
      between: [putAll([['second', 1]]), putAll([['first', 1]]), dropAll(SOME.map(([key]) => key))],
    },
  ],
  'calls that change nothing': [
    load('load', SOME),
    load('the same', SOME),
    {
      title: 'the same, strict',
      run: ({ db }) => db.putMany(SOME, { durability: 'strict' }),
      model() {},
    },
    edits('nothing', [['a00001', { at: 1, name: 'a' }]], ['none']),
  ],
  'reads of a cold store': [
    load('load', [...SOME, ...rows('big', 3, 60_000)]),
    {
      title: 'reads and a put',
      async run({ storage }) {
        const cold = await open('test', { storage, advanced: { cacheBytes: 0 } });
        try {
          await Promise.all([cold.get('a00001'), cold.getMany(['a00002', 'big00001'])]);
          await cold.count({ gte: 'a00010' });
          await cold.scan({ reverse: true }).toArray();
          await cold.put('cold', 1);
        } finally {
          await cold.close();
        }
      },
      model: putAll([['cold', 1]]),
      between: [putAll([['cold', 1]])],
    },
  ],
  'rows collected': [
    load('load', rows('a', 400, 300)),
    load('all of it again', rows('a', 400, 301)),
    { title: 'collect', run: ({ db }) => db.health.compact(), model() {} },
    edits('put', [['a00007', 1]], ['a00008']),
    { title: 'collect again', run: ({ db }) => db.health.compact(), model() {} },
  ],
  transactions: [
    load('load', SOME),
    {
      title: 'a transaction',
      run: ({ db }) =>
        db.transaction(async (tx) => {
          const value = await tx.get('a00003');
          if (value !== undefined) tx.put('moved', value);
          tx.delete('a00003');
          tx.put('sum', await tx.count({ prefix: 'a' }));
        }),
      model(model) {
        if (model.has('a00003')) model.set('moved', model.get('a00003'));
        model.delete('a00003');
        model.set('sum', [...model.keys()].filter((key) => key.startsWith('a')).length);
      },
    },
  ],
  'a verification': [
    load('load', [...SOME, ...rows('big', 3, 60_000)]),
    {
      title: 'verify',
      async run({ db }) {
        const { ok, faults } = await db.health.verify();
        if (!ok) throw new Error(`a sound store has ${faults.length} faults`);
        await db.health.repair();
      },
      model() {},
    },
  ],
};

/** Random calls of every kind, any of which may fail, and the content of a store after them. */
import type { Store } from '../../../src/index.js';
import type { Random } from '../random.js';
import { compareKeys, type Entry, expectSame, select, sorted } from './store-model.js';

const KEYS = Array.from({ length: 400 }, (_, at) => `k${String(at).padStart(3, '0')}`);

type Rows = Map<string, unknown>;

/** A call, its effect, and the states that the store may have after it, also after a failure. */
export interface Call {
  readonly title: string;
  /** For a read, compares the result with `before`. */
  run(db: Store, before: readonly Entry[]): Promise<unknown>;
  /** Its changes to the rows, step by step: any of them may be the last to succeed. */
  changes(rows: Rows): Iterable<Rows>;
}

function read(title: string, run: Call['run']): Call {
  return { title, run, *changes() {} };
}

function change(title: string, run: (db: Store) => Promise<unknown>, apply: (rows: Rows) => void) {
  return {
    title,
    run,
    *changes(rows: Rows) {
      apply(rows);
      yield rows;
    },
  };
}

function valueFrom(from: Random): unknown {
  const kind = from.below(20);
  if (kind === 0) return from.bytes(20_000);
  return kind < 4 ? from.bytes(from.below(300)) : { n: from.below(1000), text: from.text(60) };
}

function entries(from: Random, count: number): Entry[] {
  return Array.from({ length: count }, (): Entry => [from.pick(KEYS), valueFrom(from)]);
}

function rangeFrom(from: Random) {
  const [gte = '', lt = ''] = [from.pick(KEYS), from.pick(KEYS)].sort(compareKeys);
  return { gte, lt };
}

const put = (puts: readonly Entry[]) => (rows: Rows) => {
  for (const [key, value] of puts) rows.set(key, value);
};

const drop = (keys: Iterable<string>) => (rows: Rows) => {
  for (const key of keys) rows.delete(key);
};

const MAKERS: ((from: Random) => Call)[] = [
  (from) => {
    const key = from.pick(KEYS);
    return read('get', async (db, before) =>
      expectSame(await db.get(key), new Map(before).get(key), key),
    );
  },
  (from) => {
    const keys = from.shuffle(KEYS).slice(0, 50);
    return read('getMany', async (db, before) => {
      const rows = new Map(before);
      expectSame(
        await db.getMany(keys),
        keys.map((key) => rows.get(key)),
      );
    });
  },
  (from) => {
    // In several parts.
    const keys = Array.from({ length: 1500 }, () => from.pick(KEYS));
    return read('getMany of many keys', async (db, before) => {
      const rows = new Map(before);
      expectSame(
        await db.getMany(keys),
        keys.map((key) => rows.get(key)),
      );
    });
  },
  (from) => {
    const range = rangeFrom(from);
    const options = { ...range, reverse: from.below(2) === 0 };
    return read('scan', async (db, before) =>
      expectSame(await db.scan(options).toArray(), select(before, options)),
    );
  },
  (from) => {
    const range = rangeFrom(from);
    return read('count', async (db, before) =>
      expectSame(await db.count(range), select(before, range).length),
    );
  },
  () =>
    read('stats', async (db, before) => expectSame((await db.health.stats()).rows, before.length)),
  () =>
    read('diff', async (db) => {
      expectSame(await db.history.diff(db.root, db.root).toArray(), []);
    }),
  (from) => {
    const puts = entries(from, 1);
    const [[key, value]] = puts as [Entry];
    return change('put', (db) => db.put(key, value), put(puts));
  },
  (from) => {
    const key = from.pick(KEYS);
    return change('delete', (db) => db.delete(key), drop([key]));
  },
  (from) => {
    const puts = entries(from, 8);
    const together = (db: Store) => Promise.all(puts.map(([key, value]) => db.put(key, value)));
    return change('puts of one turn', together, put(puts));
  },
  (from) => {
    const puts = entries(from, from.below(100));
    return change('putMany', (db) => db.putMany(puts), put(puts));
  },
  (from) => {
    const puts = entries(from, from.below(100)).filter(([, value]) => !ArrayBuffer.isView(value));
    const text = puts.map((entry) => JSON.stringify(entry)).join('\n');
    return change('putMany of bytes', (db) => db.putMany(new Blob([text])), put(puts));
  },
  (from) => {
    const puts = entries(from, 40);
    const source = async function* () {
      for (const [at, entry] of puts.entries()) {
        if (at % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
        yield entry;
      }
    };
    return change('putMany of rows that come', (db) => db.putMany(source()), put(puts));
  },
  (from) => {
    const keys = from.shuffle(KEYS).slice(0, from.below(40));
    return change('deleteMany', (db) => db.deleteMany(keys), drop(keys));
  },
  (from) => {
    const range = rangeFrom(from);
    const apply = (rows: Rows) => drop(select(sorted(rows), range).map(([key]) => key))(rows);
    return change('deleteMany of a range', (db) => db.deleteMany(range), apply);
  },
  (from) => {
    const puts = entries(from, 30);
    const commitEvery = 10;
    return {
      title: 'writer',
      async run(db) {
        const writer = db.writer({ commitEvery });
        try {
          for (const [key, value] of puts) await writer.put(key, value);
          await writer.close();
        } finally {
          await writer.abort();
        }
      },
      *changes(rows) {
        for (let at = 0; at < puts.length; at += commitEvery) {
          put(puts.slice(at, at + commitEvery))(rows);
          yield rows;
        }
      },
    };
  },
];

/** Returns a random call. */
export function callFrom(from: Random): Call {
  return from.pick(MAKERS)(from);
}

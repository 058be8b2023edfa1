/** What one transaction does, and when its function is run again. */
import { describe, expect, it } from 'vitest';
import { memory, open, type Storage, type Store, type Transaction } from '../src/index.js';
import { faulty } from '../src/storage/faulty.js';
import { all, type Entry, expectSame, failure, sorted, storeOf, within } from './model.js';
import { random } from './random.js';
import { watched } from './watched-storage.js';

async function twoHandles(rows: readonly Entry[] = [], storage: Storage = memory()) {
  const one = await open('test', { storage });
  await one.putMany(rows);
  return [one, await open('test', { storage })] as const;
}

const ABC: Entry[] = [
  ['a', 1],
  ['b', 2],
  ['c', 3],
];

/** How often the function is run when `other` is done once, after it has read by `read`. */
async function runsOf(
  rows: readonly Entry[],
  read: (tx: Transaction) => unknown,
  other: (db: Store) => Promise<unknown>,
): Promise<number> {
  const [one, two] = await twoHandles(rows);
  let runs = 0;
  await one.transaction(async (tx) => {
    runs += 1;
    await read(tx);
    if (runs === 1) await other(two);
    tx.put('written', runs);
  });
  expect(await one.get('written')).toBe(runs);
  expect(await all(one)).toEqual(await all(await sameAs(two)));
  return runs;
}

async function sameAs(db: Store): Promise<Store> {
  await db.put('seen', 1);
  await db.delete('seen');
  return db;
}

describe('a transaction', () => {
  it('gives what its function returns, and commits once', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const before = storage.written.length;
    const sum = await db.transaction(async (tx) => {
      const [a = 0, b = 0] = await tx.getMany<number>(['a', 'b']);
      tx.put('sum', a + b);
      tx.delete('c');
      return a + b;
    });
    expect(sum).toBe(3);
    expect(storage.written.length).toBe(before + 1);
    expect(await all(db)).toEqual([
      ['a', 1],
      ['b', 2],
      ['sum', 3],
    ]);
  });

  it('reads its own edits among the stored rows', async () => {
    const db = await storeOf([...ABC, ['z', 26]]);
    await db.transaction(async (tx) => {
      tx.put('～', 'new');
      tx.put('😀', 'after it');
      tx.put('b', { changed: true });
      tx.delete('z');
      tx.delete('none');
      const rows = sorted([...ABC, ['b', { changed: true }], ['～', 'new'], ['😀', 'after it']]);
      expect(await tx.scan().toArray()).toEqual(rows);
      expect(await tx.scan({ reverse: true }).toArray()).toEqual([...rows].reverse());
      expect(await tx.scan({ limit: 2, gt: 'a' }).values().toArray()).toEqual([
        { changed: true },
        3,
      ]);
      expect(await tx.scan({ gt: 'b' }).keys().toArray()).toEqual(['c', '～', '😀']);
      expect(await tx.count()).toBe(5);
      expect(await tx.count({ gte: 'b', lte: 'z' })).toBe(2);
      expect([await tx.has('z'), await tx.has('～'), await tx.has('a')]).toEqual([
        false,
        true,
        true,
      ]);
      expect(await tx.get('b')).not.toBe(await tx.get('b'));
    });
  });

  it('takes values as they are at the call', async () => {
    const db = await storeOf();
    await db.transaction(async (tx) => {
      const [object, bytes] = [{ at: 1 }, Uint8Array.of(1)];
      tx.put('object', object);
      tx.put('bytes', bytes);
      object.at = 2;
      bytes[0] = 2;
      const read = await tx.get<Uint8Array>('bytes');
      read?.fill(9);
    });
    expect(await all(db)).toEqual([
      ['bytes', Uint8Array.of(1)],
      ['object', { at: 1 }],
    ]);
  });

  it('writes nothing when its function throws', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const before = storage.written.length;
    const mine = new Error('mine');
    for (const body of [
      (tx: Transaction) => {
        tx.put('a', 0);
        throw mine;
      },
      async (tx: Transaction) => {
        tx.put('a', 0);
        await tx.get('b');
        throw mine;
      },
    ]) {
      expect(await db.transaction(body).catch((error: unknown) => error)).toBe(mine);
    }
    expect(storage.written.length).toBe(before);
    expect(await all(db)).toEqual(ABC);
  });

  it('without edits commits nothing, and reads one commit', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const seen = await db.transaction(async (tx) => {
      const a = await tx.get('a');
      await db.put('a', 10);
      await db.put('b', 20);
      return [a, await tx.get('b'), await tx.scan().values().toArray()];
    });
    expect(seen).toEqual([1, 2, [1, 2, 3]]);
    expect(await db.get('b')).toBe(20);
  });

  it('refuses keys and values at the call, and goes on', async () => {
    const db = await storeOf();
    await db.transaction((tx) => {
      expect(() => tx.put('\ud800', 1)).toThrow(failure('invalid-key'));
      expect(() => tx.put('a'.repeat(1025), 1)).toThrow(failure('invalid-key'));
      expect(() => tx.delete(1 as never)).toThrow(failure('invalid-key'));
      expect(() => tx.put('a', undefined)).toThrow(failure('invalid-value'));
      expect(() => tx.put('a', Number.NaN)).toThrow(failure('invalid-value'));
      expect(() => tx.put('a', new Map())).toThrow(failure('invalid-value'));
      expect(() => tx.put('a', 'x'.repeat((64 << 20) - 1))).toThrow(failure('invalid-value'));
      tx.put('kept', 1);
    });
    expect(await all(db)).toEqual([['kept', 1]]);
    await expect(db.transaction(1 as never)).rejects.toEqual(failure('invalid-argument'));
  });

  it('refuses calls when it has ended', async () => {
    const db = await storeOf(ABC);
    let kept: Transaction | undefined;
    let rows: AsyncIterator<Entry> | undefined;
    await db.transaction(async (tx) => {
      kept = tx;
      rows = tx.scan()[Symbol.asyncIterator]();
    });
    const tx = kept!;
    const closed = failure('closed');
    for (const call of [
      () => tx.get('a'),
      () => tx.getMany([]),
      () => tx.has('a'),
      () => tx.count(),
      () => tx.scan(),
      () => tx.put('a', 2),
      () => tx.delete('a'),
      () => rows!.next(),
    ]) {
      await expect((async () => call())()).rejects.toEqual(closed);
    }
    expect(await all(db)).toEqual(ABC);
  });

  it('of many rows is one commit', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const before = storage.written.length;
    const from = random(1);
    const rows = Array.from({ length: 20_000 }, (_, at): Entry => [`k${at}`, from.text(30)]);
    await db.transaction((tx) => {
      for (const [key, value] of rows) tx.put(key, value);
      for (let at = 0; at < 20_000; at += 2) tx.delete(`k${at}`);
      tx.put('bytes', from.bytes(300_000));
    });
    const moves = storage.written.slice(before).filter(({ move }) => move !== undefined);
    expect(moves).toHaveLength(1);
    expect(await db.count({ prefix: 'k' })).toBe(10_000);
    expectSame(await db.get('k13'), rows[13]![1]);
  });

  it('ends with its signal, whatever its function waits for', async () => {
    const db = await storeOf(ABC);
    const aborted = failure('aborted');
    const signal = AbortSignal.abort();
    await expect(db.transaction(() => {}, { signal })).rejects.toEqual(aborted);
    const waiting = new AbortController();
    const done = db.transaction(
      async (tx) => {
        tx.put('a', 0);
        waiting.abort();
        await new Promise(() => {});
      },
      { signal: waiting.signal },
    );
    await expect(within(1000, done)).rejects.toEqual(aborted);
    const last = new AbortController();
    const put = db.transaction(
      (tx) => {
        tx.put('a', 0);
        last.abort();
      },
      { signal: last.signal },
    );
    await expect(put).rejects.toEqual(aborted);
    expect(await all(db)).toEqual(ABC);
    await db.transaction((tx) => tx.put('a', 5), { signal: new AbortController().signal });
    expect(await db.get('a')).toBe(5);
  });

  it('is waited for by close, and then there are no more', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    const done = db.transaction(async (tx) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      tx.put('a', (await tx.get('a')) ?? 'last');
    });
    await db.close();
    await done;
    await expect(db.transaction(() => {})).rejects.toEqual(failure('closed'));
    expect(await (await open('test', { storage })).get('a')).toBe('last');
  });

  it('has the last word on its rows over a load that is under way', async () => {
    const db = await storeOf(ABC);
    let proceed = () => {};
    const edited = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const loading = db.putMany(
      (async function* (): AsyncGenerator<Entry> {
        for (const key of ['a', 'b', 'c', 'd']) yield [key, 'loaded'];
        await edited;
      })(),
    );
    await db.transaction((tx) => {
      tx.put('a', 'mine');
      tx.delete('b');
    });
    proceed();
    await loading;
    expect(await all(db)).toEqual([
      ['a', 'mine'],
      ['c', 'loaded'],
      ['d', 'loaded'],
    ]);
  });
});

describe('the function is run again', () => {
  const MANY = Array.from({ length: 500 }, (_, at): Entry => [`m${at + 1000}`, at]);
  const first = async (tx: Transaction, count: number, reverse = false) => {
    let left = count;
    for await (const _ of tx.scan({ prefix: 'm', reverse })) if (--left === 0) break;
  };
  const cases: Record<string, [(tx: Transaction) => unknown, (db: Store) => Promise<unknown>]> = {
    'when a value that it read was changed': [(tx) => tx.get('a'), (db) => db.put('a', 9)],
    'when a row that it read is gone': [(tx) => tx.getMany(['x', 'a']), (db) => db.delete('a')],
    'when a row that it missed has come': [(tx) => tx.get('x'), (db) => db.put('x', 9)],
    'when a row that it missed has come, of many': [
      (tx) => tx.getMany(Array.from({ length: 100 }, (_, at) => `x${at}`)),
      (db) => db.put('x50', 9),
    ],
    'when a row that it asked for has come': [(tx) => tx.has('x'), (db) => db.put('x', 9)],
    'when there are more rows than it counted': [
      (tx) => tx.count({ prefix: 'm' }),
      (db) => db.put('m', 9),
    ],
    'when a row came into what it scanned': [
      (tx) => tx.scan({ prefix: 'm' }).toArray(),
      (db) => db.put('mmm', 9),
    ],
    'when a key came into what it scanned': [
      (tx) => tx.scan({ prefix: 'm' }).keys().toArray(),
      (db) => db.delete('m1499'),
    ],
    'when the last row that it took was changed': [
      (tx) => first(tx, 3),
      (db) => db.put('m1002', 9),
    ],
    'when a row came before those that it took backwards': [
      (tx) => first(tx, 3, true),
      (db) => db.put('m1499x', 9),
    ],
  };
  for (const [title, [read, other]] of Object.entries(cases)) {
    it(title, async () => expect(await runsOf([...ABC, ...MANY], read, other)).toBe(2));
  }
  const others: typeof cases = {
    'nothing that it read was changed': [(tx) => tx.get('a'), (db) => db.put('b', 9)],
    'a value that it read was changed, and back': [
      (tx) => tx.get('a'),
      async (db) => {
        await db.put('a', 9);
        await db.put('a', 1);
        await db.put('b', 9);
      },
    ],
    'it read many others': [
      (tx) => tx.getMany(Array.from({ length: 100 }, (_, at) => `x${at}`)),
      (db) => db.put('x5x', 9),
    ],
    'the row that it asked for was changed': [(tx) => tx.has('a'), (db) => db.put('a', 9)],
    'a row that it counted was changed': [
      (tx) => tx.count({ prefix: 'm' }),
      (db) => db.put('m1000', 9),
    ],
    'a value changed of which it read the key': [
      (tx) => tx.scan({ prefix: 'm' }).keys().toArray(),
      (db) => db.put('m1000', 9),
    ],
    'a row was changed that it did not come to': [(tx) => first(tx, 3), (db) => db.put('m1003', 9)],
    'a row was changed beyond its limit': [
      (tx) => tx.scan({ prefix: 'm', limit: 3 }).toArray(),
      (db) => db.put('m1003', 9),
    ],
    'it did not come to a row backwards': [(tx) => first(tx, 3, true), (db) => db.put('m1496', 9)],
    'it only wrote what others wrote': [
      (tx) => {
        tx.put('a', 'mine');
        tx.delete('b');
      },
      (db) => db.putMany([...ABC, ...MANY].map(([key]): Entry => [key, 'theirs'])),
    ],
    'it read what it had written itself': [
      async (tx) => {
        tx.put('a', 'mine');
        tx.put('m1000', 'mine');
        await tx.get('a');
        await tx.scan({ prefix: 'm', limit: 1 }).toArray();
      },
      (db) => db.putMany(['a', 'm1000'].map((key): Entry => [key, 'theirs'])),
    ],
  };
  describe('not when', () => {
    for (const [title, [read, other]] of Object.entries(others)) {
      it(title, async () => expect(await runsOf([...ABC, ...MANY], read, other)).toBe(1));
    }
  });
});

describe('transactions that meet', () => {
  it('keep what both have checked', async () => {
    for (let round = 0; round < 20; round++) {
      const [one, two] = await twoHandles([
        ['x', 1],
        ['y', 1],
      ]);
      let runs = 0;
      // Each may take from its own row as long as both hold something.
      const take = (db: Store, mine: string) =>
        db.transaction(async (tx) => {
          runs += 1;
          const [x = 0, y = 0] = await tx.getMany<number>(['x', 'y']);
          await new Promise((resolve) => setImmediate(resolve));
          if (x + y > 1) tx.put(mine, 0);
        });
      await Promise.all([take(one, 'x'), take(round % 2 === 0 ? two : one, 'y')]);
      await one.put('end', 1);
      const values = await one.getMany<number>(['x', 'y']);
      expect(values.sort()).toEqual([0, 1]);
      expect(runs).toBe(3);
    }
  });

  it('in one tab are run twice at most', async () => {
    const db = await storeOf([['n', 0]]);
    let runs = 0;
    const calls = Array.from({ length: 200 }, () =>
      db.transaction(async (tx) => {
        runs += 1;
        tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1);
      }),
    );
    await Promise.all(calls);
    expect(await db.get('n')).toBe(200);
    expect(runs).toBeLessThan(400);
  });

  it('with puts that never end come through', async () => {
    const db = await storeOf([['n', 0]]);
    let isOver = false;
    const putting = (async () => {
      for (let at = 0; !isOver; at++) await db.put('n', at);
    })();
    let runs = 0;
    for (let at = 0; at < 20; at++) {
      await db.transaction(async (tx) => {
        runs += 1;
        tx.put('seen', await tx.get('n'));
      });
    }
    isOver = true;
    await putting;
    expect(runs).toBeLessThanOrEqual(40);
  });

  it('in another store wait for nobody who waits for them', async () => {
    const [one, two] = await twoHandles(ABC);
    let runs = 0;
    const done = one.transaction(async (tx) => {
      runs += 1;
      tx.put('sum', await tx.get('a'));
      if (runs === 1) await two.put('a', 9);
      // Waits for a writer that is kept waiting by this run.
      else {
        await one.put('within', runs);
        await one.transaction((inner) => inner.put('inner', runs));
      }
    });
    await within(5000, done);
    expect(await one.getMany(['sum', 'within', 'inner'])).toEqual([9, 2, 2]);
  });

  it('end with conflict when they are always late', async () => {
    const [one, two] = await twoHandles(ABC);
    let runs = 0;
    const done = one.transaction(async (tx) => {
      runs += 1;
      tx.put('b', await tx.get('a'));
      await two.put('a', runs + 100);
    });
    await expect(within(20_000, done)).rejects.toEqual(failure('conflict', { retryable: true }));
    expect(runs).toBe(64);
    expect(await one.get('b')).toBe(2);
    await one.transaction(async (tx) => tx.put('b', await tx.get('a')));
    expect(await one.get('b')).toBe(164);
  });
});

describe('a failure of storage', () => {
  it('before a commit is passed on, and nothing is written', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const mine = new Error('mine');
    let runs = 0;
    storage.hooks.write = () => {
      throw mine;
    };
    const call = db.transaction(async (tx) => {
      runs += 1;
      tx.put('a', ((await tx.get<number>('a')) ?? 0) + 1);
    });
    expect(await call.catch((error: unknown) => error)).toBe(mine);
    delete storage.hooks.write;
    expect([runs, await db.get('a')]).toEqual([1, 1]);
    await db.transaction(async (tx) => tx.put('a', ((await tx.get<number>('a')) ?? 0) + 1));
    expect(await db.get('a')).toBe(2);
  });

  it('that makes the same commit as another does not count as that', async () => {
    const inner = memory();
    const storage = watched(inner);
    const one = await open('test', { storage });
    await one.put('n', 0);
    const two = await open('test', { storage: inner });
    const increment = (db: Store) =>
      db.transaction(async (tx) => tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1));
    const mine = new Error('mine');
    storage.hooks.write = async () => {
      // The same rows, so the same commit, of the same generation.
      await increment(two);
      throw mine;
    };
    expect(await increment(one).catch((error: unknown) => error)).toBe(mine);
    delete storage.hooks.write;
    await increment(one);
    expect(await one.get('n')).toBe(2);
  });

  it('that hides the answer of a commit leaves it made once', async () => {
    for (let at = 1; at <= 5; at++) {
      const inner = memory();
      await (await open('test', { storage: inner })).put('n', 0);
      const storage = faulty(inner);
      const db = await open('test', { storage });
      storage.fail({ at: storage.calls() + at, when: 'after', error: new Error('mine') });
      const done = await db
        .transaction(async (tx) => tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1))
        .then(
          () => true,
          () => false,
        );
      const n = await (await open('test', { storage: inner })).get('n');
      if (done) expect(n).toBe(1);
      else expect([0, 1]).toContain(n);
    }
  });
});

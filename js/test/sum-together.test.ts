/** Sum trees among others at work: races, signals, closing, collection, slices and what is refused. */
import { describe, expect, it } from 'vitest';
import { turn } from '../src/base/scheduler.js';
import { memory, open, type Store, type SumItem } from '../src/index.js';
import { failure, within } from './model.js';
import { random } from './random.js';
import { hex, sha256 } from './sum-reference.js';
import { watched } from './watched-storage.js';

const SUMS = { balances: { sum: '/cents', prefix: 'acct/' } };
const value = new TextEncoder().encode('a value');
const leaves = (prefix: string, count: number, sum = 1n): SumItem[] =>
  Array.from({ length: count }, (_, at) => ({ key: `${prefix}${at}`, value, sum }));
const accounts = (count: number, cents = 1) =>
  Array.from({ length: count }, (_, at) => [`acct/${at}`, { cents, at }] as const);
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

const codeOf = (error: unknown) => (error as { code?: string }).code;

async function sumsOf(db: Store, name = 't'): Promise<Map<string, bigint>> {
  const found = await db.sumTree(name).entries().toArray();
  return new Map(found.map(({ key, sum }) => [hex(key), sum]));
}

describe('races', () => {
  it('of many changes of one tree, from two handles, some in bulk, none is lost', async () => {
    const storage = memory();
    const dbs = [await open('s', { storage }), await open('s', { storage })];
    const slowly = async function* (prefix: string) {
      for (const leaf of leaves(prefix, 300)) {
        if (leaf.key.toString().endsWith('7')) await pause();
        yield leaf;
      }
    };
    const work: Promise<unknown>[] = [];
    for (const [at, db] of dbs.entries()) {
      const tree = db.sumTree('t');
      work.push(tree.putMany(slowly(`slow ${at}/`)), tree.putMany(leaves(`bulk ${at}/`, 2000)));
      for (let n = 0; n < 15; n++) {
        work.push(tree.put(`one ${at}/${n}`, { value, sum: 1n }), db.put(`row ${at}/${n}`, n));
        work.push(db.sumTree('other').put(`${at}/${n}`, { value, sum: 2n }));
        await pause();
      }
    }
    await Promise.all(work);
    await dbs[0]!.put('last', 1);
    const [one] = dbs as [Store];
    expect(one.sumTree('t').root.sum).toBe(2n * (300n + 2000n + 15n));
    expect((await sumsOf(one)).size).toBe(2 * (300 + 2000 + 15));
    expect(one.sumTree('other').root.sum).toBe(60n);
    expect(await one.count()).toBe(31);
    expect((await one.verify()).ok).toBe(true);
    await Promise.all(dbs.map((db) => db.close()));
  });

  it('of rows that a tree follows, in bulk and one by one, leave it that of the rows', async () => {
    const storage = memory();
    const dbs = [
      await open('s', { storage, sums: SUMS }),
      await open('s', { storage, sums: SUMS }),
      await open('s', { storage }),
    ];
    await dbs[0]!.putMany(accounts(500));
    for (let round = 0; round < 6; round++) {
      const from = random(round);
      await Promise.all(
        dbs.flatMap((db, at) => [
          db.putMany(accounts(from.below(700), round + at)),
          db.put(`acct/${from.below(900)}`, { cents: 1000 }),
          db.deleteMany([`acct/${from.below(500)}`, `acct/${from.below(500)}`]),
          db.transaction(async (tx) => {
            const found = await tx.get<{ cents: number }>('acct/mine');
            tx.put('acct/mine', { cents: (found?.cents ?? 0) + 1 });
          }),
        ]),
      );
      await dbs[0]!.put('last', round);
      const rows = await dbs[0]!.scan<{ cents: number }>({ prefix: 'acct/' }).toArray();
      const total = rows.reduce((sum, [, { cents }]) => sum + cents, 0);
      expect(dbs[0]!.sumTree('balances').root.sum).toBe(BigInt(total));
      const sums = await sumsOf(dbs[0]!, 'balances');
      expect(sums.size).toBe(rows.length);
      for (const [key, { cents }] of rows) expect(sums.get(hex(sha256(key)))).toBe(BigInt(cents));
      const fresh = await open('fresh', { storage: memory(), sums: SUMS });
      await fresh.putMany(await dbs[0]!.scan().toArray());
      expect(fresh.root).toBe(dbs[0]!.root);
      await fresh.close();
    }
    expect(await dbs[0]!.get('acct/mine')).toEqual({ cents: 18 });
    await Promise.all(dbs.map((db) => db.close()));
  });

  it('do not touch what is being read', async () => {
    const db = await open('s', { storage: memory() });
    const tree = db.sumTree('t');
    await tree.putMany(leaves('a', 3000));
    const before = db.root;
    // A root that nothing holds may be collected at any time.
    const held = db.snapshot();
    const read = tree.entries()[Symbol.asyncIterator]();
    const [first, ...proofs] = await Promise.all([read.next(), tree.prove('a1'), tree.prove('b1')]);
    expect(first.done).toBe(false);
    let others = 0;
    const work = (async () => {
      for (; others < 10; others++) await tree.putMany(leaves(`b${others}/`, 50));
    })();
    let count = 1;
    while (!(await read.next()).done) count += 1;
    expect(count).toBe(3000);
    await work;
    const changes = await tree.diff(before).toArray();
    expect(changes.length).toBe(500);
    expect(changes.every(({ before, after }) => before === undefined && after?.sum === 1n)).toBe(
      true,
    );
    expect((await tree.diff(db.root, before).toArray()).every(({ after }) => after === undefined));
    expect(await tree.prove('a1')).not.toEqual(proofs[0]);
    held.release();
    await db.close();
  });
});

describe('signals and closing', () => {
  it('that are aborted in mid-change are noticed within a slice, and nothing stays', async () => {
    for (const after of [0, 1, 2, 5, 10, 20]) {
      const storage = watched(memory());
      const db = await open('s', { storage, sliceMs: 1 });
      await db.sumTree('t').putMany(leaves('a', 100));
      const before = [db.root, storage.stored.size];
      const controller = new AbortController();
      const change = db.sumTree('t').putMany(leaves('b', 20_000), { signal: controller.signal });
      let settled = false;
      const end = change.then(
        () => 'made',
        (cause: unknown) => cause,
      );
      void end.finally(() => {
        settled = true;
      });
      for (let count = 0; count < after; count++) await turn();
      expect(settled, `${after}`).toBe(false);
      controller.abort();
      // One slice may be under way, and one more be begun by who was not told; no more.
      for (let count = 0; count < 5 && !settled; count++) await turn();
      expect(settled, `after ${after} turns`).toBe(true);
      expect(await end).toEqual(failure('aborted'));
      expect([db.root, storage.stored.size]).toEqual(before);
      expect((await sumsOf(db)).size).toBe(100);
      await db.sumTree('t').putMany(leaves('b', 10));
      expect((await sumsOf(db)).size).toBe(110);
      await db.close();
    }
  });

  it('that are aborted beforehand, or while a source is waited for, end it', async () => {
    const db = await open('s', { storage: memory() });
    const gone = AbortSignal.abort();
    const tree = db.sumTree('t');
    const refused = failure('aborted');
    await expect(tree.put('a', { value, sum: 1n }, { signal: gone })).rejects.toEqual(refused);
    await expect(tree.deleteMany(['a'], { signal: gone })).rejects.toEqual(refused);
    await expect(tree.entries({ signal: gone }).toArray()).rejects.toEqual(refused);
    for (const given of [0, 3]) {
      const controller = new AbortController();
      let returned = 0;
      const source: AsyncIterable<SumItem> = {
        [Symbol.asyncIterator]() {
          const some = leaves('s', given).values();
          return {
            next: () => {
              const next = some.next();
              return next.done ? new Promise(() => {}) : Promise.resolve(next);
            },
            return: async () => {
              returned += 1;
              return { done: true, value: undefined };
            },
          };
        },
      };
      const change = tree.putMany(source, { signal: controller.signal });
      for (let count = 0; count < 10; count++) await pause();
      controller.abort();
      await expect(within(5000, change)).rejects.toEqual(refused);
      await pause();
      expect(returned, `${given} given`).toBe(1);
    }
    expect(db.root).toBe('0'.repeat(64));
    await db.close();
  });

  it('closing in the making of trees that follow ends it, and the next handle makes them', async () => {
    for (const after of [0, 1, 2, 3, 5, 8, 13]) {
      const storage = memory();
      const plain = await open('s', { storage });
      await plain.putMany(accounts(5000));
      await plain.close();
      const db = await open('s', { storage, sums: SUMS, sliceMs: 1 });
      const reading = db
        .sumTree('balances')
        .get('acct/7')
        .catch((cause: unknown) => cause);
      for (let count = 0; count < after; count++) await turn();
      await within(10_000, db.close());
      const read = await within(10_000, reading);
      if (read instanceof Error) expect(['closed', 'aborted']).toContain(codeOf(read));
      const again = await open('s', { storage, sums: SUMS });
      expect((await again.sumTree('balances').get('acct/7'))?.sum).toBe(1n);
      expect(again.sumTree('balances').root.sum).toBe(5000n);
      await again.close();
    }
  });

  it('a store that is closed waits for changes under way, and refuses what comes later', async () => {
    const storage = memory();
    const db = await open('s', { storage });
    const tree = db.sumTree('t');
    const change = tree.putMany(leaves('a', 3000));
    await db.close();
    expect((await change).root.sum).toBe(3000n);
    const closed = failure('closed');
    expect(() => tree.root).toThrow(expect.objectContaining({ code: 'closed' }));
    await expect(tree.put('b', { value, sum: 1n })).rejects.toEqual(closed);
    await expect(tree.get('b')).rejects.toEqual(closed);
    await expect(tree.prove('b')).rejects.toEqual(closed);
    await expect(tree.entries().toArray()).rejects.toEqual(closed);
    await expect(tree.diff('0'.repeat(64)).toArray()).rejects.toEqual(closed);
    const again = await open('s', { storage });
    expect(again.sumTree('t').root.sum).toBe(3000n);
    await again.close();
  });
});

describe('collection', () => {
  it('beside changes of sums loses nothing and leaves nothing', async () => {
    const storage = watched({ ...memory(), isShared: true });
    const db = await open('s', { storage, sums: SUMS });
    // Whoever comes first tells the store what is to be followed.
    await db.put('acct/first', { cents: 0 });
    const other = await open('s', { storage, cacheBytes: 0 });
    for (let round = 0; round < 8; round++) {
      await Promise.all([
        db.compact(),
        db.sumTree('t').putMany(leaves(`a${round % 3}/`, 400, BigInt(round))),
        db.putMany(accounts(300, round)),
        other.sumTree('t').put(`other ${round}`, { value, sum: 1n }),
        other.put(`acct/other ${round}`, { cents: round }),
        round % 2 === 0 ? other.compact() : db.deleteMany({ prefix: 'acct/1' }),
      ]);
    }
    await db.compact();
    await db.put('last', 1);
    const cold = await open('s', { storage, cacheBytes: 0 });
    expect((await cold.verify()).ok).toBe(true);
    const sums = await sumsOf(cold);
    expect(sums.size).toBe(3 * 400 + 8);
    expect(cold.sumTree('t').root.sum).toBe([...sums.values()].reduce((sum, one) => sum + one, 0n));
    const rows = await cold.scan<{ cents: number }>({ prefix: 'acct/' }).toArray();
    const total = rows.reduce((sum, [, { cents }]) => sum + cents, 0);
    expect(cold.sumTree('balances').root.sum).toBe(BigInt(total));
    await Promise.all([cold.close(), other.close()]);

    // All deleted and collected, nothing of the leaves is left.
    await db.sumTree('t').deleteMany((await keysOf(db)) as Uint8Array[]);
    await db.clear();
    expect(db.root).toBe('0'.repeat(64));
    for (let round = 0; round < 4; round++) await db.compact();
    const { storedBytes } = await db.stats();
    expect(storedBytes).toBeLessThan(4096);
    expect((await db.stats()).segments).toBe(storage.stored.size);
    await db.close();
  });

  const keysOf = async (db: Store) =>
    (await db.sumTree('t').entries().toArray()).map(({ key }) => key);
});

describe('slices', () => {
  it('of 20,000 leaves let others go on: many, none of which does much', async () => {
    const db = await open('s', { storage: memory(), sliceMs: 2 });
    let [turns, running] = [0, true];
    const other = (async () => {
      while (running) {
        await pause();
        turns += 1;
      }
    })();
    const started = turns;
    const done = await db.sumTree('t').putMany(leaves('a', 20_000));
    running = false;
    await other;
    expect(done.leaves).toBe(20_000);
    expect(done.root.sum).toBe(20_000n);
    // In slices of 2 ms even a machine many times faster needs some; timers have come in between.
    expect(done.slices).toBeGreaterThan(10);
    expect(turns - started).toBeGreaterThan(done.slices / 4);
    const { rows } = await db.stats();
    expect(rows).toBe(0);
    await db.close();
  });

  it('the whole store in one slice gives the same', async () => {
    const roots: string[] = [];
    for (const sliceMs of [1, 8, 1e9]) {
      const db = await open('s', { storage: memory(), sliceMs, sums: SUMS });
      await db.sumTree('t').putMany(leaves('a', 5000));
      await db.putMany(accounts(5000));
      expect(db.sumTree('balances').root.sum).toBe(5000n);
      roots.push(db.root);
      await db.close();
    }
    expect(new Set(roots).size).toBe(1);
  });

  it('progress is told, and ends at all leaves', async () => {
    const db = await open('s', { storage: memory() });
    const told: number[] = [];
    const onProgress = ({ leaves }: { leaves: number }) => told.push(leaves);
    await db.sumTree('t').putMany(leaves('a', 20_000), { onProgress });
    expect(told.at(-1)).toBe(20_000);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.length).toBeGreaterThan(2);
    await db.close();
  });
});

describe('what is refused', () => {
  it('has its code, and changes nothing', async () => {
    const db = await open('s', { storage: memory(), sums: SUMS });
    const tree = db.sumTree('t');
    await tree.put('a', { value, sum: 5n });
    await db.put('acct/1', { cents: 5 });
    const before = db.root;
    const many = (source: unknown, options = {}) => tree.putMany(source as never, options);
    const large = new Uint8Array((1 << 20) + 1);
    const calls: [string, string, () => Promise<unknown>][] = [
      ['a key of 31 bytes', 'invalid-key', () => tree.get(new Uint8Array(31))],
      ['a key that is a number', 'invalid-key', () => tree.get(7 as never)],
      ['half a surrogate', 'invalid-key', () => tree.prove('\udc00')],
      ['among many', 'invalid-key', () => tree.getMany(['a', null as never])],
      ['a key to prove', 'invalid-key', () => tree.proveMany([new Uint8Array(33)])],
      ['a key to delete', 'invalid-key', () => tree.deleteMany(['a', undefined as never])],
      ['a key to start at', 'invalid-key', () => tree.entries({ from: 1 as never }).toArray()],
      ['no value', 'invalid-value', () => many([{ key: 'a', sum: 1n }])],
      ['a value too large', 'invalid-value', () => tree.put('a', { value: large, sum: 1n })],
      ['a sum that is a number', 'invalid-value', () => many([{ key: 'a', value, sum: 1 }])],
      ['a sum too large', 'invalid-value', () => tree.put('a', { value, sum: 1n << 64n })],
      ['a sum below 0', 'invalid-value', () => tree.put('a', { value, sum: -1n })],
      ['null for a leaf', 'invalid-value', () => many([null])],
      ['no pointer', 'invalid-argument', () => many([{}], { sum: 'cents' })],
      ['rows without sums', 'invalid-value', () => many([{ key: 'x' }], { sum: '/cents' })],
      ['no source', 'invalid-argument', () => many(7)],
      ['bytes', 'invalid-argument', () => many(new Blob(['[]']))],
      ['a response', 'invalid-argument', () => many(new Response('[]'))],
      ['a root that is none', 'invalid-argument', () => tree.diff('xyz').toArray()],
      ['a root not there', 'missing-chunk', () => tree.diff('ab'.repeat(32)).toArray()],
      [
        'sums that do not fit',
        'sum-overflow',
        () => many([{ key: 'b', value, sum: 2n ** 64n - 1n }]),
      ],
      ['sums that do not fit together', 'sum-overflow', () => many([...leaves('z', 2, 2n ** 63n)])],
      [
        'a tree that follows',
        'invalid-argument',
        () => db.sumTree('balances').put('x', { value, sum: 1n }),
      ],
      [
        'deleting in a tree that follows',
        'invalid-argument',
        () => db.sumTree('balances').delete('acct/1'),
      ],
      ['a row of half a cent', 'invalid-value', () => db.put('acct/2', { cents: 0.5 })],
      ['a row of less than nothing', 'invalid-value', () => db.put('acct/2', { cents: -1 })],
      ['a row of a text', 'invalid-value', () => db.put('acct/2', { cents: 'much' })],
      [
        'rows that come to too much',
        'sum-overflow',
        () =>
          db.putMany([
            ['acct/2', { cents: '18446744073709551615' }],
            ['acct/3', { cents: 1 }],
          ]),
      ],
      [
        'in a transaction',
        'invalid-value',
        () => db.transaction(async (tx) => tx.put('acct/2', { cents: [] })),
      ],
      [
        'in a patch',
        'invalid-value',
        () => db.applyPatch([{ op: 'put', key: 'acct/2', value: { cents: -5 } }]),
      ],
      [
        'by a throwing source',
        'thrown',
        () =>
          many(
            (function* () {
              yield* leaves('t', 1000);
              throw Object.assign(new Error(), { code: 'thrown' });
            })(),
          ),
      ],
    ];
    for (const [title, code, call] of calls) {
      const made = async () => call();
      await expect(within(10_000, made()), title).rejects.toMatchObject({ code });
      expect(db.root, title).toBe(before);
    }
    expect(await sumsOf(db)).toEqual(new Map([[hex(sha256('a')), 5n]]));
    await tree.put('a', { value, sum: 6n });
    await db.put('acct/1', { cents: 6 });
    expect([tree.root.sum, db.sumTree('balances').root.sum]).toEqual([6n, 6n]);
    await db.close();
  });

  it('are definitions that are none, at open', async () => {
    const refused = [
      { b: { sum: 'cents' } },
      { b: {} as never },
      { b: { sum: '/a', key: 'x' } },
      { b: { sum: '/a', value: '/~2' } },
      { [`b${'x'.repeat(300)}`]: { sum: '/a' } },
    ];
    for (const sums of refused) {
      await expect(open('s', { storage: memory(), sums })).rejects.toEqual(
        failure('invalid-argument'),
      );
    }
  });

  it('a tree named as none can be is refused, not lost', async () => {
    const db = await open('s', { storage: memory() });
    for (const name of ['x'.repeat(300), 'ü'.repeat(130)]) {
      const put = async () => db.sumTree(name).put('a', { value, sum: 1n });
      await expect(put(), name).rejects.toEqual(failure('invalid-argument'));
    }
    expect(db.root).toBe('0'.repeat(64));
    for (const name of ['', 'ü', '\0', 'a/b']) {
      await db.sumTree(name).put('a', { value, sum: 1n });
      expect(db.sumTree(name).root.sum, name).toBe(1n);
    }
    await db.close();
  });
});

/** Slices run one in a turn of the event loop, in the order of their callers. */
import { describe, expect, it } from 'vitest';
import { SlicePace, turn } from '../../src/base/slice-queue.js';
import { memory, open } from '../../src/index.js';
import { type Entry, storeOf } from '../support/models/store-model.js';

function rows(count: number): Entry[] {
  return Array.from(
    { length: count },
    (_, at): Entry => [
      `k${String((at * 7919) % count).padStart(6, '0')}`,
      { at, text: 'some text of a row' },
    ],
  );
}

describe('turn', () => {
  it('comes in the order of the calls', async () => {
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        await turn();
        order.push(at);
      }),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order).toHaveLength(50);
  });

  it('alternates between callers that ask again', async () => {
    const order: string[] = [];
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        for (let round = 0; round < 4; round++) {
          await turn();
          order.push(name);
        }
      }),
    );
    expect(order.join('')).toBe('abcabcabcabc');
  });

  it('never comes in the turn of its call', async () => {
    let came = false;
    const asked = turn().then(() => {
      came = true;
    });
    for (let tick = 0; tick < 100; tick++) await Promise.resolve();
    expect(came).toBe(false);
    await asked;
  });

  it('lets immediates, timers and input and output run in between', async () => {
    let immediates = 0;
    let timers = 0;
    let going = true;
    const immediate = () => {
      immediates++;
      if (going) setImmediate(immediate);
    };
    const timer = setInterval(() => timers++, 1);
    immediate();
    for (let slice = 0; slice < 100; slice++) {
      await turn();
      const start = performance.now();
      while (performance.now() - start < 1);
    }
    going = false;
    clearInterval(timer);
    expect(immediates).toBeGreaterThan(30);
    expect(timers).toBeGreaterThan(10);
  });
});

describe('a Pace', () => {
  it('reaches as much work as fits in four fifths of a slice', () => {
    const pace = new SlicePace(8, 10);
    for (let slice = 0; slice < 100; slice++) pace.learn(pace.units, pace.units / 1000);
    expect(pace.units / 8000).toBeCloseTo(0.8, 1);
    for (let slice = 0; slice < 100; slice++) pace.learn(pace.units, pace.units / 5);
    expect(pace.units / 40).toBeCloseTo(0.8, 1);
  });

  it('slows down at once', () => {
    const pace = new SlicePace(8, 1000);
    const { units } = pace;
    pace.learn(units, 80);
    expect(pace.units).toBeLessThan(units / 2);
  });

  it('recovers from a slice in which the machine did something else', () => {
    const pace = new SlicePace(8, 10_000);
    const { units } = pace;
    // At the true pace, the work of the next slice takes less time than the clock can measure.
    pace.learn(pace.units, 8000);
    pace.learn(pace.units, 8000);
    pace.learn(pace.units, 8000);
    expect(pace.units).toBeLessThan(units / 30);
    for (let slice = 0; slice < 12; slice++) {
      // The slice began a moment before.
      const given = Math.ceil(0.99 * pace.units);
      pace.learn(given, given / 10_000);
    }
    expect(pace.units).toBeGreaterThan(units / 2);
  });

  it('begins with less work when other work comes, but not with less than at first', () => {
    const pace = new SlicePace(8, 10);
    for (let slice = 0; slice < 100; slice++) pace.learn(pace.units, pace.units / 1000);
    const { units } = pace;
    pace.doubt();
    expect(pace.units).toBeLessThan(units / 3);
    for (let times = 0; times < 10; times++) pace.doubt();
    expect(pace.units).toBe(new SlicePace(8, 10).units);
  });

  it('is not misled by work that ends before its units are used up', () => {
    const pace = new SlicePace(8, 1000);
    const { units } = pace;
    // Each of the small commits takes less time than the clock can measure.
    for (let commit = 0; commit < 2000; commit++) pace.learn(pace.units, 0.05);
    expect(pace.units).toBeLessThanOrEqual(4 * units);
    for (let slice = 0; slice < 20; slice++) pace.learn(1, 10_000);
    for (let slice = 0; slice < 40; slice++) pace.learn(pace.units, 0.05);
    expect(pace.units).toBeGreaterThan(units);
  });

  it('always allows some work', () => {
    const pace = new SlicePace(8, 1);
    for (let slice = 0; slice < 20; slice++) pace.learn(1, 10_000);
    expect(pace.units).toBe(1);
  });
});

describe('loads', () => {
  it('into two stores run side by side', async () => {
    const stores = [await storeOf(), await storeOf()];
    // The stores that took rows, each time that another one took its turn: a fast machine has few reports of progress.
    const order: number[] = [];
    const source = function* (at: number) {
      for (const row of rows(40_000)) {
        if (order.at(-1) !== at) order.push(at);
        yield row;
      }
    };
    await Promise.all(stores.map((db, at) => db.putMany(source(at))));
    expect(order.length).toBeGreaterThan(4);
  });

  it('let timers run between their slices', async () => {
    const db = await open('test', { storage: memory(), advanced: { sliceMs: 4 } });
    let timers = 0;
    const timer = setInterval(() => timers++, 1);
    const { stats } = await db.putMany(rows(40_000));
    clearInterval(timer);
    expect(stats.slices).toBeGreaterThan(10);
    expect(timers).toBeGreaterThan(stats.slices / 10);
  });

  it('do not block reads of the same store', async () => {
    // Short slices, so that a fast machine needs many, too.
    const db = await open('test', { storage: memory(), advanced: { sliceMs: 1 } });
    await db.put('a', 1);
    let loading = true;
    const load = db.putMany(rows(40_000)).finally(() => {
      loading = false;
    });
    let reads = 0;
    while (loading) {
      if ((await db.get('a')) === 1) reads++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await load;
    expect(reads).toBeGreaterThan(10);
  });

  it('do not begin in the turn of the call', async () => {
    const db = await storeOf();
    let begun = false;
    const source = (function* (): Generator<Entry> {
      begun = true;
      yield ['a', 1];
    })();
    const load = db.putMany(source);
    for (let tick = 0; tick < 100; tick++) await Promise.resolve();
    expect(begun).toBe(false);
    await load;
    expect(begun).toBe(true);
  });
});

describe('a scan', () => {
  it('lets timers run between its blocks', async () => {
    const db = await storeOf(rows(40_000));
    let timers = 0;
    const timer = setInterval(() => timers++, 1);
    for (let round = 0; round < 5; round++) await db.scan().toArray();
    clearInterval(timer);
    expect(timers).toBeGreaterThan(5);
  });
});

/** A tab is suspended at any point: the others continue within a limit, and it is right when it continues. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/index.js';
import { all, type Entry, expectSame, failure } from '../support/models/store-model.js';
import { noise } from '../support/noise.js';
import { isDeep } from '../support/property.js';
import { Browser, breathe, pass, settled, type Tab } from '../support/worlds/tabs-world.js';

const INDEXES = { byTag: { path: '/tag' } };

function rows(count: number, round: number): Entry[] {
  return Array.from(
    { length: count },
    (_, at): Entry => [
      `k${String(at).padStart(6, '0')}`,
      { at, round, tag: `t${at % 7}`, text: noise(at * 1000 + round, 100) },
    ],
  );
}

/** Runs all calls that another tab may make, each within its limit. */
async function works(db: Store, fresh: Tab): Promise<void> {
  await settled(db.put('other', 1), 1500);
  await settled(
    db.transaction(async (tx) => {
      tx.put('counted', ((await tx.get<number>('counted')) ?? 0) + 1);
    }),
    1500,
  );
  expect(await settled(db.get('other'), 100)).toBe(1);
  expect((await settled(db.health.verify(), 100)).ok).toBe(true);
  const again = await fresh.open();
  expect(await settled(again.get('other'), 100)).toBe(1);
  await settled(again.close(), 1500);
}

/** The rows of most tests: with fewer, a store is collected in the same way. */
const MANY = isDeep ? 20_000 : 5000;

describe('while a frozen tab', () => {
  it('builds an index, another one builds it and finds rows by it within 7 seconds', async () => {
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    const count = 30_000;
    const entries = rows(count, 0);
    await settled((await c.open()).putMany(entries));
    const first = await a.open('test', { indexes: INDEXES });
    expect(browser.held()).toContain('indexing');
    a.freeze();
    const second = await b.open('test', { indexes: INDEXES });
    const found = second.scan({ index: 'byTag', equals: 't3' }).toArray();
    await works(second, c);
    expect(await settled(found, 7000)).toHaveLength(Math.ceil((count - 3) / 7));
    expect(browser.held()).toContain('indexing');
    a.thaw();
    await pass(2000);
    const counted = (db: Store) => settled(db.count({ index: 'byTag' }));
    expect([await counted(first), await counted(second)]).toEqual([count, count]);
    expect(first.root).toBe(second.root);
  });

  it('builds an index slowly, no other tab builds the index', async () => {
    const count = 200_000;
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    // So many rows take a slow machine longer than a call may take here.
    await (await c.open()).putMany(rows(count, 0));
    // A slow tab: each part takes three seconds.
    let parts = 0;
    a.hooks.write = async ({ move }) => {
      if (move?.name !== 'main') return;
      parts += 1;
      await new Promise((resolve) => setTimeout(resolve, 3000));
    };
    await a.open('test', { indexes: INDEXES });
    let others = 0;
    b.hooks.write = ({ move }) => {
      if (move?.name === 'main') others += 1;
    };
    const second = await b.open('test', { indexes: INDEXES });
    expect(await settled(second.count({ index: 'byTag' }), 30_000)).toBe(count);
    expect(parts).toBeGreaterThan(2);
    expect(others).toBe(0);
  });

  it('makes a sum tree, another one makes it and reads it within 7 seconds', async () => {
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    const sums = { total: { prefix: 'k', sum: '/at' } };
    await settled((await c.open()).putMany(rows(2000, 0)));
    // The tab is about to store the tree.
    a.hooks.write = () => {
      if (browser.held().includes('sums')) a.freeze();
    };
    const first = await a.open('test', { advanced: { sums } });
    for (let turn = 0; turn < 2000 && !a.isFrozen; turn++) await breathe(1);
    expect(a.isFrozen).toBe(true);
    delete a.hooks.write;
    const second = await b.open('test', { advanced: { sums } });
    const leaves = second.sumTree('total').entries().toArray();
    await works(second, c);
    const expected = (2000n * 1999n) / 2n;
    expect(await settled(leaves, 7000)).toHaveLength(2000);
    expect(second.sumTree('total').root.sum).toBe(expected);
    a.thaw();
    await pass(2000);
    expect(first.sumTree('total').root.sum).toBe(expected);
  });

  it('collects, another one takes its place, and commits that it reads stay whole', async () => {
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    const first = await a.open('test', { advanced: { cacheBytes: 0 } });
    await settled(first.putMany(rows(MANY, 0)));
    const snapshot = first.snapshot();
    const scan = first.scan()[Symbol.asyncIterator]();
    await scan.next();
    const second = await b.open('test', { advanced: { cacheBytes: 0 } });
    await settled(first.putMany(rows(MANY, 1)));
    // In the middle: new segments are stored, and the old ones are about to be deleted.
    a.hooks.delete = () => {
      delete a.hooks.delete;
      a.freeze();
    };
    await settled(first.putMany(rows(MANY, 2)));
    const collecting = first.health.compact();
    for (let turn = 0; turn < 2000 && !a.isFrozen; turn++) await breathe(1);
    expect(a.isFrozen).toBe(true);
    await works(second, c);
    const result = await settled(second.health.compact(), 12_000);
    expect(result.segmentsDeleted).toBe(0);
    // Later garbage goes.
    const before = (await settled(second.health.stats())).storedBytes;
    for (let round = 3; round < 6; round++) await settled(second.putMany(rows(MANY, round)));
    await settled(second.health.compact());
    const { storedBytes: kept, liveBytes: needed } = await settled(second.health.stats());
    expect(kept).toBeLessThan(before + 1.1 * needed);
    expect((await settled(second.health.stats())).compactor).toBe('this');
    a.thaw();
    // It has lost the fence: its collection deletes no more segments.
    await settled(expect(collecting).rejects.toEqual(failure('blocked')));
    expectSame(await settled(all(snapshot as unknown as Store)), rows(MANY, 0));
    let read = 1;
    while ((await settled(scan.next())).done !== true) read += 1;
    expect(read).toBe(MANY);
    await settled(first.put('mine', 1));
    expect((await settled(first.health.stats())).compactor).toBe('other');
    // After the release of the snapshot, all garbage is collected.
    snapshot.close();
    await pass(1000);
    await settled(second.health.compact());
    const { storedBytes, liveBytes } = await settled(second.health.stats());
    expect(storedBytes).toBeLessThan(1.07 * liveBytes);
    expect((await settled(first.health.verify())).ok).toBe(true);
    expect(await settled(first.count())).toBe(MANY + 3);
  });

  it('collects, and the collector before takes its place again, commits that it reads stay whole', async () => {
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    const first = await a.open('test', { advanced: { cacheBytes: 0 } });
    const second = await b.open('test', { advanced: { cacheBytes: 0 } });
    const third = await c.open('test', { advanced: { cacheBytes: 0 } });
    await settled(first.putMany(rows(MANY, 0)));
    a.freeze();
    // The second tab takes the place of the first, and may not know what that tab reads.
    await settled(second.health.compact(), 12_000);
    b.freeze();
    await settled(third.health.compact(), 12_000);
    await settled(third.putMany(rows(MANY, 1)));
    const snapshot = third.snapshot();
    await settled(third.putMany(rows(MANY, 2)));
    c.freeze();
    b.thaw();
    await pass(1000);
    await settled(second.putMany(rows(MANY, 3)));
    await settled(second.health.compact(), 12_000);
    expect((await settled(second.health.stats())).compactor).toBe('this');
    c.thaw();
    expectSame(await settled(all(snapshot as unknown as Store)), rows(MANY, 1));
    a.thaw();
    await pass(1000);
    snapshot.close();
    await pass(1000);
    await settled(second.health.compact());
    const { storedBytes, liveBytes } = await settled(second.health.stats());
    expect(storedBytes).toBeLessThan(1.07 * liveBytes);
  });

  // The clock is the test's own: a busy machine is not at fault.
  it('is at the head of the queue, two waiting writers wait for it once, and no longer than a second', async () => {
    const browser = new Browser();
    const [a, b, c, d] = [browser.tab(), browser.tab(), browser.tab(), browser.tab()];
    const [first, second, third] = [await a.open(), await b.open(), await c.open()];
    a.hooks.write = () => {
      if (browser.held().includes('queue')) a.freeze();
    };
    const increment = (db: Store) =>
      db.transaction(async (tx) => {
        tx.put('count', ((await tx.get<number>('count')) ?? 0) + 1);
      });
    let made = 0;
    const calls: Promise<unknown>[] = [];
    while (!a.isFrozen) {
      calls.push(increment(first));
      await settled(Promise.all([increment(second), increment(third)]), 3000);
      made += 2;
    }
    const startMs = performance.now();
    for (let times = 0; times < (isDeep ? 20 : 8); times++) {
      await settled(Promise.all([increment(second), increment(third)]), 3000);
      made += 2;
    }
    // Each of the two tabs waits once, and now and then again.
    expect(performance.now() - startMs).toBeLessThan(5000);
    await works(second, d);
    delete a.hooks.write;
    a.thaw();
    await settled(Promise.all(calls), 5000);
    expect(await settled(second.get('count'))).toBe(made + calls.length);
  });

  it('holds a snapshot and reads, its commits stay, and all other chunks are collected', async () => {
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    const collector = await b.open();
    const reader = await a.open('test', { advanced: { cacheBytes: 0 } });
    await settled(collector.putMany(rows(MANY, 0)));
    await settled(reader.get('k000000'));
    const snapshot = reader.snapshot();
    await settled(snapshot.get('k000001'));
    a.freeze();
    const reading = reader.scan().toArray();
    for (let round = 1; round < 4; round++) await settled(collector.putMany(rows(MANY, round)));
    await works(collector, c);
    await settled(collector.health.compact());
    const { storedBytes, liveBytes } = await settled(collector.health.stats());
    expect(storedBytes).toBeLessThan(2.2 * liveBytes);
    a.thaw();
    expectSame(await settled(all(snapshot as unknown as Store)), rows(MANY, 0));
    expect(await settled(reading)).toHaveLength(MANY);
    expect(await settled(reader.get('k000000'))).toMatchObject({ round: 3 });
    snapshot.close();
    await pass(100);
    await settled(collector.health.compact());
    const after = await settled(collector.health.stats());
    expect(after.storedBytes).toBeLessThan(1.1 * after.liveBytes);
  });

  it('loads rows, its stored segments stay, and its load ends when it continues', async () => {
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    const collector = await b.open();
    const loader = await a.open();
    let stored = 0;
    const count = isDeep ? 60_000 : 30_000;
    a.hooks.write = ({ segments, move }) => {
      if (move === undefined && segments.length > 0 && ++stored === 3) a.freeze();
    };
    const entries = rows(count, 0);
    const load = loader.putMany(entries);
    for (let turn = 0; turn < 5000 && !a.isFrozen; turn++) await breathe(1);
    expect(a.isFrozen).toBe(true);
    await works(collector, c);
    for (let round = 0; round < 3; round++) {
      await settled(collector.put('more', round));
      await settled(collector.health.compact());
    }
    a.thaw();
    await settled(load);
    await pass(100);
    expect(await settled(collector.count())).toBe(count + 3);
    expect((await settled(collector.health.verify())).ok).toBe(true);
  });

  it('collects and never continues, another tab takes its place after a time without an answer', async () => {
    const browser = new Browser();
    const [a, b] = [browser.tab(), browser.tab()];
    await a.open();
    const second = await b.open();
    for (let round = 0; round < 3; round++) await settled(second.putMany(rows(MANY, round)));
    a.freeze();
    const startMs = performance.now();
    await settled(second.health.compact(), 12_000);
    expect(performance.now() - startMs).toBeGreaterThan(5500);
    // A dead tab loses its place at once.
    a.kill();
    await pass(100);
    const result = await settled(second.health.compact(), 100);
    expect(result.segmentsDeleted).toBeGreaterThan(0);
    const { storedBytes, liveBytes } = await settled(second.health.stats());
    expect(storedBytes).toBeLessThan(1.07 * liveBytes);
  });

  it('collects, a writer notices that without a question, and the space is freed', async () => {
    const browser = new Browser();
    const [a, b] = [browser.tab(), browser.tab()];
    await a.open();
    const second = await b.open();
    await settled(second.putMany(rows(20_000, 0)));
    await pass(5000);
    a.freeze();
    for (let round = 1; round < 12; round++) {
      await settled(second.putMany(rows(20_000, round)));
      await pass(3000);
    }
    await pass(10_000);
    const { storedBytes, liveBytes, compactor } = await settled(second.health.stats());
    expect(compactor).toBe('this');
    // Chunks from before the takeover stay, since the other tab may read them.
    expect(storedBytes).toBeLessThan(6 * liveBytes);
  });
});

describe('a tab that is frozen while it waits', () => {
  it('for the queue does not block other tabs for long when its turn comes', async () => {
    const browser = new Browser();
    const [a, b] = [browser.tab(), browser.tab()];
    const [first, second] = [await a.open(), await b.open()];
    const puts = async (db: Store, name: string) => {
      for (let at = 0; at < 30; at++) await db.put(`${name}/${at}`, at);
    };
    const both = [puts(first, 'a'), puts(second, 'b')];
    await breathe(40);
    a.freeze();
    await settled(both[1] as Promise<void>, 5000);
    a.thaw();
    await settled(both[0] as Promise<void>, 5000);
    expect(await settled(second.count())).toBe(60);
  });
});

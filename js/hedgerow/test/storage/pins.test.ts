/** The collector finds every pin, with any calls at the same time. */
import { describe, expect, it } from 'vitest';
import type { Locks } from '../../src/base/locks.js';
import { parseRoot } from '../../src/base/root-hash.js';
import { Inspection } from '../../src/engine/verify/verify-commit.js';
import { memory, type Store } from '../../src/index.js';
import { announceWriter } from '../../src/storage/tabs/announce-writer.js';
import { Pins } from '../../src/storage/tabs/pins.js';
import { type Entry, expectSame, failure } from '../support/models/store-model.js';
import { isDeep } from '../support/property.js';
import { random } from '../support/random.js';
import { Browser, breathe, pass, settled } from '../support/worlds/tabs-world.js';

const rowsByRound = new Map<string, Entry[]>();

/** Returns rows that several tests share: random text takes longer than to store it. */
function rows(count: number, round: number): Entry[] {
  const name = `${count} ${round}`;
  const from = random(round + 1);
  const entries =
    rowsByRound.get(name) ??
    Array.from(
      { length: count },
      (_, at): Entry => [`k${String(at).padStart(6, '0')}`, { at, round, text: from.text(80) }],
    );
  rowsByRound.set(name, entries);
  return entries;
}

/** Returns the faults in the stored chunks of a root. */
async function faults(browser: Browser, root: string) {
  const inspection = await Inspection.of(await browser.inner.open('test'), 8);
  return (await inspection.verify(parseRoot(root), {})).faults;
}

/** Locks are free here, but on a busy machine a collection may be slow: that is no failure. */
const BUSY_MS = 20_000;
const TAGS = isDeep ? 20_000 : 3000;
/** So many rows that a load stores segments before it commits. */
const MANY = isDeep ? 60_000 : 16_000;

describe('a commit', () => {
  it('that a tab begins to read is pinned, and its predecessor is not', async () => {
    const browser = new Browser();
    const [a, b] = [browser.tab(), browser.tab()];
    const collector = await a.open();
    await settled(collector.putMany(rows(100, 0)));
    const reader = await b.open();
    const before = reader.root;
    // Its tab gets no message about the next commit.
    b.isDeaf = true;
    await settled(collector.put('k', 1));
    const scan = reader.scan()[Symbol.asyncIterator]();
    await settled(scan.next());
    expect(reader.root).not.toBe(before);
    const pins = browser.held().filter((name) => name.startsWith('pin/'));
    expect(pins).toContain(`pin/${reader.root}`);
    await settled(scan.return?.() as Promise<unknown>);
  });

  it('that is the head only during the reads of a collection stays for its reader', async () => {
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    const collector = await a.open('test', { advanced: { cacheBytes: 0 } });
    const writer = await b.open('test', { advanced: { cacheBytes: 0 } });
    const reader = await c.open('test', { advanced: { cacheBytes: 0 } });
    await settled(collector.put('first', 1));
    // All but the last segment of a load is stored.
    let commit = () => {};
    const mayCommit = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const source = async function* () {
      yield* rows(MANY, 0);
      await mayCommit;
    };
    const load = writer.putMany(source());
    await breathe(3000);
    let snapshot: ReturnType<Store['snapshot']> | undefined;
    let looks = 0;
    a.hooks.query = async () => {
      if (looks++ > 0) return;
      // After the collector's first read of refs the load commits.
      commit();
      await load;
      a.hooks.load = async () => {
        delete a.hooks.load;
        // After its read of the locks a tab reads that commit; another commit follows before its last read of refs.
        await reader.get('first');
        snapshot = reader.snapshot();
        await snapshot.count();
        await writer.putMany(rows(MANY, 1));
      };
    };
    await settled(collector.health.compact(), BUSY_MS);
    expect(looks).toBeGreaterThan(0);
    if (snapshot === undefined) throw new Error('no snapshot was taken');
    expect(await faults(browser, snapshot.root)).toEqual([]);
    expectSame(await settled(snapshot.get('k010000')), rows(MANY, 0)[10_000]?.[1]);
    expect(snapshot.root).not.toBe(writer.root);
  });

  it('that a branch named only during the reads of a collection stays', async () => {
    const browser = new Browser();
    const [a, b, c] = [browser.tab(), browser.tab(), browser.tab()];
    const collector = await a.open('test', { advanced: { cacheBytes: 0 } });
    const writer = await b.open('test', { advanced: { cacheBytes: 0 } });
    const reader = await c.open('test', { advanced: { cacheBytes: 0 } });
    await settled(writer.putMany(rows(TAGS, 0)));
    const old = writer.snapshot();
    await settled(old.count());
    await settled(writer.putMany(rows(TAGS, 1)));
    let snapshot: ReturnType<Store['snapshot']> | undefined;
    let looks = 0;
    a.hooks.query = async () => {
      if (looks++ > 0) return;
      // After the collector's first read of refs, only a new branch keeps an old commit.
      await (await writer.branches.open('short', { from: old })).close();
      old.close();
      a.hooks.load = async () => {
        delete a.hooks.load;
        // After its read of the locks a tab reads the branch, which is deleted before its last read of refs.
        const branch = await reader.branches.open('short');
        snapshot = branch.snapshot();
        await snapshot.count();
        await writer.branches.delete('short');
      };
    };
    await settled(collector.health.compact(), BUSY_MS);
    if (snapshot === undefined) throw new Error('no snapshot was taken');
    expect(snapshot.root).toBe(old.root);
    expect(await faults(browser, snapshot.root)).toEqual([]);
    expectSame(await settled(snapshot.scan().toArray()), rows(TAGS, 0));
  });

  it('that a tab holds before it knows of its lost role stays', async () => {
    const browser = new Browser();
    const [a, b] = [browser.tab(), browser.tab()];
    const first = await a.open('test', { advanced: { cacheBytes: 0 } });
    const second = await b.open('test', { advanced: { cacheBytes: 0 } });
    await settled(first.putMany(rows(TAGS, 0)));
    // Its tab receives no messages, and continues to work.
    a.isDeaf = true;
    const collecting = second.health.compact();
    while (browser.held().filter(isQuiet).length < 2) {
      await settled(first.scan({ limit: 1 }).toArray());
      await pass(50);
    }
    await settled(first.putMany(rows(TAGS, 1)));
    const snapshot = first.snapshot();
    expect(browser.held()).not.toContain(`pin/${snapshot.root}`);
    await settled(first.putMany(rows(TAGS, 2)));
    await settled(collecting, 10_000);
    for (let round = 3; round < 6; round++) {
      await settled(second.putMany(rows(TAGS, round)));
      await settled(second.health.compact());
    }
    expect(await faults(browser, snapshot.root)).toEqual([]);
    a.thaw();
    await pass(1000);
    expect(browser.held()).toContain(`pin/${snapshot.root}`);
    expect(browser.held().filter(isQuiet)).toHaveLength(1);
    await settled(second.health.compact());
    expect(await faults(browser, snapshot.root)).toEqual([]);
  });

  it('that a tab holds whose lease of the role has expired is pinned', async () => {
    const browser = new Browser();
    const [a, b] = [browser.tab(), browser.tab()];
    const first = await a.open();
    const second = await b.open();
    await settled(first.putMany(rows(TAGS, 0)));
    a.isDeaf = true;
    await settled(second.health.compact(), 10_000);
    const snapshot = first.snapshot();
    await settled(snapshot.count());
    expect(browser.held()).toContain(`pin/${snapshot.root}`);
    for (let round = 1; round < 4; round++) {
      await settled(second.putMany(rows(TAGS, round)));
      await settled(second.health.compact());
    }
    expect(await faults(browser, snapshot.root)).toEqual([]);
  });

  it('that was deleted before a frozen tab pinned it stops no collection', async () => {
    const browser = new Browser();
    const [a, b] = [browser.tab(), browser.tab()];
    const collector = await a.open();
    await settled(collector.putMany(rows(TAGS, 0)));
    const reader = await b.open();
    const deleted = reader.root;
    b.isDeaf = true;
    for (let round = 1; round < 3; round++) await settled(collector.putMany(rows(TAGS, round)));
    await settled(collector.health.compact(), BUSY_MS);
    // The tab pins its head, and is frozen before it has checked that the commit is whole.
    b.hooks.load = () => b.freeze();
    b.isDeaf = false;
    const scanning = reader.scan().toArray();
    await breathe(200);
    expect(b.isFrozen).toBe(true);
    expect(browser.held()).toContain(`pin/${deleted}`);
    for (let round = 3; round < 5; round++) await settled(collector.putMany(rows(TAGS, round)));
    await settled(collector.health.compact(), BUSY_MS);
    const { storedBytes, liveBytes } = await settled(collector.health.stats());
    expect(storedBytes).toBeLessThan(1.1 * liveBytes);
    delete b.hooks.load;
    b.thaw();
    expectSame(await settled(scanning), rows(TAGS, 4));
  });
});

const isQuiet = (name: string) => name.startsWith('quiet/');

describe('a lock', () => {
  const commit = new Uint8Array(32).fill(7);
  const pin = `hedgerow/test/pin/${'07'.repeat(32)}`;

  /** Pins of a tab that is not the collector, with locks that are refused while `isRefused` returns true. */
  async function pinsOf(isRefused: () => boolean) {
    const held = new Map<string, (cause?: unknown) => void>();
    const locks: Locks = {
      request: (name, { ifAvailable }, hold) => {
        if (name.endsWith('/collector')) return ifAvailable ? hold(null) : new Promise(() => {});
        if (isRefused()) return Promise.reject(new DOMException('no', 'InvalidStateError'));
        return new Promise((resolve, reject) => {
          const end = (cause?: unknown) => {
            held.delete(name);
            if (cause === undefined) resolve(undefined as never);
            else reject(cause);
          };
          held.set(name, end);
          hold({}).then(() => end());
        });
      },
      query: async () => ({ held: [...held.keys()].map((name) => ({ name })) }),
    };
    const pins = await Pins.open(locks, false, 'test', async () => {});
    return { pins, held };
  }

  it('that the browser refuses fails that call, and the next call requests it again', async () => {
    let isRefused = false;
    const { pins, held } = await pinsOf(() => isRefused);
    isRefused = true;
    await expect(pins.use(commit)).rejects.toEqual(failure('blocked', { retryable: true }));
    expect(pins.uses.size).toBe(0);
    isRefused = false;
    const hold = await pins.use(commit);
    expect(held.has(pin)).toBe(true);
    hold.release();
    await breathe(2);
    expect(held.has(pin)).toBe(false);
  });

  it('is shared by all uses of a commit, and released by the last', async () => {
    const { pins, held } = await pinsOf(() => false);
    const holds = await Promise.all([1, 2, 3].map(() => pins.use(commit)));
    for (const { release } of holds) {
      expect(held.has(pin)).toBe(true);
      release();
      await breathe(2);
    }
    expect(held.has(pin)).toBe(false);
    // A use that begins in the turn in which the last one ends has a lock of its own.
    const last = await pins.use(commit);
    last.release();
    const next = await pins.use(commit);
    await breathe(2);
    expect(held.has(pin)).toBe(true);
    next.release();
  });

  it('that the browser takes away is requested again when the page continues', async () => {
    const { pins, held } = await pinsOf(() => false);
    const hold = await pins.use(commit);
    const announced = await pins.pin(new Uint8Array(32).fill(8));
    const writing = await announceWriter(pins, 5);
    expect([announced.isSeen, writing.isSeen]).toEqual([true, true]);
    for (const end of [...held.values()]) end(new DOMException('cached', 'AbortError'));
    await breathe(2);
    expect([announced.isSeen, writing.isSeen]).toEqual([false, false]);
    await pins.wake();
    expect([...held.keys()].filter((name) => name.includes('pin/'))).toEqual([pin]);
    hold.release();
    await breathe(2);
    expect([...held.keys()].some((name) => name.includes('pin/'))).toBe(false);
  });
});

describe('a load whose lock the browser has taken away', () => {
  it('fails, and the next one succeeds', async () => {
    const browser = new Browser(memory());
    const [a, b] = [browser.tab(), browser.tab()];
    const loader = await a.open();
    const other = await b.open();
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const source = async function* () {
      yield* rows(MANY, 0);
      await gate;
    };
    const load = loader.putMany(source());
    load.catch(() => {});
    await breathe(3000);
    expect(browser.held().some((name) => name.startsWith('writer/'))).toBe(true);
    a.loseLocks();
    await pass(100);
    // The collector mistakes its segments for leftovers.
    const { segmentsDeleted } = await settled(other.health.compact(), 10_000);
    expect(segmentsDeleted).toBeGreaterThan(0);
    go();
    await settled(
      expect(load).rejects.toEqual(failure('unavailable/disconnected', { retryable: true })),
    );
    expect((await settled(loader.health.verify())).ok).toBe(true);
    await settled(loader.putMany(rows(1000, 1)));
    expect(await settled(loader.count())).toBe(1000);
    expect((await settled(other.health.verify())).ok).toBe(true);
  });
});

/** A store answers reads before its core has started, and no call notices the start. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError } from '../../src/base/errors.js';
import { memory, open, type Store } from '../../src/index.js';
import type { Storage } from '../../src/storage/segment-store.js';
import { ofKind } from '../support/error-kind.js';

/** Holds back the code of the core until `let go`; counts its loads. */
const gate = vi.hoisted(() => {
  const state = { loads: 0, wait: Promise.resolve(), go: () => {}, fails: false };
  return {
    state,
    close(): void {
      state.wait = new Promise((resolve) => {
        state.go = resolve;
      });
    },
  };
});

vi.mock(import('../../src/core/load-core.js'), async (original) => {
  const { loadCore } = await original();
  return {
    loadCore: async () => {
      gate.state.loads += 1;
      await gate.state.wait;
      if (gate.state.fails) throw new HedgerowError('unavailable/not-loaded', 'no network');
      return loadCore();
    },
  };
});

const ROWS = Array.from({ length: 5000 }, (_, at): [string, { n: number; text: string }] => [
  `row/${String(at).padStart(5, '0')}`,
  { n: at % 10, text: `text of ${at}` },
]);
const INDEXES = { byN: { path: '/n' } };

async function filled(): Promise<Storage> {
  const storage = memory();
  const db = await open('start', { storage, indexes: INDEXES });
  await db.putMany(ROWS);
  await db.count({ index: 'byN' });
  await db.close();
  return storage;
}

/** Opens the store while its core cannot start. */
async function opened(storage: Storage): Promise<Store> {
  gate.close();
  gate.state.loads = 0;
  return open('start', { storage, indexes: INDEXES });
}

/** Reads in each way. */
async function readAll(
  db: Pick<Store, 'get' | 'getMany' | 'has' | 'count' | 'at' | 'rank' | 'scan'>,
) {
  return {
    get: await db.get('row/00007'),
    none: await db.get('none'),
    many: await db.getMany(['row/00001', 'none', 'row/04999']),
    has: [await db.has('row/00002'), await db.has('none')],
    count: [await db.count(), await db.count({ prefix: 'row/001' })],
    at: await db.at(17),
    rank: await db.rank('row/00100'),
    scan: await db.scan({ gte: 'row/04990' }).toArray(),
    reverse: await db.scan({ lt: 'row/00003', reverse: true }).keys().toArray(),
    index: await db.scan({ index: 'byN', equals: 3, limit: 2 }).toArray(),
    indexCount: await db.count({ index: 'byN', equals: 3 }),
  };
}

afterEach(() => {
  gate.state.go();
  gate.state.fails = false;
});

describe('before the core has started', () => {
  it('a store and a snapshot read all that they read afterwards', async () => {
    const db = await opened(await filled());
    const early = await readAll(db);
    const snapshot = db.snapshot();
    expect(await readAll(snapshot)).toEqual(early);
    gate.state.go();
    await db.put('row/00007', 'changed');
    expect(await readAll(snapshot)).toEqual(early);
    expect(await readAll(db)).toEqual({ ...early, get: 'changed', index: expect.anything() });
    snapshot.close();
    await db.close();
  });

  it('a write waits for the core, and reads of its row wait for the write', async () => {
    const db = await opened(await filled());
    const put = db.put('a', 1);
    const read = db.get('a');
    expect(await db.get('row/00001')).toEqual(ROWS[1]?.[1]);
    gate.state.go();
    await put;
    expect(await read).toBe(1);
    await db.close();
  });

  it('a scan that has begun ends with the rows of its beginning', async () => {
    const db = await opened(await filled());
    const rows = db.scan()[Symbol.asyncIterator]();
    const indexed = db.scan({ index: 'byN' })[Symbol.asyncIterator]();
    const first = [await rows.next(), await indexed.next()];
    gate.state.go();
    await db.clear();
    await db.health.compact();
    const rest = async (rows: AsyncIterator<readonly unknown[]>) => {
      const keys: unknown[] = [];
      for (let row = await rows.next(); row.done !== true; row = await rows.next()) {
        keys.push(row.value[0]);
      }
      return keys;
    };
    expect(first[0]?.value[0]).toBe('row/00000');
    expect(await rest(rows)).toEqual(ROWS.slice(1).map(([key]) => key));
    expect(await rest(indexed)).toHaveLength(ROWS.length - 1);
    expect(await db.count()).toBe(0);
    await db.close();
  });

  it('a watch begins at the commit of its call, and its first rows are read', async () => {
    const db = await opened(await filled());
    const told: unknown[] = [];
    const first = new Promise<number>((resolve) => {
      db.watch({ prefix: 'row/0000' }, (changes) => resolve(changes.length), { initial: true });
    });
    expect(await first).toBe(10);
    const second = new Promise<void>((resolve) => {
      db.watch({}, (changes) => {
        told.push(...changes.map(({ op, key }) => [op, key]));
        resolve();
      });
    });
    const put = db.put('a', 1);
    gate.state.go();
    await Promise.all([put, second]);
    expect(told).toEqual([['insert', 'a']]);
    await db.close();
  });

  it('a commit of another handle is followed', async () => {
    const storage = await filled();
    gate.state.go();
    const other = await open('start', { storage, indexes: INDEXES });
    await other.put('other', 0);
    const db = await opened(storage);
    expect(await db.get('other')).toBe(0);
    await db.close();
    await other.close();
  });

  it('a store is closed without a core', async () => {
    const db = await opened(await filled());
    await db.get('row/00001');
    await db.close();
    expect(gate.state.loads).toBe(0);
    await expect(db.get('row/00001')).rejects.toMatchObject(ofKind('closed'));
    await expect(db.put('a', 1)).rejects.toMatchObject(ofKind('closed'));
  });
});

describe('a core that cannot be loaded', () => {
  it('fails writes, but no reads, until it can be loaded', async () => {
    const db = await opened(await filled());
    gate.state.fails = true;
    gate.state.go();
    const notLoaded = ofKind('unavailable/not-loaded');
    await expect(db.put('a', 1)).rejects.toMatchObject(notLoaded);
    await expect(db.transaction(() => 1)).rejects.toMatchObject(notLoaded);
    expect(await db.get('a')).toBeUndefined();
    expect(await db.count()).toBe(ROWS.length);
    gate.state.fails = false;
    await db.put('a', 2);
    expect(await db.get('a')).toBe(2);
    await db.close();
  });
});

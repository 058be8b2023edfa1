/** Calls of mutators that run together, and calls that disturb others. */
import { afterEach, expect, it, vi } from 'vitest';
import type { Locks } from '../../../src/base/locks.js';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { HedgerowError, memory } from '../../../src/index.js';
import type { SegmentStore, WriteBatch } from '../../../src/storage/segment-store.js';
import { mutators } from '../../../src/sync/mutators/index.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { ofKind } from '../../support/error-kind.js';
import { failure } from '../../support/models/store-model.js';
import { bind, ours, rowsOf, store, theirs } from '../../support/worlds/mutators-app.js';

afterEach(() => vi.restoreAllMocks());

/** Memory with changed handles. */
function changed(change: (segments: SegmentStore) => void): typeof storage {
  const storage = memory();
  const open = async (...how: Parameters<typeof storage.open>) => {
    const segments = await storage.open(...how);
    change(segments);
    return segments;
  };
  return { ...storage, open };
}

/** Memory that counts its transactions. */
function counted() {
  let count = 0;
  const storage = changed((segments) => {
    const write = segments.write.bind(segments);
    segments.write = (batch: WriteBatch) => {
      count += 1;
      return write(batch);
    };
  });
  return { storage, count: () => count };
}

const server = () => new ServerDouble(theirs);

it('calls of one turn share a commit, and each sees the rows of the calls before it', async () => {
  const { storage, count } = counted();
  const db = await store({ storage });
  const double = server();
  const app = await bind(db, double);
  const before = count();
  let told = 0;
  db.watch({}, () => {
    told += 1;
  });
  const ids = Array.from({ length: 300 }, (_, nth) => `${nth}`.padStart(3, '0'));
  const opened = ids.map((id) => app.mutate.openIssue({ id, title: id }));
  const closed = ids.map((id) => app.mutate.closeIssue({ id }));
  expect(await Promise.all(opened)).toEqual(ids);
  await Promise.all(closed);
  expect(count() - before).toBe(1);
  await expect.poll(() => told).toBe(1);
  const pending = app.calls();
  expect(pending.map(({ id }) => id)).toEqual(Array.from({ length: 600 }, (_, nth) => nth + 1));
  expect(pending.map(({ name }) => name)).toEqual([
    ...ids.map(() => 'openIssue'),
    ...ids.map(() => 'closeIssue'),
  ]);
  await app.push();
  await app.pull();
  expect(app.calls()).toEqual([]);
  expect(await rowsOf(db)).toEqual(double.rows);
  expect(await db.get('issue/299')).toEqual({ title: '299', isClosed: true });
});

it('calls during a commit go together in the next', async () => {
  const { storage, count } = counted();
  const app = await bind(await store({ storage }), server());
  const before = count();
  const first = app.mutate.add(1);
  await null;
  await null;
  const later = Array.from({ length: 2500 }, () => app.mutate.add(1));
  await Promise.all([first, ...later]);
  // At most 1,000 calls share one.
  expect(count() - before).toBeLessThanOrEqual(4);
  expect(app.calls()).toHaveLength(2501);
});

it('a call that throws leaves no trace, and does not disturb its neighbours', async () => {
  const db = await store();
  const app = await bind(db, server(), {
    mutators: {
      ...ours,
      async closeIssue(tx: Transaction, { id }: { id: string }) {
        tx.put(`trace/${id}`, 1);
        await ours.closeIssue(tx, { id });
      },
    },
  });
  const calls = [
    app.mutate.closeIssue({ id: 'none' }),
    app.mutate.add(1),
    app.mutate.openIssue({ id: 'a', title: 'a' }),
    app.mutate.closeIssue({ id: 'a' }),
    app.mutate.closeIssue({ id: 'none' }),
  ];
  const settled = await Promise.allSettled(calls);
  expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([
    ...[false, true, true, true, false],
  ]);
  expect(await rowsOf(db)).toEqual({
    count: 1,
    'issue/a': { title: 'a', isClosed: true },
    'trace/a': 1,
  });
  expect(app.calls().map(({ id, name }) => [id, name])).toEqual([
    [1, 'add'],
    [2, 'openIssue'],
    [3, 'closeIssue'],
  ]);
});

it('a call whose rows are refused at the commit fails alone', async () => {
  const db = await store({ advanced: { sums: { total: { prefix: 'n/', sum: '/n' } } } } as never);
  const app = await db.connect(
    mutators({
      mutators: {
        set(tx: Transaction, { key, n }: { key: string; n: unknown }) {
          tx.put(`n/${key}`, { n });
          return key;
        },
      },
      pull: () => json({}),
      push: () => json({}),
    }),
  );
  const wrong = { n: Number.MAX_VALUE };
  const calls = ['a', 'b', 'c', 'd', 'e'].map((key, nth) =>
    app.mutate.set({ key, ...(nth % 3 === 1 ? wrong : { n: nth }) }),
  );
  const settled = await Promise.allSettled(calls);
  const refused = { status: 'rejected', reason: { code: 'invalid-argument', detail: 'value' } };
  const made = (value: string) => ({ status: 'fulfilled', value });
  expect(settled).toMatchObject([made('a'), refused, made('c'), made('d'), refused]);
  expect(Object.keys(await rowsOf(db))).toEqual(['n/a', 'n/c', 'n/d']);
  expect(app.calls().map(({ id, args }) => [id, (args as { key: string }).key])).toEqual([
    [1, 'a'],
    [2, 'c'],
    [3, 'd'],
  ]);
});

/** An app with a mutator that waits for a signal. */
async function withSlow() {
  const db = await store();
  const waits: (() => void)[] = [];
  const double = new ServerDouble({ ...theirs, slow: (rows) => void rows.set('slow', 1) });
  const app = await db.connect(
    mutators({
      mutators: {
        ...ours,
        async slow(tx: Transaction) {
          await new Promise<void>((resolve) => waits.push(resolve));
          tx.put('slow', 1);
        },
      },
      pull: (request) => json(double.pull(request)),
      push: (request) => json(double.push(request)),
    }),
  );
  return { db, waits, app, double };
}

it('a slow call does not hold up the others', async () => {
  const { db, waits, app, double } = await withSlow();
  const slow = app.mutate.slow();
  await Promise.all([app.mutate.add(1), app.mutate.add(2)]);
  expect(await rowsOf(db)).toEqual({ count: 3 });
  // It runs again, alone. The rest of its first run has no effect.
  await expect.poll(() => waits.length).toBe(2);
  waits[0]?.();
  await app.mutate.add(3);
  expect(await rowsOf(db)).toEqual({ count: 6 });
  waits[1]?.();
  await slow;
  expect(await rowsOf(db)).toEqual({ count: 6, slow: 1 });
  expect(app.calls().map(({ id, name }) => [id, name])).toEqual([
    [1, 'add'],
    [2, 'add'],
    [3, 'add'],
    [4, 'slow'],
  ]);
  await app.push();
  expect(double.rows).toEqual({ count: 6, slow: 1 });
});

it('a mutator that goes on after its end does not change the rows of later calls', async () => {
  const db = await store();
  let late: Promise<void> | undefined;
  const app = await bind(db, server(), {
    mutators: {
      ...ours,
      nothing(...all: unknown[]) {
        const [tx] = all as [Transaction];
        const goOn = async () => {
          await new Promise((resolve) => setTimeout(resolve));
          tx.put('late', 1);
        };
        late = goOn();
        late.catch(() => {});
      },
    },
  });
  await Promise.all([app.mutate.nothing(), app.mutate.add(1)]);
  await expect(late).rejects.toEqual(failure('closed'));
  expect(await rowsOf(db)).toEqual({ count: 1 });
});

it('closing settles all calls: resolved calls are stored, and rejected ones are not', async () => {
  const storage = memory();
  const db = await store({ storage });
  const { app } = { app: await bind(db, server()) };
  const calls = Array.from({ length: 1500 }, () => app.mutate.add(1));
  const closing = db.close();
  const settled = await Promise.allSettled(calls);
  await closing;
  const made = settled.filter(({ status }) => status === 'fulfilled').length;
  const again = await store({ storage });
  expect((await again.get('count')) ?? 0).toBe(made);
  const other = await bind(again, server());
  expect(other.calls()).toHaveLength(made);
  await expect(app.mutate.add(1)).rejects.toEqual(failure('closed'));
});

it('calls that have not left this device can be dropped', async () => {
  const double = server();
  const db = await store();
  let answer: 'unsent' | 'unknown' | 'all' = 'unsent';
  const app = await bind(db, double, {
    push: (request) => {
      if (answer === 'all') return json(double.push(request));
      const code = answer === 'unsent' ? { syscall: 'connect' } : { code: 'ECONNRESET' };
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('no'), code) });
    },
  });
  await app.mutate.add(1);
  await app.mutate.add(10);
  await expect(app.push()).rejects.toEqual(failure('offline'));
  expect(app.calls().map(({ isSent }) => isSent)).toEqual([false, false]);
  expect(await app.drop(app.calls()[0] as never)).toBe(true);
  expect(await rowsOf(db)).toEqual({ count: 10 });
  // This one may have left.
  answer = 'unknown';
  await expect(app.push()).rejects.toEqual(failure('offline'));
  answer = 'unsent';
  await app.mutate.add(100);
  await expect(app.push()).rejects.toEqual(failure('offline'));
  expect(app.calls().map(({ isSent }) => isSent)).toEqual([true, false]);
  expect(await app.drop(app.calls()[0] as never)).toBe(false);
  answer = 'all';
  await app.push();
  await app.pull();
  expect([double.rows, await rowsOf(db)]).toEqual([{ count: 110 }, { count: 110 }]);
});

it('a failure to record an unsent call does not hide the error of the push', async () => {
  let isBroken = false;
  const storage = changed((segments) => {
    const write = segments.write.bind(segments);
    segments.write = async (batch: WriteBatch) => {
      if (isBroken) throw new HedgerowError('unavailable/disconnected', 'the disk is gone');
      return write(batch);
    };
  });
  const app = await bind(await store({ storage }), server(), {
    push: () => {
      isBroken = true;
      throw new HedgerowError('offline', 'no plug', { isSent: false });
    },
  });
  await app.mutate.add(1);
  await expect(app.push()).rejects.toEqual(failure('offline'));
  isBroken = false;
  // A call that may have left stays marked as sent.
  expect(app.calls()).toMatchObject([{ isSent: true }]);
});

it('calls of a page that reports itself offline are unsent', async () => {
  const db = await store();
  const app = await bind(db, server(), {
    push: () => {
      throw new TypeError('Failed to fetch');
    },
  });
  vi.stubGlobal('navigator', { onLine: false });
  try {
    await app.mutate.add(1);
    await expect(app.push()).rejects.toEqual(failure('offline'));
    expect(app.calls()).toMatchObject([{ isSent: false }]);
    vi.stubGlobal('navigator', { onLine: true });
    await expect(app.push()).rejects.toEqual(failure('offline'));
    expect(app.calls()).toMatchObject([{ isSent: true }]);
  } finally {
    vi.unstubAllGlobals();
  }
});

it('a call that another tab has sent since stays sent', async () => {
  const double = server();
  // The locks of suspended tabs were taken over: the requests of both overlap.
  const inner = memory();
  const locks = inner.locks as Locks;
  const request: Locks['request'] = (name, options, hold) =>
    name.endsWith('/call') ? hold(name) : locks.request(name, options, hold);
  const storage = { ...inner, locks: { ...locks, request } };
  const other = await bind(await store({ storage }), double);
  const app = await bind(await store({ storage }), double, {
    push: async () => {
      await other.push();
      const cause = Object.assign(new Error('no'), { syscall: 'connect' });
      throw new TypeError('fetch failed', { cause });
    },
  });
  await app.mutate.add(1);
  await expect(app.push()).rejects.toEqual(failure('offline'));
  expect(double.rows).toEqual({ count: 1 });
  expect(app.calls()).toMatchObject([{ isSent: true }]);
});

it.each([
  ['at its start', async () => {}],
  ['after a read', async (tx: Transaction) => void (await tx.get('n'))],
  [
    'after reads of which one fails',
    async (tx: Transaction) => {
      await tx.get('n');
      await tx.get(5 as never).catch(() => {});
    },
  ],
])('a mutator that calls the queue %s is refused at once', async (_, before) => {
  const db = await store();
  let runs = 0;
  const app = await db.connect(
    mutators({
      mutators: {
        inc: async (tx: Transaction) => tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1),
        outer: async (tx: Transaction) => {
          runs += 1;
          await before(tx);
          await tx.get('other');
          await tx.get('n');
          // biome-ignore lint/suspicious/noExplicitAny: its type would be of itself
          await (app as any).mutate.inc();
          tx.put('done', true);
        },
      },
      pull: () => json({}),
      push: () => json({}),
    }),
  );
  await expect(app.mutate.outer()).rejects.toMatchObject({
    ...ofKind('invalid-argument'),
    message: expect.stringContaining('inc is called in a mutator'),
  });
  expect(runs).toBe(1);
  expect(await rowsOf(db)).toEqual({});
  expect(app.calls()).toEqual([]);
  // Calls of others while a mutator waits are not part of its call.
  const app2 = app.mutate;
  await Promise.all([app2.inc(), Promise.resolve().then(() => app2.inc()), app2.inc()]);
  expect(await db.get('n')).toBe(3);
});

it('calls of others commit at each moment of a running mutator', async () => {
  const db = await store();
  const app = await db.connect(
    mutators({
      mutators: {
        read: async (tx: Transaction) => {
          for (let n = 0; n < 20; n++) await tx.get(`k${n}`);
        },
        nothing() {},
      },
      pull: () => json({}),
      push: () => json({}),
    }),
  );
  const calls: Promise<unknown>[] = [];
  let isOver = false;
  const others = (async () => {
    for (; !isOver && calls.length < 500; await null) calls.push(app.mutate.nothing());
  })();
  await app.mutate.read();
  isOver = true;
  await others;
  await Promise.all(calls);
  expect(calls.length).toBeGreaterThan(100);
});

/** Mutators: immediate changes, a durable queue, and a server that decides. */
import { expect, it } from 'vitest';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { memory, open } from '../../../src/index.js';
import { mutators, type RejectedCall } from '../../../src/sync/mutators/index.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import {
  bind,
  type Issue,
  ours,
  rejectedBy,
  rowsOf,
  store,
  theirs,
} from '../../support/worlds/mutators-app.js';
import { Disk } from '../../support/worlds/mutators-world.js';

it('a call runs at once, waits in the queue, and leaves it when the server has done it', async () => {
  const server = new ServerDouble(theirs);
  server.set([['issue/0', { title: 'from the server', isClosed: false }]]);
  const db = await store();
  const app = await bind(db, server);
  expect(await app.pull()).toEqual({ hasNews: true, acknowledged: 0, pending: 0 });
  expect(await app.mutate.openIssue({ id: '1', title: 'mine' })).toBe('1');
  await app.mutate.closeIssue({ id: '0' });
  await app.mutate.nothing();
  expect(await rowsOf(db)).toEqual({
    'issue/0': { title: 'from the server', isClosed: true },
    'issue/1': { title: 'mine', isClosed: false },
  });
  expect(app.calls().map(({ id, name, args, isSent }) => [id, name, args, isSent])).toEqual([
    [1, 'openIssue', { id: '1', title: 'mine' }, false],
    [2, 'closeIssue', { id: '0' }, false],
    [3, 'nothing', null, false],
  ]);
  expect(app.state).toMatchObject({
    ...{ status: 'stopped', isPending: true, pendingCalls: 3, isFilled: true, error: undefined },
  });
  await app.push();
  expect(app.calls().every(({ isSent }) => isSent)).toBe(true);
  expect(await app.pull()).toEqual({ hasNews: true, acknowledged: 3, pending: 0 });
  expect(await rowsOf(db)).toEqual(server.rows);
  expect(app.calls()).toEqual([]);
  expect(await db.branches.list()).toMatchObject([{ name: 'main' }]);
  expect(await db.branches.list()).toHaveLength(1);
  expect(await db.health.verify()).toMatchObject({ ok: true });
});

it('a replay is one commit: watchers hear only its final changes', async () => {
  const server = new ServerDouble(theirs);
  const db = await store();
  const app = await bind(db, server);
  server.set([['count', 100]]);
  await app.mutate.add(1);
  await app.mutate.openIssue({ id: '1', title: 'mine' });
  const heard: unknown[] = [];
  const stop = db.watch({}, (changes) => void heard.push(changes));
  await app.pull();
  await expect
    .poll(() => heard)
    .toEqual([[{ op: 'update', key: 'count', oldValue: 1, newValue: 101 }]]);
  await app.push();
  await app.pull();
  await app.mutate.openIssue({ id: '2', title: 'unrelated' });
  await expect.poll(() => heard).toHaveLength(2);
  const newValue = { title: 'unrelated', isClosed: false };
  expect(heard[1]).toEqual([{ op: 'insert', key: 'issue/2', newValue }]);
  stop();
  expect(server.rows).toMatchObject({ count: 101 });
});

it('the effect of a refused call goes back when the server acknowledges the call', async () => {
  const server = new ServerDouble(theirs);
  const db = await store();
  const app = await bind(db, server);
  await app.mutate.openIssue({ id: '1', title: 'refused' });
  await app.mutate.openIssue({ id: '2', title: 'fine' });
  await app.push();
  expect(await app.pull()).toMatchObject({ acknowledged: 2, pending: 0 });
  expect(await rowsOf(db)).toEqual({ 'issue/2': { title: 'fine', isClosed: false } });
});

it('a mutator that throws changes no row and queues no call', async () => {
  const db = await store();
  const app = await bind(db, new ServerDouble(theirs));
  await expect(app.mutate.closeIssue({ id: '9' })).rejects.toThrow('no such issue');
  expect(app.calls()).toEqual([]);
  await expect(app.mutate.add(new Uint8Array(1) as never)).rejects.toEqual(
    failure('invalid-argument/value'),
  );
  await expect(app.mutate.openIssue({ id: 'x'.repeat(2000), title: '' })).rejects.toEqual(
    failure('invalid-argument/key'),
  );
  expect(app.calls()).toEqual([]);
});

it('a call that throws when it runs again is reported once, leaves the queue, and later ones run', async () => {
  const server = new ServerDouble(theirs);
  server.set([['issue/0', { title: 'theirs', isClosed: false }]]);
  const db = await store();
  const app = await bind(db, server);
  const rejected = rejectedBy(app);
  await app.pull();
  await app.mutate.closeIssue({ id: '0' });
  await app.mutate.add(5);
  server.set([['issue/0', undefined]]);
  await app.pull();
  expect(rejected).toMatchObject([{ id: 1, name: 'closeIssue', args: { id: '0' } }]);
  expect(String(rejected[0]?.error)).toContain('no such issue');
  expect(await rowsOf(db)).toEqual({ count: 5 });
  // The later call takes its id.
  expect(app.calls()).toMatchObject([{ id: 1, name: 'add' }]);
  expect(await app.drop(rejected[0] as RejectedCall)).toBe(false);
  server.set([['other', 1]]);
  await app.pull();
  expect(rejected).toHaveLength(1);
  await app.push();
  expect(await app.drop({ place: app.calls()[0]?.place as number })).toBe(false);
  expect(await app.pull()).toMatchObject({ pending: 0 });
  expect(await rowsOf(db)).toEqual(server.rows);
  expect(server.done).toHaveLength(1);
});

it('a dropped call takes its effect with it', async () => {
  const server = new ServerDouble(theirs);
  const db = await store();
  const app = await bind(db, server);
  await app.mutate.add(1);
  await app.mutate.add(10);
  await app.mutate.add(100);
  const [, second] = app.calls();
  expect(await app.drop(second as never)).toBe(true);
  expect(await rowsOf(db)).toEqual({ count: 101 });
  expect(app.calls().map(({ id, args }) => [id, args])).toEqual([
    [1, 1],
    [2, 100],
  ]);
  await app.mutate.add(1000);
  await app.push();
  await app.pull();
  expect(server.rows).toEqual({ count: 1101 });
});

it('a call with an unknown name is reported, stays queued, and is sent as it is', async () => {
  const storage = memory();
  const server = new ServerDouble(theirs);
  const newer = await store({ storage });
  const later = (tx: Transaction) => void tx.put('later', true);
  const newerApp = await newer.connect(
    mutators({
      mutators: { ...ours, later },
      pull: (request) => json(server.pull(request)),
      push: (request) => json(server.push(request)),
    }),
  );
  await newerApp.mutate.later();
  await newerApp.mutate.add(1);
  await newer.close();
  const db = await store({ storage });
  const app = await bind(db, server);
  const rejected = rejectedBy(app);
  await app.pull();
  expect(rejected).toMatchObject([{ name: 'later', error: { code: 'unsupported' } }]);
  expect(await rowsOf(db)).toEqual({ count: 1 });
  expect(app.calls()).toHaveLength(2);
  await app.push();
  expect(await app.pull()).toMatchObject({ acknowledged: 2, pending: 0 });
  expect(await rowsOf(db)).toEqual({ count: 1, later: true });
});

it('two tabs call at once: no call is lost, and ids have no gaps', async () => {
  const storage = memory();
  const server = new ServerDouble(theirs);
  const [one, other] = [await store({ storage }), await store({ storage })];
  const tabs = [await bind(one, server), await bind(other, server)];
  const calls = Array.from({ length: 40 }, (_, nth) =>
    (tabs[nth % 2] as (typeof tabs)[0]).mutate.add(1),
  );
  await Promise.all(calls);
  expect(await one.get('count')).toBe(40);
  await tabs[0]?.push();
  expect(server.done.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, nth) => nth + 1));
  expect(server.rows).toEqual({ count: 40 });
  await tabs[1]?.pull();
  expect(tabs[1]?.calls()).toEqual([]);
  await expect.poll(() => rowsOf(one)).toEqual({ count: 40 });
});

it('calls during a pull are in the rows of the pull', async () => {
  const server = new ServerDouble(theirs);
  server.set(Array.from({ length: 3000 }, (_, nth) => [`k${nth}`, nth]));
  const db = await store();
  const app = await bind(db, server);
  const pulling = app.pull();
  let made = 0;
  let isOver = false;
  void pulling.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await app.mutate.add(1);
    made += 1;
    // Storage in memory never waits, and would leave the pull no turn.
    await new Promise((resolve) => setTimeout(resolve));
  }
  await pulling;
  expect(made).toBeGreaterThan(0);
  expect(await db.get('count')).toBe(made);
  expect(await db.count()).toBe(3001);
  await app.push();
  await app.pull();
  expect(await rowsOf(db)).toEqual(server.rows);
  expect(server.rows.count).toBe(made);
});

it('a store that crashed between a pull and its replay goes on with it', async () => {
  const disk = new Disk().tab();
  const server = new ServerDouble(theirs);
  let crashes = 0;
  for (let writes = 0; writes < 6; writes++) {
    const db = await open('app', { storage: disk.storage });
    const app = await bind(db, server);
    await app.mutate.add(1);
    await app.push();
    server.set([[`k${writes}`, writes]]);
    disk.left = writes;
    crashes += await app.pull().then(
      () => 0,
      () => 1,
    );
    await db.close().catch(() => {});
    disk.left = Number.POSITIVE_INFINITY;
    const again = await open('app', { storage: disk.storage });
    const bound = await bind(again, server);
    await bound.pull();
    expect(await rowsOf(again)).toEqual(server.rows);
    expect(bound.calls()).toEqual([]);
    await again.close();
  }
  expect(crashes).toBeGreaterThan(1);
  expect(server.rows.count).toBe(6);
});

it('a replay that changes only rows is stored, and the store stays whole', async () => {
  const server = new ServerDouble(theirs);
  const storage = memory();
  const offline = () => Promise.reject(new TypeError('network error'));
  const how = { storage, durability: 'relaxed' as const };
  const first = await bind(await store(how), server);
  await first.pull();
  await first.mutate.add(1);
  // The next version of the app, where the waiting call adds more: the queue does not change.
  const mutators = {
    ...ours,
    async add(tx: Transaction, by: number) {
      tx.put('count', ((await tx.get<number>('count')) ?? 0) + 10 * by);
    },
  };
  const db = await store(how);
  const next = await bind(db, server, { mutators, pull: offline });
  await expect(next.pull()).rejects.toEqual(failure('offline'));
  expect(await db.get('count')).toBe(10);
  const seen = await store({ storage });
  expect(await seen.get('count')).toBe(10);
  // On top of rows that storage lacks, it would be damaged.
  await next.mutate.openIssue({ id: '1', title: 'whole' });
  await expect.poll(() => seen.get('issue/1')).toMatchObject({ title: 'whole' });
  expect(await seen.health.verify()).toMatchObject({ ok: true });
  expect(await rowsOf(seen)).toMatchObject({ count: 10 });
});

it('a server that does not know the store any more gets all calls under new ids', async () => {
  const server = new ServerDouble(theirs);
  const db = await store();
  const resets: unknown[] = [];
  const app = await bind(db, server, {
    onReset: ({ sent }) => void resets.push(sent.map(({ args }) => args)),
  });
  await app.pull();
  await app.mutate.add(1);
  await app.push();
  await app.pull();
  server.forget();
  await app.mutate.add(2);
  server.set([['gone', undefined]]);
  await app.pull();
  expect(resets).toEqual([[]]);
  expect(app.calls()).toMatchObject([{ id: 1, args: 2 }]);
  await app.push();
  await app.pull();
  expect(server.rows).toEqual({ count: 3 });
  expect(await rowsOf(db)).toEqual({ count: 3 });
  // Sent, and forgotten before the acknowledgement: reported, and sent again.
  await app.mutate.add(4);
  await app.push();
  server.forget();
  await app.pull();
  expect(resets).toEqual([[], [4]]);
  await app.push();
  await app.pull();
  expect(await rowsOf(db)).toEqual(server.rows);
});

it('mutators may read by an index when they run again', async () => {
  const server = new ServerDouble({
    closeAll(rows) {
      for (const [key, value] of rows) rows.set(key, { ...(value as Issue), isClosed: true });
    },
  });
  server.set([['issue/1', { title: 'b', isClosed: false }]]);
  const db = await store({ indexes: { byTitle: { path: '/title' } } });
  const app = await db.connect(
    mutators({
      mutators: {
        async closeAll(tx: Transaction) {
          for await (const [key, issue] of tx.scan<Issue>({ index: 'byTitle' })) {
            tx.put(key, { ...issue, isClosed: true });
          }
        },
      },
      pull: (request) => json(server.pull(request)),
      push: (request) => json(server.push(request)),
    }),
  );
  await app.pull();
  await app.mutate.closeAll();
  server.set([['issue/2', { title: 'a', isClosed: false }]]);
  await app.pull();
  const titles: unknown[] = [];
  for await (const [, issue] of db.scan<Issue>({ index: 'byTitle' })) titles.push(issue);
  expect(titles).toEqual([
    { title: 'a', isClosed: true },
    { title: 'b', isClosed: true },
  ]);
});

it('a store with rows that no server knows is refused', async () => {
  const db = await store();
  await db.put('mine', 1);
  await expect(bind(db, new ServerDouble(theirs))).rejects.toEqual(failure('invalid-argument'));
  expect(await rowsOf(db)).toEqual({ mine: 1 });
  const other = await store();
  const wrong = { mutators: { a: 1 }, pull: 3, push: { url: '' }, auth: 'x' };
  await expect(other.connect(mutators(wrong as never))).rejects.toEqual(
    failure('invalid-argument'),
  );
});

it('a mutator that waits for another write of the store does not stop a replay', async () => {
  const server = new ServerDouble({ slow: (rows) => void rows.set('slow', 1) });
  server.set([['k', 1]]);
  const db = await store();
  const draft = await db.branches.open('draft');
  let runs = 0;
  const app = await db.connect(
    mutators({
      mutators: {
        async slow(tx: Transaction) {
          await draft.put('seen', ++runs);
          tx.put('slow', 1);
        },
      },
      pull: (request) => json(server.pull(request)),
      push: (request) => json(server.push(request)),
    }),
  );
  let isOver = false;
  const pulling = app.pull().finally(() => {
    isOver = true;
  });
  let calls = 0;
  while (!isOver && calls < 200) {
    await app.mutate.slow();
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve));
  }
  await pulling;
  expect(await rowsOf(db)).toEqual({ k: 1, slow: 1 });
  expect(app.calls()).toHaveLength(calls);
});

/** Sync: stores that meet at a remote. The tests count requests, and measure no time. */
import { expect, it } from 'vitest';
import { memoryRemote } from '../../../src/sync/remote/index.js';
import { longRows } from '../../support/long-rows.js';
import { expectSame } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { cost, device, many, rowsOf } from '../../support/worlds/sync-devices.js';

/** So many bytes travel as packs. */
const MANY = isDeep ? many(60_000, 'a note') : longRows(2000, 'a note');
const COUNT = MANY.length;

it('one device pushes, and another pulls the rows, in a request each', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  expect(await a.link.pull()).toEqual({ seq: 0, rows: 0, conflicts: 0 });
  await a.db.putMany(many(500, 'first'));
  expect(await a.link.push()).toMatchObject({ seq: 2, isPushed: true, rows: 500, races: 0 });
  expect(await b.link.pull()).toEqual({ seq: 2, rows: 500, conflicts: 0 });
  await a.db.putMany(
    many(500, 'first')
      .slice(0, 10)
      .map(([key]) => [key, { changed: true }]),
  );
  await a.db.delete('k000499');
  const pushed = await cost(a.link, () => a.link.push());
  expect([pushed.requests, pushed.sent < 6000]).toEqual([1, true]);
  const seen: unknown[] = [];
  const stop = b.db.watch({}, (changes) => void seen.push(changes.length));
  const pulled = await cost(b.link, () => b.link.pull());
  expect([pulled.requests, pulled.received < 6000]).toEqual([1, true]);
  await expect.poll(() => seen).toEqual([11]);
  stop();
  expect(await rowsOf(b.db)).toEqual(await rowsOf(a.db));
  expect(await cost(b.link, () => b.link.pull())).toEqual({ requests: 1, sent: 0, received: 0 });
  expect(await a.link.push()).toMatchObject({ isPushed: false });
});

it('changes of two devices merge by fields, and the log has the losing values', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  await a.db.putMany([
    ['one', { title: 'x', state: 'open' }],
    ['two', { n: 1 }],
    ['gone', 1],
  ]);
  await a.link.push();
  await b.link.pull();
  await a.db.putMany([
    ['one', { title: 'y', state: 'open' }],
    ['two', { n: 2 }],
    ['gone', 2],
  ]);
  await b.db.put('one', { title: 'x', state: 'closed' });
  await b.db.put('two', { n: 3 });
  await b.db.delete('gone');
  await a.link.push();
  expect(await b.link.push()).toMatchObject({ seq: 4, races: 1, pulledRows: 3, conflicts: 2 });
  await a.link.pull();
  const rows = { one: { title: 'y', state: 'closed' }, two: { n: 2 }, gone: 2 };
  expect([await rowsOf(a.db), await rowsOf(b.db)]).toEqual([rows, rows]);
  const logged = [];
  for await (const one of b.link.conflicts()) logged.push(one);
  expect(logged).toMatchObject([
    { key: 'gone', base: 1, ours: undefined, theirs: 2, result: 2, seq: 3 },
    { key: 'two', ours: { n: 3 }, theirs: { n: 2 }, result: { n: 2 }, fields: ['n'] },
  ]);
  await b.link.forgetConflicts(logged.map(({ id }) => id));
  for await (const one of b.link.conflicts()) throw new Error(one.key);
});

it.each([
  ['remote', 1],
  ['local', 2],
  [({ ours, theirs }: { ours: unknown; theirs: unknown }) => Number(ours) + Number(theirs), 3],
] as const)('a conflict is decided by the policy %s', async (policy, expected) => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote, { policy })];
  await a.db.put('key', 1);
  await b.db.put('key', 2);
  await a.link.push();
  await b.link.push();
  await a.link.pull();
  expect([await a.db.get('key'), await b.db.get('key')]).toEqual([expected, expected]);
});

it('many rows travel as packs, and a store with indexes and sum trees takes them', async () => {
  const remote = memoryRemote();
  const a = await device(remote);
  await a.db.putMany(MANY);
  const pushed = await cost(a.link, () => a.link.push());
  // The repository, a first head without rows, the packs, the nodes, the directory, the history, and the head with
  // them.
  expect(pushed.requests).toBeLessThanOrEqual(10);
  const plain = await device(remote, {}, { indexes: { byNth: { path: '/nth' } } });
  const cloned = await cost(plain.link, () => plain.link.pull());
  // Without the nodes, the directory and the history, and without the requests of writers.
  expect(cloned.requests).toBe(pushed.requests - 6);
  expect(cloned.received).toBeLessThan(COUNT * (isDeep ? 100 : 1000));
  const sums = await device(remote, {}, { advanced: { sums: { total: { sum: '/nth' } } } });
  expect(await sums.link.pull()).toMatchObject({ rows: COUNT });
  expect(sums.db.sumTree('total').root.sum).toBe(BigInt(((COUNT - 1) * COUNT) / 2));
  const last = plain.db.scan({ index: 'byNth', gte: COUNT - 2 }).keys();
  expect(await last.toArray()).toEqual(MANY.slice(-2).map(([key]) => key));
  for (const { db } of [plain, sums]) {
    expect(await db.health.verify()).toMatchObject({ ok: true, rows: COUNT });
    expectSame(await rowsOf(db), await rowsOf(a.db));
  }
});

it('a device that was away beyond the reach of the tail comes back', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  await a.db.putMany(isDeep ? many(20_000, 'a note') : longRows(1500, 'a note'));
  await a.link.push();
  await b.link.pull();
  for (let nth = 0; nth < (isDeep ? 150 : 90); nth++) {
    await a.db.put(`k${nth}`, nth);
    await a.link.push();
  }
  await b.db.put('own', 1);
  const { requests } = await cost(b.link, () => b.link.pull());
  // The head, a pack for each checkpoint since, and the logs behind the last.
  expect(requests).toBeLessThanOrEqual(7);
  await b.link.push();
  await a.link.pull();
  expect(await rowsOf(b.db)).toEqual(await rowsOf(a.db));
  const fresh = await device(remote);
  await fresh.link.pull();
  expectSame(await rowsOf(fresh.db), await rowsOf(a.db));
});

/** A server of plain rows: local changes are pushed, remote changes are merged, and no change is lost or sent twice. */
import { afterEach, expect, it, vi } from 'vitest';
import { memory, type OpenOptions, open, type Store } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote } from '../../../src/sync/remote/index.js';
import {
  type RefusedChange,
  type RestChange,
  type RestConnection,
  type RestOptions,
  type RestPushRequest,
  rest,
} from '../../../src/sync/rest/index.js';
import { RestDouble } from '../../support/doubles/rest-server.js';
import { failure } from '../../support/models/store-model.js';
import { rowsOf } from '../../support/worlds/sync-devices.js';

const stores: Store[] = [];
afterEach(async () => {
  for (const db of stores.splice(0)) await db.close();
});

interface Client {
  readonly db: Store;
  readonly link: RestConnection;
  readonly pushes: RestPushRequest[];
}

async function client(
  server: RestDouble,
  options: Partial<RestOptions> = {},
  storeOptions: OpenOptions = {},
): Promise<Client> {
  const db = await open('app', { storage: memory(), ...storeOptions });
  stores.push(db);
  const pushes: RestPushRequest[] = [];
  const link = await db.connect(
    rest({
      pull: (request) => server.pull(request),
      push: (request) => {
        pushes.push(structuredClone(request));
        return server.push(request);
      },
      ...options,
    }),
  );
  return { db, link, pushes };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

it('rows arrive, and leave as net changes with their bases', async () => {
  const server = new RestDouble();
  server.set({ a: { n: 1 }, b: { n: 2 }, c: { n: 3 } });
  const { db, link, pushes } = await client(server);
  expect(await link.pull()).toEqual({ seq: 1, rows: 3, conflicts: 0 });
  expect(await link.isPending()).toBe(false);
  await db.put('a', { n: 10 });
  await db.put('a', { n: 11 });
  await db.delete('b');
  await db.put('d', { n: 4 });
  await db.put('e', 1);
  await db.delete('e');
  const expected: RestChange[] = [
    { op: 'put', key: 'a', value: { n: 11 }, before: { n: 1 } },
    { op: 'delete', key: 'b', before: { n: 2 } },
    { op: 'put', key: 'd', value: { n: 4 }, before: undefined },
  ];
  expect(await all(link.changes())).toEqual(expected);
  expect(await link.push()).toEqual({ accepted: 3, refused: 0 });
  expect(pushes).toEqual([{ changes: expected }]);
  expect(server.rows).toEqual({ a: { n: 11 }, c: { n: 3 }, d: { n: 4 } });
  expect(await link.isPending()).toBe(false);
  expect(await link.push()).toEqual({ accepted: 0, refused: 0 });
  expect(pushes).toHaveLength(1);
  // Its own changes come back, and are no news.
  expect(await link.pull()).toMatchObject({ rows: 0, conflicts: 0 });
  expect(await link.pull()).toMatchObject({ rows: 0, conflicts: 0 });
  expect(await rowsOf(db)).toEqual(server.rows);
});

it('the known state of the server outlives the handle', async () => {
  const server = new RestDouble();
  server.set({ a: 1 });
  const storage = memory();
  const first = await client(server, {}, { storage });
  await first.link.pull();
  await first.db.put('b', 2);
  await first.db.close();
  const { db, link } = await client(server, {}, { storage });
  expect(await all(link.changes())).toEqual([{ op: 'put', key: 'b', value: 2, before: undefined }]);
  expect(await link.pull()).toMatchObject({ rows: 0 });
  await link.push();
  expect(server.rows).toEqual({ a: 1, b: 2 });
  expect(await rowsOf(db)).toEqual(server.rows);
});

it('fields of both sides are merged, the server wins the same field, and the log has the loser', async () => {
  const server = new RestDouble();
  server.set({ a: { title: 'one', state: 'open' } });
  const { db, link } = await client(server);
  await link.pull();
  await db.put('a', { title: 'mine', state: 'open', tag: 1 });
  server.set({ a: { title: 'theirs', state: 'closed' } });
  // The first push is answered 409: it pulls, merges, and pushes again.
  expect(await link.push()).toEqual({ accepted: 1, refused: 0 });
  const merged = { title: 'theirs', state: 'closed', tag: 1 };
  expect(server.rows).toEqual({ a: merged });
  expect(await rowsOf(db)).toEqual({ a: merged });
  const [logged, ...more] = await all(link.conflicts());
  expect(more).toEqual([]);
  expect(logged).toMatchObject({ key: 'a', fields: ['title'], result: merged });
  expect(logged?.ours).toEqual({ title: 'mine', state: 'open', tag: 1 });
  await link.forgetConflicts([logged?.id ?? '']);
  expect(await all(link.conflicts())).toEqual([]);
});

it('a policy may ask a person', async () => {
  const server = new RestDouble();
  const policy = vi.fn(async ({ ours }: { ours: unknown }) => `${ours}, as decided`);
  server.set({ a: 'old' });
  const { db, link } = await client(server, { policy });
  await link.pull();
  await db.put('a', 'mine');
  server.set({ a: 'theirs' });
  expect(await link.pull()).toMatchObject({ conflicts: 1 });
  expect(policy).toHaveBeenCalledOnce();
  await link.push();
  expect(server.rows).toEqual({ a: 'mine, as decided' });
  expect(await rowsOf(db)).toEqual({ a: 'mine, as decided' });
});

it('a policy that returns undefined deletes a row only if one side has deleted it', async () => {
  const server = new RestDouble();
  server.set({ a: 1, b: 1, c: 1 });
  const seen: string[] = [];
  const policy = ({ key }: { key: string }) => void seen.push(key);
  const { db, link } = await client(server, { policy });
  await link.pull();
  for (const key of ['a', 'b']) await db.put(key, 'mine');
  await db.delete('c');
  server.set({ b: undefined, c: 'theirs' });
  await link.pull();
  expect(seen).toEqual(['b', 'c']);
  expect(await rowsOf(db)).toEqual({ a: 'mine' });
  server.set({ a: 'theirs' });
  const error = await link.pull().catch((cause: unknown) => cause);
  expect(error).toEqual(failure('invalid-argument/value'));
  expect(String(error)).toContain('the policy gave undefined for "a"');
  expect([await rowsOf(db), await all(link.conflicts())]).toMatchObject([{ a: 'mine' }, [{}, {}]]);
});

it('a refused change is undone, reported and logged; later changes of its row stay', async () => {
  const server = new RestDouble();
  server.set({ a: 1, b: 1, c: 1 });
  const told: RefusedChange[] = [];
  let during = async () => {};
  const { db, link } = await client(server, {
    onRefused: (change) => void told.push(change),
    push: async (request) => {
      await during();
      return server.push(request);
    },
  });
  await link.pull();
  server.refuses.set('a', 'not yours').set('b', 'too long').set('new', 'no room');
  await db.putMany([
    ['a', 2],
    ['b', 2],
    ['c', 2],
    ['new', 2],
  ]);
  during = () => db.put('b', 3);
  expect(await link.push()).toEqual({ accepted: 1, refused: 3 });
  expect(await rowsOf(db)).toEqual({ a: 1, b: 3, c: 2 });
  expect(told).toEqual([
    { op: 'put', key: 'a', value: 2, before: 1, why: 'not yours' },
    { op: 'put', key: 'b', value: 2, before: 1, why: 'too long' },
    { op: 'put', key: 'new', value: 2, before: undefined, why: 'no room' },
  ]);
  expect((await all(link.conflicts())).map(({ key, ours, result }) => [key, ours, result])).toEqual(
    [
      ['a', 2, 1],
      ['b', 2, 1],
      ['new', 2, undefined],
    ],
  );
  server.refuses.clear();
  during = async () => {};
  expect(await link.push()).toEqual({ accepted: 1, refused: 0 });
  expect(server.rows).toEqual({ a: 1, b: 3, c: 2 });
});

it('a change whose answer was lost is no conflict with the change after it', async () => {
  const server = new RestDouble();
  server.set({ a: { n: 1 } });
  let isLost = true;
  const { db, link } = await client(server, {
    push: (request) => {
      const answer = server.push(request);
      if (isLost) throw new TypeError('Failed to fetch');
      return answer;
    },
  });
  await link.pull();
  await db.put('a', { n: 2 });
  await expect(link.push()).rejects.toEqual(failure('offline'));
  await db.put('a', { n: 3 });
  isLost = false;
  // Otherwise the server, which has 2 by now, would win against 3.
  expect(await link.pull()).toMatchObject({ conflicts: 0 });
  expect(await rowsOf(db)).toEqual({ a: { n: 3 } });
  await link.push();
  expect(server.rows).toEqual({ a: { n: 3 } });
  expect(await all(link.conflicts())).toEqual([]);
});

it('many changes go in batches, each accepted on its own', async () => {
  const server = new RestDouble();
  let left = 2;
  const { db, link, pushes } = await client(server, {
    push: (request) => {
      if (left-- === 0) throw new TypeError('Failed to fetch');
      pushes.push(request);
      return server.push(request);
    },
  });
  await db.putMany(Array.from({ length: 2500 }, (_, n): [string, unknown] => [`k${n}`, n]));
  await expect(link.push()).rejects.toEqual(failure('offline'));
  expect(pushes.map(({ changes }) => changes.length)).toEqual([1000, 1000]);
  expect(await all(link.changes())).toHaveLength(500);
  left = 1;
  expect(await link.push()).toEqual({ accepted: 500, refused: 0 });
  expect(await rowsOf(db)).toEqual(server.rows);
});

it('existing rows are changes, and indexes follow pulled rows', async () => {
  const server = new RestDouble();
  server.set({ a: { n: 5 } });
  const db = await open('app', { storage: memory(), indexes: { byN: { path: ['/n'] } } });
  stores.push(db);
  await db.put('mine', { n: 7 });
  const link = await db.connect(
    rest({
      pull: (request) => server.pull(request),
      push: (request) => server.push(request),
    }),
  );
  await link.pull();
  await link.push();
  expect(server.rows).toEqual({ a: { n: 5 }, mine: { n: 7 } });
  server.set({ a: { n: 6 } });
  await link.pull();
  const found = await db.scan({ index: 'byN', gte: [6] }).toArray();
  expect(found.map(([key]) => key)).toEqual(['a', 'mine']);
  expect((await db.health.verify()).faults).toEqual([]);
});

it('a loop keeps a store in sync, and reports its states', async () => {
  const server = new RestDouble();
  const states: string[] = [];
  let isDown = false;
  const { db, link } = await client(server, {
    pull: (request) => {
      if (isDown) throw new TypeError('Failed to fetch');
      return server.pull(request);
    },
  });
  const loop = link;
  loop.subscribe(() => void states.push(`${loop.state.status} ${loop.state.isPending}`));
  loop.start({ pauseMs: 0 });
  await db.put('a', 1);
  await expect.poll(() => server.rows).toEqual({ a: 1 });
  server.set({ b: 2 });
  loop.poke();
  await expect.poll(() => rowsOf(db)).toEqual({ a: 1, b: 2 });
  isDown = true;
  await db.put('c', 3);
  await expect.poll(() => states.at(-1)).toBe('offline true');
  isDown = false;
  loop.poke();
  await expect.poll(() => server.rows).toEqual({ a: 1, b: 2, c: 3 });
  await expect.poll(() => states.at(-1)).toBe('synced false');
  await loop.stop();
  expect(states.at(-1)).toBe('stopped false');
  await link.close();
});

it('bytes go to a function, and not as JSON', async () => {
  const server = new RestDouble();
  const { db, link, pushes } = await client(server);
  await db.put('a', new Uint8Array([1, 2]));
  await link.push();
  expect(pushes[0]?.changes[0]?.value).toEqual(new Uint8Array([1, 2]));
  const other = await client(server, { push: { url: 'http://127.0.0.1:1/' } });
  await other.db.put('b', new Uint8Array([1, 2]));
  await expect(other.link.push()).rejects.toEqual(failure('unsupported'));
});

it('wrong options, and the name of a remote, are refused', async () => {
  const server = new RestDouble();
  const db = await open('app', { storage: memory() });
  stores.push(db);
  const places = { pull: () => undefined, push: () => undefined };
  for (const wrong of [
    { pull: places.pull },
    { ...places, auth: 'secret' },
    { ...places, policy: 'newest' },
    { ...places, maxPullBytes: 0 },
    { ...places, other: 1 },
  ]) {
    await expect(db.connect(rest(wrong as never))).rejects.toEqual(failure('invalid-argument'));
  }
  const remote = await db.connect(bucket(memoryRemote(), { name: 'server', probe: false }));
  await db.put('a', 1);
  await remote.push();
  await expect(db.connect(rest(places))).rejects.toEqual(failure('invalid-argument'));
  await db.connect(rest({ ...places, name: 'other' }));
  expect(server.requests.pull).toBe(0);
});

it('a link that lost its copy of the server pulls all rows, and deletes no row', async () => {
  const server = new RestDouble();
  server.set({ a: { n: 1 }, b: { n: 2 } });
  const { db, link } = await client(server);
  await link.pull();
  await db.put('waits', { n: 3 });
  await link.close();
  await db.branches.delete('remote/server');
  const again = await db.connect(
    rest({
      pull: (request) => server.pull(request),
      push: (request) => server.push(request),
    }),
  );
  await again.pull();
  await again.push();
  expect(await db.count()).toBe(3);
  expect(Object.keys(server.rows).sort()).toEqual(['a', 'b', 'waits']);
});

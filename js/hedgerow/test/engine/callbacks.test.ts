/** Errors of the caller's code are reported, and change no result. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { importStore, memory, open } from '../../src/index.js';
import { bucket } from '../../src/sync/link/bucket.js';
import { memoryRemote } from '../../src/sync/remote/index.js';
import { all, type Entry, storeOf } from '../support/models/store-model.js';
import { many } from '../support/worlds/sync-devices.js';

const rows = (count: number) =>
  Array.from({ length: count }, (_, at): Entry => [`k${String(at).padStart(6, '0')}`, { n: at }]);

const mine = new Error('mine');
const throwing = () => {
  throw mine;
};
const rejecting = () => Promise.reject(mine);

let reported: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  // Node has no `reportError`.
  reported = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  expect(reported.mock.calls.length, 'nothing was reported').toBeGreaterThan(0);
  for (const [error] of reported.mock.calls) expect(error).toBe(mine);
  reported.mockRestore();
});

describe.each([
  ['throws', throwing],
  ['returns a promise that rejects', rejecting],
])('a callback that %s', (_, onProgress) => {
  it('does not affect putMany, at its last call and before', async () => {
    const db = await storeOf();
    const one = await db.putMany([['a', 1]], { onProgress });
    expect(one).toMatchObject({ rows: 1, root: db.root });
    const many = await db.putMany(rows(40_000), { onProgress });
    expect(many).toMatchObject({ rows: 40_000, root: db.root });
    expect(await db.count()).toBe(40_001);
    await expect.poll(() => reported.mock.calls.length).toBeGreaterThan(2);
  });

  it('does not affect rows as bytes, patches and deletions', async () => {
    const db = await storeOf();
    const blob = new Blob(rows(2000).map((row) => `${JSON.stringify(row)}\n`));
    await db.putMany(blob, { onProgress });
    await db.applyPatch([{ op: 'delete', key: 'k000000' }], { onProgress });
    expect(await db.count()).toBe(1999);
  });

  it('does not affect verify and repair', async () => {
    const db = await storeOf(rows(5000));
    expect(await db.health.verify({ onProgress })).toMatchObject({ ok: true, rows: 5000 });
    expect(await db.health.repair({ onProgress })).toMatchObject({ commitsDropped: 0 });
    expect(await db.count()).toBe(5000);
  });

  it('does not affect an import', async () => {
    const db = await storeOf(rows(5000));
    const copy = await new Response((await db.backup.export()).stream()).blob();
    const storage = memory();
    const { root } = await importStore('copy', copy, { storage, onProgress });
    expect(root).toBe(db.root);
    expect((await open('copy', { storage })).root).toBe(db.root);
  });

  it('does not affect pulls, pushes and their loop', async () => {
    const remote = memoryRemote();
    const linked = async (name: string) => {
      const db = await open(name, { storage: memory() });
      return { db, link: await db.connect(bucket(remote, { probe: false })) };
    };
    const [from, to] = [await linked('from'), await linked('to')];
    await from.db.putMany(many(30_000, 'a note'));
    expect(await from.link.push({ onProgress })).toMatchObject({ isPushed: true });
    expect(await to.link.pull({ onProgress })).toMatchObject({ rows: 30_000 });
    const own = await linked('own');
    own.link.onProgress(onProgress);
    own.link.subscribe(onProgress);
    own.link.onPull(onProgress);
    own.link.start();
    await expect.poll(() => own.link.state.status).toBe('synced');
    expect(own.db.root).toBe(from.db.root);
    await own.link.stop();
  });

  it('does not affect sum trees', async () => {
    const db = await storeOf();
    const leaves = [{ key: 'a', value: Uint8Array.of(1), sum: 5n }];
    const { root } = await db.sumTree('t').putMany(leaves, { onProgress });
    expect(root.sum).toBe(5n);
    expect(db.sumTree('t').root).toEqual(root);
  });

  it('does not affect the build of indexes and reads that wait for it', async () => {
    const storage = memory();
    const plain = await open('test', { storage });
    await plain.putMany(rows(20_000));
    await plain.close();
    const indexes = { n: { path: '/n' } };
    const db = await open('test', { storage, indexes, advanced: { onIndexProgress: onProgress } });
    expect(await db.count({ index: 'n' })).toBe(20_000);
    await db.put('k1', { n: -1 });
    expect(await db.scan({ index: 'n', limit: 1 }).keys().toArray()).toEqual(['k1']);
    await expect.poll(() => reported.mock.calls.length).toBeGreaterThan(0);
    await db.close();
  });

  it('that reports a deleted store ends no process', async () => {
    const storage = memory();
    const db = await open('test', { storage, advanced: { onDeleted: onProgress as () => void } });
    await storage.destroy('test');
    await expect(db.put('a', 1)).rejects.toMatchObject({ code: 'closed' });
    await expect.poll(() => reported.mock.calls.length).toBe(1);
  });
});

it('an error while rows are taken is reported, and all rows arrive', async () => {
  const db = await storeOf();
  let calls = 0;
  await db.putMany(
    (async function* () {
      for (const row of rows(3000)) {
        if (calls < 3 && row[0].endsWith('000')) await new Promise((done) => setTimeout(done, 20));
        yield row;
      }
    })(),
    {
      onProgress: () => {
        calls += 1;
        throw mine;
      },
    },
  );
  expect(calls).toBe(reported.mock.calls.length);
  expect((await all(db)).length).toBe(3000);
});

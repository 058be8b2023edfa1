/** `clone`: a store that begins with the rows of a remote. */
import { expect, it } from 'vitest';
import { clone, HedgerowError, memory, open, type Storage } from '../../src/index.js';
import { bucket } from '../../src/sync/link/bucket.js';
import { memoryRemote, type Remote } from '../../src/sync/remote/index.js';
import { copyRemote } from '../support/doubles/collected-remote.js';
import { failure } from '../support/models/store-model.js';
import { isDeep } from '../support/property.js';
import { random } from '../support/random.js';

/** The number of rows, the random bytes of each, and its filler: only few rows have filler. */
const [ROWS, BYTES, MORE] = isDeep ? [9000, 900, 0] : [2500, 600, 2800];

/** Makes a remote with rows, in several packs. */
async function published(rows = ROWS): Promise<{ remote: Remote; root: string }> {
  const remote = memoryRemote();
  const db = await open('from', { storage: memory() });
  const from = random(1);
  await db.putMany(
    Array.from({ length: rows }, (_, nth): [string, unknown] => [
      `k${String(nth).padStart(6, '0')}`,
      { nth, text: btoa(String.fromCharCode(...from.bytes(BYTES))) + '.'.repeat(MORE) },
    ]),
  );
  const link = await db.connect(bucket(remote, { probe: false }));
  await link.push();
  return { remote, root: db.root };
}

const shared = published();

/** Wraps the remote: it fails from the `most`-th pack on. */
function failing(inner: Remote, most: number): Remote & { gets: number } {
  const remote = {
    ...inner,
    gets: 0,
    async get(...call: Parameters<Remote['get']>) {
      remote.gets += 1;
      if (remote.gets > most) throw new HedgerowError('offline', 'the network is down');
      return inner.get(...call);
    },
  };
  return remote;
}

/** Counts the rows of a store. */
async function rowsIn(storage: Storage, name = 'app'): Promise<number> {
  const db = await open(name, { storage });
  const rows = await db.count();
  await db.close();
  return rows;
}

it('resolves to a store with the rows of the remote, and its connection', async () => {
  const { remote: inner, root } = await shared;
  const remote = memoryRemote();
  await copyRemote(inner, remote);
  const seen: number[] = [];
  const place = bucket(remote, { probe: false, policy: 'local' });
  const { db, connection } = await clone('app', place, {
    storage: memory(),
    indexes: { byNth: { path: '/nth' } },
    onProgress: ({ packs }) => void seen.push(packs),
  });
  expect(await db.count()).toBe(ROWS);
  expect(await db.scan({ index: 'byNth', gte: ROWS - 1 }).toArray()).toHaveLength(1);
  expect(seen.at(-1)).toBeGreaterThan(2);
  await db.put('own', 1);
  expect(await connection.push()).toMatchObject({ isPushed: true });
  const plain = await clone('plain', bucket(remote), { storage: memory() });
  expect(await plain.db.count()).toBe(ROWS + 1);
  expect(plain.db.root).not.toBe(root);
});

it('resumes where it was cut off, and later brings new rows', async () => {
  const { remote, root } = await shared;
  const storage = memory();
  const cut = failing(remote, 2);
  await expect(clone('app', bucket(cut), { storage })).rejects.toEqual(failure('offline'));
  expect(await rowsIn(storage)).toBe(0);
  const whole = failing(remote, 100);
  const { db } = await clone('app', bucket(whole), { storage });
  expect(db.root).toBe(root);
  const all = failing(remote, 100);
  await clone('other', bucket(all), { storage: memory() });
  expect(whole.gets).toBe(all.gets - 2);
  await db.put('mine', 1);
  await db.close();
  const later = failing(remote, 0);
  const again = await clone('app', bucket(later), { storage });
  expect([await again.db.count(), later.gets]).toEqual([ROWS + 1, 0]);
});

it('refuses a store that has rows of its own, and leaves it as it was', async () => {
  const { remote } = await shared;
  const storage = memory();
  const db = await open('app', { storage });
  await db.put('own', 1);
  const before = await db.branches.list({ remotes: true });
  await expect(clone('app', bucket(remote), { storage })).rejects.toEqual(
    failure('invalid-argument'),
  );
  expect(await db.branches.list({ remotes: true })).toEqual(before);
  expect(await db.count()).toBe(1);
  // A clone of one remote is no clone of another.
  const first = await clone('cloned', bucket(remote), { storage });
  await first.db.close();
  const elsewhere = bucket(remote, { name: 'elsewhere' });
  await expect(clone('cloned', elsewhere, { storage })).rejects.toEqual(
    failure('invalid-argument'),
  );
});

it('of a remote without a head is a store without rows', async () => {
  const { db, connection: link } = await clone('app', bucket(memoryRemote()), {
    storage: memory(),
  });
  expect([await db.count(), (await link.pull()).seq]).toEqual([0, 0]);
});

it('that fails or is aborted closes its store', async () => {
  const { remote } = await shared;
  const storage = memory();
  const controller = new AbortController();
  const hanging = { ...remote, get: () => new Promise<never>(() => {}) };
  const cloning = clone('app', bucket(hanging), { storage, signal: controller.signal });
  setTimeout(() => controller.abort(), 100);
  await expect(cloning).rejects.toEqual(failure('aborted'));
  expect(await rowsIn(storage)).toBe(0);
  const signal = AbortSignal.abort();
  await expect(clone('new', bucket(remote), { storage, signal })).rejects.toEqual(
    failure('aborted'),
  );
  await expect(open('new', { storage, advanced: { mustExist: true } })).rejects.toEqual(
    failure('not-found/store'),
  );
  for (const wrong of [{ link: {} }, { wrong: 1 }, { onProgress: 'x' }]) {
    const options = { storage, ...wrong } as never;
    await expect(clone('new', bucket(remote), options)).rejects.toEqual(
      failure('invalid-argument'),
    );
  }
  for (const wrong of [remote, undefined, bucket(remote, 3 as never), bucket({} as never)]) {
    const cloned = clone('new', wrong as never, { storage });
    await expect(cloned).rejects.toEqual(failure('invalid-argument'));
  }
});

it('branches() lists the branches of remotes only on request', async () => {
  const { remote } = await published(isDeep ? 4000 : 2000);
  const { db, connection: link } = await clone('app', bucket(remote), { storage: memory() });
  await db.put('own', 1);
  await link.push();
  await db.branches.open('draft');
  const names = async (options?: { remotes: boolean }) =>
    (await db.branches.list(options)).map(({ name }) => name);
  expect(await names()).toEqual(['main', 'draft']);
  expect(await names({ remotes: true })).toEqual(
    expect.arrayContaining(['main', 'draft', link.originName, `${link.originName}/checkpoint`]),
  );
  await expect(db.branches.list({ remotes: 1 } as never)).rejects.toEqual(
    failure('invalid-argument'),
  );
});

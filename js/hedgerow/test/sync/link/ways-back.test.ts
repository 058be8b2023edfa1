/** Ways back: from a remote that went back, and from a remote with missing or wrong objects. */
import { expect, it } from 'vitest';
import { HedgerowError } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/index.js';
import { type BucketOptions, contextOf } from '../../../src/sync/link/open-bucket-connection.js';
import { deflate } from '../../../src/sync/remote/format/deflate.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { ofKind } from '../../support/error-kind.js';
import { random } from '../../support/random.js';
import { restore } from '../../support/worlds/copied-remote.js';
import { device, many, rowsOf } from '../../support/worlds/sync-devices.js';

const failure = (code: string) => expect.objectContaining(ofKind(code));

async function fresh(remote: Remote, options: BucketOptions = {}) {
  const { db, link } = await device(remote, options);
  try {
    await link.pull();
    return await rowsOf(db);
  } finally {
    await db.close();
  }
}

/**
 * A device whose remote was restored from a backup: `x` and `gone` are in it; a row waits here, and one changed there.
 */
async function rolledBack() {
  const [remote, backup] = [memoryRemote(), memoryRemote()];
  const one = await device(remote);
  await one.db.putMany([
    ['x', 1],
    ['both', 0],
    ['gone', 1],
  ]);
  await one.link.push();
  await restore(remote, backup);
  await one.db.put('y', 2);
  await one.db.delete('gone');
  await one.db.put('both', 'ours');
  await one.link.push();
  await restore(backup, remote);
  await one.db.put('waits', 3);
  await expect(one.link.pull()).rejects.toEqual(failure('rollback'));
  return { ...one, remote };
}

it('rejoin keeps the rows of both sides', async () => {
  const { db, link, remote } = await rolledBack();
  const other = await device(remote);
  await other.link.pull();
  await other.db.put('both', 'theirs');
  await other.db.put('theirs', 1);
  await other.link.push();
  expect(await link.rejoin({ keep: 'union' })).toMatchObject({ conflicts: 1 });
  const union = { x: 1, both: 'theirs', gone: 1, y: 2, waits: 3, theirs: 1 };
  expect(await rowsOf(db)).toEqual(union);
  const logged: unknown[] = [];
  for await (const { key, ours } of link.conflicts()) logged.push([key, ours]);
  expect(logged).toEqual([['both', 'ours']]);
  await link.push();
  expect(await fresh(remote)).toEqual(union);
});

it('rejoin takes the rows of the remote alone', async () => {
  const { db, link, remote } = await rolledBack();
  await link.rejoin({ keep: 'remote' });
  const rows = { x: 1, both: 0, gone: 1 };
  expect(await rowsOf(db)).toEqual(rows);
  expect(await link.push()).toMatchObject({ isPushed: false });
  await db.put('later', 1);
  await link.push();
  expect(await fresh(remote)).toEqual({ ...rows, later: 1 });
});

it('rejoin fills a remote whose head was deleted, and the device keeps its rows', async () => {
  const remote = memoryRemote();
  const one = await device(remote);
  await one.db.put('a', 1);
  await one.link.push();
  await remote.remove(['h/main']);
  await expect(one.link.pull()).rejects.toEqual(failure('remote/gone'));
  await expect(one.link.push()).rejects.toEqual(failure('remote/gone'));
  await expect(one.link.rejoin({ keep: 'remote' })).rejects.toEqual(failure('remote/gone'));
  expect(await rowsOf(one.db)).toEqual({ a: 1 });
  await one.link.rejoin({ keep: 'union' });
  await one.link.push();
  expect(await fresh(remote)).toEqual({ a: 1 });
});

it('rejoin forgets no row while the remote is unreadable', async () => {
  const { db, link, remote } = await rolledBack();
  const before = await rowsOf(db);
  const { readHead, readHeadSince } = remote;
  const offline = async () => {
    throw new HedgerowError('offline', 'no network');
  };
  Object.assign(remote, { readHead: offline, readHeadSince: offline });
  for (const keep of ['union', 'remote'] as const) {
    await expect(link.rejoin({ keep })).rejects.toEqual(failure('offline'));
  }
  Object.assign(remote, { readHead, readHeadSince });
  await expect(link.pull()).rejects.toEqual(failure('rollback'));
  expect(await rowsOf(db)).toEqual(before);
  const keep = 'all' as 'union';
  await expect(link.rejoin({ keep })).rejects.toEqual(failure('invalid-argument'));
});

it('a push without news rejects after a rollback', async () => {
  const [remote, backup] = [memoryRemote(), memoryRemote()];
  const { db, link } = await device(remote);
  await db.put('a', 1);
  await link.push();
  await restore(remote, backup);
  await db.put('b', 1);
  await link.push();
  await restore(backup, remote);
  await expect(link.pull()).rejects.toEqual(failure('rollback'));
  await expect(link.push()).rejects.toEqual(failure('rollback'));
});

it.each<[string, BucketOptions]>([
  ['plain', {}],
  ['encrypted', { encryption: remoteKeys({ place: 'room', keys: () => random(9).bytes(32) }) }],
])(
  'a collection reports a missing pack of a remote that is %s, and a device with the rows puts it again',
  async (_, options) => {
    const remote = memoryRemote();
    const { db, link } = await device(remote, options);
    const from = random(7);
    const rows = many(600, 'x').map(([key]): [string, unknown] => [key, from.bytes(2500)]);
    await db.putMany(rows);
    await link.push();
    const behind = await device(remote, options);
    await behind.link.pull();
    await db.put('later', 1);
    await link.push();
    expect(await link.collect()).toMatchObject({ missing: [] });
    const [pack] = [...(await remote.list('p/'))].sort((a, b) => b.length - a.length);
    const name = (pack as { name: `p/${string}` }).name;
    await remote.remove([name]);
    await expect(fresh(remote, options)).rejects.toEqual(failure('remote/data'));
    const told = await link.collect();
    expect(told).toMatchObject({ missing: [name], deleted: { objects: 0 } });
    const there = [...(await remote.list('p/')), ...(await remote.list('d/'))];
    expect(told.live.objects).toBe(there.length);
    const { seq } = await link.repair({ remote: true });
    expect(seq).toBe((await link.pull()).seq);
    expect(await link.collect()).toMatchObject({ missing: [] });
    expect(await fresh(remote, options)).toEqual(await rowsOf(db));
    await behind.db.put('behind', 1);
    await behind.link.push();
    await link.pull();
    expect(await rowsOf(behind.db)).toEqual(await rowsOf(db));
  },
);

it('a device without the rows of the head replaces the head only by an explicit option', async () => {
  const remote = memoryRemote();
  const one = await device(remote);
  await one.db.put('a', 1);
  await one.link.push();
  const behind = await device(remote);
  await behind.link.pull();
  // More than 4 KiB are a separate object.
  await one.db.put('long', random(1).bytes(20_000));
  await one.link.push();
  const objects = await remote.list('d/');
  await remote.remove(objects.map(({ name }) => name as `d/${string}`));
  const head = await remote.readHead('main');
  await expect(behind.link.repair({ remote: true })).rejects.toEqual(failure('remote/data'));
  expect((await remote.readHead('main'))?.token).toBe(head?.token);
  await behind.db.put('waits', 1);
  await behind.link.repair({ remote: 'replace' });
  expect(await fresh(remote)).toEqual({ a: 1, waits: 1 });
  await one.link.pull();
  await one.db.put('b', 1);
  await one.link.push();
  await behind.link.pull();
  expect(await rowsOf(one.db)).toEqual(await rowsOf(behind.db));
});

it('the device that has the rows mends a tail that leads to other rows than its head says', async () => {
  const remote = memoryRemote();
  const honest = await device(remote);
  await honest.db.put('first', 1);
  await honest.link.push();
  const liar = await device(remote);
  await liar.link.pull();
  // Well-formed: a letter of a value is changed.
  Object.assign(contextOf(liar.link).tools, {
    deflate: async (delta: Uint8Array) => {
      const at = Buffer.from(delta).indexOf('theirs');
      return deflate(at < 0 ? delta : delta.with(at, 'T'.charCodeAt(0)));
    },
  });
  await liar.db.put('row', 'theirs');
  await liar.link.push();
  await expect(honest.link.pull()).rejects.toEqual(failure('remote/data'));
  await expect(honest.link.repair({ remote: true })).rejects.toEqual(failure('remote/data'));
  Object.assign(contextOf(liar.link).tools, { deflate });
  await liar.link.repair({ remote: true });
  await honest.link.pull();
  expect(await rowsOf(honest.db)).toEqual({ first: 1, row: 'theirs' });
  expect(await fresh(remote)).toEqual({ first: 1, row: 'theirs' });
});

it('a repair refuses a remote without a head, and wrong options', async () => {
  const remote = memoryRemote();
  const { link } = await device(remote);
  await expect(link.repair({ remote: true })).rejects.toEqual(failure('remote/gone'));
  const wrong = 'all' as 'replace';
  await expect(link.repair({ remote: wrong })).rejects.toEqual(failure('invalid-argument'));
});

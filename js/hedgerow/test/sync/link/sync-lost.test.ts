/** Pushes whose answer was lost. */
import { expect, it } from 'vitest';
import { bucket } from '../../../src/sync/link/bucket.js';
import { PLAIN_SCOPE } from '../../../src/sync/remote/format/cipher-suite.js';
import { decodeHead } from '../../../src/sync/remote/format/head-codec.js';
import { memoryRemote, type Remote, type Swap } from '../../../src/sync/remote/index.js';
import { device, many, offline, rowsOf } from '../../support/worlds/sync-devices.js';

const headOf = async (remote: Remote) =>
  decodeHead((await remote.readHead('main'))?.bytes as Uint8Array, PLAIN_SCOPE);

it('a device recognises its push whose answer was lost, and pushes once', async () => {
  const inner = memoryRemote();
  let swaps = 0;
  const remote: Remote = {
    ...inner,
    async swapHead(...call): Promise<Swap> {
      // The first one makes the branch.
      swaps += 1;
      const swap = await inner.swapHead(...call);
      return swaps === 2 ? { state: 'unknown', cause: offline() } : swap;
    },
  };
  const a = await device(remote);
  await a.db.put('a', 1);
  expect(await a.link.push()).toMatchObject({ seq: 2 });
  expect(swaps).toBe(2);
  await a.db.put('a', 2);
  await a.link.push();
  const b = await device(inner);
  await b.link.pull();
  expect(await rowsOf(b.db)).toEqual({ a: 2 });
});

it('an edit after a push without an answer is no conflict', async () => {
  const inner = memoryRemote();
  let isCut = true;
  const remote: Remote = {
    ...inner,
    async swapHead(...call) {
      const swap = await inner.swapHead(...call);
      // The branch exists: the test means the push itself.
      if (isCut && call[1] !== undefined) throw new Error('the page was closed');
      return swap;
    },
  };
  const a = await device(remote);
  await a.db.put('a', { n: 1 });
  await expect(a.link.push()).rejects.toThrow('closed');
  isCut = false;
  await a.db.put('a', { n: 2 });
  const link = await a.db.connect(bucket(remote, { probe: false }));
  expect(await link.push()).toMatchObject({ seq: 3, conflicts: 0 });
  expect(await rowsOf(a.db)).toEqual({ a: { n: 2 } });
});

it('an edit after a checkpoint without an answer is no conflict, when others have pushed since', async () => {
  const inner = memoryRemote();
  let isCut = false;
  const remote: Remote = {
    ...inner,
    async swapHead(...call) {
      const swap = await inner.swapHead(...call);
      if (isCut) throw new Error('the page was closed');
      return swap;
    },
  };
  const a = await device(remote);
  await a.db.put('a', { n: 0 });
  await a.link.push();
  const b = await device(inner);
  await b.link.pull();
  // So many rows that no entry of the tail has them.
  await a.db.putMany([...many(20_000, 'long'), ['a', { n: 1 }], ['b', { n: 1 }]]);
  isCut = true;
  await expect(a.link.push()).rejects.toThrow('closed');
  isCut = false;
  await b.link.pull();
  await b.db.put('elsewhere', 1);
  await b.link.push();
  expect((await headOf(inner)).tail).toHaveLength(1);
  await a.db.put('a', { n: 2 });
  const link = await a.db.connect(bucket(remote, { probe: false, policy: 'remote' }));
  expect(await link.push()).toMatchObject({ conflicts: 0 });
  const rows = await rowsOf(a.db);
  expect([rows.a, rows.b, rows.elsewhere]).toEqual([{ n: 2 }, { n: 1 }, 1]);
  expect(await link.pull()).toMatchObject({ conflicts: 0, rows: 0 });
  await b.link.pull();
  expect(b.db.root).toBe(a.db.root);
});

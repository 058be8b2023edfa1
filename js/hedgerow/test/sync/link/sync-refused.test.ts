/** Damaged, older or unsafe remotes: they are refused, and rows stay. */
import { expect, it } from 'vitest';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { failure } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { cost, device, many, rowsOf } from '../../support/worlds/sync-devices.js';

it('a remote that went back or was exchanged is refused, and rows stay', async () => {
  const inner = memoryRemote();
  const a = await device(inner);
  await a.db.put('a', 1);
  await a.link.push();
  const old = await inner.readHead('main');
  await a.db.put('a', 2);
  await a.link.push();
  const stale = await a.db.connect(
    bucket({ ...inner, readHead: async () => old }, { probe: false }),
  );
  await expect(stale.pull()).rejects.toEqual(failure('rollback'));
  const other = memoryRemote();
  await (await device(other)).link.push();
  const b = await device(other);
  await b.db.put('b', 1);
  await b.link.push();
  const elsewhere = await a.db.connect(bucket(other, { probe: false }));
  await expect(elsewhere.pull()).rejects.toEqual(failure('rollback'));
  const empty = await a.db.connect(bucket(memoryRemote(), { probe: false }));
  await expect(empty.pull()).rejects.toEqual(failure('remote/gone'));
  expect(await rowsOf(a.db)).toEqual({ a: 2 });
});

/** So many rows travel as packs. */
const ROWS = isDeep ? 30_000 : 20_000;

it('damaged heads, deltas and packs are remote/data, and rows stay', async () => {
  const inner = memoryRemote();
  const a = await device(inner);
  await a.db.putMany(many(ROWS, 'first'));
  await a.link.push();
  await a.db.putMany(many(3000, 'second'));
  await a.link.push();
  const flipped = (bytes: Uint8Array | undefined): Uint8Array | undefined =>
    bytes?.with(bytes.length >> 1, (bytes[bytes.length >> 1] as number) ^ 1);
  const wrong: Remote[] = [
    {
      ...inner,
      async readHead(...call) {
        const head = await inner.readHead(...call);
        return head && { ...head, bytes: flipped(head.bytes) as Uint8Array };
      },
    },
    { ...inner, get: async (...call) => flipped(await inner.get(...call)) },
    { ...inner, get: async () => undefined },
    { ...inner, get: async (...call) => (await inner.get(...call))?.subarray(0, 100) },
  ];
  for (const remote of wrong) {
    const b = await device(remote);
    await b.db.put('own', 1);
    await expect(b.link.pull()).rejects.toEqual(failure('remote/data'));
    expect(await rowsOf(b.db)).toEqual({ own: 1 });
    // It goes on with a sound one.
    const link = await b.db.connect(bucket(inner, { probe: false }));
    expect(await link.pull()).toMatchObject({ rows: ROWS });
  }
});

it('an older app pulls from the remote of a newer one, and does not push', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote, { app: 2 }), await device(remote, { app: 1 })];
  await a.db.put('a', 1);
  await a.link.push();
  await b.db.put('b', 1);
  await expect(b.link.push()).rejects.toEqual(failure('newer-version/format'));
  expect(await rowsOf(b.db)).toEqual({ a: 1, b: 1 });
});

it('a store probes once whether a remote is safe, and pushes to no other', async () => {
  const a = await device(memoryRemote(), { probe: true });
  await a.db.put('a', 1);
  const first = await cost(a.link, () => a.link.push());
  await a.db.put('a', 2);
  const again = await cost(a.link, () => a.link.push());
  expect([first.requests > 10, again.requests]).toEqual([true, 1]);
  const inner = memoryRemote();
  const liar: Remote = {
    ...inner,
    swapHead: async (branch, _token, bytes) => {
      const head = await inner.readHead(branch);
      return inner.swapHead(branch, head?.token, bytes);
    },
  };
  const b = await device(liar, { probe: true });
  await b.db.put('b', 1);
  await expect(b.link.push()).rejects.toEqual(failure('remote/unsafe'));
  expect(await inner.list('h/')).toEqual([]);
});

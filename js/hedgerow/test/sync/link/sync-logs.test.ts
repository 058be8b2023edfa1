/** Devices that were away or cut off, and need more entries than a head has. */
import { expect, it } from 'vitest';
import { sameBytes } from '../../../src/base/bytes.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { longRows } from '../../support/long-rows.js';
import { failure } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { cost, device, many, offline, rowsOf } from '../../support/worlds/sync-devices.js';

it('a clone that was cut off behind the checkpoint goes on with the entries', async () => {
  const inner = memoryRemote();
  const a = await device(inner);
  await a.db.putMany(isDeep ? many(30_000, 'first') : longRows(1500, 'first'));
  await a.link.push();
  await a.db.putMany(many(300, 'second'));
  await a.link.push();
  let isCut = true;
  const remote: Remote = {
    ...inner,
    async get(name, ...rest) {
      if (isCut && name.startsWith('d/')) throw offline();
      return inner.get(name, ...rest);
    },
  };
  const b = await device(remote);
  await b.db.put('own', 1);
  await expect(b.link.pull()).rejects.toEqual(failure('offline'));
  isCut = false;
  expect(await b.link.push()).toMatchObject({ seq: 4 });
  await a.link.pull();
  expect(await rowsOf(b.db)).toEqual({
    ...Object.fromEntries(many(300, 'second')),
    ...(await rowsOf(a.db)),
  });
  expect(await a.db.get('k000000')).toMatchObject({ note: 'second' });
});

it('a device finds a push without an answer in a log', async () => {
  const inner = memoryRemote();
  let [isCut, reads] = [true, 0];
  const remote: Remote = {
    ...inner,
    async swapHead(...call) {
      const swap = await inner.swapHead(...call);
      if (isCut) throw new Error('the page was closed');
      return swap;
    },
    async get(...call) {
      reads += 1;
      return inner.get(...call);
    },
  };
  const [a, b] = [await device(remote), await device(inner)];
  await a.db.put('a', { n: 1 });
  await expect(a.link.push()).rejects.toThrow('closed');
  isCut = false;
  await b.link.pull();
  for (let nth = 0; nth < 20; nth++) {
    await b.db.put('b', nth);
    await b.link.push();
  }
  await a.db.put('a', { n: 2 });
  const link = await a.db.connect(bucket(remote, { probe: false }));
  expect(await link.push()).toMatchObject({ seq: 22, conflicts: 0 });
  expect(reads).toBe(2);
  expect(await rowsOf(a.db)).toEqual({ a: { n: 2 }, b: 19 });
});

it('a missing or damaged log is remote/data, and rows stay', async () => {
  const inner = memoryRemote();
  const [a, b] = [await device(inner), await device(inner)];
  await a.db.put('a', 0);
  await a.link.push();
  await b.link.pull();
  for (let nth = 1; nth < 30; nth++) {
    await a.db.put('a', nth);
    await a.link.push();
  }
  await b.db.put('own', 1);
  const names = (await inner.list('d/')).map(({ name }) => name);
  expect(names).toHaveLength(3);
  const other = (await inner.get(names[0] as string)) as Uint8Array;
  const wrong: ((bytes: Uint8Array | undefined) => Uint8Array | undefined)[] = [
    () => undefined,
    (bytes) => bytes?.subarray(0, 50),
    (bytes) => bytes?.with(60, (bytes[60] as number) ^ 1),
    (bytes) => (bytes && sameBytes(bytes, other) ? other.toReversed() : other),
  ];
  for (const change of wrong) {
    const remote: Remote = { ...inner, get: async (...call) => change(await inner.get(...call)) };
    const link = await b.db.connect(bucket(remote, { probe: false }));
    const refused = { code: 'remote', detail: 'data', object: 'log' };
    await expect(link.pull()).rejects.toMatchObject(refused);
    expect(await rowsOf(b.db)).toEqual({ a: 0, own: 1 });
    await expect((await device(remote)).link.pull()).rejects.toMatchObject(refused);
  }
  const { requests } = await cost(b.link, () => b.link.pull());
  expect(requests).toBe(4);
  expect(await rowsOf(b.db)).toEqual({ a: 29, own: 1 });
});

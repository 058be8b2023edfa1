/** Lazy clones: rows come when they are read, and stay; other rows cost no bytes. */
import { expect, it } from 'vitest';
import { memory } from '../../../src/index.js';
import {
  asked,
  caught,
  keyOf,
  lazy,
  published,
  rowOf,
  switched,
} from '../../support/worlds/lazy-devices.js';

const ROWS = 60_000;
const shared = published(ROWS);

it('a clone opens with two requests, and reads on demand', async () => {
  const { remote, from } = await shared;
  const { db, link } = await lazy(remote, memory());
  expect(link.traffic.requests).toBe(2);
  expect(db.root).toBe(from.root);
  expect(await db.count()).toBe(ROWS);
  expect(await db.count({ gte: keyOf(100) })).toBe(ROWS - 100);
  const first = await asked(link, () => db.get(keyOf(30_000)));
  expect(first).toMatchObject({ result: rowOf(30_000)[1], requests: 2 });
  const again = await asked(link, () => db.get(keyOf(30_000)));
  expect(again).toMatchObject({ result: rowOf(30_000)[1], requests: 0 });
  const scanned = await asked(link, () => db.scan({ gte: keyOf(30_000), limit: 100 }).toArray());
  expect(scanned.result).toEqual(Array.from({ length: 100 }, (_, nth) => rowOf(30_000 + nth)));
  expect(scanned.requests).toBeLessThanOrEqual(2);
  const three = [5, 20_000, 59_999];
  const many = await asked(link, () => db.getMany(three.map(keyOf)));
  expect(many.result).toEqual(three.map((nth) => rowOf(nth)[1]));
  expect(link.traffic.receivedBytes).toBeLessThan(250_000);
  await db.close();
});

it('a scan of all rows returns all rows, and each byte travels once', async () => {
  const { remote } = await shared;
  const { db, link } = await lazy(remote, memory());
  let nth = 0;
  for await (const [key, value] of db.scan()) {
    const [wantedKey, wanted] = rowOf(nth++);
    if (key !== wantedKey) expect(key).toBe(wantedKey);
    if (nth % 97 === 0) expect(value).toEqual(wanted);
  }
  expect(nth).toBe(ROWS);
  const objects = await remote.list('p/');
  const bytes = objects.reduce((sum, { length }) => sum + length, 0);
  expect(link.traffic.receivedBytes).toBeLessThan(1.1 * bytes);
  const again = await asked(link, () => db.scan({ reverse: true }).toArray());
  expect([again.result?.length, again.requests]).toEqual([ROWS, 0]);
  expect(await db.health.verify()).toMatchObject({ ok: true, rows: ROWS, remoteRows: 0 });
  await db.close();
});

it('a clone goes on after more failures than it has parallel requests', async () => {
  const { remote } = await shared;
  const net = switched(remote);
  const { db } = await lazy(net, memory());
  net.isOff = true;
  for (let nth = 0; nth < 8; nth++) {
    expect(await caught(db.get(keyOf(7000 * nth)))).toMatchObject({ code: 'offline' });
  }
  net.isOff = false;
  expect(await db.get(keyOf(30_000))).toEqual(rowOf(30_000)[1]);
  await db.close();
});

it('rows that were read are here after a restart without a network; errors for others name their keys', async () => {
  const { remote } = await shared;
  const net = switched(remote);
  const storage = memory();
  const before = await lazy(net, storage);
  await before.link.prefetch({ gte: keyOf(1000), lt: keyOf(3000) });
  await before.db.close();
  net.isOff = true;
  const { db, link } = await lazy(net, storage);
  const rows = await db.scan({ gte: keyOf(1000), lt: keyOf(3000) }).toArray();
  expect(rows).toHaveLength(2000);
  const error = await caught(db.get(keyOf(40_000)));
  expect(error).toMatchObject({ code: 'offline', retryable: true });
  const { gt = '', lte = '' } = error.range ?? {};
  expect(gt < keyOf(40_000) && keyOf(40_000) <= lte).toBe(true);
  await db.put(keyOf(2000), 'mine');
  expect(await db.get(keyOf(2000))).toBe('mine');
  expect(await caught(db.put(keyOf(40_000), 'mine'))).toMatchObject({ code: 'offline' });
  // These calls fetch no rows.
  expect(await db.count()).toBe(ROWS);
  const verification = await db.health.verify();
  expect(verification).toMatchObject({ ok: true });
  expect(verification.rows + verification.remoteRows).toBe(ROWS);
  expect((await db.health.stats()).rows).toBe(ROWS);
  await db.health.compact();
  // The state of the storage itself.
  expect((await db.health.get()).state).toMatch(/^(ephemeral|best-effort)$/);
  expect(await db.scan({ gte: keyOf(1000), lt: keyOf(3000) }).toArray()).toHaveLength(2000);
  net.isOff = false;
  expect(await db.get(keyOf(40_000))).toEqual(rowOf(40_000)[1]);
  expect(link.traffic.requests).toBeGreaterThan(0);
  await db.close();
});

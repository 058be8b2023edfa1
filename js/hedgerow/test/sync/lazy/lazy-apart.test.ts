/**
 * An unreachable remote fails no read of local rows: read-ahead and other calls that need the remote do not disturb it.
 */
import { expect, it } from 'vitest';
import { HedgerowError, memory } from '../../../src/index.js';
import { caught, keyOf, lazy, published, rowOf } from '../../support/worlds/lazy-devices.js';

const ROWS = 60_000;
const shared = published(ROWS);
const entries = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => rowOf(from + at));

/**
 * Opens a store again without a network, after reads of `limit` rows from each of `starts`. Each request fails when
 * `down` has resolved.
 */
async function offline(starts: readonly number[], limit: number, down = async () => {}) {
  const { remote } = await shared;
  const storage = memory();
  const before = await lazy(remote, storage);
  for (const from of starts) {
    // The read brings all leaves of a frame, so that the scan reads no leaf ahead.
    expect(await before.db.get(keyOf(from))).toEqual(rowOf(from)[1]);
    const rows = await before.db.scan({ gte: keyOf(from), limit }).toArray();
    expect(rows).toEqual(entries(from, limit));
  }
  await before.db.close();
  const refuse = async () => {
    await down();
    throw new HedgerowError('offline', 'the network is down');
  };
  const net = { ...remote, readHead: refuse, readHeadSince: refuse, get: refuse };
  return lazy(net, storage);
}

it('a scan with a limit reads again the rows that it has read before', async () => {
  const starts = Array.from({ length: 50 }, (_, nth) => 1000 * nth + 7 * nth);
  const { db } = await offline(starts, 100);
  for (const from of starts) {
    expect(await db.scan({ gte: keyOf(from), limit: 100 }).toArray()).toEqual(entries(from, 100));
  }
  expect(await caught(db.scan().toArray())).toMatchObject({ code: 'offline' });
  await db.close();
});

it('a call that waits for the remote does not delay reads of local rows', async () => {
  const starts = [10_000, 11_500, 13_000, 40_000];
  const down = { asked: () => {}, answer: () => {} };
  const isAsked = new Promise<void>((resolve) => {
    down.asked = resolve;
  });
  const { db } = await offline(starts, 50, () => {
    down.asked();
    return new Promise((resolve) => {
      down.answer = resolve;
    });
  });
  const away = caught(db.getMany([20_000, ...starts, 50_000].map(keyOf)));
  await isAsked;
  const values = await Promise.all(starts.map((nth) => db.get(keyOf(nth))));
  expect(values).toEqual(starts.map((nth) => rowOf(nth)[1]));
  // Only now the first call hears that the remote is unreachable.
  down.answer();
  expect((await away).code).toBe('offline');
  await db.close();
});

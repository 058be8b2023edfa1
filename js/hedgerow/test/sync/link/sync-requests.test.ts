/** The limits of sync in requests and bytes, without a clock. `npm run bench -- --only sync` has the times. */
import { expect, it } from 'vitest';
import { PACK_BYTES } from '../../../src/sync/remote/format/format-limits.js';
import { memoryRemote } from '../../../src/sync/remote/index.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { cost, device } from '../../support/worlds/sync-devices.js';

const ROWS = isDeep ? 80_000 : 60_000;
const ROUNDS = isDeep ? 60 : 24;

const WORDS = 'a table loads slowly after an upgrade and the page hangs while it sorts'.split(' ');

const keyOf = (nth: number) => `issue/${String(nth).padStart(8, '0')}`;

/** Rows of words, like text. */
function rowsOf(count: number): [string, unknown][] {
  const from = random(7);
  const words = (length: number) =>
    Array.from({ length }, () => WORDS[from.below(WORDS.length)]).join(' ');
  return Array.from({ length: count }, (_, nth) => [
    keyOf(nth),
    { title: words(12), body: words(10), nth },
  ]);
}

/** Ten rows, evenly spread. */
const ten = (note: string): [string, unknown][] =>
  Array.from({ length: 10 }, (_, nth) => [keyOf((nth * ROWS) / 10), { note }]);

const ALL_ROWS = rowsOf(ROWS);

/** A remote that one device has filled, and another has cloned. */
async function clone() {
  const remote = memoryRemote();
  const a = await device(remote);
  await a.db.putMany(ALL_ROWS);
  await a.link.push();
  const b = await device(remote);
  return { a, b, cloned: await cost(b.link, () => b.link.pull()) };
}

let cloning: ReturnType<typeof clone> | undefined;
const cloneOnce = () => {
  cloning ??= clone();
  return cloning;
};

it('a clone costs the head and a request for each 4 MiB of rows, and less than 0.4 of their bytes', async () => {
  const { b, cloned } = await cloneOnce();
  const bytes = ALL_ROWS.reduce((sum, row) => sum + JSON.stringify(row).length, 0);
  expect(bytes).toBeGreaterThan(2 * PACK_BYTES);
  expect(cloned.requests).toBeLessThanOrEqual(1 + Math.ceil(bytes / PACK_BYTES));
  expect(cloned.sent).toBe(0);
  expect(cloned.received).toBeLessThan(0.4 * bytes);
  expect(await b.db.count()).toBe(ROWS);
});

it('ten changed rows of many cost 6 KB: a request to pull and, but for one push in six, one to push', async () => {
  const { a, b } = await cloneOnce();
  // Earlier pushes do not make heads longer: entries move into a log, with one push of several.
  const requests = { push: 0, pull: 0 };
  for (let nth = 0; nth < ROUNDS; nth++) {
    await a.db.putMany(ten(`change ${nth}`));
    const pushed = await cost(a.link, () => a.link.push());
    const pulled = await cost(b.link, () => b.link.pull());
    requests.push += pushed.requests;
    requests.pull += pulled.requests;
    if (pushed.requests === 1) expect(pushed.sent).toBeLessThanOrEqual(6_000);
    expect(pulled.received).toBeLessThanOrEqual(6_000);
  }
  expect(requests.pull).toBe(ROUNDS);
  expect(requests.push).toBeLessThanOrEqual(ROUNDS + ROUNDS / 6);
});

it('a lost race costs a read of the head and another swap, and sends only the head again', async () => {
  const remote = memoryRemote();
  const a = await device(remote);
  await a.db.putMany(rowsOf(1000));
  await a.link.push();
  const heads: number[] = [];
  const counted = await device({
    ...remote,
    swapHead: (...call) => {
      heads.push(call[2].length);
      return remote.swapHead(...call);
    },
  });
  await counted.link.pull();
  await a.db.put('from a', 1);
  await a.link.push();
  await counted.db.putMany(ten('from b'));
  const raced = await cost(counted.link, async () => {
    expect(await counted.link.push()).toMatchObject({ races: 1 });
  });
  // The head comes with the answer of the lost swap.
  expect(raced.requests).toBe(2);
  expect(heads).toHaveLength(2);
  expect(raced.sent).toBe((heads[0] ?? 0) + (heads[1] ?? 0));
  await a.link.pull();
  expect([await a.db.count(), await counted.db.count()]).toEqual([1010, 1010]);
});

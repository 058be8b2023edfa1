/** The growth of a bucket: syncs of 100 edits, collected once a day, by the clock of the remote. */
import { expect, it } from 'vitest';
import {
  Clock,
  DAY,
  HOUR,
  judged,
  liveNames,
  objectsOf,
} from '../../support/doubles/collected-remote.js';
import { isDeep, sampled } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';
import { type Device, device } from '../../support/worlds/sync-devices.js';

const ROWS = 20_000;
/** `DEEP=1` measures the figures of `docs/sync.md`. */
const SYNCS = isDeep ? 1000 : 125;
const EDITS = 100;
const GRACE = 7 * DAY;
const PACES = [HOUR / 60, HOUR, DAY / 4, DAY];

const WORDS = 'local first storage in the browser swallows an initial sync and stays fast'.split(
  ' ',
);

/** A row of about 150 bytes, as in a list of issues. */
function rowOf(from: Random, nth: number, state: string): [string, unknown] {
  const title = Array.from({ length: 6 }, () => from.pick(WORDS)).join(' ');
  const id = `issue/${String(nth).padStart(8, '0')}`;
  const modified = 1_700_000_000_000 + from.below(1e9);
  return [id, { id, title, state, modified, points: from.below(100) }];
}

const kilobytes = (bytes: number) => Math.round(bytes / 1000);

/** Syncs, `everyMs` apart. */
async function grow(everyMs: number) {
  const clock = new Clock();
  const remote = judged(clock, GRACE);
  const from = random(4);
  const one: Device = await device(remote);
  await one.db.putMany(Array.from({ length: ROWS }, (_, nth) => rowOf(from, nth, 'open')));
  await one.link.push();
  let [most, collectedAt] = [0, clock.nowMs];
  const bytesNow = async () => {
    const [objects, live] = [await objectsOf(remote), await liveNames(remote)];
    let [all, named] = [0, 0];
    for (const [name, length] of objects) {
      all += length;
      named += live.has(name) ? length : 0;
    }
    return { all, named };
  };
  for (let nth = 1; nth <= SYNCS; nth++) {
    const rows = Array.from({ length: EDITS }, () => rowOf(from, from.below(ROWS), `is ${nth}`));
    await one.db.putMany(rows);
    await one.link.push();
    clock.pass(everyMs);
    if (clock.nowMs - collectedAt < DAY) continue;
    collectedAt = clock.nowMs;
    await one.link.collect();
    const { all, named } = await bytesNow();
    // Once the first garbage is old enough to go.
    if (nth * everyMs > 2 * GRACE) most = Math.max(most, all / named);
  }
  const end = await bytesNow();
  for (let days = 0; days < 9; days++) {
    clock.pass(DAY);
    await one.link.collect();
  }
  const later = await bytesNow();
  // The objects of a bucket after one push.
  const fresh = judged(clock, GRACE);
  const other = await device(fresh);
  await other.db.putMany(Object.entries(await all(one)));
  await other.link.push();
  let whole = 0;
  for (const length of (await objectsOf(fresh)).values()) whole += length;
  return {
    every: `${everyMs / HOUR} h`,
    most: Number(most.toFixed(2)),
    end: kilobytes(end.all),
    live: kilobytes(end.named),
    later: kilobytes(later.all),
    fresh: kilobytes(whole),
  };
}

async function all({ db }: Device): Promise<Record<string, unknown>> {
  const rows: [string, unknown][] = [];
  for await (const row of db.scan()) rows.push(row);
  return Object.fromEntries(rows);
}

it.each(sampled(PACES, 4))(
  'after syncs of 100 edits, %d ms apart, a bucket has at most twice its live data',
  async (everyMs) => {
    const sizes = await grow(everyMs);
    console.log(JSON.stringify(sizes));
    expect(sizes.later).toBeLessThanOrEqual(2 * sizes.live);
    expect(sizes.later).toBeLessThanOrEqual(2 * sizes.fresh);
    // Objects that were replaced within the grace are there, too.
    expect(sizes.most).toBeLessThan(6.5);
  },
);

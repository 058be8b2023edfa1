/** Work on many calls takes turns: the test counts it, with a clock that moves at each reading. */
import { afterEach, expect, it, vi } from 'vitest';
import { OwnEdits } from '../../../src/engine/transaction/edits.js';
import { ServerDouble } from '../../support/doubles/mutators-server.js';
import { bind, ours, store } from '../../support/worlds/mutators-app.js';

const CALLS = 500;
/** The cost of a reading of the clock, in milliseconds. */
const LOOK_MS = 0.25;
/** The number of readings in the half slice of 8 ms that work on calls may take. */
const MOST = 4 / LOOK_MS;

/** Counts the work between two turns of the event loop. */
class Counter {
  /** The total, and the maximum between two turns. */
  all = 0;
  most = 0;
  #now = 0;

  one(): void {
    this.all += 1;
    this.#now += 1;
    this.most = Math.max(this.most, this.#now);
  }

  turn(): void {
    this.#now = 0;
  }
}

afterEach(() => vi.restoreAllMocks());

it('calls run again, and leave the queue, in slices of half a slice', async () => {
  const server = new ServerDouble({
    add(rows: Map<string, unknown>, by: number) {
      rows.set('count', ((rows.get('count') as number | undefined) ?? 0) + by);
    },
  });
  const runs = new Counter();
  const leaves = new Counter();
  const db = await store();
  const app = await bind(db, server, {
    mutators: {
      ...ours,
      add(tx, by) {
        runs.one();
        return ours.add(tx, by);
      },
    },
  });
  await Promise.all(Array.from({ length: CALLS }, () => app.mutate.add(1)));
  let isOver = false;
  const tick = () => {
    for (const counter of [runs, leaves]) counter.turn();
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  let now = Math.ceil(performance.now());
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += LOOK_MS;
    return now;
  });
  const leave = OwnEdits.prototype.delete;
  vi.spyOn(OwnEdits.prototype, 'delete').mockImplementation(function (this: OwnEdits, key) {
    leaves.one();
    leave.call(this, key);
  });

  server.set([['other', 1]]);
  [runs.all, runs.most] = [0, 0];
  await app.pull();
  expect(runs.all).toBe(CALLS);
  expect(runs.most).toBeLessThanOrEqual(MOST);

  await app.push();
  expect(await app.pull()).toMatchObject({ acknowledged: CALLS, pending: 0 });
  isOver = true;
  expect(leaves.all).toBe(CALLS);
  expect(leaves.most).toBeLessThanOrEqual(MOST);
  expect(await db.get('count')).toBe(CALLS);
});

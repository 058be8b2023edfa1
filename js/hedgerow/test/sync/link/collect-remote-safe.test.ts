/** Collections of a remote delete no object in use, whatever happens at the same time. */
import { afterEach, expect, it, vi } from 'vitest';
import { HedgerowError } from '../../../src/index.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import {
  Clock,
  checkLive,
  copyRemote,
  DAY,
  HOUR,
  judged,
  liveNames,
  objectsOf,
} from '../../support/doubles/collected-remote.js';
import { forSteps, isDeep } from '../../support/property.js';
import { collectAll, pushLong, pushMany, WEEK } from '../../support/worlds/collecting-devices.js';
import { type Device, device, rowsOf } from '../../support/worlds/sync-devices.js';

afterEach(async () => {
  vi.restoreAllMocks();
  await closeAll();
});

/** Each step is long: a sample has one of so many. */
const SHARE = 16;

const opened: Device[] = [];

/** Makes a device that closes in time: browsers have memory for some hundred. */
async function opening(...how: Parameters<typeof device>): Promise<Device> {
  const one = await device(...how);
  opened.push(one);
  return one;
}

async function closeAll(): Promise<void> {
  for (const { db } of opened.splice(0)) await db.close();
}

/** The objects of a branch after 150 pushes: more than half of them are garbage. */
let used: Remote | undefined;

/** A copy of that remote. */
async function usedRemote(clock: Clock) {
  if (used === undefined) {
    used = memoryRemote({ now: clock.now });
    await pushMany(await opening(used), clock);
  }
  const remote = judged(clock, WEEK);
  await copyRemote(used, remote.inner);
  clock.pass(DAY);
  return remote;
}

/** A remote with calls that fail or wait: `at` runs before and after each call, with its number. */
function stepped(inner: Remote, at: (step: number, call: string) => Promise<void> | void): Remote {
  let step = 0;
  const wrapped = Object.entries(inner).map(([call, run]) => [
    call,
    async (...args: unknown[]) => {
      await at(step++, call);
      const answer = await run(...args);
      await at(step++, call);
      return answer;
    },
  ]);
  return Object.fromEntries(wrapped) as Remote;
}

it('a collection is safe if it ends at any step, and goes on later', async () => {
  const ends = await forSteps(async (failAt) => {
    const clock = new Clock();
    const remote = await usedRemote(clock);
    const one = await opening(remote);
    await one.link.pull();
    const dying = stepped(remote, (step) => {
      if (step === failAt) throw new HedgerowError('unavailable/disconnected', 'the page is gone');
    });
    // First while it marks, then while it deletes.
    const marking = await opening(dying);
    const isMarked = await marking.link.collect().then(
      ({ waiting }) => waiting.objects > 100,
      () => false,
    );
    clock.pass(DAY);
    await (await opening(remote)).link.collect();
    clock.pass(WEEK + HOUR);
    const deleting = await opening(
      stepped(remote, (step) => {
        if (step === failAt)
          throw new HedgerowError('unavailable/disconnected', 'the page is gone');
      }),
    );
    const isDeleted = await deleting.link.collect().then(
      ({ deleted }) => deleted.objects > 100,
      () => false,
    );
    await checkLive(remote);
    await collectAll(one, clock);
    expect((await objectsOf(remote)).size).toBe((await liveNames(remote)).size);
    await closeAll();
    return !isMarked || !isDeleted;
  }, SHARE);
  expect(ends).toBeGreaterThan(20);
});

it('two collections at once, and pushes at any step, delete no object in use', async () => {
  // The second one does not wait.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const steps = await forSteps(async (meet) => {
    const clock = new Clock();
    const remote = await usedRemote(clock);
    const [one, two] = [await opening(remote), await opening(remote)];
    for (const { link } of [one, two]) await link.pull();
    let isMet = false;
    const meeting = await opening(
      stepped(remote, async (step) => {
        if (step !== meet) return;
        isMet = true;
        await two.link.collect();
        await pushLong(one);
      }),
    );
    await meeting.link.collect();
    clock.pass(WEEK + HOUR);
    const again = await opening(
      stepped(remote, async (step) => {
        if (step !== meet) return;
        await pushLong(one);
        await two.link.collect();
      }),
    );
    await again.link.collect();
    await checkLive(remote);
    await collectAll(two, clock);
    expect((await objectsOf(remote)).size).toBe((await liveNames(remote)).size);
    await closeAll();
    return isMet;
  }, SHARE);
  expect(steps).toBeGreaterThan(20);
});

it.each(['main', 'new'])(
  'a push to %s that takes longer than the grace names no missing object',
  async (branch) => {
    const clock = new Clock();
    const remote = judged(clock, WEEK);
    const one = await opening(remote);
    const other = await opening(remote, { remoteBranch: branch });
    await pushMany(one, clock, 5);
    if (branch === 'main') await other.link.pull();
    let slow = true;
    const swaps: string[] = [];
    const late = await opening(
      {
        ...remote,
        async swapHead(name, token, ...rest) {
          // The push had put the object of the edits before.
          if (slow && token !== undefined) {
            slow = false;
            clock.pass(DAY);
            for (let days = 0; days < 30; days++) {
              await one.link.collect();
              clock.pass(DAY);
            }
          }
          const swap = await remote.swapHead(name, token, ...rest);
          swaps.push(swap.state);
          return swap;
        },
      },
      { remoteBranch: branch },
    );
    if (branch === 'main') await late.link.pull();
    await pushLong(late, 'late');
    await checkLive(remote);
    expect(swaps).toContain('lost');
    expect(slow).toBe(false);
    const clone = await opening(remote, { remoteBranch: branch });
    await clone.link.pull();
    expect(await rowsOf(clone.db)).toEqual(await rowsOf(late.db));
  },
);

it('a reader whose objects disappear while it reads takes a newer head, or keeps its rows', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  const one = await opening(remote);
  await pushMany(one, clock, 20);
  const reads = await opening(remote);
  await reads.link.pull();
  const seen = await rowsOf(reads.db);
  // So long ago that the current tail does not reach back.
  await pushMany(one, clock, isDeep ? 150 : 80);
  let gets = 0;
  let heads = 0;
  const slow: Remote = {
    ...remote,
    readHead: (...call) => {
      heads += 1;
      return remote.readHead(...call);
    },
    async get(name, ...rest) {
      if (gets++ === 0) {
        await pushMany(one, clock, isDeep ? 300 : 100);
        await collectAll(one, clock);
      }
      return remote.get(name, ...rest);
    },
  };
  const late = await opening(slow);
  await late.link.pull();
  expect(await rowsOf(late.db)).toEqual(await rowsOf(one.db));
  expect(heads).toBe(2);
  // A reader that never succeeds asks once, and its rows stay.
  const torn = await opening({ ...remote, get: async () => undefined });
  await torn.db.put('own', 1);
  await expect(torn.link.pull()).rejects.toMatchObject({ code: 'remote', detail: 'data' });
  expect(await rowsOf(torn.db)).toEqual({ own: 1 });
  await reads.link.pull();
  expect(await rowsOf(reads.db)).not.toEqual(seen);
  expect(await rowsOf(reads.db)).toEqual(await rowsOf(one.db));
});

it('an old list or head ends a collection, which deletes no object', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  const one = await opening(remote);
  await pushMany(one, clock, 30);
  const before = await remote.list('h/');
  const old = await remote.readHead('main');
  await pushMany(one, clock, 30);
  clock.pass(DAY);
  await one.link.collect();
  const count = (await objectsOf(remote)).size;
  clock.pass(WEEK + HOUR);
  const stale = await opening({
    ...remote,
    list: async (prefix, options) => (prefix === 'h/' ? before : remote.list(prefix, options)),
  });
  await expect(stale.link.collect()).rejects.toMatchObject({ code: 'remote', detail: 'status' });
  let isOld = false;
  const fooled = await opening({
    ...remote,
    readHead: async (branch, options) =>
      isOld && branch === 'main' ? old : remote.readHead(branch, options),
  });
  await fooled.link.pull();
  isOld = true;
  await expect(fooled.link.collect()).rejects.toMatchObject({ code: 'rollback' });
  expect((await objectsOf(remote)).size).toBe(count);
  const silent = await opening({
    ...remote,
    readHead: async (...call) => {
      const head = await remote.readHead(...call);
      return head && { ...head, modifiedMs: undefined };
    },
  });
  await expect(silent.link.collect()).rejects.toMatchObject({ code: 'remote', detail: 'unsafe' });
});

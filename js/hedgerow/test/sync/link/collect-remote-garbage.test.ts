/** Collections of a remote: the objects that they delete, the time of each, and the reports. */
import { expect, it } from 'vitest';
import { HedgerowError } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { hashedName, memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import {
  Clock,
  checkLive,
  DAY,
  HOUR,
  judged,
  liveNames,
  objectsOf,
} from '../../support/doubles/collected-remote.js';
import { ofKind } from '../../support/error-kind.js';
import { isDeep } from '../../support/property.js';
import { collectAll, pushLong, pushMany, WEEK } from '../../support/worlds/collecting-devices.js';
import { device, rowsOf } from '../../support/worlds/sync-devices.js';

const NOTHING = { objects: 0, bytes: 0 };

it('objects that no head names go after the grace, and not before', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  const one = await device(remote);
  await pushMany(one, clock, isDeep ? 150 : 110);
  const before = await objectsOf(remote);
  const live = await liveNames(remote);
  expect(before.size).toBeGreaterThan(live.size + 50);
  const early = await one.link.collect();
  expect(early).toMatchObject({ deleted: NOTHING, waiting: NOTHING });
  expect(early.live.objects).toBe(live.size);
  clock.pass(DAY);
  const first = await one.link.collect();
  expect(first.deleted).toEqual(NOTHING);
  expect(first.waiting.objects).toBe(before.size - live.size);
  // In the first record that names it, a mark has no time yet.
  clock.pass(WEEK - HOUR);
  expect((await one.link.collect()).deleted).toEqual(NOTHING);
  clock.pass(2 * HOUR);
  const last = await one.link.collect();
  expect(last).toMatchObject({ deleted: first.waiting, waiting: NOTHING, kept: NOTHING });
  const rest = await objectsOf(remote);
  expect([...rest.keys()].sort()).toEqual([...live].sort());
  expect(last.live).toEqual({
    objects: rest.size,
    bytes: [...rest.values()].reduce((sum, length) => sum + length, 0),
  });
  const clone = await device(remote);
  await clone.link.pull();
  expect(await rowsOf(clone.db)).toEqual(await rowsOf(one.db));
});

it('a collection does not write to a remote without objects', async () => {
  const clock = new Clock();
  const remote = memoryRemote({ now: clock.now });
  const one = await device(remote);
  expect(await one.link.collect()).toEqual({
    ...{ deleted: NOTHING, live: NOTHING, waiting: NOTHING, kept: NOTHING, missing: [] },
  });
  await one.db.put('a', 1);
  await one.link.push();
  await one.link.collect();
  expect(await remote.list('h/')).toHaveLength(1);
});

it('frequent collections leave at most eight waiting marks, and delete in time', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  const one = await device(remote);
  let most = 0;
  const times = isDeep ? 24 : 12;
  for (let nth = 0; nth < times * 16; nth++) {
    await pushLong(one);
    clock.pass(DAY / times);
    const { waiting, kept } = await one.link.collect();
    // Objects that were retired within the grace, and two days for the pace.
    most = Math.max(most, waiting.objects + kept.objects);
  }
  const all = (await objectsOf(remote)).size;
  expect(most).toBeLessThan(times * 11);
  expect(all).toBeLessThan(times * (isDeep ? 14 : 15));
  await checkLive(remote);
});

it('objects that no head ever named go, and the objects of another branch stay', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  const one = await device(remote);
  const other = await device(remote, { remoteBranch: 'Other/1' });
  await pushMany(other, clock, 30);
  await pushMany(one, clock, 30);
  const orphan = new TextEncoder().encode('of a push that never ended');
  await remote.put(hashedName('p', orphan), orphan);
  await collectAll(one, clock);
  expect(await remote.get(hashedName('p', orphan))).toBeUndefined();
  await checkLive(remote);
  expect((await objectsOf(remote)).size).toBe((await liveNames(remote)).size);
  for (const [branch, { db }] of [
    ['main', one],
    ['Other/1', other],
  ] as const) {
    const clone = await device(remote, { remoteBranch: branch });
    await clone.link.pull();
    expect(await rowsOf(clone.db)).toEqual(await rowsOf(db));
  }
  // The branch goes, and then all objects that only it named.
  await remote.remove(['h/%4fther%2f1']);
  await collectAll(one, clock);
  expect((await objectsOf(remote)).size).toBe((await liveNames(remote)).size);
});

it('a collection without any head marks no object', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  const one = await device(remote);
  await pushMany(one, clock, 20);
  const { size } = await objectsOf(remote);
  await remote.remove(['h/main']);
  const stranger = await device(remote, { remoteBranch: 'none' });
  for (let days = 0; days < 20; days++) {
    clock.pass(DAY);
    expect(await stranger.link.collect()).toMatchObject({ deleted: NOTHING, waiting: NOTHING });
  }
  expect(await objectsOf(remote)).toHaveProperty('size', size);
  await expect(one.link.collect()).rejects.toMatchObject({ code: 'remote', detail: 'gone' });
});

it('a device that may not list or delete gets an error, and does no harm', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  const one = await device(remote);
  await pushMany(one, clock, isDeep ? 120 : 80);
  const refuse = async () => {
    throw new HedgerowError('unauthorized', 'status 403', { status: 403 });
  };
  const lists = await device({ ...remote, list: refuse });
  await expect(lists.link.collect()).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await remote.list('h/')).toHaveLength(1);
  clock.pass(DAY);
  const deletes = await device({ ...remote, remove: refuse });
  await deletes.link.collect();
  for (let days = 0; days < 30; days++) {
    clock.pass(DAY);
    const collected = deletes.link.collect();
    if (days < 6) await collected;
    else await expect(collected).rejects.toMatchObject({ code: 'unauthorized' });
  }
  // A device with the rights has not lost a day by that.
  const { deleted, waiting } = await one.link.collect();
  expect(deleted.objects).toBeGreaterThan(30);
  expect(waiting).toEqual(NOTHING);
  await checkLive(remote);
});

it('a locked object does not keep the others', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  let locked: string | undefined;
  const one = await device({
    ...remote,
    async remove(names) {
      await remote.remove(names.filter((name) => name !== locked));
      if (!names.includes(locked ?? '')) return;
      throw new HedgerowError('unauthorized', 'it is locked', { status: 403 });
    },
  });
  await pushMany(one, clock, isDeep ? 120 : 80);
  const live = await liveNames(remote);
  [locked] = [...(await objectsOf(remote)).keys()].filter((name) => !live.has(name));
  clock.pass(DAY);
  await one.link.collect();
  clock.pass(WEEK + HOUR);
  await expect(one.link.collect()).rejects.toMatchObject({ code: 'unauthorized' });
  const names = await objectsOf(remote);
  expect(names.has(locked ?? '')).toBe(true);
  // The locked object, and the mark that lists it.
  expect(names.size).toBe(live.size + 2);
  locked = undefined;
  clock.pass(DAY);
  await collectAll(one, clock);
  expect((await objectsOf(remote)).size).toBe(live.size);
});

it('a grace is at least an hour, and no branch has the name of the record', async () => {
  const remote = memoryRemote();
  const { link, db } = await device(remote);
  for (const graceMs of [0, HOUR - 1, Number.NaN, '7d' as never, Number.POSITIVE_INFINITY]) {
    await expect(link.collect({ graceMs })).rejects.toMatchObject(ofKind('invalid-argument'));
  }
  expect(() => link.collect({ grace: HOUR } as never)).toThrowError(/takes no grace/);
  await link.collect({ graceMs: HOUR });
  const wanted = db.connect(bucket(remote, { name: 'x', remoteBranch: '~collection' }));
  await expect(wanted).rejects.toMatchObject(ofKind('invalid-argument'));
});

it('a collection ends by its signal, and by closing the store', async () => {
  const clock = new Clock();
  const remote = memoryRemote({ now: clock.now });
  let entered = () => {};
  const held: Remote = {
    ...remote,
    list: (_, { signal } = {}) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        entered();
      }),
  };
  const { link, db } = await device(held);
  const begun = () =>
    new Promise<void>((resolve) => {
      entered = resolve;
    });
  const stop = new AbortController();
  let wait = begun();
  const first = link.collect({ signal: stop.signal });
  await wait;
  stop.abort();
  await expect(first).rejects.toMatchObject({ code: 'aborted' });
  wait = begun();
  const second = expect(link.collect()).rejects.toBeInstanceOf(HedgerowError);
  await wait;
  await db.close();
  await second;
});

it('a loop collects about once a day, by the clock of the remote', async () => {
  const clock = new Clock();
  const remote = judged(clock, WEEK);
  const one = await device(remote);
  await pushMany(one, clock, 40);
  const outcomes: unknown[] = [];
  const loopOf = async (over: Remote) => {
    const { db, link } = await device(over);
    const looks: string[] = [];
    link.onCollect((outcome) => void outcomes.push(outcome));
    link.subscribe(() => void looks.push(link.state.status));
    link.start({ collect: true, everyMs: 1000, pauseMs: 0 });
    await expect.poll(() => looks).toContain('synced');
    return { link, db };
  };
  const first = await loopOf(remote);
  await expect.poll(() => outcomes.length).toBe(1);
  expect(outcomes[0]).toMatchObject({ deleted: NOTHING });
  // Another device looks, and finds that it is done.
  let looked = 0;
  const second = await loopOf({
    ...remote,
    readHead: (branch, ...rest) => {
      if (branch === '~collection') looked += 1;
      return remote.readHead(branch, ...rest);
    },
  });
  await expect.poll(() => looked).toBe(1);
  clock.pass(WEEK + 2 * DAY);
  await pushLong(one);
  // The device has only the rights to read and write: the sync goes on.
  const third = await loopOf({
    ...remote,
    list: async () => {
      throw new HedgerowError('unauthorized', 'status 403');
    },
  });
  await expect.poll(() => outcomes.length).toBe(2);
  expect(outcomes[1]).toMatchObject({ code: 'unauthorized' });
  expect(third.link.state.status).toBe('synced');
  for (const { link, db } of [first, second, third]) {
    await link.stop();
    await db.close();
  }
});

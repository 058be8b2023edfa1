/** Clones that were cut off, and go on. */
import { beforeAll, expect, it } from 'vitest';
import { until } from '../../../src/base/abort-signal.js';
import { pause } from '../../../src/base/pauses.js';
import { memory, open } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { SyncProgress } from '../../../src/sync/link/link-context.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { failure } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { cost, device, many, offline } from '../../support/worlds/sync-devices.js';

/** A remote with many packs, which clones do not change, and the root of its rows. */
const inner = memoryRemote();
let published = '';
const COUNT = isDeep ? 170_000 : 7500;
/** Many packs of few long rows. */
function rows(): [string, unknown][] {
  const all = many(COUNT, 'a note');
  return isDeep ? all : all.map(([key, value]) => [key, { value, more: '.'.repeat(4000) }]);
}

beforeAll(async () => {
  const { db, link } = await device(inner);
  await db.putMany(rows());
  await link.push();
  published = db.root;
  await db.close();
});

it('a clone that was cut off goes on with the packs that it lacks', async () => {
  let [left, fetched] = [6, 0];
  const remote: Remote = {
    ...inner,
    async get(...call) {
      if (left-- <= 0) throw offline();
      fetched += 1;
      return inner.get(...call);
    },
  };
  const b = await device(remote);
  await expect(b.link.pull()).rejects.toEqual(failure('offline'));
  expect(await b.db.count()).toBe(0);
  left = 100;
  const { link } = { link: await b.db.connect(bucket(remote, { probe: false })) };
  const again = await cost(link, () => link.pull());
  const whole = await device(inner);
  const all = await cost(whole.link, () => whole.link.pull());
  // The clone committed its packs before the error.
  expect(again.requests).toBe(all.requests - 6);
  expect(fetched).toBe(6 + again.requests - 1);
  expect(await b.db.count()).toBe(COUNT);
});

function stoppable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** The packs of a remote whose answers wait until `answer` runs; `asked` has the names, in order. */
function waiting(inner: Remote) {
  const asked: string[] = [];
  const answers = new Map<string, () => void>();
  const remote: Remote = {
    ...inner,
    async get(name, ...rest) {
      asked.push(name);
      const arrived = new Promise<void>((resolve) => answers.set(name, resolve));
      await until(arrived, rest[1]?.signal);
      return inner.get(name, ...rest);
    },
  };
  return { remote, asked, answer: (nth: number) => answers.get(asked[nth] as string)?.() };
}

it('a clone commits its packs before it waits, so that a crash costs only the packs on their way', async () => {
  const storage = memory();
  const { remote, asked, answer } = waiting(inner);
  const b = await device(remote, {}, { storage });
  const packs: number[] = [];
  const { signal, abort } = stoppable();
  const onProgress = (progress: SyncProgress) => void packs.push(progress.packs);
  const pulling = b.link.pull({ signal, onProgress });
  await expect.poll(() => asked.length).toBe(4);
  answer(0);
  await expect.poll(() => asked.length).toBe(5);
  // It is in a commit before the next one comes. So is that.
  const c = await open('app', { storage });
  const landed = () => c.branches.open('remote/origin/landing').then((branch) => branch.count());
  await expect.poll(landed).toBeGreaterThan(0);
  const rows = await landed();
  answer(1);
  await expect.poll(() => packs).toEqual([1, 2]);
  await expect.poll(landed).toBeGreaterThan(rows);
  // All packs are in storage by now. The lock would end with the page.
  abort();
  await expect(pulling).rejects.toEqual(failure('aborted'));
  const again = waiting(inner);
  const link = await c.connect(bucket(again.remote, { probe: false }));
  const next = stoppable();
  const goingOn = link.pull({ signal: next.signal });
  await expect.poll(() => again.asked.length).toBe(4);
  expect(again.asked).toEqual(asked.slice(2, 6));
  next.abort();
  await expect(goingOn).rejects.toEqual(failure('aborted'));
});

it('a clone after an abort fetches no pack twice', async () => {
  const { remote, asked, answer } = waiting(inner);
  const b = await device(remote);
  const controller = new AbortController();
  const pulling = b.link.pull({ signal: controller.signal });
  await expect.poll(() => asked.length).toBe(4);
  // Not the first one: the clone cannot apply a pack yet.
  for (const nth of [1, 3]) answer(nth);
  await new Promise((resolve) => setTimeout(resolve, 300));
  controller.abort();
  await expect(pulling).rejects.toEqual(failure('aborted'));
  const before = asked.slice();
  const again = b.link.pull();
  for (let nth = 4; (await Promise.race([again, pause(50)])) === undefined; ) {
    while (nth < asked.length) answer(nth++);
  }
  const fresh = asked.slice(4);
  expect(fresh.filter((name) => before.includes(name))).toEqual([before[0], before[2]]);
  expect(new Set(fresh).size).toBe(fresh.length);
  expect(b.db.root).toBe(published);
});

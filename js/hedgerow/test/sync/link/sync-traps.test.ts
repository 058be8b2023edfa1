/** The core traps while a store is linked to a remote: the next call of the link works with the new instance. */
import { afterEach, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { failure } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { isPending, trapIn } from '../../support/trapping.js';

afterEach(() => trapIn(Number.POSITIVE_INFINITY));
const ROUNDS = isDeep ? 3 : 1;
const crashed = failure('unavailable/crashed', { retryable: true });

/** Makes the core of a store trap. */
async function trap(db: Store): Promise<void> {
  trapIn(1);
  await expect(db.scan({ gte: 'k' }).toArray()).rejects.toEqual(crashed);
  expect(isPending()).toBe(false);
}

async function device(remote: Remote) {
  const db = await open('app', { storage: memory(), advanced: { cacheBytes: 0 } });
  return { db, link: await db.connect(bucket(remote, { probe: false })) };
}

function many(count: number, seed: number): [string, unknown][] {
  const from = random(seed);
  return Array.from({ length: count }, (_, nth) => [`k${nth}`, [...from.bytes(40)].join()]);
}

const rowsOf = async (db: Store) => db.scan().toArray();

it.each([
  ['few', 5],
  ['many', 500],
  ['very many', isDeep ? 20_000 : 8_000],
])('a link pushes and pulls %s changes after a trap', async (_, count) => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  await a.db.putMany(many(count, 1));
  await a.link.push();
  await b.link.pull();
  for (let round = 2; round < 2 + ROUNDS; round++) {
    await a.db.putMany(many(count, round));
    await trap(a.db);
    expect(await a.link.push()).toMatchObject({ isPushed: true });
    await trap(b.db);
    expect(await b.link.pull()).toMatchObject({ rows: count });
    expect(await rowsOf(b.db)).toEqual(await rowsOf(a.db));
  }
  expect((await a.db.health.verify()).ok).toBe(true);
  expect((await b.db.health.verify()).ok).toBe(true);
});

it('a pull and a push that meet a trap are crashed, and the app may repeat them', async () => {
  const inner = memoryRemote();
  let then: (() => Promise<void>) | undefined;
  const meanwhile = async <T>(call: Promise<T>): Promise<T> => {
    const answer = await call;
    const now = then;
    then = undefined;
    await now?.();
    return answer;
  };
  const remote: Remote = {
    ...inner,
    readHead: (...call) => meanwhile(inner.readHead(...call)),
    readHeadSince: (...call) => meanwhile(inner.readHeadSince(...call)),
    get: (...call) => meanwhile(inner.get(...call)),
    put: (...call) => meanwhile(inner.put(...call)),
    swapHead: (...call) => meanwhile(inner.swapHead(...call)),
  };
  const [a, b] = [await device(remote), await device(remote)];
  for (let round = 1; round <= 2 * ROUNDS; round++) {
    await a.db.putMany(many(round % 2 ? 500 : isDeep ? 20_000 : 8_000, round));
    then = () => trap(a.db);
    await a.link.push().catch((cause) => expect(cause).toEqual(crashed));
    await a.link.push();
    then = () => trap(b.db);
    await b.link.pull().catch((cause) => expect(cause).toEqual(crashed));
    await b.link.pull();
    expect(await rowsOf(b.db)).toEqual(await rowsOf(a.db));
  }
  expect((await b.db.health.verify()).ok).toBe(true);
});

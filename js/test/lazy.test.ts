/** Lazy clones: what is read comes, and stays; all else costs nothing. */
import { expect, it } from 'vitest';
import { clone, type Link, memory, open, type Store } from '../src/index.js';
import { memoryRemote, type Remote } from '../src/remote/index.js';
import { hex } from '../src/base/hex.js';
import { random } from './random.js';
import { cost } from './sync-devices.js';

const ROWS = 60_000;

const keyOf = (nth: number) => `issue/${String(nth).padStart(8, '0')}`;

/** A row of about 150 bytes. */
function rowOf(nth: number, state = 'open'): [string, unknown] {
  const title = hex(random(nth).bytes(30));
  return [keyOf(nth), { id: keyOf(nth), title, state, points: nth % 100 }];
}

async function published(rows = ROWS): Promise<{ remote: Remote; from: Store }> {
  const remote = memoryRemote();
  const from = await open('from', { storage: memory() });
  await from.putMany(Array.from({ length: rows }, (_, nth) => rowOf(nth)));
  const link = await from.remote(remote, { probe: false });
  await link.push();
  return { remote, from };
}

/** What a call resolves to, and what travelled for it. */
async function asked<T>(link: Link, call: () => Promise<T>) {
  let result: T | undefined;
  const travelled = await cost(link, async () => {
    result = await call();
  });
  return { ...travelled, result };
}

const shared = published();

it('opens with two requests, and reads what it needs', async () => {
  const { remote, from } = await shared;
  const storage = memory();
  const seen: string[] = [];
  const logged: Remote = { ...remote, get: (name, range, o) => { seen.push(`${name} ${range?.from}-${range?.to}`); return remote.get(name, range, o); } };
  const { db, link } = await clone('app', logged, { storage, mode: 'lazy' });
  console.log(seen);
  expect(link.traffic.requests).toBe(2);
  expect(db.root).toBe(from.root);
  expect(await db.count()).toBe(ROWS);
  const first = await asked(link, () => db.get(keyOf(30_000)));
  expect(first.result).toEqual(rowOf(30_000)[1]);
  console.log(link.traffic, first);
  const scanned = await asked(link, () =>
    db.scan({ gte: keyOf(30_000), limit: 100 }).toArray(),
  );
  expect(scanned.result).toHaveLength(100);
  console.log(scanned.requests, scanned.received);
  const many = await asked(link, () => db.getMany([5, 20_000, 59_999].map(keyOf)));
  expect(many.result).toEqual([5, 20_000, 59_999].map((nth) => rowOf(nth)[1]));
  console.log(many.requests, many.received);
  await db.close();
});

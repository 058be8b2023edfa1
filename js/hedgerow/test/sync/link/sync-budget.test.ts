/** Counts the traffic for ten rows of many: a head stays short, however long its branch is. */
import { expect } from 'vitest';
import { UnfinishedChanges } from '../../../src/engine/read/unfinished-changes.js';
import { memory, open, type Store } from '../../../src/index.js';
import type { BucketConnection } from '../../../src/sync/link/bucket-connection.js';
import { createBucketConnection } from '../../../src/sync/link/open-bucket-connection.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { deep } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';
import { headOf } from '../../support/remote-store.js';
import { cost } from '../../support/worlds/sync-devices.js';

const ROWS = 100_000;
/** So many packs as 1,000,000 rows have: about 31. */
const PACK_BYTES = 6 << 16;
/** The budget of a pull of ten rows, in bytes. */
const MOST_BYTES = 6000;

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

async function device(remote: Remote): Promise<{ db: Store; link: BucketConnection }> {
  const db = await open('app', { storage: memory() });
  const { shared } = headOf(db);
  const host = { shared, branchName: 'main', durability: 'relaxed' } as const;
  const rest = { changes: new UnfinishedChanges(), check: () => {}, settle: () => {} };
  const tools = { packBytes: PACK_BYTES };
  return {
    db,
    link: await createBucketConnection({ ...host, ...rest }, remote, { probe: false }, tools),
  };
}

async function step(
  from: Random,
  { db, link }: { db: Store; link: BucketConnection },
  nth: number,
) {
  const rows = Array.from({ length: 10 }, () => rowOf(from, from.below(ROWS), `changed ${nth}`));
  await db.putMany(rows);
  return cost(link, () => link.push());
}

deep('ten rows are one request of at most 6,000 bytes, after any number of pushes', async () => {
  const remote = memoryRemote();
  const from = random(1);
  const [a, b, away20, away100] = [
    await device(remote),
    await device(remote),
    await device(remote),
    await device(remote),
  ];
  await a.db.putMany(Array.from({ length: ROWS }, (_, nth) => rowOf(from, nth, 'open')));
  await a.link.push();
  const packs = (await remote.list('p/')).length;
  expect(packs).toBeGreaterThanOrEqual(31);
  for (const one of [b, away20, away100]) await one.link.pull();
  let [most, withLog, checkpoints] = [0, 0, 0];
  for (let nth = 1; nth <= 200; nth++) {
    const pushed = await step(from, a, nth);
    // A log, a checkpoint with a pack, or both.
    if (pushed.requests === 2) withLog += 1;
    if (pushed.sent > 10_000) checkpoints += 1;
    else expect(pushed.requests).toBeLessThanOrEqual(2);
    const pulled = await cost(b.link, () => b.link.pull());
    expect(pulled.requests).toBe(1);
    most = Math.max(most, pulled.sent + pulled.received);
    if (nth === 180) await away20.link.pull();
    if (nth === 100) await away100.link.pull();
  }
  expect(b.db.root).toBe(a.db.root);
  console.log(JSON.stringify({ packs, most, withLog, checkpoints }));
  expect(most).toBeLessThanOrEqual(MOST_BYTES);
  // About every fifth push.
  expect(withLog).toBeGreaterThan(20);
  expect(withLog).toBeLessThanOrEqual(50);
  expect(checkpoints).toBeGreaterThanOrEqual(2);
  const after20 = await cost(away20.link, () => away20.link.pull());
  const after100 = await cost(away100.link, () => away100.link.pull());
  console.log(JSON.stringify({ after20, after100 }));
  // The head and its last logs.
  expect(after20.requests).toBeLessThanOrEqual(6);
  expect(after20.received).toBeLessThan(20_000);
  // The head, a pack for each checkpoint since, and the logs behind the last.
  expect(after100.requests).toBeLessThanOrEqual(20);
  for (const { db } of [away20, away100]) expect(db.root).toBe(a.db.root);
});

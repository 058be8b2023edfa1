/** Compares snapshots and branches of a full store with one raw transaction with one small put. */
import type { Contestant, Sample, Samples, Setting, Suite } from '../bench-case.js';
import { percentile, timed } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { inTransaction, openIndexedDb } from '../peers/raw.js';
import { makeRows } from '../rows.js';

const TIMES = 200;
/** The bytes of a ref. */
const REF_BYTES = 36;

async function each(one: (at: number) => unknown): Promise<Sample> {
  const times: number[] = [];
  await timed(async () => {
    for (let at = 0; at < TIMES; at++) {
      const startMs = performance.now();
      await one(at);
      times.push(performance.now() - startMs);
    }
  });
  return { value: percentile(times, 0.5), details: { 'p95, ms': percentile(times, 0.95) } };
}

async function hedgerow({ rows: count }: Setting): Promise<Samples> {
  const store = await openStore();
  await store.putMany(makeRows(count), { key: '/id' });
  const before = await store.health.stats();
  const held: Disposable[] = [];
  const snapshot = await each(() => {
    held.push(store.snapshot());
  });
  for (const snap of held) snap[Symbol.dispose]();
  const branches: { close(): Promise<void> }[] = [];
  const branch = await each(async (at) => {
    branches.push(await store.branches.open(`branch ${at}`));
  });
  for (const one of branches) await one.close();
  const after = await store.health.stats();
  if (after.storedBytes !== before.storedBytes) throw new Error('a branch has stored bytes');
  if ((await store.branches.list()).length !== TIMES + 1) throw new Error('a branch is missing');
  await store.close();
  return { snapshot, branch };
}

async function raw(): Promise<Samples> {
  const db = await openIndexedDb();
  const put = (at: number) =>
    inTransaction(db, 'blocks', 'relaxed', (blocks) => blocks.put(new Uint8Array(REF_BYTES), at));
  const sample = await each(put);
  db.close();
  return { snapshot: sample, branch: sample };
}

const FLOOR: Contestant = {
  name: 'floor',
  kind: 'floor',
  note: 'one raw transaction with one put of 36 bytes',
  acts: [raw],
};

export const LINES: Suite = {
  name: 'lines',
  cases: [
    { name: 'snapshot', title: 'one snapshot of a full store (p50)', unit: 'ms' },
    { name: 'branch', title: 'one branch made, and a handle on it (p50)', unit: 'ms' },
  ],
  contestants: [{ name: 'hedgerow', kind: 'ours', acts: [hedgerow] }, FLOOR],
};

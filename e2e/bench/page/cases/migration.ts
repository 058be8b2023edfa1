/** Brings rows of a table to a new version while the page runs, and in one transaction as an app would do it. */
import { rowType, table } from 'hedgerow';
import type { Act, Samples, Suite } from '../bench-case.js';
import { longTask, watched } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { type Row, rowsInTurn } from '../rows.js';

/** Version 2 has `state` in place of `status`. */
type NewRow = Omit<Row, 'status'> & { readonly state: string };

const renamed = ({ status, ...row }: Row): NewRow => ({ ...row, state: status });

const before = table({
  schema: rowType<Row>(),
  key: 'id',
  indexes: { byState: ['status', 'modified'] },
});
const after = table({
  schema: rowType<NewRow>(),
  key: 'id',
  indexes: { byNewState: ['state', 'modified'] },
  version: 2,
  migrate: renamed,
});

async function load(rows: number): Promise<void> {
  const { open } = await import('hedgerow');
  const db = await open('bench', { tables: { issues: before } });
  await db.issues.putMany(rowsInTurn(rows));
  await db.issues.ready();
  await db.close();
}

/** Measures the time of the work, and how alive the page was. */
async function told(work: () => Promise<void>): Promise<Samples> {
  const startMs = performance.now();
  const watch = await watched(work);
  const value = performance.now() - startMs;
  const details = { 'longest gap between frames, ms': watch.frameGapMs, ...longTask(watch) };
  return { migration: { value, details } };
}

const inBackground: Act = async ({ rows }) => {
  await load(rows);
  const { open } = await import('hedgerow');
  const samples = await told(async () => {
    const db = await open('bench', { tables: { issues: after } });
    await db.issues.ready();
    const { remaining, refused } = await db.issues.migration();
    const count = await db.issues.where({ state: 'open' }).count();
    if (remaining + refused > 0 || count === 0) throw new Error('rows are left behind');
    await db.close();
  });
  return samples;
};

const byHand: Act = async ({ rows }) => {
  await load(rows);
  return told(async () => {
    const db = await openStore({
      indexes: { byNewState: { path: ['/state', '/modified'], prefix: 'issues/', nulls: true } },
    });
    await db.transaction(async (tx) => {
      for await (const [key, row] of tx.scan<Row>({ prefix: 'issues/' })) tx.put(key, renamed(row));
    });
    if ((await db.count({ index: 'byNewState', equals: ['open'] })) === 0) throw new Error('empty');
    await db.close();
  });
};

export const MIGRATION: Suite = {
  name: 'migration',
  cases: [{ name: 'migration', title: 'all rows of a table brought to version 2', unit: 'ms' }],
  contestants: [
    { name: 'a table', kind: 'ours', acts: [inBackground] },
    { name: 'one transaction over all rows', kind: 'variant', acts: [byHand] },
  ],
};

/** Checks what a killed browser has left of a store that syncs, and syncs it with the others. */
import type { Store } from 'hedgerow';
import { BASE, numbered, SHARED } from '../lib/sync/keys.mjs';
import { Control } from './control.js';
import { mix } from './script.js';
import {
  BULK,
  BULK_ROWS,
  cloned,
  controlCommit,
  controlPlan,
  type Edited,
  linkOf,
  opened,
  type SyncPlan,
} from './sync-plan.js';

/** Blocks to check where not all rows are checked. */
const SOME_BLOCKS = 3;

export interface Looked {
  /** The edit at each place: in a shared row, in the bulk, in a block. */
  readonly places: readonly (readonly [key: string, id: string])[];
  /** The sides of each conflict in the log: ids, `null` for a deletion. */
  readonly conflicts: readonly (readonly [ours: string | null, theirs: string | null])[];
  readonly problems: readonly string[];
  readonly root: string;
  readonly rows: number;
  readonly remoteRows: number;
  /** The last edit of the control; 0 without one. */
  readonly control: number;
}

/** Checks the store as it is. `isAll` reads all rows. */
export async function lookSynced(plan: SyncPlan, isAll: boolean): Promise<Looked> {
  const db = await opened(plan);
  try {
    return await look(db, plan, isAll);
  } finally {
    await db.close();
  }
}

async function look(db: Store, plan: SyncPlan, isAll: boolean): Promise<Looked> {
  const problems: string[] = [];
  const { ok, rows, remoteRows, faults } = await db.health.verify();
  if (!ok) problems.push(`verify finds ${JSON.stringify(faults.slice(0, 3))}`);
  const count = await db.count();
  if (rows + remoteRows !== count) problems.push(`${count} rows, ${rows + remoteRows} verified`);
  // A clone comes whole or not at all.
  const base = await db.count({ prefix: BASE });
  if (base !== plan.rows && count > 0) problems.push(`${base} rows of ${plan.rows} were cloned`);
  const places = [...(await shared(db)), ...(await bulk(db, problems))];
  if (base > 0) places.push(...(await blocks(db, plan, isAll, problems)));
  const conflicts: [string | null, string | null][] = [];
  const link = await linkOf(db, plan);
  for await (const { ours, theirs } of link.conflicts()) {
    conflicts.push([(ours as Edited)?.id ?? null, (theirs as Edited)?.id ?? null]);
  }
  await link.close();
  const control = await Control.open(controlPlan(plan));
  const at = await control.place('puts', controlCommit);
  control.close();
  return { places, conflicts, problems, root: db.root, rows, remoteRows, control: at };
}

async function shared(db: Store): Promise<[string, string][]> {
  const rows = await db.scan<Edited>({ prefix: SHARED }).toArray();
  return rows.map(([key, { id }]) => [key, id]);
}

/** Returns the one edit in the rows of one commit; adds a problem for any other number of edits. */
function theOne(what: string, ids: ReadonlySet<string>, problems: string[]): [string, string][] {
  if (ids.size > 1) problems.push(`${what} is torn between ${[...ids].join(' and ')}`);
  return [...ids].map((id) => [what, id]);
}

async function bulk(db: Store, problems: string[]): Promise<[string, string][]> {
  const rows = await db.scan<Edited>({ prefix: BULK }).toArray();
  if (rows.length !== 0 && rows.length !== BULK_ROWS) {
    problems.push(`${rows.length} rows of ${BULK_ROWS} are in the bulk`);
  }
  return theOne(BULK, new Set(rows.map(([, { id }]) => id)), problems);
}

async function blocks(
  db: Store,
  { seed, rows, blockRows, next }: SyncPlan,
  isAll: boolean,
  problems: string[],
): Promise<[string, string][]> {
  const count = rows / blockRows;
  const chosen = isAll
    ? Array.from({ length: count }, (_, nth) => nth)
    : Array.from({ length: SOME_BLOCKS }, (_, nth) => mix(seed + next, nth) % count);
  const found: [string, string][] = [];
  for (const block of new Set(chosen)) {
    const range = { gte: numbered(BASE, block * blockRows), limit: blockRows };
    const ids = new Set<string>();
    for await (const [, { id }] of db.scan<Edited>(range)) ids.add(id);
    found.push(...theOne(numbered(BASE, block), ids, problems));
  }
  return found;
}

/** Pulls and pushes once; resolves to the root. */
export async function settle(plan: SyncPlan): Promise<string> {
  const { db, connection: link } = await cloned(plan);
  try {
    await link.pull();
    await link.push();
    return db.root;
  } finally {
    await db.close();
  }
}

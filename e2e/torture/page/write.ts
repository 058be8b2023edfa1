/** Writes the script of a phase, into Hedgerow and into the control, until the page is gone. */
import { open, type Store } from 'hedgerow';
import { Control } from './control.js';
import {
  type Commit,
  commitOf,
  keyOf,
  type LaneName,
  PARTS,
  type Plan,
  prefixOf,
  rowOf,
  rowsOf,
} from './script.js';

/** The database of a report. */
export type Side = 'hedgerow' | 'control';

declare global {
  /** Reports to the driver; a report that arrived outlives this page. */
  var report: (message: string) => void;
}

const tell = (...message: unknown[]) => globalThis.report(JSON.stringify(message));

/** Makes a commit of the script, as calls of the store. */
export async function commitTo(
  db: Store,
  lane: LaneName,
  at: number,
  commit: Commit,
): Promise<void> {
  switch (commit.kind) {
    case 'putMany':
      await db.putMany(rowsOf(lane, at, commit.ids));
      break;
    case 'deleteMany':
      await db.deleteMany(commit.ids.map((id) => keyOf(lane, id)));
      break;
    case 'deleteAll':
      await db.deleteMany({ prefix: prefixOf(lane) });
      break;
    case 'put':
      for (const id of commit.ids) await db.put(keyOf(lane, id), rowOf(id, at));
      break;
    case 'delete':
      for (const id of commit.ids) await db.delete(keyOf(lane, id));
      break;
  }
}

/** Returns the store's collection, where it has one. */
export function collectorOf(db: Store): (() => Promise<unknown>) | undefined {
  const { compact } = db as { compact?: () => Promise<unknown> };
  return typeof compact === 'function' ? () => compact.call(db) : undefined;
}

/** Opens both databases; resolves when the phase's preparations are done. */
export async function startWriting(plan: Plan): Promise<void> {
  const db = await open(plan.store, { durability: plan.durability });
  const control = await Control.open(plan);
  const make = async (lane: LaneName, at: number) => {
    const commit = commitOf(plan, lane, at);
    const told = async (side: Side, made: Promise<void>) => {
      await made;
      tell('acknowledged', side, lane, at);
    };
    tell('begun', lane, at);
    await Promise.all([
      told('hedgerow', commitTo(db, lane, at, commit)),
      told('control', control.commit(lane, at, commit)),
    ]);
  };
  for (const { lane, prepared } of PARTS[plan.phase]) {
    for (let at = 1; at <= prepared; at++) await make(lane, at);
  }
  tell('ready');
  const failed = (cause: unknown) => tell('failed', String(cause));
  for (const { lane, prepared, goesOn } of PARTS[plan.phase]) {
    const run = async () => {
      for (let at = prepared + 1; goesOn; at++) await make(lane, at);
    };
    run().catch(failed);
  }
  const collect = collectorOf(db);
  if (plan.phase !== 'collect' || collect === undefined) return;
  const collectAgain = async () => {
    for (let at = 1; ; at++) {
      tell('begun', 'collect', at);
      await collect();
      tell('acknowledged', 'hedgerow', 'collect', at);
    }
  };
  collectAgain().catch(failed);
}

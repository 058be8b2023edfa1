/**
 * The contestants in a visitor's browser: peers of `npm run bench`, and two that use other calls of a peer, as people
 * do.
 */

import type { Setting } from '../../e2e/bench/page/bench-case.js';
import { type Database, NAMES, type Peer } from '../../e2e/bench/page/peers/database.js';
import { DEXIE, HEDGEROW, INDEXED_DB } from '../../e2e/bench/page/peers/visitor.js';
import type { Row } from '../../e2e/bench/page/rows.js';
import type { ContestantId } from './report.js';

const BATCH_ROWS = 1000;

/** The time after which no further row is put one by one: all of them would take minutes. */
export const MOST_MS = 5000;

export interface VisitorContestant {
  readonly id: ContestantId;
  readonly peer: Peer;
}

/** Returns the peer with another way to load. */
function loadedBy(peer: Peer, load: (db: Database, rows: readonly Row[]) => Promise<void>): Peer {
  return {
    ...peer,
    open: async (setting) => {
      const db = await peer.open(setting);
      return {
        ...db,
        load: async (rows) => {
          await load(db, rows);
          return undefined;
        },
      };
    },
  };
}

const inBatches = loadedBy(DEXIE, async (db, rows) => {
  for (let at = 0; at < rows.length; at += BATCH_ROWS) {
    await db.load(rows.slice(at, at + BATCH_ROWS));
  }
});

const oneByOne = loadedBy(INDEXED_DB, async (db, rows) => {
  const endMs = performance.now() + MOST_MS;
  for (const row of rows) {
    if (performance.now() > endMs) return;
    await db.put(row);
  }
});

/** In the order in which they run: the first pays for everything cold. */
export const CONTESTANTS: readonly VisitorContestant[] = [
  { id: 'hedgerow', peer: HEDGEROW },
  { id: 'dexie', peer: DEXIE },
  { id: 'dexie-batches', peer: inBatches },
  { id: 'indexeddb', peer: INDEXED_DB },
  { id: 'indexeddb-each', peer: oneByOne },
];

function deleteDatabase(name: string): Promise<void> {
  const request = indexedDB.deleteDatabase(name);
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error(`another tab has ${name} open`));
  });
}

/** Deletes the contestants' databases, and no other data of this origin. */
export async function clean(): Promise<void> {
  const { destroy } = await import('hedgerow');
  await destroy(NAMES.hedgerow);
  await deleteDatabase(NAMES.dexie);
  await deleteDatabase(NAMES.indexedDb);
}

/** Returns the number of rows in the database, as it counts them. */
export async function countOf(db: Database): Promise<number> {
  if (db.rank === undefined) throw new Error('this database cannot count');
  // All keys of rows come before it.
  return db.rank('~');
}

export function settingOf(rows: number, cases: readonly string[]): Setting {
  return { rows, quick: rows < 10_000, cases };
}

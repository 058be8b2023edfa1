/**
 * The peers that a visitor's own browser compares, too: see `site/benchmark`. They need no file or header of a server.
 */
import type { Peer } from './database.js';
import { openRaw } from './raw.js';

export const MILLION = {
  rows: 100_000,
  reason: 'only Hedgerow and the floor run with more than 100,000 rows',
};
export const NO_WATCH = 'has no way to watch a row';

export const HEDGEROW: Peer = {
  name: 'hedgerow',
  kind: 'ours',
  inMemory: false,
  open: async ({ durability }) => (await import('./hedgerow.js')).openHedgerow({ durability }),
};

export const INDEXED_DB: Peer = {
  name: 'IndexedDB',
  kind: 'peer',
  note: 'a `put` for each row, all of one load in one transaction',
  inMemory: false,
  most: MILLION,
  cannot: { watch: NO_WATCH },
  open: openRaw,
};

export const DEXIE: Peer = {
  name: 'Dexie',
  kind: 'peer',
  inMemory: false,
  most: MILLION,
  open: async (setting) => (await import('./dexie.js')).openDexie(setting),
};

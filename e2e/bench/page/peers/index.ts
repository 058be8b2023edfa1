/** All peers. A page loads only the code of the one that it runs. */
import type { Peer } from './database.js';
import { DEXIE, INDEXED_DB, MILLION, NO_WATCH } from './visitor.js';

export { HEDGEROW } from './visitor.js';

const GONE = 'in memory: nothing is left to open';
const NOTHING_STORED = 'in memory: nothing is stored';
const NO_DOLTLITE_FILE = 'in memory: its release 0.50.12 fails on a file of OPFS (null function)';
/** Returns the reason why sqlite-wasm can keep no files here. */
export const noFiles = () =>
  typeof navigator.storage?.getDirectory === 'function' ? undefined : 'this browser has no OPFS';
const IN_MEMORY = {
  open: GONE,
  'get-cold': GONE,
  disk: NOTHING_STORED,
  'disk-after': NOTHING_STORED,
  'put-strict': NOTHING_STORED,
  watch: NO_WATCH,
};

/** The entry whose WebAssembly is a file. */
export const SLIM: Peer = {
  name: 'hedgerow/slim',
  kind: 'variant',
  note: 'the WebAssembly is a file of its own',
  inMemory: false,
  open: async (setting) => (await import('./slim.js')).openSlim(setting),
};

export const SQLITE_POOL: Peer = {
  name: 'sqlite-wasm OPFS',
  kind: 'peer',
  note: 'in a worker, each commit waits for the disk (synchronous=FULL, its default)',
  inMemory: false,
  most: MILLION,
  cannot: { watch: NO_WATCH },
  missing: noFiles,
  open: async () => {
    const { openSqlite, sqliteWorker } = await import('./sqlite/database.js');
    return openSqlite(sqliteWorker(), { where: 'pool' });
  },
};

export const SQLITE_WAL: Peer = {
  name: 'sqlite-wasm OPFS, WAL',
  kind: 'peer',
  note: 'in a worker, with a write-ahead log and synchronous=NORMAL: a commit does not wait for the disk',
  inMemory: false,
  most: MILLION,
  cannot: { watch: NO_WATCH, 'put-strict': 'synchronous=NORMAL does not wait for the disk' },
  missing: noFiles,
  open: async () => {
    const { openSqlite, sqliteWorker } = await import('./sqlite/database.js');
    return openSqlite(sqliteWorker(), { where: 'pool', tuned: true });
  },
};

export const PEERS: readonly Peer[] = [
  INDEXED_DB,
  {
    name: 'idb',
    kind: 'peer',
    note: 'a `put` for each row, all of one load in one transaction',
    inMemory: false,
    most: MILLION,
    cannot: { watch: NO_WATCH },
    open: async (setting) => (await import('./idb.js')).openIdb(setting),
  },
  DEXIE,
  SQLITE_POOL,
  SQLITE_WAL,
  {
    name: 'sqlite-wasm memory',
    kind: 'peer',
    note: 'in a worker, nothing is stored',
    inMemory: true,
    most: MILLION,
    cannot: IN_MEMORY,
    open: async () => {
      const { openSqlite, sqliteWorker } = await import('./sqlite/database.js');
      return openSqlite(sqliteWorker(), { where: 'memory' });
    },
  },
  {
    name: 'doltlite-wasm memory',
    kind: 'peer',
    note: 'in a worker, nothing is stored',
    inMemory: true,
    most: MILLION,
    cannot: {
      ...IN_MEMORY,
      open: NO_DOLTLITE_FILE,
      disk: NO_DOLTLITE_FILE,
      'disk-after': NO_DOLTLITE_FILE,
      'put-strict': NO_DOLTLITE_FILE,
    },
    open: async () => {
      const { doltliteWorker, openSqlite } = await import('./sqlite/database.js');
      return openSqlite(doltliteWorker(), { where: 'memory' });
    },
  },
  {
    name: 'Replicache',
    kind: 'peer',
    note: 'in memory first, stored when the page has been idle for a while',
    inMemory: false,
    most: MILLION,
    cannot: { 'put-strict': 'a mutation resolves before it is stored' },
    open: async () => (await import('./replicache.js')).openReplicache(),
  },
  {
    name: 'PouchDB',
    kind: 'peer',
    inMemory: false,
    most: { rows: 10_000, reason: 'left out above 10,000 rows, where each pass takes it seconds' },
    cannot: { watch: NO_WATCH, 'put-strict': 'has no strict durability' },
    open: async () => (await import('./pouchdb.js')).openPouchDb(),
  },
];

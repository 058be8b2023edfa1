import type { OpenOptions, Store } from 'hedgerow';
import type { Row } from '../rows.js';
import { type Database, NAMES } from './database.js';

export async function openStore(options: OpenOptions = {}): Promise<Store> {
  // Imported like the code of all peers: the figure includes the page's wait for it.
  const { open } = await import('hedgerow');
  return open(NAMES.hedgerow, { durability: 'relaxed', ...options });
}

/** A store that also shows its own special figures. */
export interface HedgerowDatabase extends Database {
  readonly store: Store;
}

export async function openHedgerow(options: OpenOptions): Promise<HedgerowDatabase> {
  return over(await openStore(options));
}

/** Implements the calls of all cases, over a store. */
export function over(store: Store): HedgerowDatabase {
  return {
    store,
    load: async (rows: readonly Row[]) => {
      const { stats } = await store.putMany(rows, { key: '/id' });
      const { slices, longestSliceMs, storageMs, segments } = stats;
      return {
        slices,
        'longest slice, ms': longestSliceMs,
        'waiting for storage, ms': storageMs,
        segments,
      };
    },
    remove: (ids) => store.deleteMany(ids),
    put: (row) => store.put(row.id, row),
    get: (id) => store.get(id),
    getMany: (ids) => store.getMany(ids),
    scan: ({ prefix, from, limit }) => {
      const range = { ...(prefix && { prefix }), ...(from && { gte: from }) };
      return store
        .scan({ ...range, limit })
        .values()
        .toArray();
    },
    at: async (n) => (await store.at(n))?.[1],
    rank: (id) => store.rank(id),
    watch: async (id, changed) =>
      store.watch<Row>({ gte: id, lte: id }, (changes) => {
        for (const change of changes) changed('newValue' in change ? change.newValue : undefined);
      }),
    close: () => store.close(),
  };
}

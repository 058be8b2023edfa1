/** Writes the changes of collections into their stores. */

import type { PendingMutation } from '@tanstack/db';
import type { Store } from 'hedgerow';
import type { TxTable } from 'hedgerow/kit';
import type { CollectionRow } from './subset-request.js';
import type { TableSource } from './table-source.js';
import type { Feed } from './table-to-collection-feed.js';

// biome-ignore lint/suspicious/noExplicitAny: of any collection
type Mutation = PendingMutation<any, any, any>;

/** The `transaction` that a handler, or the `mutationFn` of a transaction, gets. */
export interface MutationBatch {
  readonly mutations: readonly Mutation[];
}

/** The tables of collections, by their `sync`, which a collection has before it begins. */
export const sources = new WeakMap<object, TableSource>();
/** The feeds of collections. */
export const feeds = new WeakMap<object, Feed>();

/** The last writes, by their stores. */
const writes = new WeakMap<Store, Promise<unknown>>();

/** Runs a function once all earlier ones have ended: transactions of a store that run at once end in any order. */
function inOrder(db: Store, body: () => Promise<unknown>): Promise<unknown> {
  const result = (writes.get(db) ?? Promise.resolve()).then(body);
  writes.set(
    db,
    result.catch(() => {}),
  );
  return result;
}

/**
 * Writes the changes of all collections of tables, in one transaction of each store, and brings the collections up to
 * it. Leaves changes of other collections alone.
 */
export async function writeMutations({ mutations }: MutationBatch): Promise<void> {
  const byStore = new Map<Store, (readonly [source: TableSource, mutation: Mutation])[]>();
  for (const mutation of mutations) {
    const source = sources.get(mutation.collection.config.sync);
    if (source === undefined) continue;
    const own = byStore.get(source.db) ?? [];
    own.push([source, mutation]);
    byStore.set(source.db, own);
  }
  for (const [db, own] of byStore) {
    const writing = () =>
      db.transaction(async (tx) => {
        const tables = tx as unknown as Readonly<Record<string, TxTable>>;
        for (const [source, mutation] of own) {
          await write(tables[source.spec.name] as TxTable, source, mutation);
        }
      });
    await inOrder(db, writing);
    const collections = new Set(own.map(([, { collection }]) => collection as object));
    await Promise.all([...collections].map((one) => feeds.get(one)?.reach()));
  }
}

async function write(table: TxTable, source: TableSource, mutation: Mutation): Promise<unknown> {
  const { type, original, modified, changes } = mutation;
  if (type === 'insert') return table.insert(modified);
  const key = source.tableKey(original as CollectionRow);
  // Only the changed members: another tab may have changed others.
  return type === 'delete' ? table.delete(key) : table.update(key, changes as CollectionRow);
}

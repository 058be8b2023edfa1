/** `hedgerowCollectionOptions`: rows of a table as a collection of TanStack DB. */

import {
  type BaseCollectionConfig,
  BasicIndex,
  type CollectionConfig,
  type SyncConfig,
} from '@tanstack/db';
import { HedgerowError, isPlain, kindOf, type TableHandle } from 'hedgerow/kit';
import type { CollectionRow as AnyRow } from './subset-request.js';
import { type Key, TableSource } from './table-source.js';
import { Feed, type SyncTarget } from './table-to-collection-feed.js';
import { feeds, type MutationBatch, sources, writeMutations } from './write-mutations.js';

/** The key of a row in a collection: the key in its table, or a JSON text of a key of several parts. */
export type CollectionKey<TableKey> = TableKey extends string | number ? TableKey : string;

/** Further calls of a collection of a table, as `collection.utils`. */
export interface HedgerowUtils extends Record<string, unknown> {
  /** Resolves when all indexes of the table are built, and its rows have its version. */
  ready(): Promise<void>;
  /**
   * Writes a transaction's changes in collections of tables, all in one transaction of the store: for the `mutationFn`
   * of transactions, and for your own handlers. Resolves when it is committed, and the collections have it.
   */
  acceptMutations(transaction: MutationBatch): Promise<void>;
}

/** Options of a collection of a table: the options of TanStack DB, without the ones that the table has. */
export interface HedgerowCollectionConfig<Row extends object, Input, TableKey, Definition>
  extends Omit<
    BaseCollectionConfig<Row, CollectionKey<TableKey>, never, HedgerowUtils>,
    'getKey' | 'schema' | 'utils'
  > {
  /** The table of a store, or of a branch of one: `db.issues`. */
  readonly table: TableHandle<Row, Input, TableKey, Definition>;
}

/** The options that `createCollection` takes. */
export type HedgerowCollectionOptions<Row extends object, TableKey> = CollectionConfig<
  Row,
  CollectionKey<TableKey>,
  never,
  HedgerowUtils
> & { utils: HedgerowUtils; schema?: never };

const CALL = 'hedgerowCollectionOptions';

/**
 * Makes options for `createCollection`, for the rows of a table: all changes of the store reach the collection, and its
 * own changes are written to the store. With `syncMode: 'on-demand'` a collection has only the rows that its queries
 * ask for.
 */
export function hedgerowCollectionOptions<Row extends object, Input, TableKey, Definition>(
  config: HedgerowCollectionConfig<Row, Input, TableKey, Definition>,
): HedgerowCollectionOptions<Row, TableKey> {
  if (!isPlain(config)) refuse(`takes options in a plain object, not ${kindOf(config)}`);
  const { table, ...rest } = config;
  const taken = ['getKey', 'schema', 'sync', 'utils'].find((name) => name in rest);
  if (taken !== undefined) refuse(`takes no ${taken}: the table has it`);
  const source = new TableSource(CALL, table);
  const isWhole = rest.syncMode !== 'on-demand';
  const sync: SyncConfig<AnyRow, Key> = {
    rowUpdateMode: 'full',
    sync: (params) => {
      const feed = new Feed(source, params as SyncTarget, isWhole);
      feeds.set(params.collection, feed);
      feed.begin();
      const cleanup = () => feed.end();
      if (isWhole) return { cleanup };
      return {
        cleanup,
        loadSubset: (options) => feed.load(options),
        unloadSubset: (options) => feed.unload(options),
      };
    },
  };
  sources.set(sync, source);
  const write = ({ transaction }: { transaction: MutationBatch }) => writeMutations(transaction);
  const utils: HedgerowUtils = {
    ready: () => source.table.ready(),
    acceptMutations: writeMutations,
  };
  const options = {
    // The indexes of the table have this order of texts.
    defaultStringCollation: { stringSort: 'lexical' },
    // Without an index of its own a collection asks for all rows, instead of the next page.
    ...(!isWhole && { autoIndex: 'eager', defaultIndexType: BasicIndex }),
    onInsert: write,
    onUpdate: write,
    onDelete: write,
    ...rest,
    getKey: source.keyOf,
    sync,
    utils,
  };
  return options as unknown as HedgerowCollectionOptions<Row, TableKey>;
}

function refuse(message: string): never {
  throw new HedgerowError('invalid-argument', `${CALL} ${message}`);
}

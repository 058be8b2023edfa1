/**
 * The interfaces by which the persistence of TanStack DB keeps rows. They repeat the ones of
 * `@tanstack/db-sqlite-persistence-core`, so that an app without that package can compile.
 */

import type { LoadSubsetOptions } from '@tanstack/db';
import type { CollectionRow } from './subset-request.js';
import type { Key } from './table-source.js';

/** A request for rows. */
export type SubsetRequest = Pick<
  LoadSubsetOptions,
  'where' | 'orderBy' | 'limit' | 'offset' | 'cursor'
>;

/** A row with the metadata of its source. */
export interface PersistedRow {
  readonly key: Key;
  readonly value: CollectionRow;
  readonly metadata?: unknown;
}

export interface PersistedMutation extends PersistedRow {
  readonly type: 'insert' | 'update' | 'delete';
  readonly metadataChanged?: boolean;
}

/** A change of the metadata under a key. */
export type MetadataMutation<K> =
  | { readonly type: 'set'; readonly key: K; readonly value: unknown }
  | { readonly type: 'delete'; readonly key: K };

/** A transaction of a collection. */
export interface PersistedTransaction {
  readonly txId: string;
  readonly term: number;
  readonly seq: number;
  readonly rowVersion: number;
  readonly truncate?: boolean;
  readonly mutations: readonly PersistedMutation[];
  readonly rowMetadataMutations?: readonly MetadataMutation<Key>[];
  readonly collectionMetadataMutations?: readonly MetadataMutation<string>[];
}

/** The changes of a transaction. */
export interface TransactionDelta {
  txId: string;
  latestRowVersion: number;
  changedRows: { key: Key; value: CollectionRow }[];
  deletedKeys: Key[];
  rowMetadataMutations: MetadataMutation<Key>[];
  collectionMetadataMutations: MetadataMutation<string>[];
}

/** The position of a collection in its log. */
export interface StreamPosition {
  latestTerm: number;
  latestSeq: number;
  latestRowVersion: number;
}

/** The changes since a version, unless there are too many, or they are not known any more. */
export type ChangesSincePull = { latestRowVersion: number } & (
  | { requiresFullReload: true }
  | {
      requiresFullReload: false;
      changedKeys: Key[];
      deletedKeys: Key[];
      deltas: TransactionDelta[];
    }
);

export interface IndexSpec {
  readonly expressionSql: readonly string[];
  readonly whereSql?: string;
}

/** A message to the collections that persist rows under one name. */
export interface PersistenceMessage {
  v: 1;
  dbName: string;
  collectionId: string;
  senderId: string;
  ts: number;
  payload: unknown;
}

/** A mutation of a collection that has no other source of rows. */
export interface LocalMutation {
  readonly mutationId: string;
  readonly type: 'insert' | 'update' | 'delete';
  readonly key: Key;
  readonly value: CollectionRow;
}

/** An adapter that keeps the rows of collections. */
export interface HedgerowPersistenceAdapter {
  loadSubset(
    collectionId: string,
    options: SubsetRequest,
  ): Promise<{ key: Key; value: CollectionRow; metadata?: unknown }[]>;
  applyCommittedTx(collectionId: string, tx: PersistedTransaction): Promise<void>;
  loadCollectionMetadata(collectionId: string): Promise<{ key: string; value: unknown }[]>;
  scanRows(
    collectionId: string,
    options?: { metadataOnly?: boolean },
  ): Promise<{ key: Key; value: CollectionRow; metadata?: unknown }[]>;
  ensureIndex(collectionId: string, signature: string, spec: IndexSpec): Promise<void>;
  markIndexRemoved(collectionId: string, signature: string): Promise<void>;
  getStreamPosition(collectionId: string): Promise<StreamPosition>;
  pullSince(collectionId: string, fromRowVersion: number): Promise<ChangesSincePull>;
}

/** A coordinator that passes commits to the tabs that have a collection open. */
export interface HedgerowCoordinator {
  getNodeId(): string;
  subscribe(collectionId: string, onMessage: (message: PersistenceMessage) => void): () => void;
  publish(collectionId: string, message: unknown): void;
  isLeader(collectionId: string): boolean;
  ensureLeadership(collectionId: string): Promise<void>;
  requestEnsureRemoteSubset(collectionId: string, options: unknown): Promise<void>;
  requestEnsurePersistedIndex(
    collectionId: string,
    signature: string,
    spec: IndexSpec,
  ): Promise<void>;
  requestApplyLocalMutations(
    collectionId: string,
    mutations: readonly LocalMutation[],
  ): Promise<{
    type: 'rpc:applyLocalMutations:res';
    rpcId: string;
    ok: true;
    term: number;
    seq: number;
    latestRowVersion: number;
    acceptedMutationIds: string[];
  }>;
  pullSince(
    collectionId: string,
    fromRowVersion: number,
  ): Promise<
    {
      type: 'rpc:pullSince:res';
      rpcId: string;
      ok: true;
      latestTerm: number;
      latestSeq: number;
    } & ChangesSincePull
  >;
}

/** The `persistence` of `persistedCollectionOptions`. */
export interface HedgerowPersistence {
  adapter: HedgerowPersistenceAdapter;
  coordinator: HedgerowCoordinator;
  resolvePersistenceForCollection(options: {
    collectionId: string;
    mode: 'sync-present' | 'sync-absent';
    schemaVersion?: number;
  }): HedgerowPersistence;
}

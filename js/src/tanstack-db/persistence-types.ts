/**
 * What the persistence of TanStack DB asks of a place that keeps rows: the interfaces of
 * `@tanstack/db-sqlite-persistence-core`, written out so that an app without it can compile.
 */

import type { LoadSubsetOptions } from '@tanstack/db';
import type { CollectionRow } from './subset.js';
import type { Key } from './table-source.js';

/** Which rows are asked for. */
export type SubsetRequest = Pick<
  LoadSubsetOptions,
  'where' | 'orderBy' | 'limit' | 'offset' | 'cursor'
>;

/** A row with what a source of rows notes about it. */
export interface PersistedRow {
  readonly key: Key;
  readonly value: CollectionRow;
  readonly metadata?: unknown;
}

export interface PersistedMutation extends PersistedRow {
  readonly type: 'insert' | 'update' | 'delete';
  readonly metadataChanged?: boolean;
}

/** A change of something that is noted under a key. */
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

/** What a transaction has changed. */
export interface TransactionDelta {
  txId: string;
  latestRowVersion: number;
  changedRows: { key: Key; value: CollectionRow }[];
  deletedKeys: Key[];
  rowMetadataMutations: MetadataMutation<Key>[];
  collectionMetadataMutations: MetadataMutation<string>[];
}

/** How far a collection has come. */
export interface StreamPosition {
  latestTerm: number;
  latestSeq: number;
  latestRowVersion: number;
}

/** What has changed since a version, unless that is too much, or not known any more. */
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

/** Keeps the rows of collections. */
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

/** Tells the tabs that have a collection open of what was committed. */
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

/** What `persistedCollectionOptions` takes as `persistence`. */
export interface HedgerowPersistence {
  adapter: HedgerowPersistenceAdapter;
  coordinator: HedgerowCoordinator;
  resolvePersistenceForCollection(options: {
    collectionId: string;
    mode: 'sync-present' | 'sync-absent';
    schemaVersion?: number;
  }): HedgerowPersistence;
}

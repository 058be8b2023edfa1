/** `hedgerowPersistence`: a store as the persistence of collections that another source of rows has. */

import { HedgerowError } from '../base/errors.js';
import { checkKey } from '../base/key.js';
import { kindOf } from '../base/kind.js';
import { uniqueName } from '../base/locks.js';
import { optionsOf } from '../base/options.js';
import type { Change } from '../read/diff.js';
import type { Store } from '../store/store.js';
import type { Logged } from './persisted-collection.js';
import type { Meta } from './persisted-keys.js';
import { Adapter, type Keeping } from './persistence-adapter.js';
import type { HedgerowCoordinator, HedgerowPersistence } from './persistence-types.js';

/** Options of `hedgerowPersistence`. */
export interface HedgerowPersistenceOptions {
  /** What the keys of all persisted collections begin with; `'tanstack-db/'` by default. */
  readonly prefix?: string | undefined;
  /**
   * What happens to rows that were written with another `schemaVersion`: `'reset'` drops them, `'error'` rejects. By default
   * those of a collection that is synchronised are dropped, as they come again, and the others are an error.
   */
  readonly schemaMismatch?: 'reset' | 'error' | undefined;
  /** How many transactions are kept of each collection, for tabs that have missed some; 1,000 by default. */
  readonly keptTransactions?: number | undefined;
}

const KEPT = 1_000;

/** What `persistedCollectionOptions` of TanStack DB takes as `persistence`: collections are kept in this store. */
export function hedgerowPersistence(
  db: Store,
  options: HedgerowPersistenceOptions = {},
): HedgerowPersistence {
  if (typeof (db as Partial<Store> | undefined)?.transaction !== 'function') {
    refuse(`takes a store, or a branch of one, not ${kindOf(db)}`);
  }
  const given = optionsOf('hedgerowPersistence', options, 'prefix schemaMismatch keptTransactions');
  const { prefix = 'tanstack-db/', schemaMismatch, keptTransactions: kept = KEPT } = given;
  checkKey(prefix, 'prefix');
  if (schemaMismatch !== undefined && !/^(reset|error)$/.test(schemaMismatch)) {
    refuse(`schemaMismatch must be reset or error, not ${String(schemaMismatch)}`);
  }
  if (!Number.isSafeInteger(kept) || kept < 1) {
    refuse(`keptTransactions must be a whole number from 1 on, not ${String(kept)}`);
  }
  const adapters = new Map<string, HedgerowPersistence>();
  const of = (schema: number, onOther: Keeping['onOther']): HedgerowPersistence => {
    const name = `${schema} ${onOther}`;
    let found = adapters.get(name);
    if (found === undefined) {
      const adapter = new Adapter(db, { prefix, schema, onOther, kept });
      found = {
        adapter,
        coordinator: coordinatorOf(db, adapter),
        resolvePersistenceForCollection: ({ mode, schemaVersion = 1 }) =>
          of(schemaVersion, schemaMismatch ?? (mode === 'sync-present' ? 'reset' : 'error')),
      };
      adapters.set(name, found);
    }
    return found;
  };
  return of(1, schemaMismatch ?? 'error');
}

/**
 * The store puts the transactions of all tabs in one order, so none of them is a leader: each writes by itself, and what is
 * committed is told by the watch of each.
 */
export function coordinatorOf(db: Store, adapter: Adapter): HedgerowCoordinator {
  const nodeId = uniqueName();
  /** By the ids of collections: the transaction that was told last. */
  const told = new Map<string, Logged>();
  /** Transactions of this tab whose changes the collection has, and which nothing came between. */
  const known = new Set<string>();
  const reply = <Type extends string>(type: Type) =>
    ({ type, rpcId: uniqueName(), ok: true }) as const;
  const payloadOf = ({ term, seq, txId, version, delta }: Logged): object => {
    const head = { type: 'tx:committed', term, seq, txId, latestRowVersion: version };
    if (known.delete(txId)) return { ...head, ...NOTHING };
    const isMoved = adapter.moved.delete(txId);
    if (delta === undefined || isMoved) return { ...head, requiresFullReload: true };
    const { txId: _, latestRowVersion: __, ...changed } = delta;
    return { ...head, requiresFullReload: false, ...changed };
  };
  return {
    getNodeId: () => nodeId,
    isLeader: () => true,
    ensureLeadership: async () => {},
    requestEnsureRemoteSubset: async () => {},
    requestEnsurePersistedIndex: async () => {},
    // What was committed is in the log, which is watched.
    publish: () => {},
    subscribe(collectionId, onMessage) {
      const { meta } = adapter.placesOf(collectionId);
      const tell = (payload: object) =>
        onMessage({ v: 1, dbName: db.name, collectionId, senderId: '', ts: Date.now(), payload });
      return db.watch({ prefix: meta }, async (changes) => {
        const form = await adapter.form();
        for (const change of changes) {
          if (change.key === meta) {
            const reset = resetOf(change);
            if (reset !== undefined) tell(reset);
          } else if (change.op === 'add') {
            const logged = form.decode(change.newValue) as Logged;
            told.set(collectionId, logged);
            tell(payloadOf(logged));
          }
        }
      });
    },
    async requestApplyLocalMutations(collectionId, mutations) {
      const last = told.get(collectionId);
      const txId = uniqueName();
      const at = await adapter.commit(collectionId, { txId, mutations });
      const isNext = last?.term === at.latestTerm && last.seq === at.latestSeq - 1;
      // The watch may tell of it before this is noted: then its changes come twice, which changes nothing.
      if (isNext && told.get(collectionId) === last) known.add(txId);
      return {
        ...reply('rpc:applyLocalMutations:res'),
        // Its collection takes this as what it has heard of. It has not yet heard what other tabs have committed before.
        term: 0,
        seq: 0,
        latestRowVersion: 0,
        acceptedMutationIds: mutations.map(({ mutationId }) => mutationId),
      };
    },
    async pullSince(collectionId, fromRowVersion) {
      const [pulled, { latestTerm, latestSeq }] = await Promise.all([
        adapter.pullSince(collectionId, fromRowVersion),
        adapter.getStreamPosition(collectionId),
      ]);
      return { ...reply('rpc:pullSince:res'), latestTerm, latestSeq, ...pulled };
    },
  };
}

const NOTHING = { requiresFullReload: false, changedRows: [], deletedKeys: [] };

/** The message that all rows were dropped, if a change of the state of a collection says so. */
function resetOf(change: Change): object | undefined {
  if (change.op !== 'change') return undefined;
  const [{ epoch: before }, { epoch, schema }] = [change.oldValue as Meta, change.newValue as Meta];
  const reset = { type: 'collection:reset', schemaVersion: schema, resetEpoch: epoch };
  return before === epoch ? undefined : reset;
}

function refuse(message: string): never {
  throw new HedgerowError('invalid-argument', `hedgerowPersistence ${message}`);
}

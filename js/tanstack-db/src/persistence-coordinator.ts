/** Passes the commits of all tabs to the collections of a tab. */

import type { Change, Store } from 'hedgerow';
import { onRecovery, uniqueName } from 'hedgerow/kit';
import type { Meta } from './persisted-key-layout.js';
import { isLater, type LoggedTransaction, type LogPosition } from './persisted-log.js';
import type { Adapter } from './persistence-adapter.js';
import type {
  HedgerowCoordinator,
  LocalMutation,
  PersistenceMessage,
} from './persistence-types.js';

/** The state of the collections with one id. */
interface State {
  listeners: number;
  /** The last place of a collection's own transaction that could not be committed: another tab may take it. */
  failed: LogPosition | undefined;
}

const UNUSED: State = { listeners: 0, failed: undefined };

/** The message of a collection about its own transaction. */
interface PublishedTransaction extends LogPosition {
  readonly txId: string;
  readonly latestRowVersion: number;
  readonly requiresFullReload?: boolean;
}

const NOTHING = { requiresFullReload: false, changedRows: [], deletedKeys: [] };

/** Builds the message on which collections drop their rows, and read them again. */
const reset = (schemaVersion = 0, resetEpoch = 0) => ({
  type: 'collection:reset',
  schemaVersion,
  resetEpoch,
});

/**
 * The coordinator of a tab. The store puts the transactions of all tabs in one order, so no tab is a leader: each
 * writes by itself, and its watch reports all commits.
 */
export class Coordinator implements HedgerowCoordinator {
  readonly #db: Store;
  readonly #adapter: Adapter;
  readonly #states = new Map<string, State>();
  /** Transactions of this tab whose changes the collection has, with no other transaction before them. */
  readonly #known = new Set<string>();

  constructor(db: Store, adapter: Adapter) {
    this.#db = db;
    this.#adapter = adapter;
  }

  getNodeId(): string {
    return this.#adapter.id;
  }

  isLeader(): boolean {
    return true;
  }

  async ensureLeadership(): Promise<void> {}

  async requestEnsureRemoteSubset(): Promise<void> {}

  async requestEnsurePersistedIndex(): Promise<void> {}

  /**
   * Commits an empty transaction for one without changes: its collection has taken a place for it, and would not hear
   * of a transaction that another tab puts there. Others are in the log, which is watched.
   */
  publish(collectionId: string, message: unknown): void {
    const { payload } = message as { readonly payload: PublishedTransaction };
    const { txId, latestRowVersion: rowVersion, requiresFullReload, term, seq } = payload;
    if (requiresFullReload !== true || this.#adapter.hasCommitted(collectionId, txId)) return;
    const empty = { txId, mutations: [] };
    this.#adapter.commit(collectionId, empty, { term, seq, rowVersion }).catch(() => {
      const state = this.#stateOf(collectionId);
      if (!state.failed || isLater({ term, seq }, state.failed)) state.failed = { term, seq };
    });
  }

  subscribe(collectionId: string, onMessage: (message: PersistenceMessage) => void): () => void {
    const { meta } = this.#adapter.placesOf(collectionId);
    const state = this.#stateOf(collectionId);
    const queue = this.#adapter.queueOf(collectionId);
    const dbName = this.#db.name;
    const tell = (payload: object) =>
      onMessage({ v: 1, dbName, collectionId, senderId: '', ts: Date.now(), payload });
    const take = async (changes: readonly Change[]) => {
      const form = await this.#adapter.form();
      for (const change of changes) {
        if (change.key === meta) {
          const dropped = droppedFor(change);
          if (dropped !== undefined) tell(reset(dropped.schema, dropped.epoch));
        } else if (change.op === 'insert') {
          const logged = form.decode(structuredClone(change.newValue)) as LoggedTransaction;
          queue.deliver(logged);
          tell(this.#payloadOf(logged));
          // The collection takes this place for its own, and ignores the message.
          if (state.failed && !isLater(logged, state.failed)) tell(reset());
        }
      }
    };
    const begin = () => this.#db.watch({ prefix: meta }, take);
    let stop = begin();
    // A watch that has failed has reported no changes since then.
    const stopRecovery = onRecovery(this.#db, () => {
      stop();
      stop = begin();
      tell(reset());
    });
    state.listeners += 1;
    let isOver = false;
    return () => {
      if (!isOver) state.listeners -= 1;
      isOver = true;
      stop();
      stopRecovery();
    };
  }

  async requestApplyLocalMutations(collectionId: string, mutations: readonly LocalMutation[]) {
    const queue = this.#adapter.queueOf(collectionId);
    const last = queue.handled;
    const txId = uniqueName();
    const at = await queue.during(this.#adapter.commit(collectionId, { txId, mutations }));
    const isNext = last?.term === at.latestTerm && last.seq === at.latestSeq - 1;
    // The watch may report it before this is noted: then its changes come twice, which does no harm.
    const { listeners } = this.#stateOf(collectionId);
    if (isNext && queue.handled === last && listeners === 1) this.#known.add(txId);
    return {
      ...reply('rpc:applyLocalMutations:res'),
      // The collection takes this as its position. It may not yet have heard of earlier commits of other tabs.
      term: 0,
      seq: 0,
      latestRowVersion: 0,
      acceptedMutationIds: mutations.map(({ mutationId }) => mutationId),
    };
  }

  async pullSince(collectionId: string, fromRowVersion: number) {
    const pulling = Promise.all([
      this.#adapter.pullSince(collectionId, fromRowVersion),
      this.#adapter.getStreamPosition(collectionId),
    ]);
    const queue = this.#adapter.queueOf(collectionId);
    const [pulled, { latestTerm, latestSeq }] = await queue.during(pulling);
    return { ...reply('rpc:pullSince:res'), latestTerm, latestSeq, ...pulled };
  }

  #stateOf(collectionId: string): State {
    const state = this.#states.get(collectionId) ?? { ...UNUSED };
    this.#states.set(collectionId, state);
    return state;
  }

  #payloadOf({ term, seq, txId, version, delta, behind }: LoggedTransaction): object {
    const head = { type: 'tx:committed', term, seq, txId, latestRowVersion: version };
    if (this.#known.delete(txId)) return { ...head, ...NOTHING };
    const isMissed = behind === this.#adapter.id;
    if (delta === undefined || isMissed) return { ...head, requiresFullReload: true };
    const { txId: _, latestRowVersion: __, ...changed } = delta;
    return { ...head, requiresFullReload: false, ...changed };
  }
}

const reply = <Type extends string>(type: Type) =>
  ({ type, rpcId: uniqueName(), ok: true }) as const;

/** Returns the state of a collection, if a change of it shows that all rows were dropped. */
function droppedFor(change: Change): Meta | undefined {
  if (change.op !== 'update') return undefined;
  const now = change.newValue as Meta;
  return (change.oldValue as Meta).epoch === now.epoch ? undefined : now;
}

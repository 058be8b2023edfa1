/** The log of a persisted collection: its last transactions, in their order. */

import type { Transaction } from 'hedgerow';
import type { CollectionKeys } from './persisted-key-layout.js';
import type { PersistedTransaction, TransactionDelta } from './persistence-types.js';
import type { CommitReads } from './read-persisted-rows.js';
import type { Form } from './write-persisted-rows.js';

/** A place in the order of transactions. */
export interface LogPosition {
  readonly term: number;
  readonly seq: number;
}

/** A transaction that gets its place in the order when it is committed. */
export type UnorderedTransaction = Omit<PersistedTransaction, 'term' | 'seq' | 'rowVersion'>;

/** A transaction in the log. */
export interface LoggedTransaction extends LogPosition {
  /** Absent if there were too many changes to send again. */
  readonly delta?: TransactionDelta;
  readonly txId: string;
  readonly version: number;
  /**
   * The adapter whose collection wanted an earlier place, which was taken: the collection mistakes the transaction
   * there for its own, and does not hear of it.
   */
  readonly behind?: string;
}

/** Most changes that a log sends again; after more, rows are read again. */
const MOST_TOLD = 128;

export const isLater = (a: LogPosition, b: LogPosition) =>
  a.term > b.term || (a.term === b.term && a.seq > b.seq);

export class Log {
  readonly #places: CollectionKeys;
  readonly #form: Form;
  readonly #kept: number;

  constructor(places: CollectionKeys, form: Form, kept: number) {
    this.#places = places;
    this.#form = form;
    this.#kept = kept;
  }

  /**
   * Resolves to whether the transaction at a place makes the same changes as this one. A transaction that an adapter
   * has put behind others does not count for this adapter: its collection hears of earlier ones only at a place that it
   * has not given away.
   */
  async has(
    store: Pick<CommitReads, 'get'>,
    { term, seq }: LogPosition,
    tx: UnorderedTransaction,
    adapter: string,
  ): Promise<boolean> {
    const stored = await store.get(this.#places.transaction(term, seq));
    if (stored === undefined) return false;
    const { behind, delta, txId } = this.#form.decode(stored) as LoggedTransaction;
    if (txId === tx.txId) return true;
    if (delta === undefined || behind === adapter) return false;
    const text = (of: TransactionDelta) =>
      JSON.stringify(this.#form.encode({ ...of, txId: '', latestRowVersion: 0 }));
    return text(delta) === text(deltaOf({ ...tx, term: 0, seq: 0, rowVersion: 0 }));
  }

  /** Adds a transaction, and drops the oldest ones; resolves to the highest dropped version. */
  async add(store: Transaction, tx: PersistedTransaction, behind?: string): Promise<number> {
    const { term, seq, txId, rowVersion: version } = tx;
    const delta = deltaOf(tx);
    const isTold = !tx.truncate && sizeOf(delta) <= MOST_TOLD;
    const logged = {
      term,
      seq,
      txId,
      version,
      ...(isTold && { delta }),
      ...(behind && { behind }),
    };
    store.put(this.#places.transaction(term, seq), this.#form.encode(logged));
    const prefix = this.#places.log;
    const excess = (await store.count({ prefix })) - this.#kept;
    let dropped = 0;
    if (excess <= 0) return dropped;
    for (const [key, stored] of await store.scan({ prefix, limit: excess }).toArray()) {
      dropped = Math.max(dropped, (this.#form.decode(stored) as LoggedTransaction).version);
      store.delete(key);
    }
    return dropped;
  }

  /**
   * Reads the changes after a version, for an adapter; resolves to `undefined` if there are too many, or not all are
   * known.
   */
  async since(
    at: Pick<CommitReads, 'scan'>,
    version: number,
    adapter: string,
    most = MOST_TOLD,
  ): Promise<TransactionDelta[] | undefined> {
    const deltas: TransactionDelta[] = [];
    let size = 0;
    for await (const [, stored] of at.scan({ prefix: this.#places.log, reverse: true })) {
      const logged = this.#form.decode(stored) as LoggedTransaction;
      if (logged.version <= version) break;
      if (logged.delta === undefined || logged.behind === adapter) return undefined;
      size += sizeOf(logged.delta);
      if (size > most) return undefined;
      deltas.push(logged.delta);
    }
    return deltas.reverse();
  }
}

/** Counts the changes of a delta. */
function sizeOf(delta: TransactionDelta): number {
  const { changedRows, deletedKeys, rowMetadataMutations, collectionMetadataMutations } = delta;
  const lists = [changedRows, deletedKeys, rowMetadataMutations, collectionMetadataMutations];
  return lists.reduce((sum, list) => sum + list.length, 0);
}

/** Returns the changes of a transaction, as the log has them. */
function deltaOf(tx: PersistedTransaction): TransactionDelta {
  const puts = tx.mutations.filter(({ type }) => type !== 'delete');
  return {
    txId: tx.txId,
    latestRowVersion: tx.rowVersion,
    changedRows: puts.map(({ key, value }) => ({ key, value })),
    deletedKeys: tx.mutations.filter(({ type }) => type === 'delete').map(({ key }) => key),
    rowMetadataMutations: [...(tx.rowMetadataMutations ?? [])],
    collectionMetadataMutations: [...(tx.collectionMetadataMutations ?? [])],
  };
}

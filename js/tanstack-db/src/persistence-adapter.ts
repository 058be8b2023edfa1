/** Keeps collections of TanStack DB, with any source of rows, in a store. */

import { compileSingleRowExpression } from '@tanstack/db';
import type { Store, Transaction } from 'hedgerow';
import { HedgerowError, loadStructured, uniqueName } from 'hedgerow/kit';
import { CollectionQueue } from './collection-queue.js';
import { compareValues } from './compare-values.js';
import { CollectionKeys, type Meta } from './persisted-key-layout.js';
import { isLater, Log, type UnorderedTransaction } from './persisted-log.js';
import type {
  ChangesSincePull,
  HedgerowPersistenceAdapter,
  IndexSpec,
  PersistedTransaction,
  StreamPosition,
  SubsetRequest,
} from './persistence-types.js';
import { planRequest, readPlanned } from './plan-and-read-request.js';
import { type CommitReads, groundOf, type PersistedFound } from './read-persisted-rows.js';
import { splitRequest } from './subset-request.js';
import { Edits, entryOf, type Form, indexedPath, NEW, rowOf } from './write-persisted-rows.js';

/** The settings by which collections are kept. */
export interface PersistenceSettings {
  readonly prefix: string;
  readonly schema: number;
  /** The treatment of rows of another version. */
  readonly onOther: 'reset' | 'error';
  /** The number of transactions that the log keeps of each collection. */
  readonly kept: number;
  /** Most changes that `pullSince` returns. */
  readonly mostTold?: number;
}

/** The place that a collection has given to a transaction. */
type RequestedPosition = Pick<PersistedTransaction, 'term' | 'seq' | 'rowVersion'>;

export class Adapter implements HedgerowPersistenceAdapter {
  readonly #db: Store;
  readonly #keeping: PersistenceSettings;
  /** The name of this adapter, unique among all tabs. */
  readonly id = uniqueName();
  readonly #ready = new Map<string, Promise<Form>>();
  readonly #queues = new Map<string, CollectionQueue>();
  /** The last transactions, by the ids of their collections. */
  readonly #applied = new Map<string, string>();

  constructor(db: Store, keeping: PersistenceSettings) {
    this.#db = db;
    this.#keeping = keeping;
  }

  placesOf(collectionId: string): CollectionKeys {
    return new CollectionKeys(this.#keeping.prefix, collectionId);
  }

  queueOf(collectionId: string): CollectionQueue {
    const queue = this.#queues.get(collectionId) ?? new CollectionQueue();
    this.#queues.set(collectionId, queue);
    return queue;
  }

  /** Resolves when the rows of a collection are of the version of the app. */
  ready(collectionId: string): Promise<Form> {
    let ready = this.#ready.get(collectionId);
    if (ready === undefined) {
      ready = this.#begin(collectionId);
      ready.catch(() => this.#ready.delete(collectionId));
      this.#ready.set(collectionId, ready);
    }
    return ready;
  }

  async form(): Promise<Form> {
    return (await loadStructured()).STRUCTURED_ROWS as Form;
  }

  async #begin(collectionId: string): Promise<Form> {
    const form = await this.form();
    const { schema } = await this.#readMeta(this.#db, collectionId);
    if (schema !== this.#keeping.schema)
      await this.#db.transaction((tx) => this.#metaToWrite(tx, collectionId, true));
    return form;
  }

  async #readMeta(at: Pick<CommitReads, 'get'>, collectionId: string): Promise<Meta> {
    const meta = (await at.get(this.placesOf(collectionId).meta)) as Meta | undefined;
    return meta ?? { ...NEW, schema: this.#keeping.schema };
  }

  /**
   * Reads the state of a collection for a write. It drops the rows of an older version, and at first the rows of any
   * version but its own. It throws if another tab has written rows of a newer version since, or if no other place has
   * the rows.
   */
  async #metaToWrite(tx: Transaction, collectionId: string, isFirst = false): Promise<Meta> {
    const { schema: wanted, onOther } = this.#keeping;
    const meta = await this.#readMeta(tx, collectionId);
    const { schema, epoch } = meta;
    if (schema === wanted) return meta;
    const isNewer = schema > wanted;
    if (onOther === 'error' || (isNewer && !isFirst)) {
      const message = `Schema version mismatch for collection ${JSON.stringify(collectionId)}: its rows are of version ${schema}, and this app has ${wanted}`;
      throw new HedgerowError(isNewer ? 'newer-version/schema' : 'invalid-argument', message);
    }
    const places = this.placesOf(collectionId);
    const fresh = { ...NEW, schema: wanted, epoch: epoch + 1 };
    await tx.deleteMany({ prefix: places.all });
    // Other tabs see that the rows are gone.
    tx.put(places.meta, fresh);
    return fresh;
  }

  async applyCommittedTx(collectionId: string, tx: PersistedTransaction): Promise<void> {
    await this.commit(collectionId, tx, tx);
    this.#applied.set(collectionId, tx.txId);
  }

  /** Whether a transaction is the last one that was committed for a collection. */
  hasCommitted(collectionId: string, txId: string): boolean {
    return this.#applied.get(collectionId) === txId;
  }

  /** Commits a transaction at `wanted`, or after all others; resolves to its place. */
  async commit(
    collectionId: string,
    tx: UnorderedTransaction,
    wanted?: RequestedPosition,
  ): Promise<StreamPosition> {
    const places = this.placesOf(collectionId);
    return this.#edit(collectionId, async (store, meta, form) => {
      const log = new Log(places, form, this.#keeping.kept);
      let { term, seq } = wanted ?? { term: Math.max(1, meta.term), seq: meta.seq + 1 };
      const isBehind = !isLater({ term, seq }, meta);
      if (isBehind) {
        // It is the same again; or another tab has put a different one there.
        if (await log.has(store, { term, seq }, tx, this.id)) return position(meta);
        [term, seq] = [meta.term, meta.seq + 1];
      }
      const version = Math.max(meta.version + 1, wanted?.rowVersion ?? 0);
      const full: PersistedTransaction = { ...tx, term, seq, rowVersion: version };
      await new Edits(store, places, form, meta).make(full);
      const next = { ...meta, term, seq, version };
      const dropped = await log.add(store, full, isBehind ? this.id : undefined);
      store.put(places.meta, { ...next, dropped: Math.max(meta.dropped, dropped) });
      return position(next);
    });
  }

  loadSubset(collectionId: string, options: SubsetRequest) {
    return this.queueOf(collectionId).during(this.#readSubset(collectionId, options));
  }

  async #readSubset(collectionId: string, options: SubsetRequest) {
    return this.#at(collectionId, async (at, meta, form) => {
      const decode = (stored: unknown) => rowOf(form, stored);
      const ground = await groundOf(at, this.placesOf(collectionId), meta, decode);
      const found = new Map<string, PersistedFound>();
      const isCut = options.cursor !== undefined;
      for (const wanted of splitRequest(options, [])) {
        const plan = await planRequest(ground, wanted);
        const read = sortFound((await readPlanned(ground, plan)).found, options);
        for (const one of isCut ? read.slice(0, wanted.limit) : read) found.set(one.place, one);
      }
      const all = sortFound([...found.values()], options);
      const { offset = 0, limit = Number.POSITIVE_INFINITY } = options;
      return (isCut ? all : all.slice(offset, offset + limit)).map(toPersistedRow);
    });
  }

  async scanRows(collectionId: string, options: { metadataOnly?: boolean } = {}) {
    return this.#at(collectionId, async (at, _, form) => {
      const rows: ReturnType<typeof toPersistedRow>[] = [];
      for await (const [, stored] of at.scan({ prefix: this.placesOf(collectionId).rows })) {
        const row = rowOf(form, stored);
        if (!options.metadataOnly || row.metadata !== undefined) rows.push(toPersistedRow(row));
      }
      return rows;
    });
  }

  async loadCollectionMetadata(collectionId: string) {
    const form = await this.ready(collectionId);
    const notes: { key: string; value: unknown }[] = [];
    for await (const [, stored] of this.#db.scan({ prefix: this.placesOf(collectionId).notes })) {
      notes.push(form.decode(stored) as { key: string; value: unknown });
    }
    return notes;
  }

  async ensureIndex(collectionId: string, signature: string, spec: IndexSpec): Promise<void> {
    const path = indexedPath(spec.expressionSql);
    const places = this.placesOf(collectionId);
    await this.#edit(collectionId, async (store, meta, form) => {
      if (Object.hasOwn(meta.indexes, signature)) return;
      // A part of the rows may not be enough for a query.
      const isWhole = spec.whereSql === undefined;
      const index = { number: meta.made, ...(path !== undefined && isWhole && { path }) };
      if (index.path !== undefined) {
        for await (const [place, stored] of store.scan({ prefix: places.rows })) {
          store.put(entryOf(places, index, place, rowOf(form, stored)) as string, 0);
        }
      }
      const indexes = { ...meta.indexes, [signature]: index };
      store.put(places.meta, { ...meta, indexes, made: meta.made + 1 });
    });
  }

  async markIndexRemoved(collectionId: string, signature: string): Promise<void> {
    const places = this.placesOf(collectionId);
    await this.#edit(collectionId, async (store, meta) => {
      if (!Object.hasOwn(meta.indexes, signature)) return;
      const { [signature]: index, ...indexes } = meta.indexes;
      if (index === undefined) return;
      await store.deleteMany({ prefix: places.index(index) });
      await store.deleteMany({ prefix: places.others(index) });
      store.put(places.meta, { ...meta, indexes });
    });
  }

  async getStreamPosition(collectionId: string): Promise<StreamPosition> {
    return this.#at(collectionId, async (_, meta) => position(meta));
  }

  async pullSince(collectionId: string, fromRowVersion: number): Promise<ChangesSincePull> {
    return this.#at(collectionId, async (at, { version, dropped }, form) => {
      const reload = { latestRowVersion: version, requiresFullReload: true } as const;
      if (fromRowVersion < dropped) return reload;
      const log = new Log(this.placesOf(collectionId), form, this.#keeping.kept);
      const deltas = await log.since(at, fromRowVersion, this.id, this.#keeping.mostTold);
      if (deltas === undefined) return reload;
      const isThere = new Map<string | number, boolean>();
      for (const { changedRows, deletedKeys } of deltas) {
        for (const { key } of changedRows) isThere.set(key, true);
        for (const key of deletedKeys) isThere.set(key, false);
      }
      const keys = (wanted: boolean) =>
        [...isThere].filter(([, is]) => is === wanted).map(([key]) => key);
      return {
        latestRowVersion: version,
        requiresFullReload: false,
        changedKeys: keys(true),
        deletedKeys: keys(false),
        deltas,
      };
    });
  }

  /** Changes a collection that has this state. */
  async #edit<T>(
    collectionId: string,
    body: (tx: Transaction, meta: Meta, form: Form) => Promise<T>,
  ): Promise<T> {
    const form = await this.ready(collectionId);
    return this.#db.transaction(async (tx) =>
      body(tx, await this.#metaToWrite(tx, collectionId), form),
    );
  }

  /** Reads one commit, in which a collection has this state. */
  async #at<T>(
    collectionId: string,
    body: (at: CommitReads, meta: Meta, form: Form) => Promise<T>,
  ): Promise<T> {
    const form = await this.ready(collectionId);
    for (;;) {
      const snapshot = this.#db.snapshot();
      try {
        const at = snapshot as unknown as CommitReads;
        const meta = await this.#readMeta(at, collectionId);
        if (meta.schema === this.#keeping.schema) return await body(at, meta, form);
      } finally {
        snapshot.close();
      }
      await this.#db.transaction((tx) => this.#metaToWrite(tx, collectionId));
    }
  }
}

function position({ term, seq, version }: Meta): StreamPosition {
  return { latestTerm: term, latestSeq: seq, latestRowVersion: version };
}

const toPersistedRow = ({
  key,
  value,
  metadata,
}: Pick<PersistedFound, 'key' | 'value' | 'metadata'>) => ({
  key,
  value,
  metadata,
});

/** Sorts rows in the requested order; ties are in the order of their keys. */
function sortFound(
  found: readonly PersistedFound[],
  { orderBy = [] }: SubsetRequest,
): PersistedFound[] {
  const clauses = orderBy.map(({ expression, compareOptions: how }) => {
    const of = compileSingleRowExpression(expression as never);
    return (a: PersistedFound, b: PersistedFound) => compareValues(of(a.row), of(b.row), how);
  });
  return [...found].sort((a, b) => {
    for (const clause of clauses) {
      const order = clause(a, b);
      if (order !== 0) return order;
    }
    return a.place < b.place ? -1 : 1;
  });
}

/** Keeps collections of TanStack DB, whatever they are synchronised with, in a store. */

import { compileSingleRowExpression } from '@tanstack/db';
import { HedgerowError } from '../base/errors.js';
import type { Store } from '../store/store.js';
import { loadStructured } from '../tables/later.js';
import type { Transaction } from '../transaction/transaction.js';
import { compare } from './compare.js';
import {
  deltaOf,
  Edits,
  entryOf,
  type Form,
  indexedPath,
  type Logged,
  MOST_TOLD,
  NEW,
  rowOf,
  sizeOf,
} from './persisted-collection.js';
import { type Meta, Places } from './persisted-keys.js';
import { groundOf, type PersistedFound, type Reads } from './persisted-rows.js';
import type {
  HedgerowPersistenceAdapter,
  IndexSpec,
  PersistedTransaction,
  Pulled,
  StreamPosition,
  SubsetRequest,
} from './persistence-types.js';
import { planOf, readPlanned } from './read.js';
import { wantedOf } from './subset.js';

/** How collections are kept. */
export interface Keeping {
  readonly prefix: string;
  readonly schema: number;
  /** What is done with rows of another version. */
  readonly onOther: 'reset' | 'error';
  /** Transactions that the log keeps of each collection. */
  readonly kept: number;
  /** Changes that `pullSince` tells at most. */
  readonly mostTold?: number;
}

/** A transaction of a collection that gets its place in the order when it is committed. */
export type Unplaced = Omit<PersistedTransaction, 'term' | 'seq' | 'rowVersion'>;

export class Adapter implements HedgerowPersistenceAdapter {
  readonly #db: Store;
  readonly #keeping: Keeping;
  readonly #ready = new Map<string, Promise<Form>>();
  /** Transactions whose place another tab had taken: their tab has not heard of that one, and will not. */
  readonly moved = new Set<string>();

  constructor(db: Store, keeping: Keeping) {
    this.#db = db;
    this.#keeping = keeping;
  }

  placesOf(collectionId: string): Places {
    return new Places(this.#keeping.prefix, collectionId);
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
    const places = this.placesOf(collectionId);
    const meta = (await this.#db.get(places.meta)) as Meta | undefined;
    if (meta === undefined || meta.schema === this.#keeping.schema) return form;
    if (this.#keeping.onOther === 'error') this.#refuseOther(collectionId, meta);
    await this.#db.transaction(async (tx) => {
      const now = (await tx.get(places.meta)) as Meta | undefined;
      if (now === undefined || now.schema === this.#keeping.schema) return;
      await tx.deleteMany({ prefix: places.all });
      // Other tabs see that the rows are gone.
      tx.put(places.meta, { ...NEW, schema: this.#keeping.schema, epoch: now.epoch + 1 });
    });
    return form;
  }

  #refuseOther(collectionId: string, { schema }: Meta): never {
    const wanted = this.#keeping.schema;
    const message = `Schema version mismatch for collection ${JSON.stringify(collectionId)}: its rows are of version ${schema}, and this app has ${wanted}`;
    throw new HedgerowError(schema > wanted ? 'newer-version' : 'invalid-argument', message);
  }

  /** The state of a collection; throws if another tab has rows of another version by now. */
  async #meta(at: Pick<Reads, 'get'>, collectionId: string): Promise<Meta> {
    const meta = (await at.get(this.placesOf(collectionId).meta)) as Meta | undefined;
    if (meta === undefined) return { ...NEW, schema: this.#keeping.schema };
    if (meta.schema !== this.#keeping.schema) this.#refuseOther(collectionId, meta);
    return meta;
  }

  async applyCommittedTx(collectionId: string, tx: PersistedTransaction): Promise<void> {
    await this.commit(collectionId, tx, tx);
  }

  /** Commits a transaction at `wanted`, or behind all others; resolves to its place. */
  async commit(
    collectionId: string,
    tx: Unplaced,
    wanted?: { readonly term: number; readonly seq: number; readonly rowVersion: number },
  ): Promise<StreamPosition> {
    const form = await this.ready(collectionId);
    const places = this.placesOf(collectionId);
    return this.#db.transaction(async (store) => {
      const meta = await this.#meta(store, collectionId);
      let { term, seq } = wanted ?? { term: Math.max(1, meta.term), seq: meta.seq + 1 };
      const present = (await store.get(places.transaction(term, seq))) as unknown;
      if (present !== undefined) {
        // The same again; or another tab has taken the place, for something else.
        if (isSame(form, present, tx)) return position(meta);
        [term, seq] = [meta.term, meta.seq + 1];
        this.moved.add(tx.txId);
      }
      const version = Math.max(meta.version + 1, wanted?.rowVersion ?? 0);
      const full: PersistedTransaction = { ...tx, term, seq, rowVersion: version };
      await new Edits(store, places, form, meta).make(full);
      const delta = deltaOf(full, version);
      const isTold = !tx.truncate && sizeOf(delta) <= MOST_TOLD;
      const logged = { txId: tx.txId, version, ...(isTold && { delta }) };
      store.put(places.transaction(term, seq), form.encode({ term, seq, ...logged }));
      const isLater = term > meta.term || (term === meta.term && seq > meta.seq);
      const next: Meta = { ...meta, version, ...(isLater && { term, seq }) };
      store.put(places.meta, await this.#pruned(store, places, form, next));
      return position(next);
    });
  }

  /** Drops the oldest transactions of the log. */
  async #pruned(store: Transaction, places: Places, form: Form, meta: Meta): Promise<Meta> {
    const prefix = places.log;
    const excess = (await store.count({ prefix })) - this.#keeping.kept;
    if (excess <= 0) return meta;
    let { dropped } = meta;
    for (const [key, stored] of await store.scan({ prefix, limit: excess }).toArray()) {
      dropped = Math.max(dropped, (form.decode(stored) as Logged).version);
      store.delete(key);
    }
    return { ...meta, dropped };
  }

  async loadSubset(collectionId: string, options: SubsetRequest) {
    const form = await this.ready(collectionId);
    return this.#at(async (at) => {
      const meta = await this.#meta(at, collectionId);
      const decode = (stored: unknown) => rowOf(form, stored);
      const ground = await groundOf(at, this.placesOf(collectionId), meta, decode);
      const found = new Map<string, PersistedFound>();
      const isCut = options.cursor !== undefined;
      for (const wanted of wantedOf(options, [])) {
        const plan = await planOf(ground, wanted);
        const read = sorted((await readPlanned(ground, plan)).found, options);
        for (const one of isCut ? read.slice(0, wanted.limit) : read) found.set(one.place, one);
      }
      const all = sorted([...found.values()], options);
      const { offset = 0, limit = Number.POSITIVE_INFINITY } = options;
      return (isCut ? all : all.slice(offset, offset + limit)).map(shown);
    });
  }

  async scanRows(collectionId: string, options: { metadataOnly?: boolean } = {}) {
    const form = await this.ready(collectionId);
    return this.#at(async (at) => {
      await this.#meta(at, collectionId);
      const rows: ReturnType<typeof shown>[] = [];
      for await (const [, stored] of at.scan({ prefix: this.placesOf(collectionId).rows })) {
        const row = rowOf(form, stored);
        if (!options.metadataOnly || row.metadata !== undefined) rows.push(shown(row));
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
    const form = await this.ready(collectionId);
    const places = this.placesOf(collectionId);
    if (signature in (await this.#meta(this.#db, collectionId)).indexes) return;
    await this.#db.transaction(async (store) => {
      const meta = await this.#meta(store, collectionId);
      if (signature in meta.indexes) return;
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
    await this.ready(collectionId);
    const places = this.placesOf(collectionId);
    await this.#db.transaction(async (store) => {
      const meta = await this.#meta(store, collectionId);
      const { [signature]: index, ...indexes } = meta.indexes;
      if (index === undefined) return;
      await store.deleteMany({ prefix: places.index(index) });
      await store.deleteMany({ prefix: places.others(index) });
      store.put(places.meta, { ...meta, indexes });
    });
  }

  async getStreamPosition(collectionId: string): Promise<StreamPosition> {
    await this.ready(collectionId);
    return position(await this.#meta(this.#db, collectionId));
  }

  async pullSince(collectionId: string, fromRowVersion: number): Promise<Pulled> {
    const form = await this.ready(collectionId);
    return this.#at(async (at) => {
      const meta = await this.#meta(at, collectionId);
      const latestRowVersion = meta.version;
      const reload = { latestRowVersion, requiresFullReload: true } as const;
      const all: Logged[] = [];
      const { log: prefix } = this.placesOf(collectionId);
      for await (const [, stored] of at.scan({ prefix, reverse: true })) {
        const logged = form.decode(stored) as Logged;
        if (logged.version <= fromRowVersion) break;
        all.unshift(logged);
      }
      const deltas = all.flatMap(({ delta }) => delta ?? []);
      const most = this.#keeping.mostTold ?? MOST_TOLD;
      const isLost = fromRowVersion < meta.dropped || deltas.length < all.length;
      if (isLost || deltas.reduce((sum, delta) => sum + sizeOf(delta), 0) > most) return reload;
      const isThere = new Map<string | number, boolean>();
      for (const { changedRows, deletedKeys } of deltas) {
        for (const { key } of changedRows) isThere.set(key, true);
        for (const key of deletedKeys) isThere.set(key, false);
      }
      const keys = (wanted: boolean) =>
        [...isThere].filter(([, is]) => is === wanted).map(([key]) => key);
      return {
        latestRowVersion,
        requiresFullReload: false,
        changedKeys: keys(true),
        deletedKeys: keys(false),
        deltas,
      };
    });
  }

  /** Reads one commit. */
  async #at<T>(body: (at: Reads) => Promise<T>): Promise<T> {
    const snapshot = this.#db.snapshot();
    try {
      return await body(snapshot as unknown as Reads);
    } finally {
      snapshot.release();
    }
  }
}

function position({ term, seq, version }: Meta): StreamPosition {
  return { latestTerm: term, latestSeq: seq, latestRowVersion: version };
}

const shown = ({ key, value, metadata }: Pick<PersistedFound, 'key' | 'value' | 'metadata'>) => ({
  key,
  value,
  metadata,
});

/** Whether a transaction of the log changes what another one does. */
function isSame(form: Form, stored: unknown, tx: Unplaced): boolean {
  const { delta, txId } = form.decode(stored) as Logged;
  if (txId === tx.txId) return true;
  if (delta === undefined) return false;
  const text = (of: typeof delta) =>
    JSON.stringify(form.encode({ ...of, txId: '', latestRowVersion: 0 }));
  const other = deltaOf({ ...tx, term: 0, seq: 0, rowVersion: 0 }, 0);
  return text(delta) === text(other);
}

/** In the order that was asked for; rows that it does not tell apart in the order of their keys. */
function sorted(
  found: readonly PersistedFound[],
  { orderBy = [] }: SubsetRequest,
): PersistedFound[] {
  const clauses = orderBy.map(({ expression, compareOptions: how }) => {
    const of = compileSingleRowExpression(expression as never);
    return (a: PersistedFound, b: PersistedFound) => compare(of(a.row), of(b.row), how);
  });
  return [...found].sort((a, b) => {
    for (const clause of clauses) {
      const order = clause(a, b);
      if (order !== 0) return order;
    }
    return a.place < b.place ? -1 : 1;
  });
}

/** Makes the changes of a persisted collection's transaction in the store. */

import type { Transaction } from 'hedgerow';
import { HedgerowError, memberAt } from 'hedgerow/kit';
import type { CollectionKeys, IndexMeta, Meta } from './persisted-key-layout.js';
import type { MetadataMutation, PersistedTransaction } from './persistence-types.js';
import type { RowRecord } from './read-persisted-rows.js';
import type { CollectionRow } from './subset-request.js';
import type { Key } from './table-source.js';

/** The form in which values are kept. */
export interface Form {
  encode(value: object): unknown;
  decode(stored: unknown): unknown;
}

export const NEW: Meta = {
  schema: 1,
  epoch: 0,
  term: 0,
  seq: 0,
  version: 0,
  dropped: 0,
  indexes: {},
  made: 0,
};

/** Edits of a collection in a transaction of the store. */
export class Edits {
  readonly #tx: Transaction;
  readonly #places: CollectionKeys;
  readonly #form: Form;
  readonly #indexes: readonly IndexMeta[];
  /** Rows as they were and as they are now, by their places. */
  readonly #rows = new Map<
    string,
    { readonly old: RowRecord | undefined; now: RowRecord | undefined }
  >();

  constructor(tx: Transaction, places: CollectionKeys, form: Form, meta: Meta) {
    this.#tx = tx;
    this.#places = places;
    this.#form = form;
    this.#indexes = Object.values(meta.indexes);
  }

  /** Makes the changes of a transaction. */
  async make(tx: PersistedTransaction): Promise<void> {
    const { mutations, rowMetadataMutations = [], collectionMetadataMutations = [] } = tx;
    if (tx.truncate) await this.#clear();
    const keys = [...mutations, ...rowMetadataMutations].map(({ key }) => key);
    await this.#read(keys);
    for (const { type, key, value, metadata, metadataChanged } of mutations) {
      const row = this.#row(key);
      if (type === 'delete') {
        row.now = undefined;
        continue;
      }
      const noted = metadataChanged === true ? metadata : row.now?.metadata;
      const merged: CollectionRow = type === 'update' ? { ...row.now?.value, ...value } : value;
      row.now = { key, value: merged, ...(noted !== undefined && { metadata: noted }) };
    }
    for (const mutation of rowMetadataMutations) {
      const row = this.#row(mutation.key);
      if (row.now === undefined) continue;
      const { key, value } = row.now;
      const metadata = mutation.type === 'set' ? mutation.value : undefined;
      row.now = { key, value, ...(metadata !== undefined && { metadata }) };
    }
    for (const mutation of collectionMetadataMutations) this.#note(mutation);
    for (const [place, { old, now }] of this.#rows) this.#write(place, old, now);
  }

  #row(key: Key) {
    return this.#rows.get(this.#places.row(key)) as { now: RowRecord | undefined };
  }

  async #read(keys: readonly Key[]): Promise<void> {
    const places = [...new Set(keys.map((key) => this.#places.row(key)))];
    const stored = await this.#tx.getMany(places);
    for (const [at, place] of places.entries()) {
      const old = stored[at] === undefined ? undefined : rowOf(this.#form, stored[at]);
      this.#rows.set(place, { old, now: old });
    }
  }

  #write(place: string, old: RowRecord | undefined, now: RowRecord | undefined): void {
    if (old === now) return;
    for (const index of this.#indexes) {
      const [before, after] = [old, now].map((row) => entryOf(this.#places, index, place, row));
      if (before === after) continue;
      if (before !== undefined) this.#tx.delete(before);
      if (after !== undefined) this.#tx.put(after, 0);
    }
    if (now === undefined) this.#tx.delete(place);
    else this.#tx.put(place, storedOf(this.#form, now));
  }

  #note({ key, ...change }: MetadataMutation<string>): void {
    const place = this.#places.notes + key;
    if (change.type === 'delete') this.#tx.delete(place);
    else this.#tx.put(place, this.#form.encode({ key, value: change.value }));
  }

  async #clear(): Promise<void> {
    const { rows } = this.#places;
    const under = this.#indexes.flatMap((one) => [
      this.#places.index(one),
      this.#places.others(one),
    ]);
    for (const prefix of [rows, ...under]) await this.#tx.deleteMany({ prefix });
  }
}

/** Returns the entry of a row in an index; `undefined` without a row, and for an index that lists no rows. */
export function entryOf(
  places: CollectionKeys,
  index: IndexMeta,
  place: string,
  row: RowRecord | undefined,
): string | undefined {
  if (row === undefined || index.path === undefined) return undefined;
  return places.entry(index, memberAt(row.value, index.path), place);
}

export function storedOf(form: Form, { key, value, metadata }: RowRecord): unknown {
  return form.encode({ k: key, v: value, ...(metadata !== undefined && { m: metadata }) });
}

export function rowOf(form: Form, stored: unknown): RowRecord {
  const { k, v, m } = form.decode(stored) as { k: Key; v: CollectionRow; m?: unknown };
  return { key: k, value: v, ...(m !== undefined && { metadata: m }) };
}

/** Reads the path in the expression of an index, as TanStack DB serialises it; `undefined` for another expression. */
export function indexedPath(expressions: readonly string[]): readonly string[] | undefined {
  const parsed = expressions.map((text) => {
    try {
      return JSON.parse(text) as { type?: unknown; path?: unknown };
    } catch (cause) {
      const message = `Invalid persisted index SQL fragment ${JSON.stringify(text)}: Hedgerow knows no SQL, and takes expressions of TanStack DB as JSON`;
      throw new HedgerowError('invalid-argument', message, { cause });
    }
  });
  const [one] = parsed;
  const isPath = parsed.length === 1 && one?.type === 'ref' && Array.isArray(one.path);
  return isPath ? (one.path as string[]) : undefined;
}

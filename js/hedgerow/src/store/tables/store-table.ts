/** A table of a store, or of a branch of one. */

import type { ByteSource } from '../../base/byte-source.js';
import { optionsOf, SIGNAL_OPTIONS, type SignalOptions } from '../../base/check-options.js';
import { OWN } from '../../base/internal-symbols.js';
import { buildKeyRange, isRange } from '../../base/range.js';
import type { Rows } from '../../engine/read/scan.js';
import type { Transaction } from '../../engine/transaction/transaction.js';
import type { TransactionOptions } from '../../engine/transaction/transaction-options.js';
import type { WatchOptions } from '../../engine/watch/watch-options.js';
import { LOAD_OPTIONS, type LoadOptions } from '../../engine/write/bulk-options.js';
import type { WriteResult } from '../../engine/write/ingest.js';
import type { PatchOperation } from '../../engine/write/patch.js';
import type { Source } from '../../engine/write/source-kind.js';
import type { Store } from '../store.js';
import { loadTableRows } from './bulk-load-rows.js';
import { encodeTableRow, type RowEdit, updateTableRow } from './edit-row.js';
import { namedError } from './errors.js';
import type { MigrationTrial } from './migrate/migrate-rows-in-batches.js';
import type { Migrations } from './migrate/migration-registry.js';
import type { MigrationProgress } from './migrate/migrator.js';
import { TableQuery } from './query.js';
import { changesOfRows, type RowChange } from './row-changes.js';
import type { Row, Spec } from './spec.js';
import type { StoreReads } from './table-context.js';
import { refuseExisting, TableReads } from './table-reads.js';
import type { TxTable } from './tx-table.js';

const TABLE_LOAD_OPTIONS = {
  format: LOAD_OPTIONS.format,
  signal: LOAD_OPTIONS.signal,
  onProgress: LOAD_OPTIONS.onProgress,
  durability: LOAD_OPTIONS.durability,
};

export class StoreTable extends TableReads {
  readonly #db: Store;
  /** Only for a table whose rows have versions. */
  readonly #migrations: Migrations | undefined;

  constructor(db: Store, spec: Spec, all: Migrations | undefined) {
    const migrations = spec.version > 1 ? all : undefined;
    super({
      spec,
      at: migrations?.readsOf(db, spec) ?? (db as unknown as StoreReads),
      store: db,
      ...(migrations && { whenReady: (options) => migrations.whenReady(db, spec, options) }),
      watch: (range, callback, options) => db.watch(range, callback, options),
      remove: (rows, signal) => db.deleteMany(rows, { signal }),
      within: async (remove, signal) => {
        const inside = (tx: unknown) => remove((tx as Record<string, TxTable>)[spec.name]!.place);
        const deletion = await db[OWN](inside, { signal });
        return { root: deletion.after, rows: deletion.value, stats: deletion.stats };
      },
    });
    this.#db = db;
    this.#migrations = migrations;
  }

  put(row: unknown, options?: TransactionOptions): Promise<void> {
    try {
      const { key, value } = encodeTableRow(this.spec, row);
      const done = this.#db.put(key, value, options);
      return done.catch((cause: unknown) => {
        throw namedError(cause, this.spec.name, this.spec.shownKey(row));
      });
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  async insert(row: unknown, options?: TransactionOptions): Promise<void> {
    const { key, value } = encodeTableRow(this.spec, row);
    const insert = async (tx: Transaction) => {
      if (await tx.has(key)) refuseExisting(this.spec, row);
      tx.put(key, value);
    };
    await this.#db[OWN](insert, options).catch((cause: unknown) => {
      throw namedError(cause, this.spec.name, this.spec.shownKey(row));
    });
  }

  /** Changes a row; resolves to the new row, or to `undefined` if it does not exist. */
  async update(
    key: unknown,
    change: RowEdit,
    options?: TransactionOptions,
  ): Promise<Row | undefined> {
    const stored = this.keyOf(key);
    const update = (tx: Transaction) => updateTableRow(tx, this.spec, stored, change);
    // A function of the app may wait for a call that comes later.
    const done =
      typeof change === 'function'
        ? this.#db.transaction(update, options)
        : this.#db[OWN](update, options).then(({ value }) => value);
    return done.catch((cause: unknown) => {
      throw namedError(cause, this.spec.name, key);
    });
  }

  async delete(key: unknown, options?: TransactionOptions): Promise<void> {
    return this.#db.delete(this.keyOf(key), options).catch(this.throwNamed);
  }

  /** Deletes rows by keys, or by conditions as `where` takes them. */
  async deleteMany(keysOrConditions: unknown, given: SignalOptions = {}): Promise<WriteResult> {
    const options = optionsOf(`${this.spec.name}.deleteMany`, given, SIGNAL_OPTIONS);
    if (isRange(keysOrConditions))
      return this.where(keysOrConditions).delete(options) as Promise<WriteResult>;
    const keys = this.keysOf('deleteMany', keysOrConditions as Iterable<unknown>);
    return this.#db.deleteMany(keys, options).catch(this.throwNamed);
  }

  /** Deletes all rows of the table. */
  async clear(options: SignalOptions = {}): Promise<WriteResult> {
    return this.all().delete(options, 'clear') as Promise<WriteResult>;
  }

  async putMany(
    source: Source<unknown> | ByteSource,
    given: LoadOptions = {},
  ): Promise<WriteResult> {
    const options = optionsOf(`${this.spec.name}.putMany`, given, TABLE_LOAD_OPTIONS);
    return loadTableRows(this.#db, this.spec, source, options);
  }

  watch(
    callback: (changes: readonly RowChange[], at: { readonly root: string }) => unknown,
    options?: WatchOptions,
  ): () => void {
    return new TableQuery(this.place).watch(callback, options);
  }

  sinceFork(given: SignalOptions = {}): Rows<RowChange> {
    const { name, prefix } = this.spec;
    const { signal } = optionsOf(`${name}.sinceFork`, given, SIGNAL_OPTIONS);
    const range = { ...buildKeyRange({ prefix }), signal };
    return changesOfRows(this.spec, this.#db.history.sinceFork(range));
  }

  source() {
    return new TableQuery(this.place).source();
  }

  /** Returns the source for `liveRow`. */
  rowSource(key: unknown) {
    const stored = this.keyOf(key);
    return { db: this.#db, options: { gte: stored, lte: stored }, rowOf: this.spec.rowOf };
  }

  /** Operations for `db.applyPatch`, which may change rows of several tables in one commit. */
  get op() {
    const { spec } = this;
    return {
      put: (row: unknown): PatchOperation => ({ op: 'put', ...encodeTableRow(spec, row) }),
      delete: (key: unknown): PatchOperation => ({ op: 'delete', key: this.keyOf(key) }),
    };
  }

  /** Resolves when all indexes of the table are there, and its rows have its version. */
  async ready(given: SignalOptions = {}): Promise<void> {
    const { signal } = optionsOf(`${this.spec.name}.ready`, given, SIGNAL_OPTIONS);
    for (const { stored } of this.spec.indexes) {
      await this.place.at.count({ index: stored, signal }).catch(this.throwNamed);
    }
    await this.place.whenReady?.({ signal });
  }

  async migration(): Promise<MigrationProgress> {
    const { spec } = this;
    if (this.#migrations === undefined) {
      const [rows, remaining, refused] = [0, 0, 0];
      return { table: spec.name, rows, remaining, refused, failed: [], error: undefined };
    }
    const migrator = this.#migrations.of(this.#db, spec);
    const remaining = await migrator.remaining();
    return { ...migrator.progress, remaining };
  }

  async tryMigration(given: SignalOptions = {}): Promise<MigrationTrial> {
    const { signal } = optionsOf(`${this.spec.name}.tryMigration`, given, SIGNAL_OPTIONS);
    if (this.#migrations === undefined) return { rows: 0, refused: 0, failed: [] };
    return this.#migrations.trial(this.#db, this.spec, signal);
  }
}

/** A table in a transaction. */

import { isRange } from '../../base/range.js';
import { trackUnawaitedCalls } from '../../base/track-unawaited-calls.js';
import type { UnawaitedCalls } from '../../base/unawaited-calls.js';
import type { Transaction } from '../../engine/transaction/transaction.js';
import { encodeTableRow, type RowEdit, updateTableRow } from './edit-row.js';
import { namedError } from './errors.js';
import type { Row, Spec } from './spec.js';
import { callsIn, type StoreReads } from './table-context.js';
import { refuseExisting, TableReads } from './table-reads.js';

/** A table whose reads see the edits of the transaction, which are buffered until it commits. */
export class TxTable extends TableReads {
  readonly #tx: Transaction;

  protected static override readonly awaitedCalls = trackUnawaitedCalls(
    TxTable,
    'insert update deleteMany',
    ({ place }) => callsIn(place),
  );

  constructor(
    tx: Transaction,
    spec: Spec,
    whenReady: (at: StoreReads) => Promise<void>,
    calls: UnawaitedCalls,
  ) {
    super({
      spec,
      calls,
      at: tx as unknown as StoreReads,
      whenReady: () => whenReady(tx as unknown as StoreReads),
      remove: (rows) => tx.deleteMany(rows),
    });
    this.#tx = tx;
  }

  put(row: unknown): void {
    const { key, value } = encodeTableRow(this.spec, row);
    try {
      this.#tx.put(key, value);
    } catch (cause) {
      throw namedError(cause, this.spec.name, this.spec.shownKey(row));
    }
  }

  async insert(row: unknown): Promise<void> {
    const { key } = encodeTableRow(this.spec, row);
    if (await this.#tx.has(key).catch(this.throwNamed)) refuseExisting(this.spec, row);
    this.put(row);
  }

  /** Changes a row; resolves to the new row, or to `undefined` if it does not exist. */
  async update(key: unknown, change: RowEdit): Promise<Row | undefined> {
    const stored = this.keyOf(key);
    return updateTableRow(this.#tx, this.spec, stored, change).catch((cause: unknown) => {
      throw namedError(cause, this.spec.name, key);
    });
  }

  delete(key: unknown): void {
    const stored = this.keyOf(key);
    try {
      this.#tx.delete(stored);
    } catch (cause) {
      this.throwNamed(cause);
    }
  }

  /** Deletes rows by keys, or by conditions as `where` takes them; resolves to their number. */
  async deleteMany(keysOrConditions: unknown): Promise<number> {
    if (isRange(keysOrConditions)) return this.where(keysOrConditions).delete() as Promise<number>;
    const keys = this.keysOf('deleteMany', keysOrConditions as Iterable<unknown>);
    return this.#tx.deleteMany(keys).catch(this.throwNamed);
  }
}

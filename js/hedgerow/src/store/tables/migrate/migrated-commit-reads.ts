/**
 * The reads of a store for a table whose rows have versions. Reads by an index use a commit that has no row of a lower
 * version: an older tab may put one at any time.
 */

import type { Snapshot } from '../../snapshot.js';
import type { Store } from '../../store.js';
import type { Spec } from '../spec.js';
import type { StoreReads } from '../table-context.js';
import type { Migrator, Wait } from './migrator.js';

type Rows<T> = AsyncIterable<T> & { toArray(): Promise<T[]> };

export class ReadyReads implements StoreReads {
  readonly #db: Store;
  readonly #spec: Spec;
  readonly #migrator: Migrator;

  constructor(db: Store, spec: Spec, migrator: Migrator) {
    this.#db = db;
    this.#spec = spec;
    this.#migrator = migrator;
  }

  get(key: string): Promise<unknown> {
    return this.#db.get(key);
  }

  getMany(keys: Iterable<string>): Promise<unknown[]> {
    return this.#db.getMany(keys);
  }

  has(key: string): Promise<boolean> {
    return this.#db.has(key);
  }

  async count(range: object): Promise<number> {
    if (!this.#waits(range)) return this.#db.count(range);
    const snapshot = await this.#ready(range);
    try {
      return await (snapshot as unknown as StoreReads).count(range);
    } finally {
      snapshot.close();
    }
  }

  scan(options: object): ReturnType<StoreReads['scan']> {
    if (!this.#waits(options)) return this.#db.scan(options);
    return {
      [Symbol.asyncIterator]: () => this.#rows(options, (scan) => scan)[Symbol.asyncIterator](),
      keys: () => this.#rows(options, (scan) => scan.keys()),
      values: () => this.#rows(options, (scan) => scan.values()),
    };
  }

  /** Returns whether a range is of an index that may not yet list old rows at their final places. */
  #waits(range: { readonly index?: unknown }): boolean {
    const isKept = this.#spec.indexes.some((one) => one.stored === range.index && one.isKept);
    return 'index' in range && !isKept;
  }

  /** Waits for the migration, and for the index itself. */
  async #ready(range: object): Promise<Snapshot> {
    const { index, wait, signal } = range as Wait & { index: string };
    await this.#db.count({ index, wait, signal });
    return this.#migrator.ready({ wait, signal });
  }

  #rows<T>(
    options: object,
    part: (scan: ReturnType<StoreReads['scan']>) => AsyncIterable<T>,
  ): Rows<T> {
    const begin = async () => {
      const snapshot = await this.#ready(options);
      return { rows: part((snapshot as unknown as StoreReads).scan(options)) as Rows<T>, snapshot };
    };
    return {
      async toArray() {
        const { rows, snapshot } = await begin();
        try {
          return await rows.toArray();
        } finally {
          snapshot.close();
        }
      },
      async *[Symbol.asyncIterator]() {
        const { rows, snapshot } = await begin();
        try {
          yield* rows;
        } finally {
          snapshot.close();
        }
      },
    };
  }
}

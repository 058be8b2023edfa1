/** The reads of a table, wherever it is read. */

import { HedgerowError } from '../../base/errors.js';
import { checkKeys } from '../../base/key.js';
import { mapInSlices } from '../../base/map-in-slices.js';
import { buildKeyRange } from '../../base/range.js';
import { trackUnawaitedCalls } from '../../base/track-unawaited-calls.js';
import { describeKey, keyText, namedError, throwTableError } from './errors.js';
import { type ReadOptions, TableQuery } from './query.js';
import { ALL } from './query-conditions.js';
import type { Row, Spec } from './spec.js';
import { callsIn, type TableContext } from './table-context.js';

/** A table of a snapshot: the part that tables of stores and transactions share. */
export class TableReads {
  /** Where it is read. */
  readonly place: TableContext;
  protected readonly spec: Spec;

  protected static readonly awaitedCalls = trackUnawaitedCalls(
    TableReads,
    'get getMany has rank',
    ({ place }) => callsIn(place),
  );

  constructor(place: TableContext) {
    this.place = place;
    this.spec = place.spec;
  }

  /** See `Reader.__v_skip`. */
  protected __v_skip(): void {}

  /** Returns the key in the store; throws `invalid-argument/key`, in the name of the table. */
  protected keyOf(key: unknown): string {
    try {
      return this.spec.keys.of(key);
    } catch (cause) {
      throw namedError(cause, this.spec.name);
    }
  }

  /** Throws the error of a read, in the name of the table. */
  protected readonly throwNamed = (cause: unknown): never => {
    throw namedError(cause, this.spec.name);
  };

  get(key: unknown): Promise<Row | undefined> {
    const { spec, place } = this;
    try {
      const found = place.at.get(this.keyOf(key));
      if (spec.kept.isPlain && spec.version === 1)
        return found.then(spec.decodeFound, this.throwNamed);
      return found.then((stored) => this.#decodeRow(stored, key), this.throwNamed);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  #decodeRow(stored: unknown, key: unknown): Row | undefined {
    try {
      return this.spec.decodeFound(stored);
    } catch (cause) {
      throw namedError(cause, this.spec.name, key);
    }
  }

  async getMany(keys: Iterable<unknown>): Promise<(Row | undefined)[]> {
    const list = this.keysOf('getMany', keys);
    const found = await this.place.at.getMany(list).catch(this.throwNamed);
    await mapInSlices(found, this.spec.decodeFound);
    return found as (Row | undefined)[];
  }

  /**
   * Returns the keys in the store of a list as it is now, or of another iterable, which may be endless, as it is
   * iterated.
   */
  protected keysOf(call: string, keys: Iterable<unknown>): Iterable<string> {
    const { name } = this.spec;
    const list = checkKeys(`${name}.${call}`, keys);
    if (!(Symbol.iterator in list))
      throwTableError(name, `${call} takes an iterable that does not wait`);
    return mapIterable(Array.isArray(list) ? [...list] : list, (key) => this.keyOf(key));
  }

  async has(key: unknown): Promise<boolean> {
    return this.place.at.has(this.keyOf(key)).catch(this.throwNamed);
  }

  get #all(): TableQuery {
    return new TableQuery(this.place);
  }

  where(conditions: unknown): TableQuery {
    return this.#all.where(conditions);
  }

  between(column: string, from: unknown, to: unknown): TableQuery {
    return this.#all.between(column, from, to);
  }

  orderBy(columns: string | readonly string[], direction?: 'asc' | 'desc'): TableQuery {
    return this.#all.orderBy(columns, direction);
  }

  /** Selects all rows, in the order of their keys. */
  all(): TableQuery {
    return new TableQuery(this.place, { ...ALL, isAll: true });
  }

  count(options?: ReadOptions): Promise<number> {
    return this.#all.count(options);
  }

  at(n: number, options?: ReadOptions): Promise<Row | undefined> {
    return this.#all.at(n, options);
  }

  toArray(options?: ReadOptions): Promise<Row[]> {
    return this.#all.toArray(options);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Row, void> {
    return this.#all[Symbol.asyncIterator]();
  }

  /** Counts the rows before a key, whether or not it has a row. */
  async rank(key: unknown): Promise<number> {
    const { prefix } = this.spec;
    return this.place.at
      .count(buildKeyRange({ prefix, lt: this.keyOf(key) }))
      .catch(this.throwNamed);
  }
}

/** Maps each member as it is taken. */
function* mapIterable<From, To>(list: Iterable<From>, make: (one: From) => To): Generator<To> {
  for (const one of list) yield make(one);
}

/** Throws `exists` for a row that cannot be inserted. */
export function refuseExisting(spec: Spec, row: unknown): never {
  const key = spec.shownKey(row);
  throw new HedgerowError('exists', `${spec.name} has a row ${describeKey(key)} already`, {
    table: spec.name,
    key: keyText(key),
  });
}

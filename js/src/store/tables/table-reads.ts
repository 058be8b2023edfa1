/** The reads of a table, wherever it is read. */

import { belong } from '../../base/belong.js';
import { HedgerowError } from '../../base/errors.js';
import { checkKeys } from '../../base/key.js';
import { keyRange } from '../../base/range.js';
import { keyText, namedError, refuse, shownKey } from './errors.js';
import { callsIn, type Place } from './place.js';
import { Query, type ReadOptions } from './query.js';
import { eachInPlace } from './slices.js';
import type { Row, Spec } from './spec.js';
import { ALL } from './terms.js';

/** A table of a snapshot, and what those of stores and transactions share. */
export class TableReads {
  /** Where it is read. */
  readonly place: Place;
  protected readonly spec: Spec;

  protected static readonly awaitedCalls = belong(TableReads, 'get getMany has rank', ({ place }) =>
    callsIn(place),
  );

  constructor(place: Place) {
    this.place = place;
    this.spec = place.spec;
  }

  /** See `Reader.__v_skip`. */
  protected __v_skip(): void {}

  /** The key in the store; throws `invalid-key`, in the name of the table. */
  protected keyOf(key: unknown): string {
    try {
      return this.spec.keys.of(key);
    } catch (cause) {
      throw namedError(cause, this.spec.name);
    }
  }

  /** Throws what a read has thrown, in the name of the table. */
  protected readonly named = (cause: unknown): never => {
    throw namedError(cause, this.spec.name);
  };

  get(key: unknown): Promise<Row | undefined> {
    const { spec, place } = this;
    try {
      const found = place.at.get(this.keyOf(key));
      if (spec.kept.isPlain && spec.version === 1) return found.then(spec.decodeFound, this.named);
      return found.then((stored) => this.#decoded(stored, key), this.named);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  #decoded(stored: unknown, key: unknown): Row | undefined {
    try {
      return this.spec.decodeFound(stored);
    } catch (cause) {
      throw namedError(cause, this.spec.name, key);
    }
  }

  async getMany(keys: Iterable<unknown>): Promise<(Row | undefined)[]> {
    const list = this.keysOf('getMany', keys);
    const found = await this.place.at.getMany(list).catch(this.named);
    await eachInPlace(found, this.spec.decodeFound);
    return found as (Row | undefined)[];
  }

  /** The keys in the store of a list, as it is now; of an iterable, which may be endless, as they are taken. */
  protected keysOf(call: string, keys: Iterable<unknown>): Iterable<string> {
    const { name } = this.spec;
    const list = checkKeys(`${name}.${call}`, keys);
    if (!(Symbol.iterator in list)) refuse(name, `${call} takes an iterable that does not wait`);
    return mapped(Array.isArray(list) ? [...list] : list, (key) => this.keyOf(key));
  }

  async has(key: unknown): Promise<boolean> {
    return this.place.at.has(this.keyOf(key)).catch(this.named);
  }

  get #all(): Query {
    return new Query(this.place);
  }

  where(conditions: unknown): Query {
    return this.#all.where(conditions);
  }

  between(column: string, from: unknown, to: unknown): Query {
    return this.#all.between(column, from, to);
  }

  orderBy(columns: string | readonly string[], direction?: 'asc' | 'desc'): Query {
    return this.#all.orderBy(columns, direction);
  }

  /** All rows, in the order of their keys. */
  all(): Query {
    return new Query(this.place, { ...ALL, isAll: true });
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

  /** How many rows come before that with a key, whether or not there is one. */
  async rank(key: unknown): Promise<number> {
    const { prefix } = this.spec;
    return this.place.at.count(keyRange({ prefix, lt: this.keyOf(key) })).catch(this.named);
  }
}

/** Makes something of each member as it is taken. */
function* mapped<From, To>(list: Iterable<From>, make: (one: From) => To): Generator<To> {
  for (const one of list) yield make(one);
}

/** Throws `exists` for a row that cannot be inserted. */
export function refuseExisting(spec: Spec, row: unknown): never {
  const key = spec.shownKey(row);
  throw new HedgerowError('exists', `${spec.name} has a row ${shownKey(key)} already`, {
    table: spec.name,
    key: keyText(key),
  });
}

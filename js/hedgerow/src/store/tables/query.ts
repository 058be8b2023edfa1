/** Queries of a table: conditions, an order and a window, read by an index. */

import { checkSignal } from '../../base/abort-signal.js';
import {
  checkNumber,
  count,
  flag,
  type OptionsOf,
  optionsOf,
  SIGNAL_OPTIONS,
  type SignalOptions,
  signalCheck,
} from '../../base/check-options.js';
import type { HedgerowError } from '../../base/errors.js';
import { mapInSlices } from '../../base/map-in-slices.js';
import { isPlain, kindOf } from '../../base/runtime-type-checks.js';
import { Slicer } from '../../base/slicer.js';
import { trackUnawaitedCalls } from '../../base/track-unawaited-calls.js';
import type { WatchOptions } from '../../engine/watch/watch-options.js';
import type { WatchCallback } from '../../engine/watch/watcher-types.js';
import type { WriteResult } from '../../engine/write/write-result.js';
import { namedError, throwTableError } from './errors.js';
import { iterateRows } from './iterate-rows.js';
import type { RowTest } from './match-row.js';
import { loadMatch } from './on-demand-table-code.js';
import { ALL, type Terms, withConditions } from './query-conditions.js';
import { planQuery, type QueryPlan } from './query-plan.js';
import { forwardRowChanges, type RowChange } from './row-changes.js';
import type { Row } from './spec.js';
import { callsIn, type TableContext } from './table-context.js';

const READ_OPTIONS = {
  /** Ends the reading with `aborted`. */
  signal: signalCheck,
  /** If `false`, the read rejects with `not-ready` instead of waiting for an index that is built, or a migration. */
  wait: flag,
};

/** The options of a read. */
export interface ReadOptions extends OptionsOf<typeof READ_OPTIONS> {}

const LIMIT = { limit: count };
const OFFSET = { offset: count };

/** Rows between two looks at the clock. */
const CLOCK_ROWS = 64;

/** A plan with the test of its rows. */
type Read = QueryPlan & { readonly wanted?: RowTest };

/** A query of a table. Each call that narrows it makes a new one; it reads no rows before a call that returns them. */
export class TableQuery {
  readonly #place: TableContext;
  readonly #terms: Terms;

  protected static readonly awaitedCalls = trackUnawaitedCalls(
    TableQuery,
    'toArray first at count delete',
    (query) => callsIn(query.#place),
  );

  constructor(place: TableContext, terms: Terms = ALL) {
    this.#place = place;
    this.#terms = terms;
  }

  #with(terms: Partial<Terms>): TableQuery {
    return new TableQuery(this.#place, { ...this.#terms, ...terms });
  }

  /** See `Reader.__v_skip`. */
  protected __v_skip(): void {}

  get #name(): string {
    return this.#place.spec.name;
  }

  where(conditions: unknown): TableQuery {
    return new TableQuery(this.#place, withConditions(this.#name, this.#terms, conditions));
  }

  between(column: string, from: unknown, to: unknown): TableQuery {
    if (typeof column !== 'string') {
      throwTableError(this.#name, `between takes the name of a column, not ${kindOf(column)}`);
    }
    return this.where({ [column]: { gte: from, lt: to } });
  }

  orderBy(columns: string | readonly string[], direction: 'asc' | 'desc' = 'asc'): TableQuery {
    if (direction !== 'asc' && direction !== 'desc') {
      throwTableError(
        this.#name,
        `orderBy: the direction is asc or desc, not ${String(direction)}`,
      );
    }
    const order = typeof columns === 'string' ? [columns] : Array.isArray(columns) ? columns : [];
    if (order.length === 0 || !order.every((column) => typeof column === 'string')) {
      throwTableError(this.#name, 'orderBy takes the name of a column, or a list of such names');
    }
    return this.#with({ order: [...order], reverse: direction === 'desc' });
  }

  reverse(): TableQuery {
    return this.#with({ reverse: !this.#terms.reverse });
  }

  limit(limit: number): TableQuery {
    return this.#with(optionsOf(`${this.#name}.limit`, { limit }, LIMIT));
  }

  offset(offset: number): TableQuery {
    return this.#with(optionsOf(`${this.#name}.offset`, { offset }, OFFSET));
  }

  after(row: unknown): TableQuery {
    if (!isPlain(row)) throwTableError(this.#name, `after takes a row, not ${kindOf(row)}`);
    return this.#with({ after: row });
  }

  using(index: string): TableQuery {
    return this.#with({ using: index });
  }

  scan(): TableQuery {
    return this.#with({ filters: true });
  }

  filter(test: (row: never) => unknown): TableQuery {
    if (typeof test !== 'function') throwTableError(this.#name, 'filter takes a function of a row');
    return this.#with({ tests: [...this.#terms.tests, test] });
  }

  #plan(): QueryPlan {
    try {
      return planQuery(this.#place.spec, this.#terms);
    } catch (cause) {
      return this.#throwNamed(cause);
    }
  }

  readonly #throwNamed = (cause: unknown): never => {
    throw namedError(cause, this.#name);
  };

  /** Returns the options of a scan for a plan; without the window if rows are left out after they were read. */
  #options({ range, after, left }: QueryPlan, { signal, wait }: ReadOptions = {}) {
    const { reverse, offset, limit } = this.#terms;
    const window = left === undefined ? { offset, limit } : {};
    // Rows have no index to wait for.
    const waiting = 'index' in range ? { wait } : {};
    return { ...range, ...waiting, ...window, reverse, after, signal } as object;
  }

  async #begin(call: string, given: ReadOptions): Promise<[plan: Read, options: ReadOptions]> {
    const options = optionsOf(`${this.#name}.${call}`, given, READ_OPTIONS);
    const plan = this.#plan();
    if (plan.isOfNewest) await this.#place.whenReady?.(options);
    return [{ ...plan, ...(await this.#wantedOf(plan)) }, options];
  }

  async #wantedOf({ left }: QueryPlan): Promise<{ readonly wanted?: RowTest }> {
    if (left === undefined) return {};
    const { buildRowTest } = await loadMatch();
    return { wanted: buildRowTest(this.#place.spec, left) };
  }

  async toArray(given: ReadOptions = {}): Promise<Row[]> {
    const [plan, options] = await this.#begin('toArray', given);
    if (plan.wanted !== undefined) {
      const rows: Row[] = [];
      for await (const row of this.#iterateWanted(plan, options)) rows.push(row);
      return rows;
    }
    const { at, spec } = this.#place;
    const values = at.scan(this.#options(plan, options)).values();
    try {
      const rows = await values.toArray();
      await mapInSlices(rows, spec.decode, options.signal);
      return rows as Row[];
    } catch (cause) {
      return this.#throwNamed(cause);
    }
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Row, void> {
    return iterateRows(
      async () => {
        const [plan, options] = await this.#begin('for await', {});
        if (plan.wanted !== undefined) {
          return { source: this.#iterateWanted(plan, options), make: (row: Row) => row };
        }
        const values = this.#place.at.scan(this.#options(plan, options)).values();
        return { source: values[Symbol.asyncIterator](), make: this.#decode };
      },
      () => this.#place.calls?.begin(`tx.${this.#name}`),
    );
  }

  readonly #decode = (stored: unknown): Row => {
    try {
      return this.#place.spec.decode(stored);
    } catch (cause) {
      return this.#throwNamed(cause);
    }
  };

  async *#iterateWanted(plan: Read, options: ReadOptions): AsyncGenerator<Row, void, void> {
    for await (const [, row] of this.#entries(plan, options)) yield row;
  }

  /** Reads the rows of a plan, with their keys in the store. */
  async *#entries(plan: Read, options: ReadOptions): AsyncGenerator<[string, Row], void, void> {
    const { wanted } = plan;
    // Without a test the store itself keeps to the window.
    let { offset, limit } = wanted === undefined ? ALL : this.#terms;
    if (limit === 0) return;
    const seen = plan.isRepeated ? new Set<string>() : undefined;
    const slicer = new Slicer({ clockSteps: CLOCK_ROWS });
    for await (const [key, stored] of this.#place.at.scan(this.#options(plan, options))) {
      if (slicer.step()) await slicer.rest();
      checkSignal(options.signal);
      if (seen?.has(key) || wanted?.isStoredMatch(stored) === false) continue;
      const row = this.#decode(stored);
      if (wanted?.isRowMatch(row) === false) continue;
      seen?.add(key);
      if (offset > 0) {
        offset -= 1;
        continue;
      }
      yield [key, row];
      limit -= 1;
      if (limit <= 0) return;
    }
  }

  async first(options: ReadOptions = {}): Promise<Row | undefined> {
    const [row] = await this.limit(Math.min(1, this.#terms.limit)).toArray(options);
    return row;
  }

  async at(n: number, options: ReadOptions = {}): Promise<Row | undefined> {
    const { offset, limit } = this.#terms;
    checkNumber(`${this.#name}.at`, n);
    if (n >= limit) return undefined;
    const [row] = await this.#with({ offset: offset + n, limit: 1 }).toArray(options);
    return row;
  }

  async count(given: ReadOptions = {}): Promise<number> {
    const [plan, options] = await this.#begin('count', given);
    const { at } = this.#place;
    const { offset, limit, after } = this.#terms;
    let count = 0;
    if (plan.wanted !== undefined) {
      for await (const _ of this.#entries(plan, options)) count += 1;
    } else if (after !== undefined) {
      for await (const _ of at.scan(this.#options(plan, options)).keys()) count += 1;
    } else {
      const { signal, wait } = options;
      const waiting = plan.isIndex ? { wait } : {};
      const range = { ...plan.range, ...waiting, signal };
      const all = await at.count(range).catch(this.#throwNamed);
      count = Math.max(0, Math.min(limit, all - offset));
    }
    return count;
  }

  watch(
    callback: (changes: readonly RowChange[], at: { readonly root: string }) => unknown,
    options: WatchOptions = {},
  ): () => void {
    if (!this.#isWhole) {
      throwTableError(
        this.#name,
        'watch follows all rows of a query: for offset, limit and after take live()',
      );
    }
    const { watch, spec } = this.#place;
    if (watch === undefined) throwTableError(this.#name, 'watch is a call of a store or a branch');
    const plan = this.#plan();
    // An index of words would report a row for each of its words.
    const { range, left } = plan.isRepeated
      ? { range: spec.keys.range({}), left: this.#terms }
      : plan;
    if (typeof callback !== 'function') {
      throwTableError(this.#name, `watch takes a function of changes, not ${kindOf(callback)}`);
    }
    const { reverse } = this.#terms;
    const how = { reverse, initial: options?.initial === true, isIndex: 'index' in range };
    const take = (wanted?: RowTest) => forwardRowChanges(spec, wanted, how, callback);
    try {
      if (left === undefined) return watch(range, take(), options);
      let isOver = false;
      const taking = loadMatch().then(({ buildRowTest }) => take(buildRowTest(spec, left)));
      // If it cannot be loaded, each call reports that.
      taking.catch(() => {});
      const forwardChanges: WatchCallback = async (changes, at) => {
        const call = await taking;
        return isOver || options.signal?.aborted ? undefined : call(changes, at);
      };
      const stop = watch(range, forwardChanges, options);
      return () => {
        isOver = true;
        stop();
      };
    } catch (cause) {
      return this.#throwNamed(cause);
    }
  }

  async delete(given: SignalOptions = {}, call = 'delete'): Promise<number | WriteResult> {
    const { remove, within, at, whenReady } = this.#place;
    if (remove === undefined) throwTableError(this.#name, 'delete is no call of a snapshot');
    const { signal } = optionsOf(`${this.#name}.${call}`, given, SIGNAL_OPTIONS);
    const plan = this.#plan();
    this.#checkDeletion();
    // Without a wait, the deletion begins in the turn of the call: calls take effect in their order.
    const ready = plan.isOfNewest ? whenReady?.({ signal }) : undefined;
    if (ready !== undefined) await ready;
    // The store deletes no whole index: a range without a bound is mostly a mistake.
    const hasBound = Object.keys(plan.range).some((name) => name !== 'index');
    if (this.#isWhole && hasBound && plan.left === undefined) {
      return remove(plan.range, signal).catch(this.#throwNamed);
    }
    if (within !== undefined) {
      // In a transaction the rows cannot change once they were read; but a transaction waits for no index.
      const remove = (place: TableContext) =>
        new TableQuery(place, this.#terms).delete() as Promise<number>;
      const inside = () => within(remove, signal);
      return inside().catch(async (cause: unknown) => {
        if ((cause as HedgerowError).code !== 'not-ready') this.#throwNamed(cause);
        await at.count({ ...plan.range, signal }).catch(this.#throwNamed);
        return inside().catch(this.#throwNamed);
      });
    }
    const wanted = await this.#wantedOf(plan);
    // A row with an array may have several entries.
    const keys = new Set<string>();
    for await (const [key] of this.#entries({ ...plan, ...wanted }, { signal })) keys.add(key);
    return remove(keys, signal);
  }

  /** Whether it has no window. */
  get #isWhole(): boolean {
    const { offset, limit, after } = this.#terms;
    return offset === 0 && limit === ALL.limit && after === undefined;
  }

  /** Throws `invalid-argument` unless the app has said which rows to delete. */
  #checkDeletion(): void {
    const { equal, bounded, tests, isNone, isAll } = this.#terms;
    if (isNone) {
      throwTableError(
        this.#name,
        'delete: the text of a condition has no letters, so that it selects no row',
      );
    }
    const hasCondition = equal.size > 0 || bounded !== undefined || tests.length > 0;
    if (hasCondition || isAll || !this.#isWhole) return;
    throwTableError(
      this.#name,
      'delete needs a condition: only all().delete() and clear() delete all rows',
    );
  }

  /** Returns the source for `live`. */
  source() {
    const { spec, store, whenReady } = this.#place;
    if (store === undefined) throwTableError(this.#name, 'live follows a store or a branch');
    const { offset, limit, tests } = this.#terms;
    if (tests.length > 0) {
      throwTableError(this.#name, 'live takes no filter()');
    }
    const plan = this.#plan();
    const { left, isRepeated } = plan;
    const load = async () => (await this.#wantedOf(plan)).wanted?.isStoredMatch;
    return {
      db: store,
      options: { ...this.#options(plan), offset, limit },
      rowOf: spec.rowOf,
      ...(left && { filter: { conditions: left, isRepeated, load } }),
      ...(plan.isOfNewest && whenReady ? { whenReady } : {}),
    };
  }
}

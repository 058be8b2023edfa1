/**
 * The tables of a large store that was just opened, which enter the core behind its first reads: that takes as long as
 * reading them. A read that needs one of them gets it at once, without storage.
 */

import { turn } from '../base/scheduler.js';
import { hasHashFrom } from '../base/segment-table.js';
import { later } from '../base/timeout.js';
import type { SegmentRequest, TableRecord } from '../storage/segment-store.js';
import { addTable, awaitTables, reserve } from './calls/segment-calls.js';
import type { Engine } from './engine.js';

/** So many are searched for one by one. Each search looks at half of the tables: see `docs/decisions.md`. */
const MOST_SOUGHT = 4;
/** The first reads have so many milliseconds for themselves. */
const REST_MS = 50;
/** Milliseconds that a slice takes: reads are under way beside it. */
const SLICE_MS = 2;
/** Tables that have not entered the core. */
export class PendingTables {
  readonly #engine: Engine;
  readonly #epoch: number;
  /** The newest first. */
  readonly #tables: Set<TableRecord>;
  #emptying: Promise<void> | undefined;
  /** Called when all have entered the core. */
  readonly #onEmpty: () => void;

  constructor(engine: Engine, tables: readonly TableRecord[], onEmpty: () => void) {
    this.#engine = engine;
    this.#epoch = engine.epoch;
    this.#tables = new Set(tables);
    this.#onEmpty = onEmpty;
    awaitTables(engine, true);
    later(() => this.empty().catch(() => {}), REST_MS);
  }

  /** Gives the core what it wants of them, or all if that is many, or one is not among them. */
  async give(wanted: readonly SegmentRequest[]): Promise<void> {
    const isFew = wanted.length <= MOST_SOUGHT;
    for (const one of wanted) {
      if (!isFew || typeof one === 'number' || !this.#find(one.from)) return this.empty();
    }
  }

  #find(start: number): boolean {
    for (const table of this.#tables) {
      if (hasHashFrom(table.tableBytes, start)) {
        this.#enter(table);
        return true;
      }
    }
    return false;
  }

  #enter(table: TableRecord): void {
    this.#tables.delete(table);
    addTable(this.#engine, table.id, table.tableBytes);
  }

  /** Resolves when all have entered the core. */
  empty(): Promise<void> {
    this.#emptying ??= this.#empty();
    return this.#emptying;
  }

  async #empty(): Promise<void> {
    let startMs = performance.now();
    reserve(this.#engine, [...this.#tables]);
    for (const table of this.#tables) {
      if (performance.now() - startMs > SLICE_MS) {
        await turn();
        startMs = performance.now();
      }
      // The core has trapped: what is stored is read anew.
      if (this.#engine.epoch !== this.#epoch) return;
      this.#enter(table);
    }
    awaitTables(this.#engine, false);
    this.#onEmpty();
  }
}

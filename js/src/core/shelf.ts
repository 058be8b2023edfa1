/**
 * The tables of a large store that was just opened, which enter the core behind its first reads: for a million rows that
 * takes as long as all else of an opening. A read that needs one of them gets it at once, without storage.
 */

import { turn } from '../base/scheduler.js';
import { TABLE_HEADER_BYTES } from '../base/segment-table.js';
import { later } from '../base/timeout.js';
import type { TableRecord, Wanted } from '../storage/segment-store.js';
import { addTable, awaitTables, reserve } from './calls/segments.js';
import type { Engine } from './engine.js';

/** The segment that is named where a table is wanted: see `Status.need`. */
export const NO_SEGMENT = -1;

/** So many are searched for one by one. Each search looks at half of the tables, and takes up to a millisecond. */
const MOST_SOUGHT = 4;
/** The first reads have so many milliseconds for themselves. */
const REST_MS = 50;
/** Milliseconds that a slice takes: reads are under way beside it. */
const SLICE_MS = 2;
const HASH_BYTES = 32;

/** Whether a table has a hash that begins with these four bytes. */
function names(tableBytes: Uint8Array, start: number): boolean {
  const { buffer, byteOffset, length } = tableBytes;
  if (length < TABLE_HEADER_BYTES) return false;
  const view = new DataView(buffer, byteOffset, length);
  // The table is not checked yet.
  const most = Math.floor((length - TABLE_HEADER_BYTES) / HASH_BYTES);
  const end = TABLE_HEADER_BYTES + HASH_BYTES * Math.min(view.getUint32(8, true), most);
  for (let at = TABLE_HEADER_BYTES; at < end; at += HASH_BYTES) {
    if (view.getUint32(at, true) === start) return true;
  }
  return false;
}

/** Tables that have not entered the core. */
export class Shelf {
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
  async give(wanted: readonly Wanted[]): Promise<void> {
    const isFew = wanted.length <= MOST_SOUGHT;
    for (const one of wanted) {
      if (!isFew || typeof one === 'number' || !this.#find(one.from)) return this.empty();
    }
  }

  #find(start: number): boolean {
    for (const table of this.#tables) {
      if (names(table.tableBytes, start)) {
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

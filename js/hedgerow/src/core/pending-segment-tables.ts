/**
 * The tables of a fresh large store, which enter the core after its first reads: that takes as long as reading the
 * tables. A read that needs one of them gets it at once, without storage.
 */

import { TABLE_HEADER_BYTES } from '../base/segment-table.js';
import { turn } from '../base/slice-queue.js';
import { later } from '../base/timeout.js';
import type { SegmentRequest, TableRecord } from '../storage/segment-store.js';
import { addTable, awaitTables, reserve } from './calls/segment-calls.js';
import type { Engine } from './engine.js';

/** The most requests to search for one by one. Each search looks at half of the tables: see `docs/decisions.md`. */
const MOST_SOUGHT = 4;
/** Milliseconds that the first reads have for themselves. */
const REST_MS = 50;
/** Milliseconds that a slice takes: reads are under way at the same time. */
const SLICE_MS = 2;
/** In words of four bytes: the length of the header, the place of the count of hashes, and the length of a hash. */
const HEADER_WORDS = TABLE_HEADER_BYTES / 4;
const COUNT_WORD = 2;
const HASH_WORDS = 8;

/** Returns whether a table, well-formed or not, has a hash whose first four bytes are this number. */
function hasHashFrom(tableBytes: Uint8Array, start: number): boolean {
  const bytes = tableBytes.byteOffset % 4 === 0 ? tableBytes : new Uint8Array(tableBytes);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  const end = HEADER_WORDS + HASH_WORDS * (words[COUNT_WORD] ?? 0);
  // Use the engine's own search: in a fresh page our own loop takes ten times as long.
  let at = HEADER_WORDS - 1;
  do at = words.indexOf(start | 0, at + 1);
  while (at >= 0 && at < end && (at - HEADER_WORDS) % HASH_WORDS !== 0);
  return at >= 0 && at < end;
}

/** The tables that have not entered the core. */
export class PendingTables {
  readonly #engine: Engine;
  readonly #epoch: number;
  /** The tables, newest first. */
  readonly #tables: Set<TableRecord>;
  #emptying: Promise<void> | undefined;
  /** Called when all tables have entered the core. */
  readonly #onEmpty: () => void;

  constructor(engine: Engine, tables: readonly TableRecord[], onEmpty: () => void) {
    this.#engine = engine;
    this.#epoch = engine.epoch;
    this.#tables = new Set(tables);
    this.#onEmpty = onEmpty;
    awaitTables(engine, true);
    // The core starts soon, and takes the tables that the reader has left.
    if (engine.reader === undefined) later(() => this.empty().catch(() => {}), REST_MS);
  }

  /** The tables that have not entered the core. */
  get rest(): TableRecord[] {
    return [...this.#tables];
  }

  /** Passes the core the wanted tables; all of them if it wants many, or one that is not among them. */
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

  /** Passes all tables to the core; resolves when they are there. */
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
      // The core has trapped: recovery reads the stored tables again.
      if (this.#engine.epoch !== this.#epoch) return;
      this.#enter(table);
    }
    awaitTables(this.#engine, false);
    this.#onEmpty();
  }
}

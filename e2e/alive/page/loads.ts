/** Loads of rows into new stores. */
import { destroy, open, type Store, type WriteResult } from 'hedgerow';
import { type Row, rowsInTurn } from '../../bench/page/rows.js';

/** A load of rows. */
export interface Load {
  /** Rows of each store. */
  readonly rows: number;
  /** Stores that are loaded at the same time. */
  readonly stores?: number;
  readonly sliceMs?: number;
  /** Rows from an iterator, one by one, or from an asynchronous one, in blocks. */
  readonly source?: 'iterator' | 'blocks';
}

/** The result of all stores. */
export interface Loaded {
  readonly rows: number;
  readonly slices: number;
  readonly longestSliceMs: number;
  readonly storageMs: number;
  readonly segments: number;
  /** Linear memory of all stores at the end. */
  readonly memoryBytes: number;
}

/** Rows that an asynchronous source makes at once: about a millisecond of work. */
const BLOCK_ROWS = 512;

/** Yields rows as a network does: a block of rows, then a wait for the next one. */
export async function* rowsInBlocks(count: number): AsyncGenerator<Row, void, void> {
  const rows = rowsInTurn(count);
  const { port1, port2 } = new MessageChannel();
  for (let left = count; left > 0; left -= BLOCK_ROWS) {
    await new Promise<void>((resolve) => {
      port1.onmessage = () => resolve();
      port2.postMessage(0);
    });
    for (let at = 0; at < Math.min(BLOCK_ROWS, left); at++) yield rows.next().value as Row;
  }
  port1.close();
}

function load(db: Store, { rows, source }: Load): Promise<WriteResult> {
  const from = source === 'blocks' ? rowsInBlocks(rows) : rowsInTurn(rows);
  return db.putMany(from, { key: '/id' });
}

/** Opens the stores of `load`, runs `watch` while they load, and destroys them. */
export async function withLoad<T>(
  loading: Load,
  watch: (run: () => Promise<WriteResult[]>) => Promise<T>,
): Promise<{ watched: T; loaded: Loaded }> {
  const { rows, stores = 1, sliceMs = 8 } = loading;
  const names = Array.from({ length: stores }, (_, at) => `alive ${at}`);
  const dbs = await Promise.all(names.map((name) => open(name, { advanced: { sliceMs } })));
  try {
    let results: WriteResult[] = [];
    const watched = await watch(async () => {
      results = await Promise.all(dbs.map((db) => load(db, loading)));
      return results;
    });
    const stats = await Promise.all(dbs.map((db) => db.health.stats()));
    for (const { rows: stored } of stats) {
      if (stored !== rows) throw new Error(`${stored} rows are stored, not ${rows}`);
    }
    const sum = (of: readonly number[]) => of.reduce((total, one) => total + one, 0);
    return {
      watched,
      loaded: {
        rows: sum(results.map((one) => one.rows)),
        slices: sum(results.map((one) => one.stats.slices)),
        longestSliceMs: Math.max(...results.map((one) => one.stats.longestSliceMs)),
        storageMs: sum(results.map((one) => one.stats.storageMs)),
        segments: sum(results.map((one) => one.stats.segments)),
        memoryBytes: sum(stats.map((one) => one.memoryBytes)),
      },
    };
  } finally {
    await Promise.all(dbs.map((db) => db.close()));
    await Promise.all(names.map((name) => destroy(name)));
  }
}

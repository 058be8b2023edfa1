/** Commits the buffer of a writer. Loaded at the first flush: see `writer.ts`. */
import { hex } from '../../base/hex.js';
import { turn } from '../../base/slice-queue.js';
import { type Block, Ingest, type IngestCommit, type WriteResult } from './ingest.js';
import { BLOCK_UNITS, type WriterBuffer } from './writer-buffer-types.js';

/** The commits of one writer. */
export class WriterCommits {
  readonly #from: WriterBuffer;
  #ingest: Ingest | undefined;
  /** Fed rows of the next commit. */
  #uncommitted = 0;
  readonly #total = { bytes: 0, chunks: 0, segments: 0, slices: 0, storageMs: 0 };
  #rows = 0;
  #longestSliceMs = 0;

  constructor(from: WriterBuffer) {
    this.#from = from;
  }

  /** Feeds full blocks; with `isAll` also the rest. */
  async pump(): Promise<void> {
    const from = this.#from;
    const { host, branchHead, durability, bulk, commitEvery } = from.context;
    while (from.units >= BLOCK_UNITS || (from.isAll && from.rows.length > 0)) {
      await turn();
      // The writer may have been aborted during the turn.
      if (from.rows.length === 0) break;
      this.#ingest ??= await Ingest.begin(host, branchHead, durability, { bulk });
      const startMs = performance.now();
      await this.#ingest.feed(this.#take(), startMs);
      if (this.#uncommitted >= commitEvery) await this.#commit();
    }
    from.isAll = false;
  }

  /** Takes rows of one kind for a block. */
  #take(): Block {
    const from = this.#from;
    const isDelete = from.rows[0]?.value === undefined;
    const members: string[] = [];
    const values: { row: number; bytes: Uint8Array }[] = [];
    let [count, units] = [0, 0];
    for (const row of from.rows) {
      const isFull = units >= BLOCK_UNITS || this.#uncommitted + count >= from.context.commitEvery;
      if (isFull || (row.value === undefined) !== isDelete) break;
      members.push(row.key);
      if (typeof row.value === 'string') members.push(row.value);
      else if (row.value !== undefined) {
        members.push('0');
        values.push({ row: count, bytes: row.value });
      }
      units += row.units;
      count += 1;
    }
    from.rows = from.rows.slice(count);
    from.units -= units;
    this.#uncommitted += count;
    const format = isDelete ? 'deletes' : 'pairs';
    return { text: `[${members.join(',')}]`, format, rows: count, values };
  }

  async #commit(): Promise<void> {
    const ingest = this.#ingest;
    if (ingest === undefined) return;
    const { chunks }: IngestCommit = await ingest.commit();
    this.#ingest = undefined;
    this.#uncommitted = 0;
    // The next commit builds on the edits until now.
    this.#from.context.bulk.overrides.clear();
    const { rows, bytes, segments, times } = ingest;
    this.#rows += rows;
    this.#total.bytes += bytes;
    this.#total.chunks += chunks;
    this.#total.segments += segments;
    this.#total.slices += times.slices;
    this.#total.storageMs += times.storageMs;
    this.#longestSliceMs = Math.max(this.#longestSliceMs, times.longestSliceMs);
  }

  /** Commits all fed rows. */
  async finish(): Promise<WriteResult> {
    await this.#commit();
    const { branchHead, startMs } = this.#from.context;
    const root = hex(branchHead.head.commitBytes);
    const ms = performance.now() - startMs;
    const stats = { ms, longestSliceMs: this.#longestSliceMs, ...this.#total };
    return { root, rows: this.#rows, stats };
  }

  /** Drops rows that are not committed. */
  async abandon(): Promise<void> {
    const ingest = this.#ingest;
    this.#ingest = undefined;
    await ingest?.abandon();
  }
}

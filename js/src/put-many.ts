/** Bulk puts and deletes: takes rows from a source, slice by slice. */
import type { Commits } from './commit.js';
import { hex } from './engine.js';
import { HedgerowError } from './errors.js';
import type { Host } from './host.js';
import { guarded, Ingest, type IngestResult, type Progress } from './ingest.js';
import { checkKey } from './key.js';
import { encodeRange, type KeyRange } from './range.js';
import { type KeyOf, RowGatherer } from './rows.js';
import { turn } from './scheduler.js';
import type { Durability } from './segment-store.js';
import { AbortableWait, checkSignal } from './signal.js';

/** Where rows come from. */
export type Source<Row> = Iterable<Row> | AsyncIterable<Row>;

/** How rows are put. */
export interface PutManyOptions<Row> {
  /**
   * The key of a row: a JSON pointer into it, such as `/id`, or a function of it. Without
   * it rows are `[key, value]`. A row is read up to a slice after it was given: it must not
   * be changed and given again.
   */
  readonly key?: KeyOf<Row> | undefined;
  /** Put before every key. */
  readonly prefix?: string | undefined;
  /** Ends the ingest with `aborted`; the store is then as it was. */
  readonly signal?: AbortSignal | undefined;
  /** Called at most once in 16 ms, and at the end. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Instead of the store's. */
  readonly durability?: Durability | undefined;
}

/** Milliseconds between two reports. */
const PROGRESS_MS = 16;

/** How long rows of an asynchronous source may wait for others to share their slice. */
const GATHER_MS = 4;

/** What is done with the rows of a source. */
interface Job<Row> extends PutManyOptions<Row> {
  readonly durability: Durability;
  readonly deletes?: boolean;
}

/** Puts or deletes rows; the caller makes sure that no other change runs. */
export async function putMany<Row>(
  host: Host,
  commits: Commits,
  source: Source<Row>,
  job: Job<Row>,
): Promise<IngestResult> {
  const startMs = performance.now();
  const { key, prefix, signal, durability } = job;
  if (prefix !== undefined) checkKey(prefix);
  const async = isAsync(source);
  await commits.prepareIds();
  const pointer = typeof key === 'string' ? key : '';
  const ingest = new Ingest(host, commits, durability, { prefix, pointer, signal });
  const intake = new Intake(host, ingest, job);
  return guarded(ingest, async () => {
    await turn();
    checkSignal(signal);
    if (async) await intake.takeAsync(source as AsyncIterable<Row>);
    else await intake.take(source as Iterable<Row>);
    const committed = await ingest.commit();
    if (committed === undefined) {
      // The rows are gone: only the caller can give them again.
      await commits.refresh();
      throw new HedgerowError('conflict', 'another writer moved the store during the ingest');
    }
    intake.report(true);
    return resultOf(ingest, committed, ingest.rows, startMs);
  });
}

/** Deletes all rows of a range; the caller makes sure that no other change runs. */
export async function deleteRange(
  host: Host,
  commits: Commits,
  range: KeyRange,
  durability: Durability,
): Promise<IngestResult> {
  const startMs = performance.now();
  const encoded = encodeRange(range);
  await commits.prepareIds();
  return commits.retry(() => {
    const ingest = new Ingest(host, commits, durability, {});
    const { rows } = commits.head;
    return guarded(ingest, async () => {
      await ingest.drop(encoded);
      const committed = await ingest.commit();
      return committed && resultOf(ingest, committed, rows - commits.head.rows, startMs);
    });
  });
}

function resultOf(
  ingest: Ingest,
  { chunks, commitBytes }: { chunks: number; commitBytes: Uint8Array },
  rows: number,
  startMs: number,
): IngestResult {
  const { bytes, segments, times } = ingest;
  const ms = performance.now() - startMs;
  return { root: hex(commitBytes), rows, bytes, chunks, segments, ms, ...times };
}

function isAsync<Row>(source: Source<Row>): source is AsyncIterable<Row> {
  if (typeof source === 'object' && source !== null) {
    if (Symbol.asyncIterator in source) return true;
    if (Symbol.iterator in source) return false;
  }
  throw new HedgerowError('invalid-argument', 'rows come from an iterable or an async iterable');
}

class Intake<Row> {
  readonly #ingest: Ingest;
  readonly #gatherer: RowGatherer<Row>;
  readonly #signal: AbortSignal | undefined;
  readonly #onProgress: ((progress: Progress) => void) | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(host: Host, ingest: Ingest, { key, deletes, signal, onProgress }: Job<Row>) {
    this.#ingest = ingest;
    const puts = typeof key === 'string' ? 'rows' : 'pairs';
    this.#gatherer = new RowGatherer(deletes === true ? 'deletes' : puts, key, host.sliceMs);
    this.#signal = signal;
    this.#onProgress = onProgress;
  }

  async take(source: Iterable<Row>): Promise<void> {
    let startMs = performance.now();
    for (const row of source) {
      if (!this.#gatherer.add(row)) continue;
      await this.#feed(startMs);
      await turn();
      startMs = performance.now();
    }
    if (this.#gatherer.rows > 0) await this.#feed(startMs);
  }

  async takeAsync(source: AsyncIterable<Row>): Promise<void> {
    let firstMs = 0;
    const iterator = source[Symbol.asyncIterator]();
    const wait = new AbortableWait(this.#signal);
    let ended = false;
    try {
      for (;;) {
        ended = true;
        const next = Promise.resolve(iterator.next());
        ended = false;
        next.catch(() => {
          ended = true;
        });
        const result = await wait.for(next);
        if (result.done === true) {
          ended = true;
          break;
        }
        const now = performance.now();
        if (this.#gatherer.rows === 0) firstMs = now;
        const full = this.#gatherer.add(result.value);
        // A slow source should not hold back rows that have come; a fast one fills blocks.
        if (!full && now - firstMs < GATHER_MS) continue;
        await turn();
        await this.#feed(performance.now());
      }
      if (this.#gatherer.rows > 0) await this.#feed(performance.now());
    } finally {
      wait.end();
      // The source may be waiting and never answer: its end is not waited for.
      if (!ended)
        void Promise.resolve()
          .then(() => iterator.return?.())
          .catch(() => {});
    }
  }

  /** Feeds what was gathered, in the slice that began at `startMs`. */
  async #feed(startMs: number): Promise<void> {
    const block = this.#gatherer.take();
    const feeding = this.#ingest.feed(block, startMs);
    // The first step has run by now, in this slice.
    this.#gatherer.learn(block.rows, performance.now() - startMs);
    await feeding;
    this.report(false);
  }

  report(last: boolean): void {
    if (this.#onProgress === undefined) return;
    const now = performance.now();
    if (!last && now - this.#reportedMs < PROGRESS_MS) return;
    this.#reportedMs = now;
    const { rows, bytes, durableRows } = this.#ingest;
    this.#onProgress({ rows, bytes, durableRows });
  }
}

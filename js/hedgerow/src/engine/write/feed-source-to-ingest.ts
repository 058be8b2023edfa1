/** Takes rows or bytes from a source and feeds them to an ingest, slice by slice. */

import { AbortableWait } from '../../base/abortable-wait.js';
import { notify } from '../../base/call-callback-safely.js';
import { HedgerowError } from '../../base/errors.js';
import { isBuffer, isPart } from '../../base/is-byte-array.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import { turn } from '../../base/slice-queue.js';
import type { Ingest, Progress } from './ingest.js';
import type { OpenSource } from './opened-source.js';
import type { RowGatherer } from './row-gatherer.js';

/** Milliseconds between two reports. */
const PROGRESS_MS = 16;

/** Milliseconds that rows of an asynchronous source wait for more to share their slice. */
const GATHER_MS = 4;

/** Bytes that are read without waiting for more: about a slice of work. */
const GATHER_BYTES = 512 << 10;

/** Reports the progress of an ingest, at most once in `PROGRESS_MS`, and at its end. */
export class Reporter {
  readonly #ingest: Ingest;
  readonly #source: OpenSource<unknown>;
  readonly #onProgress: ((progress: Progress) => void) | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(
    ingest: Ingest,
    source: OpenSource<unknown>,
    onProgress: ((progress: Progress) => void) | undefined,
  ) {
    this.#ingest = ingest;
    this.#source = source;
    this.#onProgress = onProgress;
  }

  /** Reports, unless the last report is too recent; with `last` it always reports. */
  report(last = false): void {
    if (this.#onProgress === undefined) return;
    const now = performance.now();
    if (!last && now - this.#reportedMs < PROGRESS_MS) return;
    this.#reportedMs = now;
    const { rows, bytes, durableRows } = this.#ingest;
    const fraction = last ? 1 : this.#computeFraction();
    const progress = { rows, bytes, durableRows, ...(fraction === undefined ? {} : { fraction }) };
    notify(this.#onProgress, progress);
  }

  #computeFraction(): number | undefined {
    const { kind, total } = this.#source;
    if (total === undefined) return undefined;
    const taken = kind === 'bytes' ? this.#ingest.bytes : this.#ingest.rows;
    return total > 0 ? Math.min(1, taken / total) : 1;
  }
}

/** Takes the rows of a source. */
export async function takeRows<Row>(
  source: OpenSource<Row>,
  gatherer: RowGatherer<Row>,
  ingest: Ingest,
  reporter: Reporter,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (source.isAsync) return takeAsyncRows(source, gatherer, ingest, reporter, signal);
  let startMs = performance.now();
  try {
    for (let step = source.read(); !step.done; step = source.read()) {
      if (!gatherer.add(step.value)) continue;
      await feed(gatherer, ingest, startMs);
      reporter.report();
      await turn();
      ingest.check();
      startMs = performance.now();
    }
    if (gatherer.rows > 0) await feed(gatherer, ingest, startMs);
  } finally {
    source.end();
  }
}

/** Takes rows as they come. */
async function takeAsyncRows<Row>(
  source: OpenSource<Row>,
  gatherer: RowGatherer<Row>,
  ingest: Ingest,
  reporter: Reporter,
  signal: AbortSignal | undefined,
): Promise<void> {
  let firstMs = 0;
  await each(source, ingest, signal, async (row) => {
    const now = performance.now();
    if (gatherer.rows === 0) firstMs = now;
    const full = gatherer.add(row);
    // A slow source must not delay earlier rows; a fast source fills blocks.
    if (!full && now - firstMs < GATHER_MS) return;
    await turn();
    await feed(gatherer, ingest, performance.now());
    reporter.report();
    // Otherwise a source that is always ready would fill the next block in the same slice.
    await turn();
  });
  if (gatherer.rows > 0) await feed(gatherer, ingest, performance.now());
}

/** Feeds the gathered rows, in the slice that began at `startMs`. */
async function feed<Row>(
  gatherer: RowGatherer<Row>,
  ingest: Ingest,
  startMs: number,
): Promise<void> {
  const block = gatherer.take();
  const feeding = ingest.feed(block, startMs);
  // The first step of `feed` has already run, in this slice.
  gatherer.learn(block.rows, performance.now() - startMs);
  await feeding;
}

/** Takes bytes as they come. They are copied once, into linear memory. */
export async function takeBytes(
  source: OpenSource<unknown>,
  ingest: Ingest,
  reporter: Reporter,
  signal: AbortSignal | undefined,
  look?: (bytes: Uint8Array) => void,
): Promise<void> {
  let gathered = 0;
  let firstMs = 0;
  const drain = async () => {
    gathered = 0;
    await turn();
    await ingest.drain(performance.now());
    reporter.report();
  };
  await each(source, ingest, signal, async (part) => {
    if (!isPart(part)) {
      throw new HedgerowError('invalid-argument', `a part of the bytes is ${kindOf(part)}`);
    }
    const bytes = isBuffer(part) ? new Uint8Array(part) : part;
    for (let at = 0; at < bytes.length; at += GATHER_BYTES) {
      const now = performance.now();
      if (gathered === 0) firstMs = now;
      const piece = bytes.subarray(at, at + GATHER_BYTES);
      look?.(piece);
      ingest.append(piece);
      gathered += piece.length;
      if (gathered >= GATHER_BYTES || now - firstMs >= GATHER_MS) await drain();
    }
  });
  ingest.end();
  await drain();
}

/**
 * Calls `take` for each member, and asks for the next one at the same time. Stops waiting for the source when the
 * signal is aborted or the core traps. On a failure, ends the source without waiting for it.
 */
async function each<T>(
  source: OpenSource<T>,
  ingest: Ingest,
  signal: AbortSignal | undefined,
  take: (member: T) => Promise<void>,
): Promise<void> {
  const wait = new AbortableWait(signal);
  const stop = ingest.onLost((cause) => wait.fail(cause));
  const ask = source.isAsync ? source.read : async () => source.read();
  try {
    let next = ask();
    for (;;) {
      const { done, value } = await wait.for(next);
      if (done === true) return;
      next = ask();
      // The next turn of the loop throws a failure.
      next.catch(() => {});
      await take(value);
    }
  } finally {
    stop();
    wait.end();
    source.end();
  }
}

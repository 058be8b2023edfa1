/** Takes rows or bytes from a source and feeds them to an ingest, slice by slice. */

import { AbortableWait } from '../../base/abort-signal.js';
import { isPart } from '../../base/byte-source.js';
import { notify } from '../../base/call-callback-safely.js';
import { HedgerowError } from '../../base/errors.js';
import { isBuffer } from '../../base/is-byte-array.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import { turn } from '../../base/scheduler.js';
import type { Ingest, Progress } from './ingest.js';
import type { RowGatherer } from './row-gatherer.js';
import { checkedStep, endIterator } from './row-source.js';

/** Milliseconds between two reports. */
const PROGRESS_MS = 16;

/** Milliseconds that rows of an asynchronous source wait for more to share their slice. */
const GATHER_MS = 4;

/** Bytes that are read without waiting for more: about a slice of work. */
const GATHER_BYTES = 512 << 10;

/** Reports the progress of an ingest, at most once in `PROGRESS_MS`, and at its end. */
export class Reporter {
  readonly #ingest: Ingest;
  readonly #onProgress: ((progress: Progress) => void) | undefined;
  readonly #fraction: () => number | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(
    ingest: Ingest,
    onProgress: ((progress: Progress) => void) | undefined,
    fraction: () => number | undefined,
  ) {
    this.#ingest = ingest;
    this.#onProgress = onProgress;
    this.#fraction = fraction;
  }

  /** Reports, unless the last report is too recent; with `last` it always reports. */
  report(last = false): void {
    if (this.#onProgress === undefined) return;
    const now = performance.now();
    if (!last && now - this.#reportedMs < PROGRESS_MS) return;
    this.#reportedMs = now;
    const { rows, bytes, durableRows } = this.#ingest;
    const fraction = last ? 1 : this.#fraction();
    const progress = { rows, bytes, durableRows, ...(fraction === undefined ? {} : { fraction }) };
    notify(this.#onProgress, progress);
  }
}

/** Takes rows of an iterable, slice by slice. */
export async function takeRows<Row>(
  rows: Iterable<Row>,
  gatherer: RowGatherer<Row>,
  ingest: Ingest,
  reporter: Reporter,
): Promise<void> {
  let startMs = performance.now();
  for (const row of rows) {
    if (!gatherer.add(row)) continue;
    await feed(gatherer, ingest, startMs);
    reporter.report();
    await turn();
    ingest.check();
    startMs = performance.now();
  }
  if (gatherer.rows > 0) await feed(gatherer, ingest, startMs);
}

/** Takes rows as they come. Stops waiting for the source when `signal` is aborted or the core traps. */
export async function takeAsyncRows<Row>(
  rows: AsyncIterator<Row>,
  gatherer: RowGatherer<Row>,
  ingest: Ingest,
  reporter: Reporter,
  signal: AbortSignal | undefined,
): Promise<void> {
  let firstMs = 0;
  await each(rows, ingest, signal, async (row) => {
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
  parts: AsyncIterator<Uint8Array> | Iterator<Uint8Array>,
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
  await each(parts, ingest, signal, async (part: Uint8Array | ArrayBuffer) => {
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
 * Calls `take` for each member, and asks for the next one at the same time. On a failure, or when the signal is
 * aborted, ends the source without waiting for it.
 */
async function each<T>(
  source: AsyncIterator<T> | Iterator<T>,
  ingest: Ingest,
  signal: AbortSignal | undefined,
  take: (member: T) => Promise<void>,
): Promise<void> {
  const wait = new AbortableWait(signal);
  // Do not wait for a slow source after the ingest is lost.
  const stop = ingest.onLost((cause) => wait.fail(cause));
  let ended = false;
  const ask = async () => {
    try {
      const result = checkedStep(await source.next());
      if (result.done === true) ended = true;
      return result;
    } catch (cause) {
      ended = true;
      throw cause;
    }
  };
  try {
    let next = ask();
    for (;;) {
      const result = await wait.for(next);
      if (result.done === true) return;
      next = ask();
      // The next turn of the loop throws a failure.
      next.catch(() => {});
      await take(result.value);
    }
  } finally {
    stop();
    wait.end();
    if (!ended) endIterator(source);
  }
}

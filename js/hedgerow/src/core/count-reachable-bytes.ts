/** Counts the bytes that a commit reaches. The core knows from the tables which chunks are stored. */

import * as CollectFlag from '../base/abi/collect-flag.js';
import * as Status from '../base/abi/status.js';
import { turn } from '../base/slice-queue.js';
import {
  collectCommit,
  readCollectReply,
  startCollection,
} from './calls/garbage-collection-calls.js';
import type { Op } from './engine.js';
import { endSlice, type Host, type SliceStats } from './operation-host.js';
import { fail } from './status-errors.js';

/** Steps a collection until the core is done; returns the result of `answer`, which reads the last reply. */
export async function stepToEnd<T>(
  host: Host,
  op: Op,
  answer: () => T,
  times: SliceStats = { slices: 0, longestSliceMs: 0 },
): Promise<T> {
  for (;;) {
    await turn();
    const startMs = performance.now();
    const status = host.step(op, startMs);
    if (status >= Status.row) fail(host.engine, status);
    const needed = status === Status.need ? host.engine.readNeededParts() : [];
    // Take the answer before any other call overwrites the reply.
    const done = status === Status.done ? { answer: answer() } : undefined;
    endSlice(times, startMs);
    if (done !== undefined) return done.answer;
    if (needed.length > 0) await host.load(needed);
  }
}

/**
 * Counts the bytes that a commit reaches. The caller must hold the commit. Rejects with `missing-chunk` if a chunk of
 * it is missing. Reads internal nodes, and leaves with values out of line.
 */
export async function countReachableBytes(host: Host, commitBytes: Uint8Array): Promise<number> {
  const { engine } = host;
  // The core finds a commit by its hash: an instance after a trap knows no commit before it has its tables.
  if (!engine.isReady) await host.recover();
  const { epoch } = engine;
  await host.complete();
  engine.own(epoch);
  const op = startCollection(engine, CollectFlag.survey | CollectFlag.full, 0);
  try {
    collectCommit(engine, op, commitBytes);
    return await stepToEnd(host, op, () => readCollectReply(engine).liveBytes);
  } finally {
    engine.free(op);
  }
}

/** Looks at all that a commit reaches, without a look at storage: tables tell what there is. */

import * as CollectFlag from '../base/abi/collect-flag.js';
import * as Status from '../base/abi/status.js';
import { turn } from '../base/scheduler.js';
import { collect, collectCommit, collected } from './calls/collect.js';
import type { Op } from './engine.js';
import { endSlice, type Host, type Slices } from './host.js';
import { fail } from './status.js';

/** Steps a collection until the core is done, and takes `answer` from its reply at once. */
export async function stepped<T>(
  host: Host,
  op: Op,
  answer: () => T,
  times: Slices = { slices: 0, longestSliceMs: 0 },
): Promise<T> {
  for (;;) {
    await turn();
    const startMs = performance.now();
    const status = host.step(op, startMs);
    if (status >= Status.row) fail(host.engine, status);
    const needed = status === Status.need ? host.engine.needed() : [];
    // Before anybody else asks the core: the reply is of the last step.
    const done = status === Status.done ? { answer: answer() } : undefined;
    endSlice(times, startMs);
    if (done !== undefined) return done.answer;
    if (needed.length > 0) await host.load(needed);
  }
}

/**
 * Bytes of what a commit reaches, which somebody holds; rejects with `missing-chunk` when it is
 * not whole. Reads internal nodes, and leaves where values are stored out of line.
 */
export async function survey(host: Host, commitBytes: Uint8Array): Promise<number> {
  const { engine } = host;
  const op = collect(engine, CollectFlag.survey | CollectFlag.full, 0);
  try {
    collectCommit(engine, op, commitBytes);
    return await stepped(host, op, () => collected(engine).liveBytes);
  } finally {
    engine.free(op);
  }
}

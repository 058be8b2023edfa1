/** Reads a range of a lazy clone, so that its rows are here. */

import * as ReadFlag from '../../base/abi/read-flag.js';
import * as Status from '../../base/abi/status.js';
import { checkSignal } from '../../base/abort-signal.js';
import { encodeRange, type KeyRange } from '../../base/range.js';
import { turn } from '../../base/slice-queue.js';
import { fail } from '../../core/status-errors.js';
import type { SyncContext, SyncJob } from './link-context.js';

/** Reads all leaves of a range of the local branch. */
export async function prefetch(
  { shared, local }: SyncContext,
  range: KeyRange,
  { signal }: SyncJob,
): Promise<void> {
  const { host } = shared;
  const { engine, reads } = host;
  await shared.queueWork(() => local.refresh());
  const { head, release } = await local.holdHead();
  try {
    const [parts, limit] = [ReadFlag.keys, Number.MAX_SAFE_INTEGER];
    const call = { range: encodeRange(range), parts, reverse: false, offset: 0, limit };
    const op = reads.scan(engine, head.view, call);
    try {
      for (;;) {
        checkSignal(signal);
        const status = host.step(op, performance.now());
        if (status === Status.done) return;
        if (status === Status.need) await host.load(engine.readNeededParts());
        else if (status === Status.yield) await turn();
        else fail(engine, status);
      }
    } finally {
      engine.free(op);
    }
  } finally {
    release();
  }
}

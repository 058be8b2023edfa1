/** Checks that an index has exactly the entries that its rows make. */

import * as Status from '../../base/abi/status.js';
import { checkSignal } from '../../base/abort-signal.js';
import { HedgerowError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { turn } from '../../base/slice-queue.js';
import { verificationCalls } from '../../core/calls/verification-calls.js';
import type { Host } from '../../core/operation-host.js';
import { fail } from '../../core/status-errors.js';

/**
 * Checks the nth index of a view, from 1. Resolves to its root, in hexadecimal, if it is wrong. Costs a pass over the
 * index, and over the rows that it may cover, with their values.
 */
export async function checkIndex(
  host: Host,
  view: number,
  nth: number,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { engine } = host;
  const checks = await verificationCalls(host);
  // The core compares hashes under a random key, so that a forged index cannot be made to collide.
  const random = crypto.getRandomValues(new Uint32Array(8));
  const op = checks.checkIndex(view, nth, new Uint8Array(random.buffer));
  if (op === undefined) {
    throw new HedgerowError(
      'newer-version/format',
      'an index was written by a newer version of Hedgerow: update the app',
    );
  }
  try {
    for (;;) {
      await turn();
      checkSignal(signal);
      const status = host.step(op, performance.now(), (budget) => checks.step(op, budget));
      if (status === Status.need) await host.load(engine.readNeededParts());
      else if (status === Status.done) {
        const root = checks.wrongIndex();
        return root && hex(root);
      } else if (status !== Status.yield) fail(engine, status);
    }
  } finally {
    checks.free(op);
  }
}

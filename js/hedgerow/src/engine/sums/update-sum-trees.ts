/** Updates the sum trees of a store within the commit of a change. */

import { sumTreeCalls } from '../../core/calls/sum-tree-calls.js';
import type { Op } from '../../core/engine.js';
import type { Host } from '../../core/operation-host.js';

/** Starts the update for an ingest that waits for it; returns its step function, which takes a budget. */
export async function bring(
  host: Host,
  op: Op,
  alone: boolean,
): Promise<(budget: number) => number> {
  return (await sumTreeCalls(host)).begin(op, alone);
}

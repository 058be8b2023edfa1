/** Updates the sum trees of a store within the commit of a change. */
import type { Op } from '../../core/engine.js';
import type { Host } from '../../core/engine-host.js';
import { sumEngine } from '../../core/sum-engine.js';

/** Starts the update for an ingest that waits for it; returns its step function, which takes a budget. */
export async function bring(
  host: Host,
  op: Op,
  alone: boolean,
): Promise<(budget: number) => number> {
  return (await sumEngine(host)).begin(op, alone);
}

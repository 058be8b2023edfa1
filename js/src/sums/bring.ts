/** Brings the sum trees of a store to what a commit changes, in that commit. */
import type { Op } from '../core/engine.js';
import type { Host } from '../core/host.js';
import { sumEngine } from '../core/sum-engine.js';

/** Begins with an ingest that awaits it; returns what goes on with it for some budget. */
export async function bring(
  host: Host,
  op: Op,
  alone: boolean,
): Promise<(budget: number) => number> {
  return (await sumEngine(host)).begin(op, alone);
}

/** A read in steps. */
import type { Budget } from './budget.js';
import type { Want } from './fault.js';
import type { Output } from './output.js';

/** A read in steps. */
export interface Operation {
  /**
   * Adds to the output until the end (`Status.done`) or the end of the budget (`Status.yield`). Throws `Need`, after which
   * it is called again, or a `Fault`.
   */
  step(budget: Budget, out: Output): number;
  /** Returns what it will need next, if it is known to be long. */
  ahead?(): readonly Want[];
  /** The positions of the keys that a search has found. */
  readonly positions?: readonly number[];
  /** The number that a count has found. */
  readonly rows?: number;
}

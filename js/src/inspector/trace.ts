/**
 * Has the browser's own tools, and the inspector, see what a store does: its calls, the slices of its work, and the
 * callbacks of its watches, as entries of `performance.measure`. For development: an app that does not import it has
 * nothing of it, and one that does pays while a trace is on.
 */
import { HedgerowError } from '../base/errors.js';
import { hasCalls, isPlain, memberOf } from '../base/kind.js';
import type { Store } from '../index.js';
import { StoreTrace } from './trace/store-trace.js';

export { HedgerowError };

/** How a store is traced. */
export interface TraceOptions {
  /** What takes less time is not told, in milliseconds; 1 by default. */
  readonly minMs?: number | undefined;
}

/** A trace under way. */
export interface Trace {
  /** Ends it: the handles are as they were before. Idempotent. */
  stop(): void;
}

const buildTraceError = (message: string) =>
  new HedgerowError('invalid-argument', `trace: ${message}`);

/**
 * Traces a store from now on: this handle, and the branches and remotes that are opened by it. Another handle of a store
 * that is traced joins its trace. Ends when its handles are closed. Throws `invalid-argument`, also for a handle of a
 * store that is in a worker: trace that in the worker.
 */
export function trace(db: Store, options: TraceOptions = {}): Trace {
  const [from, handle] = [memberOf(db, 'from'), memberOf(db, 'handle')];
  if (!hasCalls(memberOf(from, 'host'), 'step') || handle === undefined) {
    throw buildTraceError('db must be a store that open() has given here, or a branch of one');
  }
  if (!isPlain(options)) throw buildTraceError('it takes options in a plain object');
  const { minMs = 1 } = options;
  if (typeof minMs !== 'number' || !(minMs >= 0)) throw buildTraceError('minMs must be 0 or more');
  return StoreTrace.of(db, minMs);
}

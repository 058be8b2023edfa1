/**
 * Shows the work of a store in the browser's own tools and in the inspector: its calls, its slices, and the callbacks
 * of its watches, as entries of `performance.measure`. For development: only an app that imports this module pays for
 * it, while a trace is on.
 */

import type { Store } from 'hedgerow';
import { HedgerowError, hasCalls, isPlain, memberOf } from 'hedgerow/kit';
import { StoreTrace } from './trace/store-trace.js';

/** Options of `trace`. */
export interface TraceOptions {
  /** Milliseconds below which work is not reported; 1 by default. */
  readonly minMs?: number | undefined;
}

/** A trace under way. */
export interface Trace {
  /** Ends the trace: the handles are as before. Idempotent. */
  stop(): void;
}

const buildTraceError = (message: string) =>
  new HedgerowError('invalid-argument', `trace: ${message}`);

/**
 * Traces a store from now on: this handle, and the branches and remotes that it opens. Another handle of a traced store
 * joins the trace. The trace ends when its handles are closed. Throws `invalid-argument`, also for a handle of a store
 * in a worker: trace that store in the worker.
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

import type { SegmentStore, WriteBatch } from './segment-store.js';

/** The kind of a call of storage: `write` changes it. */
export type CallKind = 'read' | 'write';

/** Receives the outcomes of the calls of a store. */
export interface Outcomes {
  worked(kind: CallKind, batch?: WriteBatch): void;
  failed(kind: CallKind, cause: unknown): void;
}

/** Wraps `inner`: reports the outcome of each call to `outcomes`, before the caller gets it. */
export function watched(inner: SegmentStore, outcomes: Outcomes): SegmentStore {
  // The caller gets the promise of `inner` itself, and so waits no longer.
  const observed = <T>(kind: CallKind, call: Promise<T>, batch?: WriteBatch): Promise<T> => {
    call.then(
      () => outcomes.worked(kind, batch),
      (cause) => outcomes.failed(kind, cause),
    );
    return call;
  };
  return {
    load: (known, since) => observed('read', inner.load(known, since)),
    reserve: (makesRoom) => observed('write', inner.reserve(makesRoom)),
    read: (wanted) => observed('read', inner.read(wanted)),
    write: (batch) => observed('write', inner.write(batch), batch),
    history: (name) => observed('read', inner.history(name)),
    delete: (ids, fence) => observed('write', inner.delete(ids, fence)),
    close: () => inner.close(),
    ...(inner.requestCost !== undefined && { requestCost: inner.requestCost }),
    rest: () => inner.rest?.(),
    upkeep: async (storedBytes, isAtRest) => inner.upkeep?.(storedBytes, isAtRest),
    get honoursStrict() {
      // An adapter that does not know leaves it out.
      return inner.honoursStrict as boolean;
    },
  };
}

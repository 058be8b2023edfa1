import type { SegmentStore, WriteBatch } from './segment-store.js';

/** The kind of a call of storage: `write` changes it. */
export type CallKind = 'read' | 'write';

/** Receives the outcomes of the calls of a store. */
export interface Outcomes {
  onSuccess(kind: CallKind, batch?: WriteBatch): void;
  onFailure(kind: CallKind, cause: unknown): void;
}

/** Wraps `inner`: reports the outcome of each call to `outcomes`, before the caller gets it. */
export function reportOutcomes(inner: SegmentStore, outcomes: Outcomes): SegmentStore {
  // The caller gets the promise of `inner` itself, so that it waits no longer.
  const reportOutcome = <T>(kind: CallKind, call: Promise<T>, batch?: WriteBatch): Promise<T> => {
    call.then(
      () => outcomes.onSuccess(kind, batch),
      (cause) => outcomes.onFailure(kind, cause),
    );
    return call;
  };
  return {
    load: (known, since) => reportOutcome('read', inner.load(known, since)),
    reserve: (freesSpace) => reportOutcome('write', inner.reserve(freesSpace)),
    read: (wanted) => reportOutcome('read', inner.read(wanted)),
    write: (batch) => reportOutcome('write', inner.write(batch), batch),
    history: (name) => reportOutcome('read', inner.history(name)),
    delete: (ids, fence) => reportOutcome('write', inner.delete(ids, fence)),
    close: () => inner.close(),
    ...(inner.requestCost !== undefined && { requestCost: inner.requestCost }),
    rest: () => inner.rest?.(),
    prepareWrites: () => inner.prepareWrites?.(),
    upkeep: async (storedBytes, isAtRest) => inner.upkeep?.(storedBytes, isAtRest),
    get honoursStrict() {
      // An adapter that does not know leaves it out.
      return inner.honoursStrict as boolean;
    },
  };
}

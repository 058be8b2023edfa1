import type { SegmentStore, WriteBatch } from './segment-store.js';

/** What a call did: `write` changes storage. */
export type CallKind = 'read' | 'write';

/** Hears how the calls of a store ended. */
export interface Outcomes {
  worked(kind: CallKind, batch?: WriteBatch): void;
  failed(kind: CallKind, cause: unknown): void;
}

/** `inner`; `outcomes` hears how each call ended, before the caller does. */
export function watched(inner: SegmentStore, outcomes: Outcomes): SegmentStore {
  // The promise of `inner` goes on to the caller as it is: nobody waits longer.
  const told = <T>(kind: CallKind, call: Promise<T>, batch?: WriteBatch): Promise<T> => {
    call.then(
      () => outcomes.worked(kind, batch),
      (cause) => outcomes.failed(kind, cause),
    );
    return call;
  };
  return {
    load: (known, since) => told('read', inner.load(known, since)),
    reserve: (makesRoom) => told('write', inner.reserve(makesRoom)),
    read: (ids) => told('read', inner.read(ids)),
    write: (batch) => told('write', inner.write(batch), batch),
    history: (name) => told('read', inner.history(name)),
    delete: (ids, fence) => told('write', inner.delete(ids, fence)),
    close: () => inner.close(),
    rest: () => inner.rest?.(),
    keepBallast: async (storedBytes) => inner.keepBallast?.(storedBytes),
    get honoursStrict() {
      // Absent in an adapter that does not know.
      return inner.honoursStrict as boolean;
    },
  };
}

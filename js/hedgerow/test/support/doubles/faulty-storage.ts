/**
 * For tests: wraps any storage, counts the calls to it and its stores, and makes chosen calls fail, before they reach
 * the storage or after their effect there.
 */
import type { SegmentStore, Storage } from '../../../src/storage/segment-store.js';

export type CallName = 'open' | 'destroy' | keyof SegmentStore;

/** The call that fails, and how. */
export interface Fault {
  /** The kind of call to count; every kind if absent. */
  readonly call?: CallName;
  /** The first call to fail, counted from 1 at the first call of all. */
  readonly at: number;
  /** Whether all later calls also fail, not only this one. */
  readonly lasting?: boolean;
  /** Whether the call never reaches the storage, or its answer is lost. */
  readonly when: 'before' | 'after';
  /** The error that the call rejects with. */
  readonly error: unknown;
}

export interface FaultyStorage extends Storage {
  /** Counts the calls of this kind, or of every kind, including failed ones. */
  calls(call?: CallName): number;
  /** Adds a fault. If several faults hit one call, the first one counts. */
  fail(fault: Fault): void;
  /** Removes all faults; the counts go on. */
  heal(): void;
}

/** Wraps `inner`; without faults it behaves as `inner` does. */
export function faulty(inner: Storage, ...initial: readonly Fault[]): FaultyStorage {
  const counts = new Map<CallName, number>();
  let total = 0;
  let faults = [...initial];

  async function through<T>(call: CallName, run: () => Promise<T>): Promise<T> {
    const count = (counts.get(call) ?? 0) + 1;
    counts.set(call, count);
    total++;
    const all = total;
    const fault = faults.find((candidate) => {
      if (candidate.call !== undefined && candidate.call !== call) return false;
      const position = candidate.call === undefined ? all : count;
      return candidate.lasting ? position >= candidate.at : position === candidate.at;
    });
    if (fault?.when === 'before') throw fault.error;
    const result = await run();
    if (fault !== undefined) throw fault.error;
    return result;
  }

  function wrapStore(store: SegmentStore): SegmentStore {
    return {
      load: (known, since) => through('load', () => store.load(known, since)),
      reserve: (freesSpace) => through('reserve', () => store.reserve(freesSpace)),
      read: (wanted) => through('read', () => store.read(wanted)),
      write: (batch) => through('write', () => store.write(batch)),
      history: (name) => through('history', () => store.history(name)),
      delete: (...args) => through('delete', () => store.delete(...args)),
      close: () => through('close', () => store.close()),
      ...(store.requestCost !== undefined && { requestCost: store.requestCost }),
    };
  }

  return {
    ...inner,
    open: (name, options) =>
      through('open', async () => wrapStore(await inner.open(name, options))),
    destroy: (name) => through('destroy', () => inner.destroy(name)),
    calls: (call) => (call === undefined ? total : (counts.get(call) ?? 0)),
    fail: (fault) => {
      faults.push(fault);
    },
    heal: () => {
      faults = [];
    },
  };
}

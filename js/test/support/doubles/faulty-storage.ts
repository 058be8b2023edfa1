/**
 * For tests: wraps any storage, counts the calls made to it and to its stores, and makes
 * chosen ones fail, before they reach the storage or after they took effect there.
 */
import type { SegmentStore, Storage } from '../../../src/storage/segment-store.js';

export type CallName = 'open' | 'destroy' | keyof SegmentStore;

/** Which call fails, and how. */
export interface Fault {
  /** The kind of call that is counted; every kind when absent. */
  readonly call?: CallName;
  /** The first call to fail, counted from 1 at the first call of all. */
  readonly at: number;
  /** Whether all later calls fail as well; otherwise only this one does. */
  readonly lasting?: boolean;
  /** Whether the storage never sees the call, or its answer is lost. */
  readonly when: 'before' | 'after';
  /** What the call rejects with. */
  readonly error: unknown;
}

export interface FaultyStorage extends Storage {
  /** How many calls of this kind, or of every kind, were made; failed ones count too. */
  calls(call?: CallName): number;
  /** Adds a fault. Of several that hit one call, the first added is the one that counts. */
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
      reserve: (makesRoom) => through('reserve', () => store.reserve(makesRoom)),
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

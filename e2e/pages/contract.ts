/** The page of `tests/segment-store.spec.ts`: runs the contract on real IndexedDB. */

import { idb } from '../../js/hedgerow/src/storage/idb/idb.js';
import type { RefMove, SegmentStore } from '../../js/hedgerow/src/storage/segment-store.js';
import { segmentStoreContract } from '../../js/hedgerow/test/support/contracts/segment-store-contract.js';

declare global {
  interface Window {
    runContract(name: string): Promise<void>;
    idb: typeof idb;
    /** The handle that a test keeps from one `evaluate` to the next. */
    store: SegmentStore;
    /** Returns bytes that identify `id` and do not compress, as Chromium compresses what it stores. */
    noise(id: number, length: number): Uint8Array;
    /** Writes one segment of noise, and moves the ref from generation `id - 1`. */
    commit(id: number, length?: number): Promise<boolean>;
    /** How often IndexedDB opened a database, where a test counts it. */
    openings: number;
    /** Returns the `code` that `call` fails with, or `undefined` when it succeeds. */
    codeOf(call: Promise<unknown>): Promise<unknown>;
  }
}

window.idb = idb;

window.runContract = async (name) => {
  const found = segmentStoreContract.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no such case: ${name}`);
  await found.run(idb(), (condition, message) => {
    if (!condition) throw new Error(message);
  });
};

window.noise = (id, length) => {
  const bytes = new Uint8Array(length);
  let state = id;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
};

window.commit = (id, length = 1000) => {
  const move: RefMove = {
    name: 'main',
    commitBytes: new Uint8Array(32).fill(id),
    expected: id - 1,
    generation: id,
    format: 1,
  };
  const segmentBytes = window.noise(id, length);
  const segments = [{ id, segmentBytes, tableBytes: Uint8Array.of(id) }];
  return window.store.write({ segments, move, durability: 'relaxed' });
};

window.codeOf = (call) =>
  call.then(
    () => undefined,
    (error: { code?: unknown; detail?: unknown }) => error.detail ?? error.code,
  );

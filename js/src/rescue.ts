/** Verifies and repairs a store that is not open, and perhaps cannot be opened. */
import { REF } from './inventory.js';
import { checkName, optionsOf } from './options.js';
import { prefixOf, whileNotCollected } from './pins.js';
import { type RepairOptions, type RepairResult, repairStore } from './repair.js';
import type { SegmentStore, Storage } from './segment-store.js';
import { idb } from './segment-stores/idb.js';
import { Tabs } from './tabs.js';
import { inspect, type Verification, type VerifyOptions } from './verify.js';

const SLICE_MS = 8;

const UNHEARD = { onCommit: () => {}, onGone: () => {}, onRace: () => {} };

/** Where the store is. */
export interface At {
  /** `idb()` by default. */
  readonly storage?: Storage | undefined;
}

/**
 * As `db.verify()`, for a store that does not open. Rejects with `missing` when there is none.
 */
export async function verify(name: string, given: VerifyOptions & At = {}): Promise<Verification> {
  const options = optionsOf('verify', given, 'storage checkIndexes signal onProgress');
  return opened(name, options, async (segments) => {
    const { verification } = await inspect(segments, SLICE_MS, options);
    return verification;
  });
}

/**
 * As `db.repair()`, for a store that does not open: one whose newest commit is damaged. Rejects
 * with `missing` when there is none.
 */
export async function repair(name: string, given: RepairOptions & At = {}): Promise<RepairResult> {
  const options = optionsOf('repair', given, 'storage salvage checkIndexes signal onProgress');
  const { storage = idb() } = options;
  return opened(name, options, async (segments) => {
    const tabs = storage.isShared === true ? new Tabs(name, UNHEARD) : undefined;
    const onCommit = (generation: number) => tabs?.announce(REF, generation);
    try {
      const job = { ...options, sliceMs: SLICE_MS, durability: 'strict', onCommit } as const;
      return await repairStore(segments, job);
    } finally {
      tabs?.close();
    }
  });
}

async function opened<T>(
  name: string,
  { storage = idb() }: At,
  use: (segments: SegmentStore) => Promise<T>,
): Promise<T> {
  checkName(name);
  const segments = await storage.open(name, { create: false });
  try {
    return await whileNotCollected(storage.locks, prefixOf(name), () => use(segments));
  } finally {
    await segments.close();
  }
}

/** Verifies and repairs a store that is not open, even one that cannot be opened. */

import { checkStoreName, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { idb } from '../../storage/idb/idb.js';
import type { SegmentStore, Storage } from '../../storage/segment-store.js';
import { encryptionCheck, storageCheck } from '../../storage/storage-checks.js';
import { pinCommit } from '../../storage/tabs/pin-commit.js';
import { TabMessages } from '../../storage/tabs/tab-messages.js';
import type { Verification } from '../verify/verify-commit.js';
import { VERIFY_OPTIONS, type VerifyOptions } from '../verify/verify-options.js';
import { inspect, type Pin } from '../verify/verify-store.js';
import { repairSegments } from './repair.js';
import { REPAIR_OPTIONS, type RepairOptions } from './repair-options.js';
import type { RepairResult } from './types.js';

const SLICE_MS = 8;

const PLACE_OPTIONS = {
  /** `idb()` by default. */
  storage: storageCheck,
  /** As in `open`. */
  encryption: encryptionCheck(),
};

/** The place of a store that is not open. */
export interface PlaceOptions extends OptionsOf<typeof PLACE_OPTIONS> {}

const UNOPENED_VERIFY_OPTIONS = { ...PLACE_OPTIONS, ...VERIFY_OPTIONS };
const UNOPENED_REPAIR_OPTIONS = { ...PLACE_OPTIONS, ...REPAIR_OPTIONS };

function placeOf({ storage = idb(), encryption }: PlaceOptions): Storage {
  return encryption?.over(storage) ?? storage;
}

/** As `db.health.verify()`, for a store that does not open. Rejects with `not-found/store` if it does not exist. */
export async function verifyUnopened(
  name: string,
  given: VerifyOptions & PlaceOptions = {},
): Promise<Verification> {
  const options = optionsOf('verifyStore', given, UNOPENED_VERIFY_OPTIONS);
  return runOnSegments(name, placeOf(options), async (segments, pin) => {
    const { verification } = await inspect(segments, SLICE_MS, pin, options);
    return verification;
  });
}

/**
 * As `db.health.repair()`, for a store that does not open since its newest commit is damaged. Rejects with `not-found/store`
 * if it does not exist.
 */
export async function repairUnopened(
  name: string,
  given: RepairOptions & PlaceOptions = {},
): Promise<RepairResult> {
  const options = optionsOf('repairStore', given, UNOPENED_REPAIR_OPTIONS);
  const storage = placeOf(options);
  return runOnSegments(name, storage, async (segments, pin) => {
    const tabs = storage.isShared === true ? new TabMessages(name) : undefined;
    const announce = (ref: string, generation: number) => tabs?.announce(ref, generation);
    try {
      const job = { ...options, sliceMs: SLICE_MS, durability: 'strict', pin, announce } as const;
      return await repairSegments(segments, job);
    } finally {
      tabs?.close();
    }
  });
}

async function runOnSegments<T>(
  name: string,
  storage: Storage,
  use: (segments: SegmentStore, pin: Pin) => Promise<T>,
): Promise<T> {
  checkStoreName(name);
  const segments = await storage.open(name, { mustExist: true });
  try {
    return await use(segments, (commitBytes) => pinCommit(storage.locks, name, commitBytes));
  } finally {
    await segments.close();
  }
}

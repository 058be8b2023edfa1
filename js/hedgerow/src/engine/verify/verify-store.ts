/** Verifies the head of a store while other calls and tabs write and collect. */

import { checkSignal } from '../../base/abort-signal.js';
import { HedgerowError } from '../../base/errors.js';
import { MAX_COMMIT_TRIES } from '../../base/limits.js';
import type { Ref, SegmentStore } from '../../storage/segment-store.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead } from '../history/branch-head.js';
import { EMPTY_COMMIT, REF } from '../history/known-segments-and-refs.js';
import { Inspection, type Verification } from './verify-commit.js';
import type { VerifyOptions } from './verify-options.js';
import { type Pin, verifyOthers } from './verify-other-refs.js';

export type { Pin } from './verify-other-refs.js';

/** Runs `work` while, as far as possible, no other tab and no other call commits. */
export type Still = <T>(work: () => Promise<T>) => Promise<T>;

/** The most attempts at a verification while the store moves on and faults are found. */
const MAX_TRIES = 8;
/** The number of lost races for a pin after which writers must wait for a moment. */
const MAX_RACES = 4;

/** Pins the head of a store. If it is still the head after that, no collection deletes it. */
async function pinHead(
  segments: SegmentStore,
  pin: Pin,
  still: Still,
): Promise<{ ref?: Ref; hold: Hold }> {
  const attempt = async () => {
    const [ref] = await segments.history(REF);
    const hold = await pin(ref?.commitBytes ?? EMPTY_COMMIT);
    const [now] = await segments.history(REF);
    if (now?.generation === ref?.generation) return { hold, ...(ref && { ref }) };
    hold.release();
    return undefined;
  };
  for (let tries = 0; tries < MAX_COMMIT_TRIES; tries++) {
    const pinned = await (tries < MAX_RACES ? attempt() : still(attempt));
    if (pinned !== undefined) return pinned;
  }
  throw new HedgerowError(
    'conflict',
    `others wrote each of the ${MAX_COMMIT_TRIES} times that the store was read: try again`,
  );
}

/**
 * Verifies the head of a store and its other refs; also returns the inspection. A collection may run during the work:
 * chunks that it moves are read from their new segments.
 */
export async function inspect(
  segments: SegmentStore,
  sliceMs: number,
  pin: Pin,
  options: VerifyOptions = {},
  still: Still = (work) => work(),
): Promise<{ inspection: Inspection; verification: Verification }> {
  for (let tries = 1; ; tries++) {
    checkSignal(options.signal);
    const { ref, hold } = await pinHead(segments, pin, still);
    try {
      const inspection = await Inspection.of(segments, sliceMs, ref);
      const commitBytes = inspection.ref?.commitBytes ?? EMPTY_COMMIT;
      const main = await inspection.verify(commitBytes, options);
      const others = await verifyOthers(inspection, main, pin, options);
      const verification = { ...main, others, ok: main.ok && others.length === 0 };
      const isFinal = verification.ok || tries === MAX_TRIES;
      if (isFinal || !(await inspection.isOutdated())) return { inspection, verification };
    } finally {
      hold.release();
    }
  }
}

/** See `db.health.verify()`. */
export async function verifyOpen(
  { pins, shared }: BranchHead,
  options: VerifyOptions,
): Promise<Verification> {
  const { segments, sliceMs } = shared.host;
  const pin = (commitBytes: Uint8Array) => pins.use(commitBytes);
  const still: Still = (work) =>
    shared.queueWork(() => {
      shared.writerQueue.noteRace();
      return shared.writerQueue.hold(work);
    });
  return (await inspect(segments, sliceMs, pin, options, still)).verification;
}

/** Verifies the commits of all refs except the main branch: a store in which a sync would fail is not sound. */

import { checkSignal } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { HedgerowError, kindOfError } from '../../base/errors.js';
import { encodeRange } from '../../base/range.js';
import { diffViews } from '../../core/calls/read-calls.js';
import type { Op } from '../../core/engine.js';
import type { Ref, SegmentStore } from '../../storage/segment-store.js';
import type { Hold } from '../../storage/tabs/pins.js';
import { BRANCH_REF, EMPTY_COMMIT, FORK_REF } from '../history/known-segments-and-refs.js';
import { checkFormat } from './check-format.js';
import {
  type Inspection,
  isChunkFault,
  type RefFaults,
  type Verification,
} from './verify-commit.js';
import type { VerifyOptions } from './verify-options.js';

/** The most times that a ref moves while it is pinned. */
const MAX_TRIES = 20;

/** Pins a commit: see `tabs/pins.ts`. */
export type Pin = (commitBytes: Uint8Array) => Promise<Hold>;

/**
 * Finds the other refs whose rows have faults. Costs only chunks outside of the main branch, if that is sound, or else
 * all that they reach. Faults of their indexes lose no row: only a reader of the branch sees them.
 */
export async function verifyOthers(
  inspection: Inspection,
  main: Verification,
  pin: Pin,
  options: VerifyOptions,
): Promise<RefFaults[]> {
  const { segments } = inspection.host;
  const base = inspection.ref?.commitBytes ?? EMPTY_COMMIT;
  // The faults of the main branch are listed once.
  const known: [Uint8Array, RefFaults['faults']][] = [
    [EMPTY_COMMIT, []],
    [base, []],
  ];
  const others: RefFaults[] = [];
  for (const { name } of inspection.refs) {
    if (!name.startsWith(BRANCH_REF) && !name.startsWith(FORK_REF)) continue;
    const pinned = await pinRef(segments, name, pin);
    if (pinned === undefined) continue;
    try {
      const { commitBytes, format } = pinned.ref;
      checkFormat(format);
      let faults = known.find(([one]) => sameBytes(one, commitBytes))?.[1];
      if (faults === undefined) {
        faults = await faultsOf(inspection, main.ok ? base : undefined, commitBytes, options);
        known.push([commitBytes, faults]);
      }
      if (faults.length > 0) others.push({ ref: name, faults });
    } finally {
      pinned.hold.release();
    }
  }
  return others;
}

/** Pins the commit of a ref; `undefined` if the ref was deleted. */
async function pinRef(
  segments: SegmentStore,
  name: string,
  pin: Pin,
): Promise<{ ref: Ref; hold: Hold } | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const [ref] = await segments.history(name);
    if (ref === undefined) return undefined;
    const hold = await pin(ref.commitBytes);
    const [now] = await segments.history(name);
    if (now?.generation === ref.generation) return { ref, hold };
    hold.release();
  }
  throw new HedgerowError('conflict', `${name} moved each of ${MAX_TRIES} times: try again`);
}

/** Returns the faults of a commit; `base` is a sound commit, which may have most of the chunks. */
async function faultsOf(
  inspection: Inspection,
  base: Uint8Array | undefined,
  commitBytes: Uint8Array,
  { signal }: VerifyOptions,
): Promise<RefFaults['faults']> {
  if (base && (await hasSoundRows(inspection, base, commitBytes, signal))) return [];
  return (await inspection.verify(commitBytes, { signal })).faults;
}

/** Reports whether all rows of a commit that a sound commit lacks can be read. */
async function hasSoundRows(
  { host, branchHead: { shared } }: Inspection,
  sound: Uint8Array,
  commitBytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { engine } = host;
  const runner = {
    step: (op: Op, budget: number) => {
      checkSignal(signal);
      return engine.step(op, budget);
    },
    ahead: (op: Op) => engine.ahead(op),
    free: (op: Op) => engine.free(op),
  };
  const base = await shared.openView(sound);
  try {
    const { view } = await shared.openView(commitBytes);
    const op = diffViews(engine, base.view, view, encodeRange({}));
    engine.closeView(view);
    await host.read(op, () => {}, runner);
    return true;
  } catch (cause) {
    // A diff cannot distinguish chunks at the remote of a lazy clone from missing ones; a verification can.
    const isFar = kindOfError(cause) === 'offline';
    if (isFar || isChunkFault(cause)) return false;
    throw cause;
  } finally {
    engine.closeView(base.view);
  }
}

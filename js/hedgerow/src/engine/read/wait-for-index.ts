/** The waits of reads for an index that is not built yet. */

import { until } from '../../base/abort-signal.js';
import { flag, type OptionsOf, signalCheck } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { isInRange, type KeyRange } from '../../base/range.js';
import type { IndexRange } from '../../core/indexes/index-range.js';
import { isOfIndex, State } from '../../core/indexes/index-set.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import type { PendingEdits } from '../history/pending-edits.js';

export const WAIT_OPTIONS = {
  /** `false`: reject with `not-ready` instead of waiting. */
  wait: flag,
  signal: signalCheck,
};

/** Options of a read whose index may not be built yet. */
export interface WaitOptions extends OptionsOf<typeof WAIT_OPTIONS> {}

/** The commit that a read uses, and its handle. */
export interface Holder {
  /** The host of the core. */
  readonly host: Host;
  readonly branchHead: BranchHead;
  readonly head: Head;
  /** Whether all reads see the same commit, as in a snapshot. */
  readonly isPinned?: boolean;
  readonly pending?: PendingEdits;
  holdToRead(): Promise<HeldHead>;
}

/**
 * Resolves once the handle's own edits in a range are committed or refused; `undefined` without such edits. For a range
 * of an index, waits for all edits.
 */
export function ownEdits(
  { pending }: Holder,
  range: KeyRange | IndexRange,
): Promise<unknown> | undefined {
  return pending?.ofAll((key) => isOfIndex(range) || isInRange(key, range));
}

/** Holds the head. For a range of an index, waits until the head has the whole index. */
export async function holdWith(
  from: Holder,
  range: KeyRange | IndexRange,
  { wait = true, signal }: Exactly<WaitOptions, 'wait' | 'signal'>,
): Promise<HeldHead> {
  const { indexes } = from.host;
  for (;;) {
    const held = await until(from.holdToRead(), signal, (late) => late.release());
    if (!isOfIndex(range)) return held;
    const name = range.index;
    const { head } = held;
    let isReady = false;
    try {
      const isComplete = head.host.indexes.state(head.view, indexes.get(name)) === State.complete;
      if (isComplete) await head.host.engine.prepareIndexWalks();
      isReady = isComplete;
      if (isReady) return held;
    } finally {
      if (!isReady) held.release();
    }
    // A snapshot never changes.
    if (!wait || from.isPinned) {
      throw new HedgerowError('not-ready', `the index ${name} is not made yet`);
    }
    // Try again at once if the head has moved: the new head may have the index.
    if (from.head === head) await indexes.progress(from.branchHead, signal);
  }
}

/** Reads wait for an index that is still being made. */

import { HedgerowError } from '../base/errors.js';
import type { Exactly } from '../base/exactly.js';
import { isInRange, type KeyRange } from '../base/range.js';
import { until } from '../base/signal.js';
import type { Host } from '../core/host.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import type { Pending } from '../history/pending.js';
import type { IndexRange } from '../indexes/columns.js';
import { isOfIndex, State } from '../indexes/index-set.js';

/** What a read does when its index is not ready. */
export interface WaitOptions {
  /** `false`: fail with `not-ready` instead of waiting. */
  readonly wait?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is read. */
export interface Holder {
  readonly host: Host;
  readonly branchHead: BranchHead;
  readonly head: Head;
  /** It stays at one commit. */
  readonly isPinned?: boolean;
  readonly pending?: Pending;
  holdHead(): Promise<HeldHead>;
}

/**
 * Resolves when the edits of the handle are done with that a read of this range comes after;
 * `undefined` when there are none.
 */
export function ownEdits(
  { pending }: Holder,
  range: KeyRange | IndexRange,
): Promise<unknown> | undefined {
  return pending?.ofAll((key) => isOfIndex(range) || isInRange(key, range));
}

/** Holds a head that has the index of a range, if it is one of an index. */
export async function holdWith(
  from: Holder,
  range: KeyRange | IndexRange,
  { wait = true, signal }: Exactly<WaitOptions, 'wait' | 'signal'>,
): Promise<HeldHead> {
  const { indexes } = from.host;
  for (;;) {
    const held = await until(from.holdHead(), signal, (late) => late.release());
    if (!isOfIndex(range)) return held;
    const name = range.index;
    const { head } = held;
    let isReady = false;
    try {
      isReady = indexes.state(head.view, indexes.get(name)) === State.complete;
      if (isReady) return held;
    } finally {
      if (!isReady) held.release();
    }
    // A snapshot stays as it is.
    if (!wait || from.isPinned) {
      throw new HedgerowError('not-ready', `the index ${name} is not made yet`);
    }
    // Another commit may have come with it meanwhile.
    if (from.head === head) await indexes.progress(from.branchHead, signal);
  }
}

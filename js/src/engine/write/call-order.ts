/** The calls of a handle take effect in their order. */
import type { BranchHead } from '../history/branch-head.js';
import type { Overrides } from '../history/bulks.js';
import type { PendingEdits } from '../history/pending-edits.js';

/** As much of a handle as its order needs. */
interface OrderedHandle {
  readonly branchHead: BranchHead;
  readonly pending?: PendingEdits;
}

/** A call in its place. */
export interface OrderedCall {
  /** Settles when the calls before it have taken effect. */
  readonly before: Promise<unknown>;
  /** Bulk changes before it that it does not wait for: its edits win over theirs. Of a function of the app, those when it edits. */
  readonly over: readonly Overrides[] | undefined;
  /** Those after it need not wait any more. */
  end(): void;
}

/**
 * A call that reads rows and then edits them, in the turn in which it is made: it waits for all calls before it, but for those
 * whose rows come from a source. Those after it wait for it if `holdsUp`: not if it runs a function of the app, which may
 * wait for one of them.
 */
export function inOrder({ branchHead, pending }: OrderedHandle, holdsUp: boolean): OrderedCall {
  const edits = pending?.all();
  const { bulks } = branchHead;
  const over = holdsUp ? bulks.underWay() : undefined;
  const { before, end } = holdsUp ? bulks.beginCall() : { before: bulks.tail, end: () => {} };
  return { before: edits === undefined ? before : Promise.all([edits, before]), over, end };
}

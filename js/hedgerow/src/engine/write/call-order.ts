/** Makes the calls of a handle take effect in their order. */
import type { BranchHead } from '../history/branch-head.js';
import type { Overrides } from '../history/bulk-change-order.js';
import type { PendingEdits } from '../history/pending-edits.js';

/** The part of a handle that the order of calls needs. */
interface OrderedHandle {
  readonly branchHead: BranchHead;
  readonly pending?: PendingEdits;
}

/** A call in its place. */
export interface OrderedCall {
  /** Settles when all earlier calls have taken effect. */
  readonly before: Promise<unknown>;
  /**
   * The earlier bulk changes that it does not wait for: its edits win over theirs. If `undefined`, its edits win over
   * the bulk changes in progress at each edit.
   */
  readonly over: readonly Overrides[] | undefined;
  /** Lets later calls go on. */
  end(): void;
}

/**
 * Orders a call that reads rows and then edits them, in the turn of the call: it waits for all earlier calls, except
 * changes whose rows come from a source. With `holdsUp`, later calls wait for it. A call that runs a function of the
 * app must not hold up others: the function may wait for one of them.
 */
export function inOrder({ branchHead, pending }: OrderedHandle, holdsUp: boolean): OrderedCall {
  const edits = pending?.all();
  const { bulks } = branchHead;
  const over = holdsUp ? bulks.underWay() : undefined;
  const { before, end } = holdsUp ? bulks.beginCall() : { before: bulks.tail, end: () => {} };
  return { before: edits === undefined ? before : Promise.all([edits, before]), over, end };
}

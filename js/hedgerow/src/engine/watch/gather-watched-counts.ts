/** Counts rows, or entries of an index, for watchers of counts. Loaded with the first such watcher. */

import { changedKeys } from '../../core/calls/changed-keys.js';
import * as reads from '../../core/calls/read-calls.js';
import type { Engine } from '../../core/engine.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead } from '../history/branch-head.js';
import { type Change, widthAt } from '../read/decode-diff.js';
import type { IntervalGatherer, Taker, WatchTally } from './gather-watched-changes.js';
import type { IntervalTree } from './interval-tree.js';
import type { Interval } from './key-interval.js';
import type { Watcher } from './watcher-types.js';

/** Counts the additions to an interval, minus the deletions. */
class CountGatherer implements IntervalGatherer<Watcher> {
  readonly isKeysOnly = true;
  readonly low: string;
  readonly high: string | undefined;
  readonly watchers = new Set<Watcher>();
  #difference = 0;

  constructor({ low, high }: Interval) {
    this.low = low;
    this.high = high;
  }

  take({ op }: Change, touched: Set<IntervalGatherer<Watcher>>): void {
    if (op === 'change') return;
    this.#difference += op === 'add' ? 1 : -1;
    touched.add(this);
  }

  takeAt(_: string, change: Change, touched: Set<IntervalGatherer<Watcher>>): void {
    this.take(change, touched);
  }

  /** Returns the change of the count, if it has changed. */
  finish(): readonly number[] {
    const difference = this.#difference;
    this.drop();
    return difference === 0 ? [] : [difference];
  }

  drop(): void {
    this.#difference = 0;
  }
}

async function countAt(
  host: Host,
  branchHead: BranchHead,
  { range }: Watcher,
  commitBytes: Uint8Array,
): Promise<number[]> {
  const { engine, indexes } = host;
  const { view } = await branchHead.shared.openView(commitBytes);
  try {
    const op = reads.startCount(engine, view, indexes.encode(range));
    return [await host.read(op, () => reads.readCountReply(engine))];
  } finally {
    engine.closeView(view);
  }
}

/** Reads the members of a diff: with values only where a watcher wants them, or an index is made of them. */
function decode(engine: Engine, takers: IntervalTree<Taker<Watcher>>): unknown[] {
  const members = changedKeys(engine);
  for (let at = 0; at < members.length; at += widthAt(members, at)) {
    const found = takers.at(members[at + 1] as string);
    if (!found.every(({ isKeysOnly }) => isKeysOnly)) return reads.output(engine);
  }
  return members;
}

export const counting: WatchTally<Watcher> = {
  begin: countAt,
  gather: (interval) => new CountGatherer(interval),
  decode,
};

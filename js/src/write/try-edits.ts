/** A few edits on their way to a commit, which are made again from the start when others win. */

import { isMissing } from '../base/errors.js';
import { turn } from '../base/scheduler.js';
import type { Host } from '../core/host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { Durability } from '../storage/segment-store.js';
import { type Block, type Committed, Ingest, type IngestOptions } from './ingest.js';

/**
 * Commits edits, for a caller that makes sure that no other commit is being made here;
 * `undefined` when another tab was first. Nobody holds for it what it builds on, which would
 * cost more than the edits: what was collected meanwhile counts as a race that was lost.
 */
export async function tryEdits(
  host: Host,
  branchHead: BranchHead,
  durability: Durability,
  blocks: Iterable<Block>,
  options: Pick<IngestOptions, 'signal' | 'makesRoom'> = {},
): Promise<(Committed & { readonly ingest: Ingest }) | undefined> {
  await branchHead.shared.prepareIds(options.makesRoom);
  const ingest = new Ingest(host, branchHead, durability, options);
  try {
    let isNext = false;
    for (const block of blocks) {
      if (isNext) await turn();
      isNext = true;
      await ingest.feed(block, performance.now());
    }
    const committed = await ingest.commitOnce();
    if (committed === undefined) await ingest.abandon();
    return committed && { ...committed, ingest };
  } catch (cause) {
    await ingest.abandon();
    if (!isMissing(cause) || !(await branchHead.refresh())) throw cause;
    return undefined;
  }
}

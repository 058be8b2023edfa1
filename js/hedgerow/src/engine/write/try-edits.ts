/** Commits a few edits. After a lost race the caller makes them again from the start. */

import { isMissing } from '../../base/errors.js';
import { turn } from '../../base/slice-queue.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead } from '../history/branch-head.js';
import type { JointMoves } from '../history/joint-moves.js';
import { type Block, Ingest, type IngestCommit, type IngestOptions } from './ingest.js';

type EditOptions = Pick<IngestOptions, 'signal' | 'freesSpace' | 'isUpkeep'> & JointMoves;

/**
 * Commits edits, for a caller that makes sure that no other commit of this tab is in progress. Returns `undefined` when
 * another tab was first. The base commit is not held, since a hold would cost more than the edits: if its chunks were
 * collected in the meantime, that counts as a lost race.
 */
export async function tryEdits(
  host: Host,
  branchHead: BranchHead,
  durability: Durability,
  blocks: Iterable<Block>,
  { also, partner, carrier, ...options }: EditOptions = {},
): Promise<(IngestCommit & { readonly ingest: Ingest }) | undefined> {
  await branchHead.shared.prepareIds(options.freesSpace);
  const ingest = new Ingest(host, branchHead, durability, options);
  try {
    let isNext = false;
    for (const block of blocks) {
      if (isNext) await turn();
      isNext = true;
      await ingest.feed(block, performance.now());
    }
    const committed = await ingest.commitOnce({ also, partner, carrier });
    if (committed === undefined) await ingest.abandon();
    return committed && { ...committed, ingest };
  } catch (cause) {
    await ingest.abandon();
    if (!isMissing(cause) || !(await branchHead.refresh())) throw cause;
    return undefined;
  }
}

/** Makes branches that a connection keeps for itself. */
import { FORMAT } from '../../base/limits.js';
import { firstGeneration } from '../../engine/history/branch-refs.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { writeRefs } from '../../engine/history/ref-write.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import type { Durability } from '../../storage/segment-store.js';

/** Makes the branches that do not exist, without rows. */
export async function makeBranches(
  shared: SharedStore,
  refsOfBranches: readonly string[],
  durability: Durability,
): Promise<void> {
  const refs = await shared.queueWork(() => shared.inventory.look());
  const commitBytes = EMPTY_COMMIT;
  const also = refsOfBranches
    .filter((name) => !refs.has(name))
    .map((name) => {
      return { name, commitBytes, generation: firstGeneration(), format: FORMAT, expected: 0 };
    });
  if (also.length === 0) return;
  // If another tab is first, they exist.
  if (await writeRefs(shared.host.segments, { segments: [], also, durability })) {
    shared.inventory.noteMoves(also);
  }
}

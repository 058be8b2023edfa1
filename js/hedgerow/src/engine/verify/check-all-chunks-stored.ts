/** Checks that all chunks that a pinned commit reaches are stored, and stay stored. Loaded at first use. */

import { countReachableBytes } from '../../core/count-reachable-bytes.js';
import { endCollections } from '../history/garbage-collection-fence.js';
import type { SharedStore } from '../history/state-shared-by-branches.js';

export { endCollections } from '../history/garbage-collection-fence.js';

/** Rejects with `missing-chunk` if a chunk is not stored. First ends all collections that may have missed the pin. */
export async function checkWhole(shared: SharedStore, commitBytes: Uint8Array): Promise<void> {
  const { host, inventory } = shared;
  await endCollections(host.segments);
  // Segments that were stored at the opening may be deleted by now.
  await inventory.load();
  await countReachableBytes(host, commitBytes);
}

/** Whether all that a commit reaches is stored, and stays so for who has pinned it. Loaded when it is first asked. */

import { survey } from '../core/survey.js';
import { endCollections } from '../history/fence.js';
import type { SharedStore } from '../history/shared-store.js';

export { endCollections } from '../history/fence.js';

/** Rejects with `missing-chunk` when it is not. The collections that have not seen the pin are over then. */
export async function checkWhole(shared: SharedStore, commitBytes: Uint8Array): Promise<void> {
  const { host, inventory } = shared;
  await endCollections(host.segments);
  // Not by what was stored once.
  await inventory.load();
  await survey(host, commitBytes);
}

/** Whether all that a commit reaches is stored, and stays so for who has pinned it. Loaded when it is first asked. */
import { endCollections } from './fence.js';
import { survey } from './survey.js';
import type { Trunk } from './trunk.js';

export { endCollections } from './fence.js';

/** Rejects with `missing-chunk` when it is not. The collections that have not seen the pin are over then. */
export async function checkWhole(trunk: Trunk, commitBytes: Uint8Array): Promise<void> {
  const { host, inventory } = trunk;
  await endCollections(host.segments);
  // Not by what was stored once.
  await inventory.load();
  await survey(host, commitBytes);
}

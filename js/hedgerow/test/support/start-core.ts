/** Starts the core of a store, which otherwise starts at its first write, or soon after the opening. */
import type { Store } from '../../src/index.js';

/** Resolves once the core reads. */
export async function startCore(...stores: readonly Pick<Store, 'transaction'>[]): Promise<void> {
  for (const db of stores) await db.transaction(() => {});
}

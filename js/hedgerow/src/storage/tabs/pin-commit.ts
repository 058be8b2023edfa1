import type { Locks } from '../../base/locks.js';
import { Announcement, type Hold, NO_LOCK, pinOf, prefixOf } from './pins.js';

/** Pins a commit of a store that is not open here. */
export async function pinCommit(
  locks: Locks | undefined,
  storeName: string,
  commitBytes: Uint8Array,
): Promise<Hold> {
  if (locks === undefined) return NO_LOCK;
  const own = new Announcement(locks, prefixOf(storeName) + pinOf(commitBytes), () => {});
  await own.granted;
  return { release: () => own.end() };
}

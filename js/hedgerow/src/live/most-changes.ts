import type { Member } from './row-window-list.js';

/** Changes that are followed however little is shown. */
const FEW_CHANGES = 64;
/** A filtered member tests each row of its range when it is read, so it follows more changes. */
const FILTERED_CHANGES = 4096;

/**
 * Returns most changes that members follow: about as many as the rows that they show. A read of those rows costs less than
 * more changes.
 */
export function mostChanges(members: Iterable<Member>): number {
  let most = FEW_CHANGES;
  for (const { entries, wanted } of members)
    most += entries.length + (wanted.filter === undefined ? 0 : FILTERED_CHANGES);
  return most;
}

/** Deletes the rows of an adapter. */
import type { KeyRange, Store } from 'hedgerow';

/** Deletes the rows of a range. An adapter without a prefix clears the whole store. */
export async function clearKeyRange(db: Store, range: KeyRange): Promise<void> {
  if (Object.keys(range).length === 0) await db.clear();
  else await db.deleteMany(range);
}

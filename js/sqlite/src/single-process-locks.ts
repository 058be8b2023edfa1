/** The locks of stores on phones, where an app is one process, in which one engine runs JavaScript. */
import { type Locks, localLocks } from 'hedgerow/kit';

const locksOf = new Map<string, Locks>();

/** Returns the locks of all storages with the same `prefix` at a place. */
export function locksOfPlace(place: string, prefix: string): Locks {
  const id = `${place}\0${prefix}`;
  const locks = locksOf.get(id) ?? localLocks();
  locksOf.set(id, locks);
  return locks;
}

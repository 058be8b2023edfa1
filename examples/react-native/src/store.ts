/** The one store of the app, opened once. */
import { open, type Progress, type Store } from 'hedgerow';
import { fetched, type Issue } from './rows';
import { storage } from './storage';

let opened: Promise<Store> | undefined;

export function store(): Promise<Store> {
  opened ??= open('issues', {
    storage,
    indexes: { byOwner: { path: '/owner', prefix: 'issue/' } },
    // Half of what is left of a frame at 60 a second: scrolling asks JavaScript for rows, too.
    sliceMs: 6,
    // Phones end apps that take much memory.
    cacheBytes: 24 << 20,
  });
  opened.catch(() => {
    opened = undefined; // the next call tries again
  });
  return opened;
}

/** Loads rows. What is there already and the same costs next to nothing. */
export async function load(
  count: number,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<number> {
  const db = await store();
  const { rows } = await db.putMany(fetched(count), { key: '/id', onProgress, signal });
  return rows;
}

/** Marks an issue as changed now, whatever else is going on. */
export async function touch(db: Store, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await tx.get<Issue>(id);
    if (found !== undefined) tx.put(id, { ...found, modified: Math.floor(Date.now() / 1000) });
  });
}

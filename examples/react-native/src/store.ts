/** The one store of the app, opened once. */
import { open, type Progress, rowType, type StoreWith, table } from 'hedgerow';
import { fetched, type Issue } from './rows';
import { storage } from './storage';

const tables = {
  issues: table({ schema: rowType<Issue>(), key: 'id', indexes: { byOwner: ['owner'] } }),
};

/** The store with its table. */
export type Opened = StoreWith<typeof tables>;

let opened: Promise<Opened> | undefined;

export function store(): Promise<Opened> {
  opened ??= open('issues', {
    storage,
    tables,
    // Half of the rest of a frame at 60 a second: scrolling asks JavaScript for rows, too.
    advanced: { sliceMs: 6, cacheBytes: 24 << 20 },
  });
  opened.catch(() => {
    opened = undefined; // the next call tries again
  });
  return opened;
}

/** Loads rows. Equal rows that are there already cost next to nothing. */
export async function load(
  count: number,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<number> {
  const db = await store();
  const { rows } = await db.issues.putMany(fetched(count), { onProgress, signal });
  return rows;
}

/** Marks an issue as changed now, during any other work. */
export async function touch(id: string): Promise<void> {
  const db = await store();
  await db.issues.update(id, { modified: Math.floor(Date.now() / 1000) });
}

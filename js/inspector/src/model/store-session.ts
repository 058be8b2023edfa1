/** One open store as the inspector uses it: a handle that only reads, and another one for each edit. */

import { type IndexDefinitions, open, type Snapshot, type Storage, type Store } from 'hedgerow';
import { HedgerowError, sameValue } from 'hedgerow/kit';
import { type TreeOf, treesOf } from './commit-trees.js';
import { readOnly } from './read-only-storage.js';

/** The place of a store. */
export interface StoreLocation {
  readonly name: string;
  readonly storage: Storage;
  /** Whether rows may be edited: rows of a file may not. */
  readonly canEdit: boolean;
}

const MAIN = 'main';

/** Opens an existing branch to read. */
async function branchOf(db: Store, branch: string): Promise<Store> {
  if (branch === MAIN) return db;
  const all = await db.branches.list({ remotes: true });
  if (all.some(({ name }) => name === branch)) return db.branches.open(branch);
  throw new HedgerowError('not-found/branch', `there is no branch ${branch}`);
}

const completeOf = (trees: readonly TreeOf[]) =>
  trees.filter(({ kind, isComplete, definition }) => kind === 'index' && isComplete && definition);

/** An open store, on one branch. */
export class Session {
  readonly place: StoreLocation;
  /** Reads the branch, and refuses writes. */
  readonly db: Store;
  /** The first handle, on the main branch. */
  readonly #first: Store;
  /** The trees of the branch when it was opened. */
  readonly trees: readonly TreeOf[];
  /** The names of the indexes that can be read: their definitions as text. */
  readonly indexes: readonly string[];
  /** States that a person keeps readable. */
  readonly kept: Snapshot[] = [];

  private constructor(
    place: StoreLocation,
    first: Store,
    db: Store,
    trees: readonly TreeOf[],
    indexes: readonly string[],
  ) {
    this.place = place;
    this.#first = first;
    this.db = db;
    this.trees = trees;
    this.indexes = indexes;
  }

  /**
   * Opens a store that exists. Reads the indexes that both the main branch and this one have: a handle would build an
   * index that one of them lacks, and the inspector must not write.
   */
  static async open(place: StoreLocation, branch = MAIN): Promise<Session> {
    const storage = readOnly(place.storage);
    const first = await open(place.name, { storage });
    try {
      const db = await branchOf(first, branch);
      const trees = await treesOf(db);
      const others = new Set((await treesOf(first)).filter(isWhole).map(({ name }) => name));
      const common = completeOf(trees).filter(({ name }) => others.has(name));
      if (common.length === 0) return new Session(place, first, db, trees, []);
      const indexes: IndexDefinitions = Object.fromEntries(
        common.flatMap(({ name, definition }) => (definition ? [[name, definition]] : [])),
      );
      const again = await open(place.name, { storage, indexes });
      try {
        const head = await branchOf(again, branch);
        await first.close();
        return new Session(place, again, head, trees, Object.keys(indexes));
      } catch (cause) {
        await again.close();
        throw cause;
      }
    } catch (cause) {
      await first.close();
      throw cause;
    }
  }

  get branchName(): string {
    return this.db.branches.current;
  }

  /** Keeps the current state readable until the session is closed. */
  keep(): Snapshot {
    const snapshot = this.db.snapshot();
    this.kept.push(snapshot);
    return snapshot;
  }

  /**
   * Puts a row, or deletes it if `value` is `undefined`. If the row no longer equals `shown`, rejects with `conflict`
   * and leaves the row. Writes through a new handle, as an app would: that maintains indexes and sum trees.
   */
  async edit(key: string, shown: unknown, value: unknown): Promise<void> {
    const { name, storage, canEdit } = this.place;
    if (!canEdit) throw new HedgerowError('invalid-argument', 'a file cannot be edited');
    const db = await open(name, { storage, advanced: { mustExist: true } });
    try {
      const head = await branchOf(db, this.branchName);
      await head.transaction(async (tx) => {
        if (!sameValue(await tx.get(key), shown)) {
          throw new HedgerowError('conflict', 'the row was changed meanwhile: look at it again');
        }
        if (value === undefined) tx.delete(key);
        else tx.put(key, value);
      });
    } finally {
      await db.close();
    }
  }

  /** Closes all handles. */
  async close(): Promise<void> {
    for (const snapshot of this.kept) snapshot.close();
    await this.#first.close();
  }
}

function isWhole({ kind, isComplete }: TreeOf): boolean {
  return kind === 'index' && isComplete;
}

/**
 * The control: a plain IndexedDB database in the same origin, to which every commit of the script goes as one
 * transaction of `put`s. If it loses a commit, the browser has lost it.
 */
import { type Commit, keyOf, type LaneName, type Plan, rowOf } from './script.js';

const STORE = 'records';
const ROWS_PER_BLOCK = 500;

interface Mark {
  /** The number of the last commit. */
  readonly at: number;
  /** The number of its blocks of rows. */
  readonly blocks: number;
}

const markKey = (lane: LaneName) => [lane, 'mark'];
const blockKey = (lane: LaneName, block: number) => [lane, 'block', block];
const allBlocks = (lane: LaneName) => IDBKeyRange.bound([lane, 'block', 0], [lane, 'block', []]);

export class Control {
  readonly #db: IDBDatabase;
  readonly #plan: Plan;

  private constructor(db: IDBDatabase, plan: Plan) {
    this.#db = db;
    this.#plan = plan;
  }

  static databaseName(plan: Plan): string {
    return `control/${plan.store}`;
  }

  static async open(plan: Plan): Promise<Control> {
    const request = indexedDB.open(Control.databaseName(plan), 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return new Control(await settled(request), plan);
  }

  /** Makes the commit `at` of a lane. Resolves when the browser reports that it is complete. */
  commit(lane: LaneName, at: number, commit: Commit): Promise<void> {
    return new Promise((resolve, reject) => {
      const { durability } = this.#plan;
      const tx = this.#db.transaction(STORE, 'readwrite', { durability });
      tx.oncomplete = () => resolve();
      tx.onabort = () => reject(tx.error ?? new Error('the transaction was aborted'));
      const records = tx.objectStore(STORE);
      const blocks = blocksOf(lane, at, commit);
      if (commit.kind !== 'put' && commit.kind !== 'delete') records.delete(allBlocks(lane));
      for (const [block, text] of blocks.entries()) records.put(text, blockKey(lane, block));
      records.put({ at, blocks: blocks.length } satisfies Mark, markKey(lane));
      tx.commit();
    });
  }

  /** Returns the commit after which a lane stands; `-1` when it is torn. */
  async place(lane: LaneName, commitOf: (at: number) => Commit): Promise<number> {
    const records = this.#db.transaction(STORE).objectStore(STORE);
    const [mark, found] = await Promise.all([
      settled<Mark | undefined>(records.get(markKey(lane))),
      settled<string[]>(records.getAll(allBlocks(lane))),
    ]);
    if (mark === undefined) return found.length === 0 ? 0 : -1;
    const expected = blocksOf(lane, mark.at, commitOf(mark.at));
    const same = found.length === mark.blocks && expected.every((text, at) => text === found[at]);
    return same ? mark.at : -1;
  }

  close(): void {
    this.#db.close();
  }
}

function blocksOf(lane: LaneName, at: number, commit: Commit): string[] {
  if (commit.kind === 'deleteAll') return [];
  const isPut = commit.kind === 'put' || commit.kind === 'putMany';
  const blocks: string[] = [];
  for (let from = 0; from < commit.ids.length; from += ROWS_PER_BLOCK) {
    const ids = commit.ids.slice(from, from + ROWS_PER_BLOCK);
    blocks.push(JSON.stringify(ids.map((id) => [keyOf(lane, id), isPut && rowOf(id, at)])));
  }
  return blocks;
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

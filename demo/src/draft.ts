import type { Snapshot } from 'hedgerow';
import type { IndexedStore } from './cities.js';
import { citiesOf } from './indexes.js';

const BRANCH = 'draft';

/** What a step came to. */
export interface Step {
  readonly name: string;
  /** As one would write it in a program. */
  readonly call: string;
  readonly ms: number;
  /** Rows that it has changed, where that is told. */
  readonly rows?: number;
}

/** Where a handle stood, kept whole until it is let go of. */
interface Before {
  readonly snapshot: Snapshot;
  /** Where it stood afterwards. */
  readonly root: string;
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const startMs = performance.now();
  const value = await work();
  return { value, ms: performance.now() - startMs };
}

/** A draft: a branch beside the main one, what is done on it, and how that is undone. */
export class Draft {
  readonly main: IndexedStore;
  /** The handle of the branch, while there is one. */
  store: IndexedStore | undefined;
  readonly #done: Before[] = [];
  #merged: Before | undefined;

  constructor(main: IndexedStore) {
    this.main = main;
  }

  /** Whether there is a step to be undone in the draft. */
  get canUndo(): boolean {
    return this.#done.length > 0;
  }

  /** Whether the last merge can be undone: nobody has written since. */
  get canUndoMerge(): boolean {
    return this.#merged?.root === this.main.root;
  }

  /**
   * Takes up a draft that was left by another visit, or was begun in another tab, and lets go of
   * one that has ended there. Returns what is to be told of that.
   */
  async lookAround(): Promise<string | undefined> {
    const branches = await this.main.branches();
    const isThere = branches.some(({ name }) => name === BRANCH);
    if (isThere === (this.store !== undefined)) return undefined;
    if (isThere) {
      this.store = await this.main.branch(BRANCH);
      return 'A draft was here already.';
    }
    const { store } = this;
    this.close();
    await store?.close();
    return 'Another tab has ended the draft.';
  }

  async fork(): Promise<Step> {
    const { value, ms } = await timed(() => this.main.branch(BRANCH));
    this.store = value;
    return { name: 'Forked', call: `db.branch('${BRANCH}')`, ms };
  }

  /** Everybody in a country has a child or so. */
  async grow(country: string): Promise<Step> {
    return this.#step('Grown by 10 %', 'draft.cities.putMany(grown)', async (draft) => {
      const cities = draft.cities.where({ country });
      async function* grown() {
        for await (const city of cities) {
          const { population } = city;
          if (population !== undefined) yield { ...city, population: Math.round(population * 1.1) };
        }
      }
      return (await draft.cities.putMany(grown())).rows;
    });
  }

  async renameLargest(country: string): Promise<Step> {
    return this.#step('Renamed', 'draft.cities.update(id, { name })', async (draft) => {
      const city = await citiesOf(draft, country, 'population').first();
      if (city === undefined) return 0;
      await draft.cities.update(city.id, { name: `New ${city.name}` });
      return 1;
    });
  }

  async deleteCountry(country: string): Promise<Step> {
    const call = `draft.cities.where({ country: '${country}' }).delete()`;
    return this.#step('Deleted', call, (draft) => draft.cities.where({ country }).delete());
  }

  /** Moves the draft to where it stood before its last step. */
  async undo(): Promise<Step> {
    const before = this.#done.pop();
    if (before === undefined) throw new RangeError('nothing to undo');
    const { ms } = await timed(async () => this.store?.resetTo(before.snapshot));
    before.snapshot.release();
    return { name: 'Undone', call: 'draft.resetTo(snapshot)', ms };
  }

  /** Brings the draft into the main branch, and ends it. What both have changed the draft decides. */
  async merge(): Promise<Step> {
    const snapshot = this.main.snapshot();
    try {
      const onConflict = ({ theirs }: { readonly theirs: unknown }) => theirs;
      const { value, ms } = await timed(() => this.main.merge(BRANCH, { onConflict }));
      this.#merged?.snapshot.release();
      this.#merged = { snapshot, root: value.root };
      await this.throwAway();
      return { name: 'Merged', call: `db.merge('${BRANCH}')`, ms, rows: value.applied };
    } catch (failure) {
      snapshot.release();
      throw failure;
    }
  }

  /** Moves the main branch to where it stood before the merge. */
  async undoMerge(): Promise<Step> {
    const merged = this.#merged;
    if (merged === undefined) throw new RangeError('nothing to undo');
    const { ms } = await timed(() => this.main.resetTo(merged.snapshot));
    merged.snapshot.release();
    this.#merged = undefined;
    return { name: 'Merge undone', call: 'db.resetTo(snapshot)', ms };
  }

  async throwAway(): Promise<Step> {
    const { store } = this;
    this.close();
    await store?.close();
    const { ms } = await timed(() => this.main.deleteBranch(BRANCH));
    return { name: 'Thrown away', call: `db.deleteBranch('${BRANCH}')`, ms };
  }

  /** Lets go of the draft, which stays. */
  close(): void {
    this.store = undefined;
    for (const { snapshot } of this.#done.splice(0)) snapshot.release();
  }

  async #step(
    name: string,
    call: string,
    work: (draft: IndexedStore) => Promise<number>,
  ): Promise<Step> {
    const draft = this.store;
    if (draft === undefined) throw new RangeError('there is no draft');
    const snapshot = draft.snapshot();
    const { value: rows, ms } = await timed(() => work(draft));
    this.#done.push({ snapshot, root: draft.root });
    return { name, call, ms, rows };
  }
}

import type { Snapshot } from 'hedgerow';
import type { IndexedStore } from './cities.js';
import { citiesOf } from './indexes.js';

const BRANCH = 'draft';

/** The result of a step. */
export interface Step {
  readonly name: string;
  /** The call as a program would write it. */
  readonly call: string;
  readonly ms: number;
  /** Rows that it has changed, where that is known. */
  readonly rows?: number;
}

/** An earlier state of a handle, kept whole until it is released. */
interface Before {
  readonly snapshot: Snapshot;
  /** The root after the step. */
  readonly root: string;
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const startMs = performance.now();
  const value = await work();
  return { value, ms: performance.now() - startMs };
}

/** A draft: a branch next to the main one, its steps, and their undoing. */
export class Draft {
  readonly main: IndexedStore;
  /** The handle of the branch, while there is one. */
  store: IndexedStore | undefined;
  readonly #done: Before[] = [];
  #merged: Before | undefined;

  constructor(main: IndexedStore) {
    this.main = main;
  }

  /** Whether the draft has a step to undo. */
  get canUndo(): boolean {
    return this.#done.length > 0;
  }

  /** Whether the last merge can be undone: no write has followed it. */
  get canUndoMerge(): boolean {
    return this.#merged?.root === this.main.root;
  }

  /**
   * Opens a draft that another visit left or another tab began, and lets go of one that has ended there. Returns a
   * sentence about it.
   */
  async lookAround(): Promise<string | undefined> {
    const branches = await this.main.branches.list();
    const isThere = branches.some(({ name }) => name === BRANCH);
    if (isThere === (this.store !== undefined)) return undefined;
    if (isThere) {
      this.store = await this.main.branches.open(BRANCH);
      return 'A draft was here already.';
    }
    const { store } = this;
    this.close();
    await store?.close();
    return 'Another tab has ended the draft.';
  }

  async fork(): Promise<Step> {
    const { value, ms } = await timed(() => this.main.branches.open(BRANCH));
    this.store = value;
    return { name: 'Forked', call: `db.branches.open('${BRANCH}')`, ms };
  }

  /** Adds a child or so to everybody in a country. */
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
    return this.#step('Deleted', call, async (draft) => {
      return (await draft.cities.where({ country }).delete()).rows;
    });
  }

  /** Moves the draft back to the state before its last step. */
  async undo(): Promise<Step> {
    const before = this.#done.pop();
    if (before === undefined) throw new RangeError('nothing to undo');
    const { ms } = await timed(async () => this.store?.branches.reset(before.snapshot));
    before.snapshot.close();
    return { name: 'Undone', call: 'draft.branches.reset(snapshot)', ms };
  }

  /** Merges the draft into the main branch, and ends it. The draft wins where both have changed. */
  async merge(): Promise<Step> {
    const snapshot = this.main.snapshot();
    try {
      const onConflict = ({ theirs }: { readonly theirs: unknown }) => theirs;
      const { value, ms } = await timed(() => this.main.branches.merge(BRANCH, { onConflict }));
      this.#merged?.snapshot.close();
      this.#merged = { snapshot, root: value.root };
      await this.throwAway();
      return { name: 'Merged', call: `db.branches.merge('${BRANCH}')`, ms, rows: value.rows };
    } catch (failure) {
      snapshot.close();
      throw failure;
    }
  }

  /** Moves the main branch back to the state before the merge. */
  async undoMerge(): Promise<Step> {
    const merged = this.#merged;
    if (merged === undefined) throw new RangeError('nothing to undo');
    const { ms } = await timed(() => this.main.branches.reset(merged.snapshot));
    merged.snapshot.close();
    this.#merged = undefined;
    return { name: 'Merge undone', call: 'db.branches.reset(snapshot)', ms };
  }

  async throwAway(): Promise<Step> {
    const { store } = this;
    this.close();
    await store?.close();
    const { ms } = await timed(() => this.main.branches.delete(BRANCH));
    return { name: 'Thrown away', call: `db.branches.delete('${BRANCH}')`, ms };
  }

  /** Lets go of the draft, which stays. */
  close(): void {
    this.store = undefined;
    for (const { snapshot } of this.#done.splice(0)) snapshot.close();
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

/**
 * The progress of an import: a row of its branch, which the transaction of the rows writes. It is deleted before the
 * merge of the branch. Where no locks keep tabs apart, another tab may write it between the two, so it is deleted after
 * the merge, too.
 */

import type { Store, Transaction } from 'hedgerow';
import { buildKeyRange } from 'hedgerow/kit';
import { KEY, type StoredState } from './import-state-key.js';
import type { FailedRecord } from './types.js';

/** The counts of a round. */
export interface RoundCounts {
  /** Records that were read. */
  readonly done: number;
  readonly bytes: number;
  readonly rows: number;
  readonly skipped: number;
  readonly refused: number;
  readonly failed: readonly FailedRecord[];
  /** Rows that were put, since they were missing or different. */
  readonly put: number;
}

export const NOTHING: RoundCounts = {
  ...{ done: 0, bytes: 0, rows: 0, skipped: 0, refused: 0, failed: [], put: 0 },
};

/** The state of an import, which reads its source in rounds, from start to end. */
export interface ImportState extends StoredState {
  readonly round: number;
  /** Whether the branch had rows at the start of the first round. */
  readonly isAgain: boolean;
  /** Whether this round looks for rows without a record, and for several records with one key. */
  readonly isSweep: boolean;
  /** Where the round goes on. */
  readonly after: string;
  readonly tally: RoundCounts;
  /** Rows that rounds after the first have changed. */
  readonly changed: number;
}

export const firstState = (isAgain: boolean): ImportState => ({
  ...{ round: 0, isAgain, isSweep: false, after: '', tally: NOTHING, changed: 0 },
});

/** The error when another tab goes on with the import: it took this tab for dead. */
export class Overtaken extends Error {}

/** The state of one branch, and the transactions that change it. */
export class StateRow {
  readonly #branch: Store;
  #text: string | undefined;

  constructor(branch: Store) {
    this.#branch = branch;
  }

  async read(): Promise<ImportState | undefined> {
    return this.#take(await this.#branch.get(KEY));
  }

  #take(row: unknown): ImportState | undefined {
    const state = (row as { import: ImportState } | undefined)?.import;
    this.#text = JSON.stringify(state);
    return state;
  }

  /** Runs `edit` in a transaction that also stores the returned state, or deletes the old one. Throws `Overtaken`. */
  async change<Next extends ImportState | undefined>(
    edit: (tx: Transaction) => Promise<Next>,
    options: object,
  ): Promise<Next> {
    const next = await this.#branch.transaction(async (tx) => {
      const row = (await tx.get(KEY)) as { import: ImportState } | undefined;
      if (JSON.stringify(row?.import) !== this.#text) throw new Overtaken();
      const made = await edit(tx);
      if (made === undefined) tx.delete(KEY);
      else tx.put(KEY, { import: made });
      return made;
    }, options);
    this.#text = JSON.stringify(next);
    return next;
  }

  /** Counts the rows of the branch under a prefix, without the state. */
  async count(prefix: string): Promise<number> {
    const isCounted = KEY.startsWith(prefix) && this.#text !== undefined;
    return (await this.#branch.count(buildKeyRange({ prefix }))) - (isCounted ? 1 : 0);
  }

  /** Deletes the state that a merge has brought into `db`. */
  static async remove(db: Store): Promise<void> {
    if (await db.has(KEY)) await db.delete(KEY);
  }
}

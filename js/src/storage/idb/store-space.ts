/** What a store seldom needs, loaded when it is first wanted: how it gives room back, and when there is none. */
import type { Fence } from '../segment-store.js';
import { Ballast } from './ballast.js';
import type { DatabaseConnection } from './database-connection.js';
import { deleteOnce, dropRefs, sweepOnce } from './deletes.js';

export { joinTables } from './join-tables.js';
export { isPrivateWindow } from './private-window.js';
export { historyOnce } from './ref-history.js';

/** What is done with an open database; `isAgain` when it was done before and found no room. */
export type Task<T> = (db: IDBDatabase, repetition: number, isAgain?: boolean) => Promise<T>;

/** The room of one store. */
export class StoreSpace {
  readonly #connection: DatabaseConnection;
  readonly #ballast: Ballast;
  /** Runs a task, and `again` when there is no room. */
  readonly #run: <T>(task: Task<T>) => Promise<T>;
  #sweeping: Promise<void> | undefined;

  constructor(
    connection: DatabaseConnection,
    ballastName: string,
    run: <T>(task: Task<T>) => Promise<T>,
  ) {
    this.#connection = connection;
    this.#ballast = new Ballast(ballastName);
    this.#run = run;
  }

  /** Deletes segments: see `SegmentStore.delete`. */
  async delete(unwanted: ReadonlySet<number>, fence?: Fence): Promise<boolean> {
    const step = () =>
      this.#run((db, _, isAgain) => deleteOnce(db, unwanted, isAgain !== true, fence));
    let state = await step();
    if (state === 'rest') state = await step();
    await this.sweep();
    return state !== 'refused';
  }

  /** The page may be suspended: see `SegmentStore.rest`. */
  rest(): void {
    this.#ballast.rest();
  }

  /** Deletes segments that nothing names, which only take room: that they stay for now is no failure. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#run(sweepOnce)
      .catch(() => {})
      .finally(() => {
        this.#sweeping = undefined;
      });
    return this.#sweeping;
  }

  /** Keeps room for deletions: see `SegmentStore.upkeep`. */
  keep(storedBytes: number): Promise<void> {
    return this.#ballast.fit(storedBytes);
  }

  /** What a write waits for: see `Ballast.lent`. */
  get lent(): Promise<void> | undefined {
    return this.#ballast.lent;
  }

  /** Takes back what deletions were lent, before a write does. */
  restore(): Promise<void> {
    return this.#ballast.restore();
  }

  /**
   * Runs once more what makes room and has found none, with what is kept for that. Firefox takes the
   * deletions that it has refused when they are made again.
   */
  again<T>(task: Task<T>, makesRoom: true | 'later'): Promise<T> {
    const run = (db: IDBDatabase, repetition: number) => task(db, repetition, true);
    return this.#ballast.lend(() => this.#connection.run(run), makesRoom === 'later');
  }
}

export { dropRefs };

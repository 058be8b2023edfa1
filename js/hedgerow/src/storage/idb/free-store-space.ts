/** Frees space of a store, and handles full storage. */
import type { Fence } from '../segment-store.js';
import type { DatabaseConnection } from './database-connection.js';
import { deleteOnce, sweepOnce } from './deletes.js';
import { Ballast } from './quota-ballast.js';

/** A task with an open database; `isAgain` if it ran before and found no space. */
export type Task<T> = (db: IDBDatabase, repetition: number, isAgain?: boolean) => Promise<T>;

/** The space of one store. */
export class StoreSpace {
  readonly #connection: DatabaseConnection;
  readonly #ballast: Ballast;
  /** Runs a task, and `again` if there is no space. */
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

  /** Ends the work under way of the ballast: see `SegmentStore.rest`. */
  rest(): void {
    this.#ballast.rest();
  }

  /** Deletes segments without a name, which only take space: it is no failure if they stay for now. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#run(sweepOnce)
      .catch(() => {})
      .finally(() => {
        this.#sweeping = undefined;
      });
    return this.#sweeping;
  }

  /** Keeps space for deletions: see `SegmentStore.upkeep`. */
  keep(storedBytes: number): Promise<void> {
    return this.#ballast.fit(storedBytes);
  }

  /** The promise that a write waits for: see `Ballast.lent`. */
  get lent(): Promise<void> | undefined {
    return this.#ballast.lent;
  }

  /** Takes back the space that deletions got, before a write takes it. */
  restore(): Promise<void> {
    return this.#ballast.restore();
  }

  /**
   * Runs a task that makes space once more, with the space of the ballast. Firefox accepts refused deletions at the
   * second try.
   */
  again<T>(task: Task<T>, freesSpace: true | 'later'): Promise<T> {
    const run = (db: IDBDatabase, repetition: number) => task(db, repetition, true);
    return this.#ballast.lend(() => this.#connection.run(run), freesSpace === 'later');
  }
}

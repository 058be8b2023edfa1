/**
 * The browser's adapter: one IndexedDB database for each store, with four object stores and no index. `tables` maps an
 * id to bytes; `segments` has bytes, a Blob or pieces, see `read-segments.ts`; `refs` is a journal of moves, see
 * `ref-journal.ts`, and maps `COUNTER_KEY` to the last number of `reserve`; `joined` has a copy of many tables, see
 * `joined-segment-tables.ts`.
 *
 * Each stored table has its segment, and each ref all that it needs, whatever an engine makes of a transaction that
 * finds no space: see `idb-transaction.ts`.
 */

import { flag, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { partOnce } from '../../base/dynamic-import.js';
import { isFull } from '../../base/errors.js';
import { lateLocks } from '../../base/late-locks.js';
import type { Locks } from '../../base/locks.js';
import type {
  Fence,
  Ref,
  SegmentRequest,
  SegmentStore,
  Since,
  Storage,
  StoreContents,
  StoreOptions,
  WriteBatch,
} from '../segment-store.js';
import { engine, Handles } from './blobs.js';
import { DatabaseConnection } from './database-connection.js';
import { databaseName } from './database-name.js';
import type { StoreSpace, Task } from './free-store-space.js';
import { loadContents } from './load-contents.js';
import { readAll } from './read-segments.js';
import type { MoveKey } from './ref-journal.js';

const OPTIONS = {
  /**
   * Says that no other tab, window or worker has these stores open. Without Web Locks, as on a page from an insecure
   * connection, stores are collected only with this option: no handle can see there what others use. If that is wrong,
   * others lose what they read or load.
   */
  exclusive: flag,
};

/** Options of stores in IndexedDB. */
export interface IdbOptions extends OptionsOf<typeof OPTIONS> {}

/** Locks among all handles of this page. */
let ownLocks: Locks | undefined;

/** Keeps stores in IndexedDB, each in a database of its own. */
export function idb(options: IdbOptions = {}): Storage {
  const { exclusive = false } = optionsOf('idb', options, OPTIONS);
  return {
    isShared: true,
    lifetime: 'origin',
    get locks() {
      const locks = globalThis.navigator?.locks as Locks | undefined;
      if (locks !== undefined || !exclusive) return locks;
      ownLocks ??= lateLocks();
      return ownLocks;
    },
    isPrivate: async () => (await loadRest()).isPrivateWindow(),
    open: (name, options) => IdbSegmentStore.open(name, options),
    async destroy(name) {
      const { destroyDatabase } = await loadRest();
      await destroyDatabase(databaseName(name));
      await destroyDatabase(ballastName(name)).catch(() => {});
    },
  };
}

function ballastName(name: string): string {
  return `hedgerow-ballast/${name}`;
}

/** A smaller store, in bytes, has no ballast, and few tables. */
const LEAST_FOR_UPKEEP = 4 << 20;

class IdbSegmentStore implements SegmentStore {
  readonly #name: string;
  readonly #connection: DatabaseConnection;
  readonly #onFull: () => void;
  /** The moves that carry segments, by segment, as far as this handle knows. */
  readonly #carriers = new Map<number, MoveKey>();
  readonly #handles = new Handles();
  readonly requestCost = engine().requestCost;
  #loaded: StoreSpace | undefined;
  /** Whether a read of the joined tables has failed. */
  #isJoinedDamaged = false;

  private constructor(name: string, connection: DatabaseConnection, onFull: () => void) {
    this.#name = name;
    this.#connection = connection;
    this.#onFull = onFull;
  }

  static async open(name: string, options: StoreOptions = {}): Promise<IdbSegmentStore> {
    const connection = await DatabaseConnection.open(databaseName(name), options);
    return new IdbSegmentStore(name, connection, options.onFull ?? (() => {}));
  }

  /** Whether the browser can flush; Firefox can since version 126. */
  get honoursStrict(): boolean {
    return 'durability' in IDBTransaction.prototype;
  }

  load(known: ReadonlySet<number> = new Set(), since?: readonly Since[]): Promise<StoreContents> {
    const [carriers, handles] = [this.#carriers, this.#handles];
    const onDamaged = () => {
      this.#isJoinedDamaged = true;
    };
    const what = { known, since, carriers, handles, onDamaged };
    return this.#connection.run((db) => loadContents(db, what));
  }

  async reserve(freesSpace = false): Promise<number> {
    const { reserveOnce } = await loadRest();
    return this.#run(freesSpace, reserveOnce);
  }

  async read(wanted: readonly SegmentRequest[]): Promise<(Uint8Array | undefined)[]> {
    const own = [...wanted];
    return this.#connection.run((db) => readAll(db, own, this.#carriers, this.#handles));
  }

  async write(batch: WriteBatch): Promise<boolean> {
    const { exact, writeOnce } = await loadRest();
    const own = exact(batch);
    try {
      return await this.#run(own.freesSpace ?? false, (db, repetition) =>
        writeOnce(db, own, this.#carriers, repetition),
      );
    } catch (cause) {
      // Firefox may have kept segments without their tables.
      if (isFull(cause) && own.segments.length > 0) {
        await this.#space().then(
          (space) => space.sweep(),
          () => {},
        );
      }
      throw cause;
    }
  }

  async history(name: string): Promise<Ref[]> {
    const { historyOnce } = await loadRest();
    return this.#connection.run((db) => historyOnce(db, name));
  }

  async delete(ids: readonly number[], fence?: Fence): Promise<boolean> {
    const unwanted = new Set(ids);
    if (!(await (await this.#space()).delete(unwanted, fence))) return false;
    for (const id of unwanted) {
      this.#carriers.delete(id);
      this.#handles.drop(id);
    }
    return true;
  }

  rest(): void {
    this.#connection.rest();
    this.#loaded?.rest();
  }

  prepareWrites(): void {
    // The first write tries again, and reports a failure.
    loadRest().catch(() => {});
  }

  async upkeep(storedBytes: number, isAtRest: boolean): Promise<void> {
    if (storedBytes < LEAST_FOR_UPKEEP && this.#loaded === undefined) return;
    await (await this.#space()).keep(storedBytes);
    if (!isAtRest) return;
    const { joinTables } = await loadRest();
    await this.#connection.run((db) => joinTables(db, this.#isJoinedDamaged));
    this.#isJoinedDamaged = false;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Runs a task as `DatabaseConnection.run` does; a task that makes space runs once more if there is no space. */
  async #run<T>(freesSpace: boolean | 'later', task: Task<T>): Promise<T> {
    if (!freesSpace) await this.#loaded?.lent;
    try {
      return await this.#connection.run(task);
    } catch (cause) {
      if (!isFull(cause)) throw cause;
      this.#onFull();
      if (!freesSpace) await this.#loaded?.restore();
      const space = freesSpace && (await this.#space().catch(() => undefined));
      if (!space) throw cause;
      return space.again(task, freesSpace);
    }
  }

  async #space(): Promise<StoreSpace> {
    const { StoreSpace } = await loadRest();
    const run = <T>(task: Task<T>) => this.#run(true, task);
    this.#loaded ??= new StoreSpace(this.#connection, ballastName(this.#name), run);
    return this.#loaded;
  }
}

const importRest = () => import('./on-demand-idb-bundle.js');

/** Loads the code for changes, full storage and repairs. */
export const loadRest = () => partOnce(importRest);

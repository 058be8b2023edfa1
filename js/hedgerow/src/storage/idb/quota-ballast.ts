/**
 * Space for changes that make space: a deletion writes a little before it frees anything, and a browser at its quota
 * refuses that. The ballast is a database of its own, since WebKit counts the length of a database's file, which no
 * deletion in it makes shorter.
 */

import { isGecko } from '../../base/browser-engine.js';
import { destroyDatabase } from './destroy-database.js';
import { buildBlockedError } from './failures.js';
import { abortAll, inTurn, runIdbTransaction } from './idb-transaction.js';
import { openWithin } from './open-database.js';

/** Stored bytes for each record of the ballast, and the most records. */
const STORED_PER_RECORD = 4 << 20;
const MAX_RECORDS = 32;
const RECORD_BYTES = 256 << 10;
const STORE = 'segments';
/** How long it waits for a suspended tab that makes the ballast, in milliseconds awake: collections wait for it. */
const OPENING_LIMIT = 2000;
/** The most bytes that `crypto.getRandomValues` gives at once. */
const MAX_RANDOM = 65_536;

const ignore = () => {};

/** The ballast of one store. Any tab may use its space. */
export class Ballast {
  readonly #database: string;
  /** The number of records, as far as this handle knows. */
  #records: number | undefined;
  readonly #open = new Set<IDBDatabase>();
  /** The wanted number of records. */
  #wanted = 0;
  #restoring: Promise<void> | undefined;
  #lent: Promise<void> | undefined;
  #fitting: Promise<void> | undefined;

  constructor(database: string) {
    this.#database = database;
  }

  /**
   * Fits the ballast to a store of `storedBytes`. A call during another one gets the promise of that one. Rejects if
   * there is no space.
   */
  fit(storedBytes: number): Promise<void> {
    this.#fitting ??= this.#fit(storedBytes).finally(() => {
      this.#fitting = undefined;
    });
    return this.#fitting;
  }

  async #fit(storedBytes: number): Promise<void> {
    const wanted = Math.min(Math.floor(storedBytes / STORED_PER_RECORD), MAX_RECORDS);
    const records = this.#records ?? 0;
    this.#wanted = wanted;
    if (records > 0 && wanted <= records / 2) await this.#giveUp();
    if (wanted > (this.#records ?? 0)) await this.#take(wanted);
  }

  /**
   * Settles when the ballast has taken back the lent space, as far as there is space; `undefined` if it has lent no space.
   * Other writes wait for it: otherwise they would use up the ballast bit by bit.
   */
  get lent(): Promise<void> | undefined {
    return this.#lent;
  }

  /**
   * Runs `task` with the space of the ballast, and then takes back the rest. Copies get the space only while more than
   * half of it is left: where deletions free no space, as in WebKit, they would use up all.
   */
  lend<T>(task: () => Promise<T>, isCopy: boolean): Promise<T> {
    const done = this.#lend(task, isCopy);
    const lent = done
      .then(ignore, ignore)
      .then(() => this.restore())
      .finally(() => {
        if (this.#lent === lent) this.#lent = undefined;
      });
    this.#lent = lent;
    return done;
  }

  async #lend<T>(task: () => Promise<T>, isCopy: boolean): Promise<T> {
    const records = await this.#count().catch(() => 0);
    this.#wanted = Math.max(this.#wanted, records);
    if (!isCopy || records > this.#wanted / 2) await this.#giveUp().catch(ignore);
    return task();
  }

  /** Ends the work under way, since the page may be suspended. */
  rest(): void {
    for (const db of this.#open) {
      db.close();
      abortAll(db);
    }
  }

  /**
   * Takes back the lent space, as far as there is space. Firefox frees the space of its log only after a failed write: the
   * ballast takes its part then, before other writes do.
   */
  restore(): Promise<void> {
    if ((this.#records ?? 0) >= this.#wanted) return Promise.resolve();
    this.#restoring ??= this.#take(this.#wanted)
      .catch(ignore)
      .finally(() => {
        this.#restoring = undefined;
      });
    return this.#restoring;
  }

  /** Counts the records. */
  #count(): Promise<number> {
    return this.#withDatabase(async () => this.#records ?? 0);
  }

  async #giveUp(): Promise<void> {
    this.#records = 0;
    await destroyDatabase(this.#database);
  }

  #take(wanted: number): Promise<void> {
    return this.#withDatabase(async (db) => {
      for (let at = this.#records ?? 0; at < wanted; at++) {
        await runIdbTransaction<void>(db, [STORE], 'readwrite', 'relaxed', (work) =>
          inTurn(work, [() => work.store(STORE).put(noise(), at)], () => work.commit()),
        );
        this.#records = at + 1;
      }
    });
  }

  async #withDatabase<T>(task: (db: IDBDatabase) => Promise<T>): Promise<T> {
    const db = await openWithin(OPENING_LIMIT, this.#database, {
      onUpgrade: (made) => void made.createObjectStore(STORE),
      // Another handle needs the space.
      onBlocking: (opened) => opened.close(),
    });
    if (db === undefined) throw buildBlockedError();
    this.#open.add(db);
    try {
      this.#records = await runIdbTransaction<number>(db, [STORE], 'readonly', 'relaxed', (work) =>
        work.after(work.store(STORE).count(), work.answer),
      );
      return await task(db);
    } finally {
      this.#open.delete(db);
      db.close();
    }
  }
}

/**
 * Makes bytes that no browser can compress, so that they take the space of their length. In Firefox they are a Blob,
 * which is a file of its own. Other data first go to the log of the database, which stays if there is no space to copy
 * it; the deletion of such a database frees the file, but not the log, until the next start of the browser. In WebKit,
 * and at times in Chromium, deleted Blobs free no space at once.
 */
function noise(): Uint8Array | Blob {
  const bytes = new Uint8Array(RECORD_BYTES);
  for (let at = 0; at < bytes.length; at += MAX_RANDOM) {
    crypto.getRandomValues(bytes.subarray(at, at + MAX_RANDOM));
  }
  return isGecko() ? new Blob([bytes]) : bytes;
}

/**
 * Room that is kept for changes that make room: a deletion writes a little before it frees anything, and
 * at its quota a browser refuses that. The ballast is a database of its own, since WebKit counts the
 * length of a database's file, which no deletion in it makes shorter.
 */

import { isGecko } from '../../base/engine-name.js';
import { destroyDatabase } from './database-connection.js';
import { buildBlockedError } from './failures.js';
import { abortAll, inTurn, runIdbTransaction } from './idb-transaction.js';
import { openWithin } from './open-database.js';

/** For each so many stored bytes one record is kept, up to so many. */
const STORED_PER_RECORD = 4 << 20;
const MAX_RECORDS = 32;
const RECORD_BYTES = 256 << 10;
const STORE = 'segments';
/** How long it waits for a suspended tab that was making it, in milliseconds awake: collections wait for it. */
const OPENING_LIMIT = 2000;
/** `crypto.getRandomValues` gives no more at once. */
const MAX_RANDOM = 65_536;

const ignore = () => {};

/** The ballast of one store. Its room may be had by any tab. */
export class Ballast {
  readonly #database: string;
  /** Records that are there, as far as is known here. */
  #records: number | undefined;
  readonly #open = new Set<IDBDatabase>();
  /** Records that there are to be. */
  #wanted = 0;
  #restoring: Promise<void> | undefined;
  #lent: Promise<void> | undefined;
  #fitting: Promise<void> | undefined;

  constructor(database: string) {
    this.#database = database;
  }

  /**
   * Makes it as large as a store of so many bytes wants it, one call at a time: one that comes meanwhile is
   * answered with the first. Rejects when there is no room for that.
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
   * Until what is lent has been taken back, as far as there is room; `undefined` when nothing is lent. What else needs
   * room waits for it: otherwise it would use up the ballast bit by bit.
   */
  get lent(): Promise<void> | undefined {
    return this.#lent;
  }

  /**
   * Runs `task` with the room of the ballast, and takes back after that what it has left. Copies have it only while
   * there is more than half of it: where deletions free nothing, as in WebKit, they would use up all.
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

  /** The page may be suspended: what is under way ends. */
  rest(): void {
    for (const db of this.#open) {
      db.close();
      abortAll(db);
    }
  }

  /**
   * Takes back what was lent, as far as there is room. Firefox gives the room of its log back only when
   * a write has failed: what is missing is to be had then, before other writes take it.
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

  /** How many records there are. */
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
      // Somebody needs the room.
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
 * Bytes that take the room that they are long: browsers compress what they store. In Firefox they are a
 * Blob, which is a file of its own. All else goes through the log of the database first, which stays when there
 * is no room to copy it; the deletion of such a database gives back the file, but not the log, until the browser
 * starts anew. In WebKit, and at times in Chromium, deleted Blobs make no room at once.
 */
function noise(): Uint8Array | Blob {
  const bytes = new Uint8Array(RECORD_BYTES);
  for (let at = 0; at < bytes.length; at += MAX_RANDOM) {
    crypto.getRandomValues(bytes.subarray(at, at + MAX_RANDOM));
  }
  return isGecko() ? new Blob([bytes]) : bytes;
}

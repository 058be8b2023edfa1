/**
 * A connection to an IndexedDB database that outlives losses: calls go through `DatabaseConnection.run`, which opens
 * the database again and repeats the call if the browser has dropped the connection. Every failure becomes a
 * `HedgerowError`.
 */
import { HedgerowError } from '../../base/errors.js';
import type { StoreOptions } from '../segment-store.js';
import { atOpening, buildBlockedError, isLost, toIdbError } from './failures.js';
import { ALL_STORES, abortAll } from './idb-transaction.js';
import { type OpeningEvents, openWithin } from './open-database.js';

/** Waits before each repetition after a lost connection, in milliseconds. */
const REPETITION_DELAYS = [0, 100, 400] as const;
/**
 * How long an opening may take, in milliseconds awake. It waits for earlier deletions. Also, after Chromium dropped a
 * connection during its opening, it left all further openings of the page unanswered for up to 45 s in tests; a second
 * request in that time did not help.
 */
const OPENING_LIMIT = 15_000;
/**
 * An object store with this prefix and a random name is the identity of a database, so that a new database does not
 * pass for a deleted one of the same name.
 */
const IDENTITY = 'identity/';

/** Why a deleted store takes no more calls. */
const DELETED = 'the store was deleted';

/** The purpose of an opening: a store of the user, or a store that was open before. */
type OpenPurpose = 'create' | 'find' | 'again';

/** A connection to one database, opened again when it is lost. */
export class DatabaseConnection {
  readonly #name: string;
  readonly #onGone: () => void;
  #identity: string | undefined;
  #db: IDBDatabase | undefined;
  #opening: Promise<IDBDatabase> | undefined;
  /** Why the connection takes no more calls. */
  #closed: string | undefined;
  #underWay = 0;
  #onIdle: (() => void)[] = [];

  private constructor(name: string, onGone: () => void) {
    this.#name = name;
    this.#onGone = onGone;
  }

  /** Opens the database `name`. */
  static async open(
    name: string,
    { mustExist = false, onGone = () => {} }: StoreOptions = {},
  ): Promise<DatabaseConnection> {
    const connection = new DatabaseConnection(name, onGone);
    await repeating(async () => {
      connection.#db = await connection.#open(mustExist ? 'find' : 'create');
    }).catch((cause) => {
      throw atOpening(cause);
    });
    return connection;
  }

  /**
   * Calls `task` with an open database, at once if there is one. Calls it again, with the number of the repetition, if
   * the connection was lost in between: the first call may have taken effect, or not.
   */
  async run<T>(task: (db: IDBDatabase, repetition: number) => Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await repeating(async (repetition) => {
        this.#check();
        const db = this.#db ?? (await this.#reopen());
        try {
          return await task(db, repetition);
        } catch (cause) {
          if (isLost(cause)) this.#drop(db);
          throw cause;
        }
      });
    } finally {
      if (--this.#underWay === 0) for (const wake of this.#onIdle.splice(0)) wake();
    }
  }

  /** Takes no more calls, and resolves when the calls under way have settled. */
  async close(): Promise<void> {
    this.#end('the store was closed');
    if (this.#underWay > 0) await new Promise<void>((wake) => this.#onIdle.push(wake));
  }

  /**
   * Closes the database until the next call. Calls under way find their connection lost, and go on over another one: a
   * transaction of a suspended page would keep all other tabs waiting.
   */
  rest(): void {
    const db = this.#db;
    if (db === undefined) return;
    this.#drop(db);
    abortAll(db);
  }

  #check(): void {
    if (this.#closed !== undefined) throw new HedgerowError('closed', this.#closed);
  }

  #end(reason: string): void {
    this.#closed ??= reason;
    if (this.#db !== undefined) this.#drop(this.#db);
  }

  #handleGone(): void {
    // A closed connection needs no event.
    if (this.#closed !== undefined) return;
    this.#end(DELETED);
    this.#onGone();
  }

  #drop(db: IDBDatabase): void {
    if (this.#db === db) this.#db = undefined;
    // Transactions under way still finish.
    db.close();
  }

  /** Opens the database again, once for all calls that find the connection lost. */
  async #reopen(): Promise<IDBDatabase> {
    this.#opening ??= this.#open('again').finally(() => {
      this.#opening = undefined;
    });
    const db = await this.#opening;
    if (this.#closed !== undefined) db.close();
    this.#check();
    this.#db = db;
    return db;
  }

  async #open(purpose: OpenPurpose): Promise<IDBDatabase> {
    checkPresent();
    let db: IDBDatabase | undefined;
    let missing = false;
    const events: OpeningEvents = {
      onUpgrade: (made, tx) => {
        missing = purpose !== 'create';
        if (missing) tx.abort();
        else for (const store of [...ALL_STORES, newIdentity()]) made.createObjectStore(store);
      },
      // Another tab deletes the database, and must not wait for this tab.
      onBlocking: (_, next) =>
        next === null ? this.#handleGone() : this.#end('a newer version needs the store'),
      onTerminated: (lost) => {
        if (this.#db === lost) this.#db = undefined;
      },
    };
    try {
      db = await openWithin(OPENING_LIMIT, this.#name, events);
      if (db === undefined) {
        throw purpose !== 'again'
          ? buildBlockedError()
          : new HedgerowError('unavailable/disconnected', 'IndexedDB does not answer: try again');
      }
      const identity = identityOf(db);
      this.#identity ??= identity;
      missing = this.#identity !== identity;
      if (!missing) return db;
      // This is a new store of that name, to which nothing known here applies.
      db.close();
      throw new HedgerowError('closed', DELETED);
    } catch (cause) {
      if (missing && purpose === 'find') {
        throw new HedgerowError('not-found/store', `there is no store ${this.#name}`);
      }
      if (missing) this.#handleGone();
      this.#check();
      throw cause;
    }
  }
}

/** Calls `task` until it fails for another reason than a lost connection, or too often. */
export async function repeating<T>(task: (repetition: number) => Promise<T>): Promise<T> {
  for (let repetition = 0; ; repetition++) {
    try {
      return await task(repetition);
    } catch (cause) {
      const delay = REPETITION_DELAYS[repetition];
      if (!isLost(cause) || delay === undefined) throw toIdbError(cause);
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

function newIdentity(): string {
  return IDENTITY + crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** Returns the identity of a database; older ones share the empty identity. */
function identityOf(db: IDBDatabase): string {
  return [...db.objectStoreNames].find((name) => name.startsWith(IDENTITY)) ?? '';
}

/** Throws `unsupported` without IndexedDB. */
export function checkPresent(): void {
  if (globalThis.indexedDB === undefined) {
    const remedy = 'pass `storage`: memory(), or sqlite() from @hedgerow/sqlite';
    throw new HedgerowError('unsupported', `there is no IndexedDB here: ${remedy}`);
  }
}

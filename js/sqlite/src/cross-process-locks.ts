import { type Locks, localLocks } from 'hedgerow/kit';
import { failureOf, type SqlConnection } from './driver.js';
import { whenFree } from './sql-segment-store.js';

/** A function that opens a file in the folder of locks. */
export type OpenLockFile = (fileName: string) => Promise<SqlConnection>;

type Options = Parameters<Locks['request']>[1];

/** The open files while this process holds or requests any lock. */
interface Session {
  readonly rows: SqlConnection;
  /** The holder's file, which stays locked. */
  readonly presence: SqlConnection;
  readonly holder: string;
}

const LOCKS_FILE = 'locks.sqlite';
/** Locks a holder's file, without a journal file, which SQLite cannot make after another process removed the file. */
const LOCK = ['PRAGMA journal_mode = MEMORY', 'BEGIN EXCLUSIVE'];
const SETTINGS = ['PRAGMA journal_mode = WAL', 'PRAGMA synchronous = NORMAL'];
const CREATE =
  'CREATE TABLE IF NOT EXISTS lock (id TEXT PRIMARY KEY, holder TEXT NOT NULL, ' +
  'name TEXT NOT NULL, is_shared INTEGER NOT NULL) WITHOUT ROWID';
const CONFLICTS = 'FROM lock WHERE name = ? AND (? = 0 OR is_shared = 0)';
const TAKE =
  'INSERT INTO lock (id, holder, name, is_shared) SELECT ?, ?, ?, ? ' +
  `WHERE NOT EXISTS (SELECT 1 ${CONFLICTS})`;

/** The longest wait before the next request, in milliseconds, and of a request that may wait for ever. */
const LONGEST_WAIT_MS = 50;
const LONGEST_PATIENT_WAIT_MS = 500;

/**
 * Locks among all processes that use the stores of a folder: rows of a SQLite file, which name their holder. Each
 * holder keeps its own file locked by the operating system, which unlocks it at any end of the process. So every
 * process can see whether the holder of a row lives.
 *
 * A process that has to wait asks again and again, so that processes do not get locks in the order of their requests.
 */
export class ProcessLocks implements Locks {
  readonly areKept = true;
  /** The requests of this process take turns here, and only the first one asks the other processes. */
  readonly #local = localLocks();
  readonly #open: OpenLockFile;
  #session: Promise<Session> | undefined;
  #uses = 0;
  #taken = 0;

  constructor(open: OpenLockFile) {
    this.#open = open;
  }

  request<T>(name: string, options: Options, hold: (lock: unknown) => Promise<T>): Promise<T> {
    return this.#local.request(name, options, async (lock) => {
      if (lock === null) return hold(null);
      return this.#use(async (session) => {
        const id = await this.#take(session, name, options);
        if (id === undefined) return hold(null);
        try {
          return await hold(lock);
        } finally {
          await whenFree(async () => session.rows.write([['DELETE FROM lock WHERE id = ?', [id]]]));
        }
      });
    });
  }

  query(): Promise<{ held: { name: string }[] }> {
    return this.#use(async (session) => {
      const { rows } = session;
      const all = await whenFree(async () => rows.read('SELECT name, holder FROM lock'));
      const alive = new Set<unknown>();
      for (const holder of new Set(all.map(([, one]) => one))) {
        if (await this.#isAlive(session, String(holder))) alive.add(holder);
      }
      const held = all.filter(([, holder]) => alive.has(holder));
      return { held: held.map(([name]) => ({ name: String(name) })) };
    });
  }

  /** Takes a lock and returns the id of its row; `undefined` if another process has it and the caller does not wait. */
  async #take(session: Session, name: string, options: Options): Promise<string | undefined> {
    const { mode, ifAvailable = false, signal } = options;
    const { rows, holder } = session;
    const isShared = mode === 'shared' ? 1 : 0;
    const id = `${holder}/${++this.#taken}`;
    // It waits as long as another process lives, and must not keep this one alive.
    const isPatient = name.endsWith('/collector');
    const longest = isPatient ? LONGEST_PATIENT_WAIT_MS : LONGEST_WAIT_MS;
    for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, longest)) {
      signal?.throwIfAborted();
      await whenFree(async () =>
        rows.write([[TAKE, [id, holder, name, isShared, name, isShared]]]),
      );
      const [own] = await whenFree(async () => rows.read('SELECT 1 FROM lock WHERE id = ?', [id]));
      if (own !== undefined) return id;
      const others = await whenFree(async () =>
        rows.read(`SELECT DISTINCT holder ${CONFLICTS}`, [name, isShared]),
      );
      let isHeld = false;
      for (const [other] of others) {
        if (await this.#isAlive(session, String(other))) isHeld = true;
      }
      if (!isHeld) continue;
      if (ifAvailable) return undefined;
      await wait(waitMs, isPatient, signal);
    }
  }

  /** Returns whether a holder's process lives. If not, deletes its locks. */
  async #isAlive({ rows, holder: self }: Session, holder: string): Promise<boolean> {
    if (holder === self) return true;
    const presence = await this.#open(holder);
    try {
      for (const step of LOCK) await presence.set(step);
    } catch (cause) {
      await presence.close();
      if (failureOf(cause) === 'busy') return true;
      throw cause;
    }
    await whenFree(async () => rows.write([['DELETE FROM lock WHERE holder = ?', [holder]]]));
    await presence.destroy();
    return false;
  }

  async #use<T>(run: (session: Session) => Promise<T>): Promise<T> {
    this.#uses++;
    this.#session ??= this.#begin();
    const session = this.#session;
    try {
      return await run(await session);
    } finally {
      if (--this.#uses === 0) {
        this.#session = undefined;
        await session.then(end, () => {});
      }
    }
  }

  async #begin(): Promise<Session> {
    const holder = `${crypto.randomUUID()}.holder`;
    const presence = await this.#open(holder);
    try {
      for (const step of LOCK) await presence.set(step);
      const rows = await this.#open(LOCKS_FILE);
      try {
        await whenFree(async () => {
          for (const setting of SETTINGS) await rows.set(setting);
          await rows.write([[CREATE]]);
        });
        return { rows, presence, holder };
      } catch (cause) {
        await rows.close();
        throw cause;
      }
    } catch (cause) {
      await presence.destroy();
      throw cause;
    }
  }
}

async function end({ rows, presence }: Session): Promise<void> {
  await rows.close();
  await presence.destroy();
}

/** Resolves after `ms` milliseconds; rejects on an abort. */
function wait(ms: number, isPatient: boolean, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (isPatient) (timer as { unref?(): void }).unref?.();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

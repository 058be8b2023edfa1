/** Opens and deletes stores in SQLite, with any driver. */

import type { Storage } from 'hedgerow';
import { HedgerowError, kindOfError, type Locks } from 'hedgerow/kit';
import { failureOf, type SqlConnection } from './driver.js';
import { fileNameOf } from './file-name.js';
import { CREATE, contents, JOURNAL_MODE, PROBE_FILE, SETTINGS } from './sql-schema.js';
import { SqlSegmentStore, whenFree } from './sql-segment-store.js';

/** The place of files, and how to open them. */
export interface SqlFiles {
  /** The folder, and all else that distinguishes files of one name. */
  readonly place: string;
  readonly prefix: string;
  /** The locks among all processes that may have the same files open. */
  readonly locks: Locks;
  /** The time between looks for changes by other processes, in milliseconds, if there may be any. */
  readonly lookMs?: number;
  /** Opens a file, and creates it if it is missing. Must not wait for others that lock it. */
  open(fileName: string): SqlConnection | Promise<SqlConnection>;
}

/** The open handles of this process, by place and file: a deletion of a store must close them. */
const handles = new Map<string, Set<SqlSegmentStore>>();

/** Makes the storage of all files of a place. */
export function sqlStorage({ place, prefix, locks, lookMs, open }: SqlFiles): Storage {
  const of = (name: string) => {
    const file = fileNameOf(prefix, name);
    return { file, id: `${place}\0${file}` };
  };
  // This lock keeps openings and deletions of a store apart.
  const alone = <T>(file: string, run: () => Promise<T>): Promise<T> =>
    locks.request(`door/${file}`, {}, run);

  return {
    lifetime: 'permanent',
    locks,
    open(name, { mustExist = false, onGone = () => {}, onMoved = () => {} } = {}) {
      const { file, id } = of(name);
      return alone(file, async () => {
        const connection = await whenFree(async () => open(file));
        try {
          await whenFree(() => prepare(connection, name, mustExist));
        } catch (cause) {
          const isMade = kindOfError(cause) === 'not-found/store';
          await (isMade ? connection.destroy() : connection.close());
          throw cause;
        }
        const own = handles.get(id) ?? new Set();
        handles.set(id, own);
        const handle: SqlSegmentStore = new SqlSegmentStore(connection, {
          onGone,
          onMoved,
          onMove() {
            for (const other of own) if (other !== handle) other.noteMove();
          },
          onClose() {
            own.delete(handle);
            if (own.size === 0 && handles.get(id) === own) handles.delete(id);
          },
        });
        if (lookMs !== undefined) handle.follow(lookMs);
        own.add(handle);
        return handle;
      });
    },
    destroy(name) {
      const { file, id } = of(name);
      return alone(file, async () => {
        for (const handle of [...(handles.get(id) ?? [])]) await handle.closeAsDeleted();
        const connection = await whenFree(async () => open(file));
        try {
          await free(connection);
        } catch (cause) {
          await connection.close();
          throw cause;
        }
        await connection.destroy();
      });
    },
  };
}

async function prepare(connection: SqlConnection, name: string, mustExist: boolean): Promise<void> {
  const found = contents((await connection.read(PROBE_FILE))[0] ?? []);
  if (found === 'foreign') {
    throw new HedgerowError(
      'newer-version/format',
      `the file of ${name} holds no store, or was written by a newer version of Hedgerow`,
    );
  }
  if (found === 'none' && mustExist) {
    throw new HedgerowError('not-found/store', `there is no store ${name}`);
  }
  for (const setting of SETTINGS) await connection.set(setting);
  if (found === 'none') await connection.write(CREATE);
}

/** Checks that no other process has the file open. SQLite would take a log that is left for the next file's. */
async function free(connection: SqlConnection): Promise<void> {
  const buildFileInUseError = (cause?: unknown) =>
    new HedgerowError('blocked', 'another process has the store open: close it there', { cause });
  let mode: unknown;
  try {
    await connection.set('PRAGMA journal_mode = DELETE');
    [[mode]] = (await connection.read(JOURNAL_MODE)) as [[unknown]];
  } catch (cause) {
    // An unreadable file, for lack of its key or for damage, may be deleted.
    if (failureOf(cause) !== 'busy') return;
    throw buildFileInUseError(cause);
  }
  if (mode !== 'delete') throw buildFileInUseError();
}

/** Joins the tables of a store to one record, now and then: see `joined-segment-tables.ts`. */

import { concatBytes as joinedBytes, toUint8Array } from '../../base/bytes.js';
import { turn } from '../../base/slice-queue.js';
import { engine } from './blobs.js';
import { runIdbTransaction, whenAll } from './idb-transaction.js';
import {
  canJoin,
  ENTRY_BYTES,
  JOINED_KEY,
  JoinedTables,
  SUM_BYTES,
  sumOf,
} from './joined-segment-tables.js';

/** Fewer tables are as fast to read one by one. */
const LEAST_APART = 16;
/** All are joined again when more than one of this many is apart: so each table is written a few times in its life. */
const APART_SHARE = 8;
/** The number of tables to read in one transaction. */
const AT_ONCE = 64;

/**
 * Joins the tables if many are apart, if most of the joined ones are deleted, or if a read of them has failed. Other
 * tabs may do the same at that time.
 */
export async function joinTables(db: IDBDatabase, isDamaged: boolean): Promise<void> {
  if (!canJoin(db)) return;
  const { ids, record } = await standOf(db);
  const joined = isDamaged ? undefined : JoinedTables.from(record);
  const known = ids.filter((id) => joined?.has(id));
  const apart = ids.length - known.length;
  const deleted = (joined?.size ?? 0) - known.length;
  const isDue = apart > Math.max(LEAST_APART, known.length / APART_SHARE);
  if (!isDue && deleted <= known.length && (record === undefined || joined !== undefined)) return;
  const tables = ids.length > LEAST_APART ? await tablesOf(db, ids, joined) : new Map();
  if (tables.size === 0) return putJoined(db);
  await turn();
  const body = joinedBytes([...tables.values()]);
  const head = headOf(tables, body);
  await turn();
  return putJoined(db, [head, engine().takesBlobs ? new Blob([body]) : body]);
}

/** Makes the head of a record, which `JoinedTables.from` reads. */
function headOf(tables: ReadonlyMap<number, Uint8Array>, body: Uint8Array): Uint8Array {
  const head = new Uint8Array(SUM_BYTES + ENTRY_BYTES * tables.size);
  const view = new DataView(head.buffer);
  let [at, end] = [SUM_BYTES, 0];
  for (const [id, { length }] of tables) {
    end += length;
    view.setFloat64(at, id, true);
    view.setFloat64(at + 8, end, true);
    at += ENTRY_BYTES;
  }
  view.setFloat64(0, sumOf(head, body), true);
  return head;
}

function standOf(db: IDBDatabase) {
  interface Stand {
    readonly ids: readonly number[];
    readonly record: unknown;
  }
  return runIdbTransaction<Stand>(db, ['tables', 'joined'], 'readonly', 'relaxed', (work) => {
    const keys = work.store('tables').getAllKeys() as IDBRequest<unknown>;
    const stored = work.store('joined').get(JOINED_KEY) as IDBRequest<unknown>;
    whenAll(work, [keys, stored], ([ids, record]) => work.answer({ ids: ids as number[], record }));
  });
}

/** Reads the tables of segments; leaves out tables that were deleted in the meantime. */
async function tablesOf(
  db: IDBDatabase,
  ids: readonly number[],
  joined: JoinedTables | undefined,
): Promise<Map<number, Uint8Array>> {
  const tableOf = await joined?.read();
  const tables = new Map<number, Uint8Array>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    await turn();
    const some = ids.slice(at, at + AT_ONCE);
    const apart = some.filter((id) => tableOf?.(id) === undefined);
    const read = new Map(apart.length === 0 ? [] : await readApart(db, apart));
    for (const id of some) {
      const table = tableOf?.(id) ?? read.get(id);
      if (table !== undefined) tables.set(id, table);
    }
  }
  return tables;
}

function readApart(db: IDBDatabase, ids: readonly number[]) {
  return runIdbTransaction<[number, Uint8Array | undefined][]>(
    db,
    ['tables'],
    'readonly',
    'relaxed',
    (work) => {
      const gets = ids.map((id): IDBRequest<unknown> => work.store('tables').get(id));
      whenAll(work, gets, (values) =>
        work.answer(values.map((value, at) => [ids[at] as number, toUint8Array(value)])),
      );
    },
  );
}

/** Replaces the record, or deletes it. It is alone in its object store, so that no write of rows waits for it. */
function putJoined(
  db: IDBDatabase,
  record?: readonly [Uint8Array, Uint8Array | Blob],
): Promise<void> {
  return runIdbTransaction<void>(db, ['joined'], 'readwrite', 'relaxed', (work) => {
    const store = work.store('joined');
    if (record === undefined) store.delete(JOINED_KEY);
    else store.put(record, JOINED_KEY);
    work.commit();
  });
}

/** Reads the contents of a store: its refs, and the tables of its segments. See `SegmentStore.load`. */

import { toUint8Array } from '../../base/bytes.js';
import type { Ref, Since, StoreContents, TableRecord } from '../segment-store.js';
import type { Handles } from './blobs.js';
import { REFS, runIdbTransaction, whenAll } from './idb-transaction.js';
import { canJoin, JOINED_KEY, JoinedTables } from './joined-segment-tables.js';
import {
  buildMalformedError,
  carriedBy,
  isWhole,
  lastMoves,
  listMoveKeys,
  type MoveKey,
  movesSince,
  refOf,
} from './ref-journal.js';

/** The number of tables to request before their keys are known: all tables of a store of about 50 MB. */
const FIRST_TABLES = 16;

/** The knowledge of the caller: segments, where the refs stood, the moves that carry segments, and Blobs. */
interface LoadContext {
  readonly known: ReadonlySet<number>;
  readonly since: readonly Since[] | undefined;
  readonly carriers: Map<number, MoveKey>;
  readonly handles: Handles;
  /** Called after a failed read of the joined tables. */
  onDamaged(): void;
}

/** The result of one transaction. */
interface LoadedContents {
  readonly loaded: StoreContents;
  /** The segments whose tables `joined` has, and `tables` lacks. */
  readonly elsewhere: readonly number[];
  readonly joined: JoinedTables | undefined;
}

const byId = (a: TableRecord, b: TableRecord) => a.id - b.id;

/** Reads all refs, and the tables of all segments that are not known. */
export async function loadContents(db: IDBDatabase, what: LoadContext): Promise<StoreContents> {
  const { loaded, elsewhere, joined } = await loadOnce(db, what, true);
  if (elsewhere.length === 0) return loaded;
  const tableOf = await joined?.read();
  if (tableOf === undefined) {
    what.onDamaged();
    // Read all of it again, so that it is from one consistent state.
    return (await loadOnce(db, what, false)).loaded;
  }
  const tables = elsewhere.map((id) => ({ id, tableBytes: tableOf(id) as Uint8Array }));
  return { ...loaded, tables: [...loaded.tables, ...tables].sort(byId) };
}

function loadOnce(
  db: IDBDatabase,
  { known, since, carriers, handles }: LoadContext,
  mayBeJoined: boolean,
): Promise<LoadedContents> {
  // Of an unknown store everything is wanted: no request has to wait for the keys.
  const isFirst = since === undefined && known.size === 0;
  const hasJoined = isFirst && mayBeJoined && canJoin(db);
  const stores = [...REFS, ...(hasJoined ? (['joined'] as const) : [])];
  return runIdbTransaction(db, stores, 'readonly', 'relaxed', (work) => {
    const [refs, tables] = [work.store('refs'), work.store('tables')];
    const ranges = since === undefined ? [undefined] : movesSince(since);
    const journal = ranges.map((range) => refs.getAllKeys(range));
    const everyMove = isFirst ? refs.getAll() : undefined;
    const record: IDBRequest<unknown> | undefined = hasJoined
      ? work.store('joined').get(JOINED_KEY)
      : undefined;
    const firstTables = isFirst ? tables.getAll(undefined, FIRST_TABLES) : undefined;
    work.after(tables.getAllKeys(), (keys) => {
      const ids = idsFrom(keys);
      handles.keepOnly(new Set(ids));
      const values = new Map((firstTables?.result ?? []).map((value, at) => [ids[at], value]));
      const joined = JoinedTables.from(record?.result);
      const unread = ids.filter((id) => !known.has(id) && !values.has(id));
      const elsewhere = unread.filter((id) => joined?.has(id));
      const apart = unread.filter((id) => !joined?.has(id));
      const keysOfMoves = journal.flatMap(({ result }) => result);
      const moves = listMoveKeys(keysOfMoves);
      const last = new Set(lastMoves(moves));
      const isFresh = ([, , id]: MoveKey) => id !== undefined && !known.has(id);
      const wanted = moves.filter((key) => last.has(key) || isFresh(key));

      // Of an unknown store without joined tables, all tables that follow are apart.
      const isRest = isFirst && joined === undefined && apart.length > 0;
      const rest = isRest ? tables.getAll(IDBKeyRange.lowerBound(apart[0])) : undefined;
      const stored = valuesOf(tables, apart, apart, rest);
      const moved = valuesOf(refs, wanted, keysOfMoves, everyMove);
      whenAll(work, [...stored.requests, ...moved.requests, ...(rest ? [rest] : [])], () => {
        for (const [at, value] of stored.values().entries()) values.set(apart[at], value);
        const found: TableRecord[] = ids
          .filter((id) => values.has(id))
          .map((id) => tableFrom(id, values.get(id)));
        const moveValues = moved.values();
        const heads: Ref[] = [];
        for (const [at, key] of wanted.entries()) {
          const [, , id] = key;
          if (last.has(key)) heads.push(refOf(key, moveValues[at]));
          if (id === undefined || known.has(id)) continue;
          carriers.set(id, key);
          found.push({ id, ...carriedBy(moveValues[at]) });
        }
        const all = [...ids, ...moves.flatMap(([, , id]) => id ?? [])];
        const loaded = {
          refs: heads,
          tables: found.sort(byId),
          ...(since === undefined && { ids: all.sort((a, b) => a - b) }),
        };
        work.answer({ loaded, elsewhere, joined });
      });
    });
  });
}

/** Gets the values of some keys of an object store, one by one, or from `every` value, by its place in `keys`. */
function valuesOf(
  store: IDBObjectStore,
  wanted: readonly IDBValidKey[],
  keys: readonly IDBValidKey[],
  every?: IDBRequest<unknown[]>,
) {
  const requests: IDBRequest[] = every ? [] : wanted.map((key) => store.get(key));
  const values = (): unknown[] => {
    if (every === undefined) return requests.map(({ result }) => result);
    const places = new Map(keys.map((key, at) => [key, at]));
    return wanted.map((key) => every.result[places.get(key) as number]);
  };
  return { requests, values };
}

function idsFrom(keys: readonly IDBValidKey[]): number[] {
  return keys.map((key) => {
    if (!isWhole(key)) throw buildMalformedError('id of a table');
    return key;
  });
}

function tableFrom(id: number, value: unknown): TableRecord {
  const tableBytes = toUint8Array(value);
  if (tableBytes === undefined) throw buildMalformedError(`table ${id}`);
  return { id, tableBytes };
}

/**
 * The browser's adapter: one IndexedDB database for each store, with three object stores
 * and no index. `segments` and `tables` map an id to bytes; `refs` is a journal of moves,
 * see `idb-journal.ts`, and maps `COUNTER_KEY` to the last number that `reserve` gave out.
 */
import { MAX_HISTORY, MIN_HISTORY } from '../limits.js';
import { type Locks, localLocks } from '../locks.js';
import type {
  Loaded,
  Ref,
  RefMove,
  SegmentRecord,
  SegmentStore,
  Since,
  Storage,
  TableRecord,
  WriteBatch,
} from '../segment-store.js';
import { Connection, destroyDatabase, STORES, transact, type Work } from './idb-connection.js';
import {
  carriedBy,
  isCarried,
  isWhole,
  lastMoves,
  type MoveKey,
  malformed,
  moveKeys,
  movesFrom,
  movesSince,
  recordOf,
  refOf,
  sweptBy,
  withoutCarried,
} from './idb-journal.js';

/** A number, so that no move can have this key. */
const COUNTER_KEY = 0;

/**
 * What small writes to `refs` lock. With `tables`, which they do not touch, they wait for segments
 * that are being written: Chromium killed while it committed both at once was seen to wipe the
 * whole origin at the next start.
 */
const REFS = ['tables', 'refs'] as const;

/** How stores are kept in IndexedDB. */
export interface IdbOptions {
  /**
   * No other tab, window or worker has these stores open. Where there are no Web Locks, as on a page that did
   * not come over a secure connection, nothing is ever collected without it: nobody can tell there what
   * others use. If it is not so, what others read or load is lost to them.
   */
  readonly exclusive?: boolean | undefined;
}

/** Among all handles of this page. */
let ownLocks: Locks | undefined;

/** Keeps stores in IndexedDB, each in a database of its own. */
export function idb({ exclusive = false }: IdbOptions = {}): Storage {
  return {
    isShared: true,
    get locks() {
      const locks = globalThis.navigator?.locks as Locks | undefined;
      if (locks !== undefined || !exclusive) return locks;
      ownLocks ??= localLocks();
      return ownLocks;
    },
    open: async (name, options) =>
      new IdbSegmentStore(await Connection.open(databaseName(name), options)),
    destroy: (name) => destroyDatabase(databaseName(name)),
  };
}

function databaseName(name: string): string {
  return `hedgerow/${name}`;
}

class IdbSegmentStore implements SegmentStore {
  readonly #connection: Connection;
  /** Which moves carry which segments, as far as is known here. */
  readonly #carriers = new Map<number, MoveKey>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  load(known?: ReadonlySet<number>, since?: readonly Since[]): Promise<Loaded> {
    return this.#connection.run((db) => loadOnce(db, known, since, this.#carriers));
  }

  reserve(): Promise<number> {
    return this.#connection.run((db) =>
      transact(db, REFS, 'readwrite', 'relaxed', (work) => {
        const refs = work.store('refs');
        work.after(refs.get(COUNTER_KEY), (last: unknown = 0) => {
          if (!isWhole(last)) throw malformed('counter');
          refs.put(last + 1, COUNTER_KEY);
          work.commit(last + 1);
        });
      }),
    );
  }

  async read(ids: readonly number[]): Promise<(Uint8Array | undefined)[]> {
    const wanted = [...ids];
    return this.#connection.run((db) => readOnce(db, wanted, this.#carriers));
  }

  async write(batch: WriteBatch): Promise<boolean> {
    const own = exact(batch);
    const written = await this.#connection.run((db, repetition) =>
      own.move === undefined && own.also === undefined
        ? writeOnce(db, own)
        : moveOnce(db, own, this.#carriers, repetition),
    );
    if (written) for (const id of own.deletes ?? []) this.#carriers.delete(id);
    return written;
  }

  history(name: string): Promise<Ref[]> {
    return this.#connection.run((db) => historyOnce(db, name));
  }

  async delete(ids: readonly number[]): Promise<void> {
    const unwanted = new Set(ids);
    await this.#connection.run((db) => deleteOnce(db, unwanted));
    for (const id of unwanted) this.#carriers.delete(id);
  }

  rest(): void {
    this.#connection.rest();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

function loadOnce(
  db: IDBDatabase,
  known: ReadonlySet<number> = new Set(),
  since: readonly Since[] | undefined,
  carriers: Map<number, MoveKey>,
): Promise<Loaded> {
  return transact(db, ['tables', 'refs'], 'readonly', 'relaxed', (work) => {
    const [refs, tables] = [work.store('refs'), work.store('tables')];
    const ranges = since === undefined ? [undefined] : movesSince(since);
    const journal = ranges.map((range) => refs.getAllKeys(range));
    work.after(tables.getAllKeys(), (keys) => {
      const ids = idsFrom(keys);
      const freshIds = ids.filter((id) => !known.has(id));
      const keysOfMoves = journal.flatMap(({ result }) => result);
      const moves = moveKeys(keysOfMoves, COUNTER_KEY);
      const last = new Set(lastMoves(moves));
      const isFresh = ([, , id]: MoveKey) => id !== undefined && !known.has(id);
      const wanted = moves.filter((key) => last.has(key) || isFresh(key));

      const stored = valuesOf(tables, ids, freshIds);
      // Between ranges lies what nobody wants.
      const moved = valuesOf(refs, since === undefined ? moves : [], wanted);
      whenAll(work, [...stored.requests, ...moved.requests], () => {
        const [tableValues, moveValues] = [stored.values(), moved.values()];
        const found: TableRecord[] = freshIds.map((id, at) => tableFrom(id, tableValues[at]));
        const heads: Ref[] = [];
        for (const [at, key] of wanted.entries()) {
          const [, , id] = key;
          if (last.has(key)) heads.push(refOf(key, moveValues[at]));
          if (id === undefined || known.has(id)) continue;
          carriers.set(id, key);
          found.push({ id, ...carriedBy(moveValues[at]) });
        }
        const all = [...ids, ...moves.flatMap(([, , id]) => id ?? [])];
        work.answer({
          refs: heads,
          tables: found.sort((a, b) => a.id - b.id),
          ...(since === undefined && { ids: all.sort((a, b) => a - b) }),
        });
      });
    });
  });
}

/** Asks for the values of some of an object store's keys: in one request when it is all. */
function valuesOf(
  store: IDBObjectStore,
  all: readonly IDBValidKey[],
  wanted: readonly IDBValidKey[],
) {
  const isAll = wanted.length === all.length && wanted.length > 1;
  const first = wanted[0];
  if (isAll && first !== undefined) {
    const request: IDBRequest<unknown[]> = store.getAll(IDBKeyRange.lowerBound(first));
    return { requests: [request as IDBRequest], values: () => request.result };
  }
  const requests: IDBRequest[] = wanted.map((key) => store.get(key));
  return { requests, values: () => requests.map(({ result }): unknown => result) };
}

function readOnce(
  db: IDBDatabase,
  ids: readonly number[],
  carriers: ReadonlyMap<number, MoveKey>,
): Promise<(Uint8Array | undefined)[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return transact(db, ['segments', 'refs'], 'readonly', 'relaxed', (work) => {
    const [segments, refs] = [work.store('segments'), work.store('refs')];
    const requests: IDBRequest<unknown>[] = ids.map((id) => {
      const carrier = carriers.get(id);
      return carrier === undefined ? segments.get(id) : refs.get(carrier);
    });
    whenAll(work, requests, (results) => {
      // When its ref is deleted a segment that was carried is stored as all others are.
      const again = ids.filter((id, at) => carriers.has(id) && results[at] === undefined);
      const moved = again.map((id): IDBRequest<unknown> => segments.get(id));
      whenAll(work, moved, (others) => {
        const found = ids.map((id, at) => {
          const bytes = results[at];
          if (bytes === undefined && carriers.has(id)) return asBytes(others[again.indexOf(id)]);
          return carriers.has(id) ? carriedBy(bytes).segmentBytes : asBytes(bytes);
        });
        work.answer(found);
      });
    });
  });
}

function writeOnce(
  db: IDBDatabase,
  { segments, deletes = [], durability }: WriteBatch,
): Promise<boolean> {
  const stores = deletes.length > 0 ? STORES : (['segments', 'tables'] as const);
  return transact(db, stores, 'readwrite', durability, (work) => {
    putAll(work, segments);
    if (deletes.length > 0) deleteAll(work, new Set(deletes), () => work.commit(true));
    else work.commit(true);
  });
}

function putAll<T>(work: Work<T>, segments: readonly SegmentRecord[]): void {
  const [segmentStore, tableStore] = [work.store('segments'), work.store('tables')];
  for (const { id, segmentBytes, tableBytes } of segments) {
    segmentStore.put(segmentBytes, id);
    tableStore.put(tableBytes, id);
  }
}

/**
 * All requests are made in one go, on the guess that the ref stands as expected; if it
 * does not, they are undone. Asking first would cost a second way to the database's
 * process and back, which is most of what a small write costs.
 */
async function moveOnce(
  db: IDBDatabase,
  { segments, deletes = [], move, also = [], durability }: WriteBatch,
  carriers: Map<number, MoveKey>,
  repetition: number,
): Promise<boolean> {
  const changes = move === undefined ? also : [move, ...also];
  const moves = changes.filter((change) => !('isDropped' in change)) as RefMove[];
  const drops = changes.filter((change) => 'isDropped' in change);
  const isSmall = deletes.length === 0 && drops.length === 0;
  const carried = move !== undefined && isSmall && isCarried(segments) ? segments[0] : undefined;
  const isOnlyRefs = isSmall && (carried !== undefined || segments.length === 0);
  const records = moves.map((one) => recordOf(one, one === move ? carried : undefined));
  const moved = await transact<boolean>(
    db,
    isOnlyRefs ? REFS : STORES,
    'readwrite',
    durability,
    (work) => {
      const refs = work.store('refs');
      // Before the moves, so that it is answered by the time they are.
      const old = moves.flatMap(({ name, generation }) => {
        const swept = sweptBy(name, generation);
        return swept === undefined ? [] : [refs.getAllKeys(swept)];
      });
      const first = records[0]?.key;
      const before: IDBRequest<unknown> | undefined =
        repetition > 0 && first !== undefined ? refs.get(first) : undefined;
      const stood = changes.map(({ name, expected }) => refs.getAllKeys(movesFrom(name, expected)));
      if (!isOnlyRefs) putAll(work, segments);
      for (const { key, bytes } of records) refs.put(bytes, key);
      // After these answers, not the last: the rest needs no looking at.
      whenAll(work, stood, (found) => {
        const keys = found.map((one) => moveKeys(one, COUNTER_KEY));
        if (changes.every(({ expected }, at) => isLast(keys[at] ?? [], expected))) {
          const unwanted = moveKeys(
            old.flatMap(({ result }) => result),
            COUNTER_KEY,
          );
          for (const key of unwanted) if (key.length === 2) refs.delete(key);
          const end = () => {
            if (deletes.length > 0) deleteAll(work, new Set(deletes), () => work.commit(true));
            else work.commit(true);
          };
          dropAll(work, drops, end);
        } else if (repetition === 0) work.undo(false);
        // The first attempt may have been committed after all.
        else if (before === undefined) work.undo(keys.every(({ length }) => length === 0));
        else work.undo(isSame(before.result, records[0]?.bytes));
      });
    },
  );
  const key = records[0]?.key;
  if (moved && carried !== undefined && key !== undefined) carriers.set(carried.id, key);
  return moved;
}

/** Whether a ref stands at a generation, by the keys of its moves from there on; 0 for no ref. */
function isLast(keys: readonly MoveKey[], expected: number): boolean {
  const [first] = keys;
  return keys.length <= 1 && (expected === 0 ? first === undefined : first?.[1] === expected);
}

/** Deletes refs, then calls `then`. Segments that their moves carry are stored apart. */
function dropAll<T>(
  work: Work<T>,
  drops: readonly { readonly name: string }[],
  then: () => void,
): void {
  if (drops.length === 0) {
    then();
    return;
  }
  const refs = work.store('refs');
  const all = drops.map(({ name }) => refs.getAllKeys(movesFrom(name, 0)));
  whenAll(work, all, (found) => {
    const keys = moveKeys(found.flat(), COUNTER_KEY).filter(([, , id]) => id !== undefined);
    const values = keys.map((key): IDBRequest<unknown> => refs.get(key));
    whenAll(work, values, (carrying) => {
      for (const [at, [, , id]] of keys.entries()) {
        putAll(work, [{ id: id as number, ...carriedBy(carrying[at]) }]);
      }
      for (const { name } of drops) refs.delete(movesFrom(name, 0));
      then();
    });
  });
}

function historyOnce(db: IDBDatabase, name: string): Promise<Ref[]> {
  return transact(db, ['refs'], 'readonly', 'relaxed', (work) => {
    const found: Ref[] = [];
    const cursors = work.store('refs').openCursor(movesFrom(name, 0), 'prev');
    work.after(cursors, (cursor) => {
      if (cursor === null || found.length === MAX_HISTORY) return work.answer(found);
      // A record that is no move does not hide those before it.
      try {
        const [key] = moveKeys([cursor.key], COUNTER_KEY);
        if (key !== undefined) found.push(refOf(key, cursor.value));
      } catch {}
      cursor.continue();
    });
  });
}

function deleteOnce(db: IDBDatabase, unwanted: ReadonlySet<number>): Promise<void> {
  return transact<void>(db, STORES, 'readwrite', 'relaxed', (work) => {
    deleteAll(work, unwanted, () => work.commit());
  });
}

/** Deletes segments and their tables, then calls `then`. */
function deleteAll<T>(work: Work<T>, unwanted: ReadonlySet<number>, then: () => void): void {
  const refs = work.store('refs');
  for (const id of unwanted) {
    work.store('segments').delete(id);
    work.store('tables').delete(id);
  }
  work.after(refs.getAllKeys(), (keys) => {
    const moves = moveKeys(keys, COUNTER_KEY);
    const last = new Set(lastMoves(moves, MIN_HISTORY));
    const carriers = moves.filter(([, , id]) => id !== undefined && unwanted.has(id));
    // A ref must not lose its last moves: only what they carry goes.
    const kept = carriers.filter((key) => last.has(key));
    const values = kept.map((key): IDBRequest<unknown> => refs.get(key));
    for (const key of carriers) refs.delete(key);
    for (const key of moves) if (key.length === 2 && !last.has(key)) refs.delete(key);
    whenAll(work, values, (found) => {
      for (const [at, [name, generation]] of kept.entries()) {
        refs.put(withoutCarried(found[at]), [name, generation]);
      }
      then();
    });
  });
}

/** Requests of one transaction succeed in order, so that the last one tells of all. */
function whenAll<T, R>(
  work: Work<T>,
  requests: readonly IDBRequest<R>[],
  then: (results: R[]) => void,
): void {
  const last = requests.at(-1);
  if (last === undefined) then([]);
  else work.after(last, () => then(requests.map(({ result }) => result)));
}

function exact(batch: WriteBatch): WriteBatch {
  const segments = batch.segments.map(({ id, segmentBytes, tableBytes }) => ({
    id,
    segmentBytes: exactBytes(segmentBytes),
    tableBytes: exactBytes(tableBytes),
  }));
  const { durability, move, also, deletes = [] } = batch;
  // Records of moves are bytes of their own.
  return {
    segments,
    durability,
    deletes: [...deletes],
    ...(move && { move }),
    ...(also && { also }),
  };
}

/**
 * The bytes in a buffer of their own length, since IndexedDB stores the whole buffer under
 * a view. Copies only a view, and not by `slice`, which for a Node `Buffer` is a view again.
 */
function exactBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function isSame(value: unknown, bytes: Uint8Array | undefined): boolean {
  return (
    bytes !== undefined &&
    value instanceof Uint8Array &&
    value.length === bytes.length &&
    value.every((byte, i) => byte === bytes[i])
  );
}

function idsFrom(keys: readonly IDBValidKey[]): number[] {
  return keys.map((key) => {
    if (!isWhole(key)) throw malformed('id of a table');
    return key;
  });
}

function tableFrom(id: number, value: unknown): TableRecord {
  const tableBytes = asBytes(value);
  if (tableBytes === undefined) throw malformed(`table ${id}`);
  return { id, tableBytes };
}

function asBytes(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined;
}

/**
 * The browser's adapter: one IndexedDB database for each store, with three object stores
 * and no index. `segments` and `tables` map an id to bytes; `refs` maps a name to a
 * `StoredRef`, and `COUNTER_KEY` to the last number that `reserve` gave out.
 */
import { HedgerowError } from '../errors.js';
import type {
  Loaded,
  Ref,
  RefMove,
  SegmentStore,
  Storage,
  TableRecord,
  WriteBatch,
} from '../segment-store.js';
import { Connection, destroyDatabase, STORES, transact, type Work } from './idb-connection.js';

/** A number, so that no ref can have this name. */
const COUNTER_KEY = 0;
const COMMIT_LENGTH = 32;

type StoredRef = Omit<Ref, 'name'>;

/** Keeps stores in IndexedDB, each in a database of its own. */
export function idb(): Storage {
  return {
    open: async (name) => new IdbSegmentStore(await Connection.open(databaseName(name))),
    destroy: (name) => destroyDatabase(databaseName(name)),
  };
}

function databaseName(name: string): string {
  return `hedgerow/${name}`;
}

class IdbSegmentStore implements SegmentStore {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  load(known?: ReadonlySet<number>): Promise<Loaded> {
    return this.#connection.run((db) => loadOnce(db, known));
  }

  reserve(): Promise<number> {
    return this.#connection.run((db) =>
      transact(db, ['refs'], 'readwrite', 'relaxed', (work) => {
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
    return this.#connection.run(async (db) => {
      if (wanted.length === 0) return [];
      return transact(db, ['segments'], 'readonly', 'relaxed', (work) => {
        const segments = work.store('segments');
        const requests = wanted.map((id) => segments.get(id));
        whenAll(work, requests, () => work.answer(requests.map(({ result }) => asBytes(result))));
      });
    });
  }

  async write(batch: WriteBatch): Promise<boolean> {
    const own = exact(batch);
    return this.#connection.run((db, repetition) => writeOnce(db, own, repetition));
  }

  async delete(ids: readonly number[]): Promise<void> {
    const unwanted = [...ids];
    return this.#connection.run((db) =>
      transact<void>(db, ['segments', 'tables'], 'readwrite', 'relaxed', (work) => {
        const segments = work.store('segments');
        const tables = work.store('tables');
        for (const id of unwanted) {
          segments.delete(id);
          tables.delete(id);
        }
        work.commit();
      }),
    );
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

function loadOnce(db: IDBDatabase, known?: ReadonlySet<number>): Promise<Loaded> {
  return transact(db, ['tables', 'refs'], 'readonly', 'relaxed', (work) => {
    const refs = work.store('refs');
    const tables = work.store('tables');
    const names = refs.getAllKeys();
    const stored: IDBRequest<unknown[]> = refs.getAll();
    const answer = (ids: readonly number[], bytes: readonly unknown[]) =>
      work.answer({
        refs: refsFrom(names.result, stored.result),
        tables: ids.map((id, i) => tableFrom(id, bytes[i])),
      });

    const keys = tables.getAllKeys();
    if (known === undefined || known.size === 0) {
      work.after(tables.getAll(), (bytes) => answer(idsFrom(keys.result), bytes));
      return;
    }
    work.after(keys, (found) => {
      const missing = idsFrom(found).filter((id) => !known.has(id));
      const requests = missing.map((id) => tables.get(id));
      if (requests.length === 0) answer([], []);
      else whenAll(work, requests, (bytes) => answer(missing, bytes));
    });
  });
}

/**
 * All requests are made in one go, on the guess that the ref stands as expected; if it
 * does not, they are undone. Asking first would cost a second way to the database's
 * process and back, which is most of what a small write costs.
 */
function writeOnce(db: IDBDatabase, batch: WriteBatch, repetition: number): Promise<boolean> {
  const { segments, move, durability } = batch;
  const stores = move === undefined ? (['segments', 'tables'] as const) : STORES;
  return transact(db, stores, 'readwrite', durability, (work) => {
    const current: IDBRequest<unknown> | undefined = move && work.store('refs').get(move.name);
    const [segmentStore, tableStore] = [work.store('segments'), work.store('tables')];
    for (const { id, segmentBytes, tableBytes } of segments) {
      segmentStore.put(segmentBytes, id);
      tableStore.put(tableBytes, id);
    }
    if (move === undefined || current === undefined) {
      work.commit(true);
      return;
    }
    const { name, commitBytes, generation, format } = move;
    const next: StoredRef = { commitBytes, generation, format };
    work.store('refs').put(next, name);
    work.after(current, (value) => {
      const ref = value === undefined ? undefined : refFrom(name, value);
      if ((ref?.generation ?? 0) === move.expected) work.commit(true);
      // A repetition may find that the first attempt had been committed after all.
      else work.undo(repetition > 0 && ref !== undefined && isSame(ref, move));
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
  if (last !== undefined) work.after(last, () => then(requests.map(({ result }) => result)));
}

function exact(batch: WriteBatch): WriteBatch {
  const segments = batch.segments.map(({ id, segmentBytes, tableBytes }) => ({
    id,
    segmentBytes: exactBytes(segmentBytes),
    tableBytes: exactBytes(tableBytes),
  }));
  const { durability, move } = batch;
  if (move === undefined) return { segments, durability };
  const commitBytes = exactBytes(move.commitBytes);
  return { segments, durability, move: { ...move, commitBytes } };
}

/**
 * The bytes in a buffer of their own length, since IndexedDB stores the whole buffer under
 * a view. Copies only a view, and not by `slice`, which for a Node `Buffer` is a view again.
 */
function exactBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function isSame(ref: Ref, move: RefMove): boolean {
  return (
    ref.generation === move.generation &&
    ref.commitBytes.every((byte, i) => byte === move.commitBytes[i])
  );
}

function refsFrom(names: readonly IDBValidKey[], values: readonly unknown[]): Ref[] {
  return names.flatMap((name, i) => (typeof name === 'string' ? [refFrom(name, values[i])] : []));
}

function refFrom(name: string, value: unknown): Ref {
  if (typeof value !== 'object' || value === null) throw malformed(`ref ${name}`);
  const { commitBytes, generation, format } = value as Partial<Record<keyof StoredRef, unknown>>;
  if (
    !(commitBytes instanceof Uint8Array) ||
    commitBytes.length !== COMMIT_LENGTH ||
    !isWhole(generation) ||
    !isWhole(format)
  ) {
    throw malformed(`ref ${name}`);
  }
  return { name, commitBytes, generation, format };
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

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function malformed(what: string): HedgerowError {
  return new HedgerowError('storage', `a stored record is malformed: ${what}`);
}

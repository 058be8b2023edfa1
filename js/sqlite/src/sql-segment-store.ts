import type { Durability } from 'hedgerow';
import type { SegmentStore } from 'hedgerow/kit';
import {
  type Fence,
  HedgerowError,
  MAX_HISTORY,
  type Ref,
  type RefMove,
  type SegmentRequest,
  type Since,
  type StoreContents,
  toUint8Array,
  type WriteBatch,
} from 'hedgerow/kit';
import { failureOf, type SqlConnection, type SqlValue, type Statement } from './driver.js';
import {
  buildCountStatement,
  buildDeleteStatements,
  buildDropStatements,
  buildFenceStatement,
  buildInsertStatements,
  buildMoveStatements,
  COUNTER,
  DATA_VERSION,
  HISTORY,
  LOAD_ALL,
  LOAD_NEW,
  OVERWRITE,
  OVERWRITE_LITTLE,
  READ,
} from './sql-schema.js';

/** How long others may lock a file before a call fails with `blocked`, in milliseconds. */
export const BUSY_LIMIT_MS = 10_000;
/** The longest wait before the next try, in milliseconds. */
const LONGEST_WAIT_MS = 32;

/** The events of a handle. */
export interface SqlEvents {
  /** Called when the store was deleted. */
  onGone(): void;
  /** Called when another handle has moved a ref. */
  onMoved(): void;
  /** Called when this handle has moved a ref. */
  onMove(): void;
  /** Called when the connection is closed. */
  onClose(): void;
}

/**
 * The adapter for SQLite, over any driver: one file for each store, one connection for each handle.
 */
export class SqlSegmentStore implements SegmentStore {
  readonly honoursStrict = true;
  /** SQLite reads all of a segment for a part of it. */
  readonly requestCost = 512 << 10;
  readonly #connection: SqlConnection;
  readonly #events: SqlEvents;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Settles with the last call. */
  #last: Promise<unknown> = Promise.resolve();
  #durability: Durability = 'relaxed';
  #closed: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(connection: SqlConnection, events: SqlEvents) {
    this.#connection = connection;
    this.#events = events;
  }

  /** Checks from time to time whether another process has changed the file. */
  follow(everyMs: number): void {
    let known: unknown;
    const look = async () => {
      const [row] = await this.#run(async (connection) => connection.read(DATA_VERSION));
      if (known !== undefined && known !== row?.[0]) this.#events.onMoved();
      known = row?.[0];
    };
    // The next read or write reports a failure.
    this.#timer = setInterval(() => look().catch(() => {}), everyMs);
    // The timer must not keep the process alive.
    (this.#timer as { unref?(): void }).unref?.();
  }

  /** Reports that another handle of this process has moved a ref. */
  noteMove(): void {
    if (this.#closed === undefined) this.#events.onMoved();
  }

  load(known: ReadonlySet<number> = new Set(), since?: readonly Since[]): Promise<StoreContents> {
    const list = JSON.stringify([...known]);
    return this.#run(async (connection) => {
      const rows = await connection.read(since === undefined ? LOAD_ALL : LOAD_NEW, [list]);
      const of = (kind: number) => rows.filter(([is]) => is === kind);
      const ids = of(2).map(([, id]) => wholeFrom(id));
      return {
        refs: of(0).map(([, name, generation, format, bytes]) =>
          refFrom(JSON.parse(textFrom(name)), generation, format, bytes),
        ),
        tables: of(1)
          .map(([, id, , , bytes]) => ({ id: wholeFrom(id), tableBytes: bytesFrom(bytes) }))
          .sort((a, b) => a.id - b.id),
        ...(since === undefined && { ids: ids.sort((a, b) => a - b) }),
      };
    });
  }

  reserve(): Promise<number> {
    return this.#run(async (connection) => {
      for (;;) {
        const [row] = await connection.read(COUNTER);
        const last = wholeFrom(row?.[0]);
        // Another connection may have been first.
        if (await this.#write(connection, [buildCountStatement(last)])) return last + 1;
      }
    });
  }

  async read(wanted: readonly SegmentRequest[]): Promise<(Uint8Array | undefined)[]> {
    const found = wanted.map((): Uint8Array | undefined => undefined);
    const list = JSON.stringify(
      wanted.map((one) =>
        typeof one === 'number' ? [one] : [one.id, one.from, one.to - one.from],
      ),
    );
    return this.#run(async (connection) => {
      if (found.length === 0) return found;
      for (const [at, bytes] of await connection.read(READ, [list])) {
        found[wholeFrom(at)] = bytesFrom(bytes);
      }
      return found;
    });
  }

  async write({ segments, move, also = [], durability }: WriteBatch): Promise<boolean> {
    const changes = move === undefined ? also : [move, ...also];
    const statements = [
      ...changes.flatMap((change) => {
        const name = JSON.stringify(change.name);
        return 'isDropped' in change
          ? buildDropStatements(name, change)
          : buildMoveStatements(name, change as RefMove, MAX_HISTORY);
      }),
      ...segments.flatMap(buildInsertStatements),
    ];
    return this.#run(async (connection) => {
      if (statements.length === 0) return true;
      if (this.#durability !== durability) {
        const level = durability === 'strict' ? 'FULL' : 'NORMAL';
        await connection.set(`PRAGMA synchronous = ${level}`);
        this.#durability = durability;
      }
      const isWritten = await this.#write(connection, statements);
      if (isWritten && changes.length > 0) this.#events.onMove();
      return isWritten;
    });
  }

  history(name: string): Promise<Ref[]> {
    return this.#run(async (connection) => {
      const rows = await connection.read(HISTORY, [JSON.stringify(name), MAX_HISTORY]);
      return rows.map(([generation, format, bytes]) => refFrom(name, generation, format, bytes));
    });
  }

  async delete(ids: readonly number[], fence?: Fence): Promise<boolean> {
    const statements = [
      ...(fence ? [buildFenceStatement(fence)] : []),
      ...buildDeleteStatements(ids),
    ];
    return this.#run(async (connection) => {
      await connection.set(OVERWRITE_LITTLE);
      try {
        return await this.#write(connection, statements);
      } finally {
        await connection.set(OVERWRITE);
      }
    });
  }

  close(): Promise<void> {
    this.#closed ??= 'the store was closed';
    clearInterval(this.#timer);
    this.#closing ??= this.#last.then(async () => {
      await this.#connection.close();
      this.#events.onClose();
    });
    return this.#closing;
  }

  /** Closes the handle for a deletion of the store, and calls `onGone` unless it was closed before. */
  async closeAsDeleted(): Promise<void> {
    const isNews = this.#closed === undefined;
    this.#closed ??= 'the store was deleted';
    await this.close();
    if (isNews) this.#events.onGone();
  }

  /** Runs one task after the other: a connection has one transaction, and other calls would be in it. */
  #run<T>(task: (connection: SqlConnection) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) {
      return Promise.reject(new HedgerowError('closed', this.#closed));
    }
    const done = this.#last.then(() => whenFree(() => task(this.#connection)));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Writes; resolves to `false` if a ref did not stand where expected. */
  async #write(connection: SqlConnection, statements: readonly Statement[]): Promise<boolean> {
    try {
      await connection.write(statements);
      return true;
    } catch (cause) {
      if (failureOf(cause) === 'stale') return false;
      throw cause;
    }
  }
}

/** Runs `task`, again while others lock the file. Every failure becomes a `HedgerowError`. */
export async function whenFree<T>(task: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await task();
    } catch (cause) {
      const isLate = performance.now() - startMs > BUSY_LIMIT_MS;
      if (failureOf(cause) !== 'busy' || isLate) throw toSqlError(cause);
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function toSqlError(cause: unknown): HedgerowError {
  if (cause instanceof HedgerowError) return cause;
  switch (failureOf(cause)) {
    case 'busy':
      return new HedgerowError(
        'blocked',
        'another connection holds the store: close it, or try again',
        {
          cause,
        },
      );
    case 'full':
      return new HedgerowError('quota-exceeded', 'the disk is full: free some space', { cause });
    case 'not-a-database':
      return new HedgerowError(
        'wrong-key',
        'the file is no SQLite database, or is encrypted with another key',
        {
          cause,
        },
      );
    default:
      return new HedgerowError('unavailable/storage', `SQLite failed: ${String(cause)}`, { cause });
  }
}

function refFrom(name: string, generation?: SqlValue, format?: SqlValue, bytes?: SqlValue): Ref {
  return {
    name,
    commitBytes: bytesFrom(bytes),
    generation: wholeFrom(generation),
    format: wholeFrom(format),
  };
}

function wholeFrom(value: SqlValue | undefined): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw buildMalformedColumnError('number');
  return value as number;
}

function textFrom(value: SqlValue | undefined): string {
  if (typeof value !== 'string') throw buildMalformedColumnError('name');
  return value;
}

function bytesFrom(value: SqlValue | undefined): Uint8Array {
  const bytes = toUint8Array(value);
  if (bytes === undefined) throw buildMalformedColumnError('bytes');
  return bytes;
}

function buildMalformedColumnError(what: string): HedgerowError {
  return new HedgerowError('unavailable/storage', `a stored record is malformed: ${what}`);
}

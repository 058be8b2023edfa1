/**
 * SQLite in a worker, called from the page: a call is a message. Rows go there as objects, in batches, and the worker
 * makes JSON of them; they come back as one text that the page parses.
 */
import type { Statement } from '../../sysbench/workload.js';
import type { Database } from '../database.js';
import type { Answer, Calls, OpenCall, Request } from './protocol.js';

const BATCH_ROWS = 5000;

type Settle = { resolve: (result: never) => void; reject: (error: Error) => void };

class Connection {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Settle>();
  #next = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      const settle = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.error === undefined) settle?.resolve(data.result as never);
      else settle?.reject(new Error(data.error));
    };
    worker.onerror = ({ message }) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(message));
    };
  }

  call<Name extends keyof Calls>(
    name: Name,
    ...[argument]: Parameters<Calls[Name]>
  ): Promise<ReturnType<Calls[Name]>> {
    return new Promise((resolve, reject) => {
      const request: Request = { id: this.#next++, name, argument };
      this.#waiting.set(request.id, { resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  terminate(): void {
    this.#worker.terminate();
  }
}

/** The calls of the sysbench workload, in addition to the common ones. */
export interface SqliteDatabase extends Database {
  load(rows: readonly { readonly id: string }[]): Promise<undefined>;
  put(row: { readonly id: string }): Promise<void>;
  delete(id: string): Promise<void>;
  transaction(statements: readonly Statement[]): Promise<unknown[]>;
}

export async function openSqlite(worker: Worker, open: OpenCall): Promise<SqliteDatabase> {
  const connection = new Connection(worker);
  await connection.call('open', open);
  return {
    load: async (rows: readonly { readonly id: string }[]) => {
      await connection.call('begin');
      // Two batches are under way, so that the worker never waits for the page.
      let before: Promise<void> | undefined;
      for (let at = 0; at < rows.length; at += BATCH_ROWS) {
        const batch = connection.call('putBatch', rows.slice(at, at + BATCH_ROWS));
        await before;
        before = batch;
      }
      await before;
      await connection.call('commit');
      return undefined;
    },
    remove: (ids) => connection.call('remove', ids),
    put: (row) => connection.call('put', row),
    delete: (id) => connection.call('delete', id),
    get: async (id) => {
      const text = await connection.call('get', id);
      return text === undefined ? undefined : JSON.parse(text);
    },
    getMany: async (ids) => JSON.parse(await connection.call('getMany', ids)) as unknown[],
    scan: async (limits) => JSON.parse(await connection.call('scan', limits)) as unknown[],
    at: async (n) => {
      const text = await connection.call('at', n);
      return text === undefined ? undefined : JSON.parse(text);
    },
    rank: (id) => connection.call('rank', id),
    transaction: async (statements) =>
      JSON.parse(await connection.call('transaction', statements)) as unknown[],
    close: async () => {
      await connection.call('close');
      connection.terminate();
    },
  };
}

export function sqliteWorker(): Worker {
  return new Worker(new URL('./sqlite-worker.ts', import.meta.url), { type: 'module' });
}

export function doltliteWorker(): Worker {
  return new Worker(new URL('./doltlite-worker.ts', import.meta.url), { type: 'module' });
}

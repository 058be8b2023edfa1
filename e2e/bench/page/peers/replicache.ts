/**
 * Replicache: rows arrive in the patch of a pull, whose answer is ready in the page. It keeps them in memory, and
 * stores them when the page has been idle for a while.
 */
import {
  type PatchOperation,
  type ReadTransaction,
  Replicache,
  type WriteTransaction,
} from 'replicache';
import type { Row } from '../rows.js';
import type { Database } from './database.js';

const NAME = 'bench-replicache';

/** The JSON type of its API. */
type Json = Row & Readonly<Record<string, string | number | undefined>>;

const mutators = {
  put: (tx: WriteTransaction, row: Json) => tx.set(row.id, row),
};

export async function openReplicache(): Promise<Database> {
  let patch: PatchOperation[] = [];
  let cookie = Date.now();
  const rep = new Replicache({
    name: NAME,
    mutators,
    pullInterval: null,
    pushDelay: 1e9,
    puller: async () => {
      cookie += 1;
      const response = { cookie, lastMutationIDChanges: {}, patch };
      patch = [];
      return { httpRequestInfo: { httpStatusCode: 200, errorMessage: '' }, response };
    },
  });
  // Its API does not report when rows are stored: it sends that only to its other tabs.
  const persists = new BroadcastChannel(`replicache-on-persist:${rep.name}`);

  /** Pulls, and resolves when a subscriber sees the result of the patch. */
  async function pull(
    operations: PatchOperation[],
    isSeen: (tx: ReadTransaction) => Promise<boolean>,
  ): Promise<void> {
    patch = operations;
    await new Promise<void>((resolve, reject) => {
      const stop = rep.subscribe(isSeen, (seen) => {
        if (!seen) return;
        resolve();
        queueMicrotask(() => stop());
      });
      rep.pull({ now: true }).catch(reject);
    });
    isStored = false;
  }

  let isStored = true;
  return {
    load: async (rows) => {
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      await pull(
        rows.map((row) => ({ op: 'put', key: row.id, value: { ...row } })),
        async (tx) => ((await tx.get(last.id)) as Row | undefined)?.modified === last.modified,
      );
      return undefined;
    },
    persisted: async () => {
      if (isStored) return;
      await new Promise((resolve) => {
        persists.onmessage = resolve;
      });
      isStored = true;
    },
    remove: async (ids) => {
      const last = ids.at(-1) ?? '';
      await pull(
        ids.map((key) => ({ op: 'del', key })),
        async (tx) => !(await tx.has(last)),
      );
    },
    put: (row) => rep.mutate.put(row as Json),
    get: (id) => rep.query((tx) => tx.get(id)),
    getMany: (ids) => rep.query((tx) => Promise.all(ids.map((id) => tx.get(id)))),
    scan: ({ prefix, from, limit }) =>
      rep.query((tx) =>
        tx
          .scan({
            ...(prefix === undefined ? {} : { prefix }),
            ...(from === undefined ? {} : { start: { key: from } }),
            ...(limit === undefined ? {} : { limit }),
          })
          .values()
          .toArray(),
      ),
    watch: async (id, changed) => rep.subscribe((tx) => tx.get(id), changed),
    close: async () => {
      persists.close();
      await rep.close();
    },
  };
}

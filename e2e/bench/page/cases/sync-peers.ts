/**
 * Runs the same jobs with Replicache's pull and PouchDB's replication, each compared with Hedgerow with as many rows.
 */
import type { Replicache } from 'replicache';
import type { Act, Contestant, Sample, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import type { Row } from '../rows.js';
import { cloneFar, pullTen } from './sync.js';
import {
  type Counts,
  lab,
  median,
  missing,
  openNamed,
  RTT_MS,
  smallDetails,
  wireDetails,
} from './sync-lab.js';

const TIMES = 7;

/** An open peer. */
interface Replica {
  /** Pulls changes; resolves when the page can read the server's version of `last`. */
  pull(last: Row): Promise<unknown>;
  /** Resolves when the pulled rows are stored, where `pull` resolves before. */
  stored?(): Promise<unknown>;
  count(): Promise<number>;
  close(): Promise<unknown>;
}

const lastRow = async (rows: number): Promise<Row> => {
  const { rowsInTurn } = await import('../rows.js');
  let last: Row | undefined;
  for (const row of rowsInTurn(rows)) last = row;
  return last as Row;
};

/** Measures a clone, and pulls of ten changed rows. */
function replicaAct(
  name: string,
  wanted: 'replicache' | 'couch',
  openReplica: (url: string) => Promise<Replica>,
): Act {
  return async ({ rows: all }) => {
    const { far } = await lab.feed(all, wanted);
    const last = await lastRow(all);
    await lab.counts('far');
    // Opening counts: Replicache pulls by itself then.
    const { ms: storedMs, result } = await timed(async () => {
      const startMs = performance.now();
      const opened = await openReplica(far);
      await opened.pull(last);
      const seenMs = performance.now() - startMs;
      await opened.stored?.();
      return { opened, seenMs };
    });
    const { opened: replica, seenMs } = result;
    const counts = await lab.counts('far');
    const count = await replica.count();
    if (count !== all) throw new Error(`${count} rows of ${all}`);
    const clone: Sample = {
      value: seenMs,
      details: wireDetails(counts),
      ...(replica.stored === undefined ? {} : { also: { [`${name}, until stored`]: storedMs } }),
    };
    const [times, traffic]: [number[], Counts[]] = [[], []];
    for (let nth = 0; nth < TIMES; nth++) {
      const { rows } = await lab.changeFeed(10, all);
      await lab.counts('far');
      const startMs = performance.now();
      await replica.pull(rows.at(-1) as Row);
      times.push(performance.now() - startMs);
      traffic.push(await lab.counts('far'));
    }
    await replica.close();
    const value = median(times);
    const details = { ...smallDetails(traffic), 'above one round trip, ms': value - RTT_MS };
    return { [`clone-${wanted}`]: clone, [`pull-10-${wanted}`]: { value, details } };
  };
}

const ours = (wanted: string): Contestant => ({
  name: 'hedgerow',
  kind: 'ours',
  ...missing,
  acts: [
    async ({ rows }) => {
      const { far } = await lab.full(rows);
      const db = await openNamed('far');
      const [link, clone] = await cloneFar(db, far, rows);
      const pulled = await pullTen(db, link);
      await db.close();
      return { [`clone-${wanted}`]: clone, [`pull-10-${wanted}`]: pulled };
    },
  ],
});

async function openReplicacheReplica(url: string): Promise<Replica> {
  const { Replicache } = await import('replicache');
  const rep = new Replicache({
    name: 'sync',
    pullURL: `${url}replicache-pull`,
    pullInterval: null,
    pushDelay: 1e9,
    mutators: {},
  });
  return replicaOf(rep);
}

/** Wraps Replicache: pulls, and waits until the pulled rows are stored. */
export function replicaOf(rep: Replicache): Required<Replica> {
  const persists = new BroadcastChannel(`replicache-on-persist:${rep.name}`);
  const persisted = new Promise((resolve) => {
    persists.onmessage = resolve;
  });
  return {
    pull: (last) =>
      new Promise<void>((resolve, reject) => {
        const isThere = async (tx: { get(key: string): Promise<unknown> }) => {
          const found = (await tx.get(last.id)) as Row | undefined;
          return found?.modified === last.modified;
        };
        const stop = rep.subscribe(isThere, (isSeen) => {
          if (!isSeen) return;
          resolve();
          queueMicrotask(() => stop());
        });
        rep.pull({ now: true }).catch(reject);
      }),
    stored: () => persisted,
    count: () => rep.query(async (tx) => (await tx.scan().keys().toArray()).length),
    close: async () => {
      persists.close();
      await rep.close();
    },
  };
}

async function openPouchReplica(url: string): Promise<Replica> {
  const { default: PouchDB } = await import('pouchdb-browser');
  const db = new PouchDB<Row & { _id: string }>('sync', { auto_compaction: false, revs_limit: 1 });
  return {
    pull: async (last) => {
      const { ok, errors } = await db.replicate.from(`${url}rows`, { batch_size: 1000 });
      if (!ok) throw new Error(`PouchDB: ${JSON.stringify(errors)}`);
      const found = await db.get(last.id);
      if (found.modified !== last.modified) throw new Error(`PouchDB has an old ${last.id}`);
    },
    count: async () => (await db.info()).doc_count,
    close: () => db.close(),
  };
}

function suite(
  wanted: 'replicache' | 'couch',
  mostRows: number,
  peer: Omit<Contestant, 'kind' | 'acts'>,
  openReplica: (url: string) => Promise<Replica>,
): Suite {
  const act = replicaAct(peer.name, wanted, openReplica);
  return {
    name: `sync-${wanted}`,
    family: 'sync',
    mostRows,
    cases: [
      { name: `clone-${wanted}`, title: 'the clone from 80 ms away', unit: 'ms' },
      { name: `pull-10-${wanted}`, title: 'a pull of 10 changed rows', unit: 'ms' },
    ],
    contestants: [ours(wanted), { ...peer, ...missing, kind: 'peer', acts: [act] }],
  };
}

export const SYNC_REPLICACHE = suite(
  'replicache',
  100_000,
  { name: 'Replicache', note: 'its pull of a patch; it checks no root' },
  openReplicacheReplica,
);

export const SYNC_COUCH = suite(
  'couch',
  10_000,
  { name: 'PouchDB', note: '`replicate.from` with a batch_size of 1,000' },
  openPouchReplica,
);

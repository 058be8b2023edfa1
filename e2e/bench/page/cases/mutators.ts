/**
 * Changes made offline, and a server that decides: Hedgerow's mutators and Replicache on the same server, which answers
 * at once. It acknowledges no call, so that all calls wait and run again.
 */
import type { Store, Transaction } from 'hedgerow';
import { type MutatorConnection, mutators } from 'hedgerow/sync';
import type { WriteTransaction } from 'replicache';
import type { Act, Contestant, Sample, Suite } from '../bench-case.js';
import { percentile, timed, watched } from '../measure.js';
import { idOf, type Row } from '../rows.js';
import { lab, missing, openNamed, timerGap } from './sync-lab.js';
import { replicaOf } from './sync-peers.js';

/** Calls whose time to a watcher is measured. */
const CALLS = 200;
/** Waiting calls, and rows that the server has changed by then. */
const [QUEUED, QUICK_QUEUED] = [10_000, 500];
/** Calls that are made at once while the queue is filled. */
const AT_ONCE = 100;

interface Close {
  readonly id: string;
  readonly owner: string;
}

/** An open app. */
interface App {
  /** Pulls changes; resolves when the page can read the server's version of `last`. */
  pull(last: Row): Promise<unknown>;
  /** Resolves when the pulled rows are stored, where `pull` resolves before. */
  stored?(): Promise<unknown>;
  call(args: Close): Promise<unknown>;
  /** Calls `listener` with the keys of each change. */
  watch(listener: (keys: readonly string[]) => void): () => void;
  get(id: string): Promise<Row | undefined>;
  count(): Promise<number>;
  close(): Promise<unknown>;
}

const firstPull = (url: string) =>
  fetch(`${url}replicache-pull`, { method: 'POST', body: '{"cookie":null}' });

const closed = (row: Row | undefined, { owner }: Close): Row => ({ ...(row as Row), owner });

async function openOurs(url: string): Promise<App> {
  const db: Store = await openNamed('mutators');
  const ours = {
    async assign(tx: Transaction, args: Close) {
      tx.put(args.id, closed(await tx.get<Row>(args.id), args));
    },
  };
  const app: MutatorConnection<typeof ours> = await db.connect(
    mutators({
      mutators: ours,
      pull: { url: `${url}replicache-pull` },
      push: () => new Response(),
    }),
  );
  return {
    pull: () => app.pull(),
    call: (args) => app.mutate.assign(args),
    watch: (listener) => db.watch({}, (changes) => listener(changes.map(({ key }) => key))),
    get: (id) => db.get<Row>(id),
    count: () => db.count(),
    close: () => db.close(),
  };
}

async function openReplicache(url: string): Promise<App> {
  const { Replicache } = await import('replicache');
  const rep = new Replicache({
    name: 'mutators',
    pullURL: `${url}replicache-pull`,
    pullInterval: null,
    pushDelay: 1e9,
    mutators: {
      async assign(tx: WriteTransaction, args: Close) {
        await tx.set(
          args.id,
          closed((await tx.get(args.id)) as unknown as Row | undefined, args) as never,
        );
      },
    },
  });
  const get = (id: string) =>
    rep.query(async (tx) => (await tx.get(id)) as unknown as Row | undefined);
  return {
    ...replicaOf(rep),
    call: (args) => rep.mutate.assign(args as never),
    watch: (listener) =>
      rep.experimentalWatch((diffs) => listener(diffs.map(({ key }) => `${key}`))),
    get,
  };
}

/** Measures a job, with what a person would notice of it. */
async function noticed(work: () => Promise<unknown>): Promise<Sample> {
  const watch = await watched(() => timerGap(async () => (await timed(work)).ms));
  const { gapMs, result: value } = watch.result;
  const details = {
    'longest gap between frames, ms': watch.frameGapMs,
    'longest gap between timers, ms': gapMs,
  };
  return { value, details };
}

/** Measures the time from each of several calls to the watcher. */
async function callsOf(app: App, rows: number): Promise<Sample> {
  const times: number[] = [];
  let heard: (keys: readonly string[]) => void = () => {};
  const stop = app.watch((keys) => heard(keys));
  for (let nth = 0; nth < CALLS; nth++) {
    const id = idOf((nth * 7919) % rows);
    const told = new Promise<void>((resolve) => {
      heard = (keys) => {
        if (keys.includes(id)) resolve();
      };
    });
    const startMs = performance.now();
    const called = app.call({ id, owner: `caller ${nth}` });
    await told;
    times.push(performance.now() - startMs);
    await called;
  }
  stop();
  return { value: percentile(times, 0.5), details: { 'p99, ms': percentile(times, 0.99) } };
}

async function replayOf(app: App, rows: number, queued: number): Promise<Sample> {
  const idAt = (nth: number) => idOf(Math.floor((nth * rows) / queued));
  const { value: fillMs } = await noticed(async () => {
    for (let nth = 0; nth < queued; nth += AT_ONCE) {
      const calls = Array.from({ length: AT_ONCE }, (_, more) =>
        app.call({ id: idAt(nth + more), owner: `queued ${nth + more}` }),
      );
      await Promise.all(calls);
    }
  });
  const { rows: changed } = await lab.changeFeed(queued, rows);
  // Leftovers of so many commits are collected.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const last = changed.at(-1) as Row;
  const sample = await noticed(() => app.pull(last));
  for (const [nth, id] of [
    [0, idAt(0)],
    [queued - 1, idAt(queued - 1)],
  ] as const) {
    const row = await app.get(id);
    if (row?.owner !== `queued ${nth}`) throw new Error(`call ${nth} is lost: ${row?.owner}`);
  }
  const seen = await app.get(last.id);
  if (seen?.modified !== last.modified) throw new Error('a remote change is missing');
  return { ...sample, details: { ...sample.details, 'making the calls, ms': fillMs } };
}

function actOf(name: string, openApp: (url: string) => Promise<App>): Act {
  return async ({ rows, quick }) => {
    const { near } = await lab.feed(rows, 'replicache');
    const { rows: changed } = await lab.changeFeed(1, rows);
    // The server makes the answer once: it is ready before any clock starts.
    await (await firstPull(near)).arrayBuffer();
    let app: App | undefined;
    let storedMs = 0;
    const startMs = performance.now();
    const pulled = await noticed(async () => {
      // Opening counts: Replicache pulls by itself then.
      app = await openApp(near);
      await app.pull(changed[0] as Row);
    });
    const opened = app as unknown as App;
    await opened.stored?.();
    storedMs = performance.now() - startMs;
    const count = await opened.count();
    if (count !== rows) throw new Error(`${count} rows of ${rows}`);
    const also =
      opened.stored === undefined ? {} : { also: { [`${name}, until stored`]: storedMs } };
    const samples = {
      'first-pull': { ...pulled, ...also },
      call: await callsOf(opened, rows),
      replay: await replayOf(opened, rows, quick ? QUICK_QUEUED : QUEUED),
    };
    await opened.close();
    return samples;
  };
}

/** Fetches the answer of a first pull, or parses it as well; keeps no row. */
const fetchAct: Act = async ({ rows }) => {
  const { near } = await lab.feed(rows, 'replicache');
  await (await firstPull(near)).arrayBuffer();
  const { ms: bytesMs } = await timed(async () => (await firstPull(near)).arrayBuffer());
  const { ms, result } = await timed(async () => (await firstPull(near)).json());
  if (result.patch.length !== rows) throw new Error(`${result.patch.length} rows of ${rows}`);
  const also = { 'fetch alone': bytesMs };
  return { 'first-pull': { value: ms, also } };
};

const contestant = (
  kind: Contestant['kind'],
  name: string,
  openApp: (url: string) => Promise<App>,
): Contestant => ({ name, kind, ...missing, acts: [actOf(name, openApp)] });

export const MUTATORS: Suite = {
  name: 'mutators',
  mostRows: 100_000,
  cases: [
    { name: 'first-pull', title: 'a first pull of all rows', unit: 'ms' },
    { name: 'call', title: 'a call of a mutator until a watcher hears of it, p50', unit: 'ms' },
    {
      name: 'replay',
      title: '10,000 calls that wait, made again on 10,000 changes of the server',
      unit: 'ms',
    },
  ],
  contestants: [
    { name: 'fetch and parse', kind: 'floor', ...missing, acts: [fetchAct] },
    contestant('ours', 'hedgerow', openOurs),
    contestant('peer', 'Replicache', openReplicache),
  ],
};

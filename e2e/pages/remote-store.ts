/** The page of `tests/worker-store.spec.ts`: has its store in a worker of some kind. */
import { live } from 'hedgerow';
import { connect, type RemoteStore } from 'hedgerow/worker';
import hostUrl from './remote-host.ts?worker&url';
import type { Issue, IssueTables } from './remote-issues.js';
import serviceUrl from './remote-service.ts?worker&url';

type Db = RemoteStore<IssueTables>;

let worker: Worker | undefined;

const rowsOf = (from: number, count: number): Issue[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `i${String(from + n).padStart(6, '0')}`,
    title: `Mend gate ${from + n}`,
    status: n % 2 === 0 ? 'open' : 'closed',
    modified: from + n,
  }));

const remote = {
  connect,
  async dedicated(name: string): Promise<Db> {
    worker = new Worker(hostUrl, { type: 'module', name });
    return connect<IssueTables>(worker, { tables: ['issues'] });
  },
  terminate(): void {
    worker?.terminate();
  },
  async shared(name: string): Promise<Db> {
    return connect<IssueTables>(new SharedWorker(hostUrl, { type: 'module', name }));
  },
  /** Starts a service worker of a module, or of a classic script. */
  async service(name: string, type: 'module' | 'classic'): Promise<Db> {
    const url = type === 'module' ? serviceUrl : '/remote-service.classic.js';
    const registration = await navigator.serviceWorker.register(`${url}?store=${name}`, { type });
    const found = registration.installing ?? registration.waiting ?? registration.active;
    if (found === null) throw new Error('there is no worker');
    if (found.state !== 'activated') {
      await new Promise<void>((resolve) => {
        found.addEventListener('statechange', () => found.state === 'activated' && resolve());
      });
    }
    return connect<IssueTables>(found);
  },
  /** Loads, queries, changes and follows. Returns the results. */
  async scenario(db: Db, count: number) {
    const told: number[] = [];
    await db.issues.putMany(rowsOf(0, count), {
      onProgress: ({ fraction = -1 }) => void told.push(fraction),
    });
    const query = db.issues.where({ status: 'open' }).orderBy('modified', 'desc').limit(3);
    const newest = (await query.toArray()).map(({ id }) => id);
    const shown = live(query);
    const stop = shown.subscribe(() => {});
    while (shown.get().status === 'loading') await new Promise((wait) => setTimeout(wait, 5));
    const first = shown.get().rows[0];
    await db.transaction(async (tx) => {
      const row = await tx.issues.get('i000000');
      if (row !== undefined) tx.issues.put({ ...row, modified: count - 2.5 });
    });
    while (shown.get().rows[1]?.id !== 'i000000') await new Promise((wait) => setTimeout(wait, 5));
    const isKept = shown.get().rows[0] === first;
    stop();
    shown.close();
    let scanned = 0;
    for await (const _ of db.issues) scanned += 1;
    const at = new Date(1_754_000_000_000);
    await db.dated.put({ id: 'd', title: 'dated', status: 'open', modified: 1, at });
    const isDate = (await db.dated.get('d'))?.at instanceof Date;
    const fractions = told.length > 0 && told.every((one) => one >= 0 && one <= 1);
    const code = await db.issues
      .insert({ id: 'i000001', title: '', status: '', modified: 0 })
      .catch((error) => error.detail ?? error.code);
    const verified = (await db.health.verify()).ok;
    return { newest, isKept, scanned, isDate, fractions, code, verified, root: await db.root };
  },
  rowsOf,
};

export type Remote = typeof remote;

declare global {
  interface Window {
    remote: Remote;
    remoteDb: Db;
    /** The events of a watch. */
    remoteTold: unknown[];
  }
}

window.remote = remote;

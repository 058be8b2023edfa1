/** The names that pages leave out, and their surroundings: a server, an old app, parts of a browser. */
import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import {
  folderRemote,
  type RemoteServer,
  type ServerOptions,
  serveRemote,
} from '../../../server/src/index.js';
import { sqlite } from '../../../sqlite/src/index.js';
import { opSqlite } from '../../../sqlite/src/op-sqlite.js';
import { folder } from '../../../sqlite/test/support/sql-storages.js';
import { memory, open } from '../../src/index.js';
import * as sync from '../../src/sync/index.js';
import { bucket } from '../../src/sync/link/bucket.js';
import { mutators } from '../../src/sync/mutators/index.js';
import { memoryRemote, type Remote } from '../../src/sync/remote/index.js';
import type { RestPullRequest, RestPushRequest } from '../../src/sync/rest/index.js';
import { ServerDouble } from '../support/doubles/mutators-server.js';
import { RestDouble } from '../support/doubles/rest-server.js';
import { closeAll, type RunOptions } from './page-examples.js';

/** The needs of a page, and a function that runs after it. */
export interface Setting extends RunOptions {
  readonly after?: () => Promise<void>;
}

/** The longest wait of a server for a request. */
const PATIENCE = { timeout: 120_000 };

const nothing = () => {};
const element = () => ({}) as Record<string, unknown>;
const KEY = new Uint8Array(32).fill(7);
const ISSUE = { id: '4711', title: 'Fix the gate', status: 'open', modified: 1 };

/** Returns an export of a store with one row. */
async function backup(): Promise<Blob> {
  const db = await open('backup', { storage: memory() });
  await db.put('a', 1);
  const bytes = await new Response((await db.backup.export()).stream()).blob();
  await db.close();
  return bytes;
}

const jsonOf = (body: RequestInit['body']): Promise<unknown> => new Response(body).json();

/** A server that keeps stored bodies, and has plain rows to pull and push. */
function server(rows = new RestDouble()): typeof fetch {
  const kept = new Map<string, BodyInit>([
    ['/issues.ndjson', `${JSON.stringify(ISSUE)}\n`],
    ['/everything.ndjson', `${JSON.stringify({ op: 'put', key: 'issues/4711', value: ISSUE })}\n`],
    ['/changes.ndjson', `${JSON.stringify({ op: 'put', key: 'seen', value: true })}\n`],
    ['/token', 'secret'],
  ]);
  return async (input, { method = 'GET', body } = {}) => {
    const { pathname, search } = new URL(String(input), 'https://app.example');
    if (pathname === '/pull') {
      const pulled = rows.pull((await jsonOf(body)) as RestPullRequest);
      return pulled === undefined ? new Response(null, { status: 204 }) : Response.json(pulled);
    }
    if (pathname === '/push') return rows.push((await jsonOf(body)) as RestPushRequest);
    if (search.startsWith('?since='))
      return Response.json({ now: 1, issues: [ISSUE], deleted: [] });
    if (pathname === '/backup') return new Response(await backup());
    if (method !== 'GET' && body) kept.set(pathname, body as BodyInit);
    const found = kept.get(pathname);
    return found === undefined ? new Response('not here', { status: 404 }) : new Response(found);
  };
}

/** Returns a `localStorage` with these entries. */
function storage(entries: Record<string, string> = {}) {
  return Object.defineProperty({ ...entries }, 'getItem', {
    value: (key: string) => entries[key] ?? null,
  });
}

/** Returns remotes in memory: one for each address. */
function remotes() {
  const all = new Map<string, ReturnType<typeof memoryRemote>>();
  const httpRemote = ({ url }: { url: string }) => {
    if (!all.has(url)) all.set(url, memoryRemote());
    return all.get(url);
  };
  return { 'hedgerow/sync': { ...sync, httpRemote } };
}

/** As `remotes`, with rows at the address of the page. */
async function filledRemotes(): Promise<Setting> {
  const modules = remotes();
  const db = await open('filled', { storage: memory() });
  const url = 'https://example.org/rooms/7/';
  const link = await db.connect(bucket(modules['hedgerow/sync'].httpRemote({ url }) as Remote));
  await db.put('a', 1);
  await link.push();
  await db.close();
  return { modules };
}

/** The databases that an app had before: Dexie, localForage and idb-keyval. */
async function oldApp(): Promise<Setting> {
  const make = (name: string, version: number, upgrade: (db: IDBDatabase) => void) =>
    new Promise<void>((resolve, reject) => {
      const request = indexedDB.open(name, version);
      request.onupgradeneeded = () => upgrade(request.result);
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        request.result.close();
        resolve();
      };
    });
  // Dexie stores its version 3 as 30.
  await make('old-app', 30, (db) => {
    const issues = db.createObjectStore('issues', { keyPath: 'id' });
    issues.createIndex('status', 'status');
    issues.put({ id: '1', title: 'Fix the gate', status: 'open' });
    db.createObjectStore('comments', { keyPath: ['issue', 'number'] });
    db.createObjectStore('settings').put('dark', 'theme');
  });
  await make('keyval-store', 1, (db) => db.createObjectStore('keyval').put(1, 'a'));
  await make('own', 1, (db) => db.createObjectStore('drafts').put(1, 'a'));
  await make('old', 1, (db) => {
    db.createObjectStore('drafts').put({ text: 'x', written: new Date(0) }, 'd');
  });
  const row = { id: '2', title: 'Paint it', status: 'open' };
  const { fromDexie } = await import('../../../import/src/index.js');
  return {
    names: {
      source: fromDexie({ database: 'old-app', table: 'issues' }),
      localStorage: storage({ 'app/size': '3', 'persist:root': '{"a":"1","_persist":"{}"}' }),
      rxIssues: { find: () => ({ exec: async () => [{ toJSON: () => row }] }) },
      rep: {
        query: (body: (tx: unknown) => unknown) =>
          body({ scan: () => ({ entries: () => ({ toArray: async () => [['k', 1]] }) }) }),
      },
      collection: { toArrayWhenReady: async () => [row] },
    },
  };
}

/** Collects the tests of a page, and runs them one after the other. */
function testsOfPage(): Setting {
  const tests: [title: string, body: () => Promise<void>][] = [];
  const before: (() => void)[] = [];
  const vitest = {
    expect,
    vi,
    beforeEach: (hook: () => void) => before.push(hook),
    test: (title: string, body: () => Promise<void>) => tests.push([title, body]),
  };
  return {
    modules: { vitest },
    after: async () => {
      expect(tests.map(([title]) => title)).toHaveLength(3);
      for (const [, body] of tests) {
        for (const hook of before) hook();
        await body();
      }
    },
  };
}

/** Opens a store that has pulled an issue from a server with mutators. */
async function pulledIssue(): Promise<Setting> {
  const double = new ServerDouble({ closeIssue: nothing });
  double.set([['issue/4711', ISSUE]]);
  vi.stubGlobal('fetch', async (url: string, { body }: RequestInit) => {
    const request = (await jsonOf(body)) as never;
    return Response.json(url.endsWith('/pull') ? double.pull(request) : double.push(request));
  });
  const db = await open('app');
  const url = (name: string) => ({ url: `https://app.example/${name}` });
  const link = await db.connect(mutators({ mutators: {}, pull: url('pull'), push: url('push') }));
  await link.pull();
  await db.close();
  const names = { token: async () => 'secret', tell: nothing, show: nothing };
  return {
    names,
    after: () =>
      vi.waitFor(
        () => expect(double.done.map(({ name }) => name)).toEqual(['closeIssue']),
        PATIENCE,
      ),
  };
}

/** A server of plain rows that gets the row of the page. */
function plainRows(): Setting {
  const double = new RestDouble();
  vi.stubGlobal('fetch', server(double));
  return {
    names: { token: async () => 'secret', tell: nothing, show: nothing },
    after: () =>
      vi.waitFor(() => expect(Object.keys(double.rows)).toEqual(['issue/4711']), PATIENCE),
  };
}

/** Makes a tree of sums like the page's, for its claims. */
async function sumTree(): Promise<Setting> {
  const bytes = new TextEncoder().encode('EUR');
  const db = await open('sums', { storage: memory() });
  const sums = db.sumTree('balances');
  await sums.putMany([{ key: 'ann', value: bytes, sum: 30n }]);
  const names = { db, bytes, value: bytes, root: sums.root, proofOfEve: await sums.prove('eve') };
  return { names: { ...names, open }, after: () => db.close() };
}

/** A front page shows its list in a browser's page. */
const frontPage = (): Setting => ({ names: { document: { body: element() } } });

/** Modules that put stores in a folder, which is deleted after the tests. */
const IN_SQLITE = {
  '@hedgerow/sqlite': { sqlite: () => sqlite({ location: folder() }) },
  '@hedgerow/sqlite/op-sqlite': { opSqlite: () => opSqlite({ location: folder() }) },
};

/** Serves a folder that is deleted after the tests, at a free port. */
function ownServer(): Setting {
  const servers: RemoteServer[] = [];
  const served = async (remote: Remote, options: ServerOptions) => {
    const server = await serveRemote(remote, { ...options, port: 0 });
    servers.push(server);
    return server;
  };
  return {
    modules: {
      '@hedgerow/server': { folderRemote: () => folderRemote(folder()), serveRemote: served },
    },
    after: async () => {
      expect(servers).toHaveLength(1);
      for (const server of servers) await server.close();
    },
  };
}

const SETTINGS: Readonly<Record<string, () => Setting | Promise<Setting>>> = {
  ...Object.fromEntries(
    ['README.md', 'js/hedgerow/README.md', 'docs/index.md'].map((page) => [page, frontPage]),
  ),
  'js/import/README.md': oldApp,
  'js/inspector/README.md': () => ({ names: { document: { querySelector: element } } }),
  'js/server/README.md': ownServer,
  'js/sqlite/README.md': () => ({ modules: IN_SQLITE }),
  'docs/tour.md': () => ({
    names: {
      closeIssue: async (tx: { put(key: string, value: unknown): void }, { id }: { id: string }) =>
        tx.put(`closed/${id}`, true),
      keyOfRoom: async () => KEY,
    },
    modules: remotes(),
  }),
  'docs/api.md': async () => {
    const indexes = { byDay: { path: ['/status', '/day'] } } as const;
    const db = await open('api', { storage: memory(), indexes });
    await db.put('b', { status: 'open', day: '2025-06-01' });
    return { names: { db, open }, after: () => db.close() };
  },
  'docs/tables.md': () => ({ names: { from: 0, to: 1 } }),
  'docs/indexes.md': () => ({ names: { now: Date.now() } }),
  'docs/values.md': () => ({
    names: { input: { files: [new Blob(['gate'])] }, image: {}, seal: String, unseal: String },
  }),
  'docs/bulk-load.md': () => ({
    names: {
      show: nothing,
      stopButton: element(),
      async *pages() {
        yield { id: '1', title: 'Fix the gate' };
      },
    },
  }),
  'docs/editing.md': () => ({ names: { title: 'Fix the gate', id: '4711' } }),
  'docs/migrations.md': () => ({ names: { show: nothing, askForReload: nothing } }),
  'docs/live.md': () => ({ names: { render: nothing } }),
  'docs/lists.md': () => ({ names: { render: nothing, showCount: nothing, location: {} } }),
  'docs/drafts.md': () => ({ names: { showReview: nothing, ask: async () => true } }),
  'docs/tabs.md': () => ({
    names: { addEventListener: nothing, document: { querySelector: element } },
  }),
  'docs/service-workers.md': () => ({
    names: { navigator: { serviceWorker: { register: nothing, controller: {} } } },
  }),
  'docs/backup.md': () => ({ names: { input: {}, show: nothing } }),
  'docs/health.md': () => ({
    names: { banner: element(), saveOffline: element(), reportToServer: nothing },
  }),
  'docs/mutators.md': pulledIssue,
  'docs/rest.md': plainRows,
  'docs/encryption.md': () => ({ names: { keyOfUser: async () => KEY }, modules: remotes() }),
  'docs/sync.md': () => ({
    names: { show: nothing, keyOfRoom: async () => KEY, keyring: new Map([[2, KEY]]) },
    modules: remotes(),
  }),
  'docs/bucket.md': () => ({
    names: { show: nothing, account: 'ann', token: async () => 'secret' },
    modules: { 'hedgerow/sync': { ...sync, s3Remote: () => memoryRemote() } },
  }),
  'docs/quick-start.md': () => ({ modules: IN_SQLITE }),
  'docs/react-native.md': () => ({ modules: IN_SQLITE }),
  'docs/sum-tree.md': sumTree,
  'docs/coming-from.md': oldApp,
  'docs/tanstack-db.md': () => ({
    names: { fromServer: { getKey: ({ id }: { id: string }) => id, sync: { sync: nothing } } },
  }),
  'docs/testing-an-app.md': testsOfPage,
  'docs/why-a-page-freezes.md': () => ({ names: { requestAnimationFrame: nothing } }),
  // Compaction needs Web Locks, or a store that only this page can open.
  'docs/errors/quota-exceeded.md': () => ({
    modules: {
      hedgerow: { open: (name: string) => open(name, { storage: memory() }) },
    },
  }),
  'docs/errors/remote.md#data': filledRemotes,
  'docs/errors/index.md': () => ({ names: { addEventListener: nothing } }),
  'docs/errors/missing-chunk.md': () => ({ names: { localStorage: storage() } }),
  'docs/errors/not-found.md#store': () => ({ names: { localStorage: storage() } }),
  'docs/errors/unauthorized.md': () => ({ names: { document: { querySelector: nothing } } }),
  ...Object.fromEntries(
    [
      ...['corrupt-chunk.md', 'rollback.md'],
      ...['invalid-data.md#delta', 'remote.md#status', 'remote.md#gone'],
    ].map((place) => [`docs/errors/${place}`, () => ({ modules: remotes() })]),
  ),
};

/** Returns the setting of a page, by its path, or of a section of a page of errors. */
export async function setting(page: string): Promise<Setting> {
  return (await SETTINGS[page]?.()) ?? {};
}

/** Gives each page fresh browser globals, without databases, in the tests of the calling file. */
export function inFreshBrowsers(): void {
  beforeEach(() => {
    vi.stubGlobal('indexedDB', new IDBFactory());
    vi.stubGlobal('fetch', server());
  });
  afterEach(async () => {
    await closeAll();
    vi.unstubAllGlobals();
  });
}

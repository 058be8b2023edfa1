/** A right call of each export of each entry: hostile arguments replace the right ones. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Awareness } from 'y-protocols/awareness';
import { Doc } from 'yjs';
import { memory, open, rowType, table } from '../../src/index.js';
import { encodeKey } from '../../src/store/keys/index.js';
import { signingKeys } from '../../src/sync/encryption/index.js';
import {
  type BucketTransport,
  bucket,
  type Mutators,
  type MutatorTransport,
  type RestTransport,
} from '../../src/sync/index.js';
import { memoryRemote } from '../../src/sync/remote/index.js';
import { serve } from '../../src/worker/serve.js';
import { kindOf } from '../support/error-kind.js';

export const folder = () => mkdtempSync(join(tmpdir(), 'hedgerow-hostile-'));

const items = table({
  schema: rowType<{ id: string; n: number }>(),
  key: 'id',
  indexes: { byN: ['n'] },
});

export async function scene() {
  const storage = memory();
  const sums = { t: { prefix: 'sum/', sum: '/n' } };
  const db = await open('scene', {
    storage,
    tables: { items },
    indexes: { n: { path: '/n' } },
    advanced: { sums },
  });
  const rows: [string, unknown][] = [
    ['a', { n: 1 }],
    ['b', { n: 2 }],
    ['sum/a', { n: 3 }],
  ];
  await db.putMany(rows);
  await db.items.put({ id: 'one', n: 1 });
  return { db, storage, rows, remote: memoryRemote() };
}
export type Scene = Awaited<ReturnType<typeof scene>>;

/** The way to call an export. */
export interface Way {
  readonly args: (scene: Scene) => unknown[] | Promise<unknown[]>;
  readonly isClass?: boolean;
  /** Right arguments for members of its result. */
  readonly members?: Readonly<Record<string, readonly unknown[]>>;
  /** Members that are not called; a comment gives the reason. */
  readonly without?: RegExp;
  /** Whether rows may be added. */
  readonly writes?: boolean;
  /** Whether the result has no members to call, and no end. */
  readonly isKept?: (made: unknown) => boolean;
  readonly end?: (made: unknown) => unknown;
  /** Makes the thing whose members are called, if that is not the result itself. */
  readonly opened?: (scene: Scene, made: never) => unknown;
  /** Whether even a right call is refused here: there is no window, or no such store. */
  readonly isRefused?: boolean;
  /** Whether an error belongs to the library that the entry is for. */
  readonly isTyped?: (error: unknown) => boolean;
}

/** Hooks run only within components, and pass their arguments to `live`; no app calls the kit. */
export const LEFT_OUT = new Set(
  ['react', 'vue', 'svelte', 'solid', 'angular', 'full', 'slim', 'kit'].map(
    (path) => `hedgerow/${path}`,
  ),
);

/** The class of all expected errors. */
export const UNCALLED = new Set(['HedgerowError']);

const closed = async (made: unknown) => {
  const { close, db, stop } = Object(made) as Record<string, unknown>;
  if (typeof made === 'function') return made();
  if (typeof close === 'function') await close.call(made);
  if (typeof stop === 'function') stop.call(made);
  if (db !== undefined) await closed(db);
};

const BYTES = Uint8Array.from({ length: 32 }, (_, at) => at + 1);
const hash = 'p/'.padEnd(66, '0');
const REMOTE = {
  readHead: ['main', { pastCaches: true }],
  readHeadSince: ['main', '"token"', {}],
  swapHead: ['other', '"no token"', new Uint8Array(3), {}],
  get: [hash, { from: 0, to: 1 }, {}],
  put: [hash, new Uint8Array(3), {}],
  remove: [['p/'.padEnd(66, '1')], {}],
  list: ['p/', {}],
};
/** Always fails, as without a network. */
const fetch = async () => {
  throw new TypeError('fetch failed');
};
/** Members for the kinds of connections, which TypeScript protects. */
const INNER =
  /^(check|run|makeCall|show|startOptions|loopTools|describeState|findPending|round|onCommit|leave|unsent)$/;
const plain = (...args: unknown[]): Way => ({ args: () => args, isKept: () => true });
const mutatorOptions = () => ({
  mutators: { add: () => {} },
  pull: async () => Response.json({ cookie: 1, lastMutationIDChanges: {}, patch: [] }),
  push: async () => Response.json({}),
});
/** Whether an error belongs to abstract-level itself; its own calls check only the arguments that they need. */
const level = (error: unknown) =>
  /^LEVEL_/.test(kindOf(error) ?? '') ||
  !/adapters.abstract-level.ts/.test((error as Error)?.stack ?? '');

export const ENTRIES: Readonly<Record<string, Readonly<Record<string, Way>>>> = {
  hedgerow: {
    open: { args: ({ storage }) => ['other', { storage }], end: closed, isKept: () => true },
    destroy: { args: () => ['other', { storage: memory() }] },
    verifyStore: { args: ({ storage }) => ['scene', { storage }], isKept: () => true },
    repairStore: { args: ({ storage }) => ['scene', { storage }], isKept: () => true },
    importStore: {
      args: async ({ db }) => {
        const bytes = new Response((await db.backup.export()).stream()).blob();
        return ['copy', await bytes, { storage: memory() }];
      },
      isKept: () => true,
    },
    clone: {
      args: ({ remote }) => [
        'clone',
        bucket(remote, { name: 'x' }),
        { storage: memory(), mode: 'full' },
      ],
      isKept: () => true,
      end: closed,
    },
    idb: plain({ exclusive: true }),
    memory: plain(),
    preload: plain(),
    missingFeatures: plain(),
    rowType: plain(),
    table: plain({ key: 'id', indexes: { byN: ['n'] } }),
    file: plain(new Blob(['x'])),
    StoredFile: {
      args: () => [new Uint8Array(2), 'name', 'text/plain', 5],
      isClass: true,
      without: /^blob$/,
    },

    live: { args: ({ db }) => [db, { prefix: 'a' }] },
    liveRow: { args: ({ db }) => [db, 'a'] },
    liveCount: { args: ({ db }) => [db, { prefix: 'a' }] },

    encodeKey: plain(['a', 1]),
    decodeKey: plain(encodeKey(['a', 1])),
    keyRange: plain(['a']),

    wordsOf: plain('some words'),
  },
  'hedgerow/proofs': {
    verifyProof: {
      args: async ({ db }) => [db.root, 'a', await db.prove('a')],
      isKept: () => true,
    },
    sumKey: plain('key'),
    verifySumProof: plain({ hash: '0'.repeat(64), sum: 0n }, 'k', null, new Uint8Array(2)),
    verifySumProofs: plain({ hash: '0'.repeat(64), sum: 0n }, [['k', null]], new Uint8Array(4)),
  },
  'hedgerow/worker': {
    connect: {
      args: ({ db }) => {
        const { port1, port2 } = new MessageChannel();
        serve({ open: async () => db, port: port2 });
        return [port1, { timeoutMs: 10_000, tables: ['items'] }];
      },
      isKept: () => true,
    },
    serve: {
      args: ({ db }) => [{ open: async () => db, port: new MessageChannel().port1 }],
      end: closed,
    },
  },
  'hedgerow/sync': {
    bucket: {
      args: ({ remote }) => [remote, { name: 'y' }],
      opened: ({ db }, transport: BucketTransport) => db.connect(transport),
      without: INNER,
      writes: true,
    },
    rest: {
      args: () => [{ pull: async () => ({ patch: [] }), push: async () => undefined }],
      opened: ({ db }, transport: RestTransport) => db.connect(transport),
      without: INNER,
      writes: true,
    },
    mutators: {
      args: () => [mutatorOptions()],
      opened: async (_, transport: MutatorTransport<Mutators>) =>
        (await open('server', { storage: memory() })).connect(transport),
      members: { drop: [{ place: 1 }] },
      without: INNER,
    },
    httpRemote: {
      args: () => [{ url: 'http://localhost/x', token: 'x', fetch }],
      members: REMOTE,
    },
    memoryRemote: { args: () => [{ now: Date.now }], members: REMOTE },
    parseName: plain('h/main'),
    probeRemote: { args: ({ remote }) => [remote, {}], isKept: () => true },
    serverPokes: plain('http://localhost/', { token: 'x' }),
    takeChanges: {
      args: ({ db }) => [db, []],
      isKept: () => true,
    },
    s3Remote: {
      args: () => [
        {
          endpoint: 'http://localhost',
          bucket: 'b',
          region: 'r',
          prefix: 'p/',
          pathStyle: true,
          credentials: { accessKeyId: 'a', secretAccessKey: 's' },
          fetch,
        },
      ],
      members: REMOTE,
    },
    s3Signer: {
      args: () => [
        {
          endpoint: 'http://localhost',
          bucket: 'b',
          region: 'r',
          pathStyle: true,
          credentials: { accessKeyId: 'a', secretAccessKey: 's' },
        },
      ],
      isKept: () => true,
    },
  },
  'hedgerow/encryption': {
    atRest: plain({ key: BYTES }),
    rotateKey: {
      args: () => ['none', { from: { key: BYTES }, to: { key: BYTES }, storage: memory() }],
      isRefused: true,
    },
    signingKeys: plain(BYTES),
    generateKey: plain(),
    importKey: plain(BYTES),
    passphraseKey: plain('pass', BYTES),
    remoteKeys: plain({ keys: () => BYTES, place: 'room', epoch: 1 }),
    signedRemote: {
      args: async ({ remote }) => [remote, { ...(await signingKeys(BYTES)), place: 'x' }],
      members: REMOTE,
    },
  },
  '@hedgerow/adapters/abstract-level': {
    HedgerowLevel: {
      args: ({ db }) => [db, { prefix: 'level/' }],
      isClass: true,
      isTyped: level,
      // Methods of the base class: they run the given functions.
      without: /^(defer|deferAsync|attachResource|.*[lL]isteners?.*|on|once|off|emit|prepend.*)$/,
      writes: true,
    },
  },
  '@hedgerow/adapters/unstorage': {
    hedgerowDriver: { args: ({ db }) => [db, { prefix: 'un/' }], writes: true },
  },
  '@hedgerow/adapters/keyv': {
    HedgerowKeyv: { args: ({ db }) => [db, { prefix: 'keyv/' }], isClass: true, writes: true },
  },
  '@hedgerow/tanstack-db': {
    hedgerowPersistence: {
      args: ({ db }) => [db, { prefix: 'p/' }],
      // Called only by TanStack DB.
      isKept: () => true,
    },
    hedgerowCollectionOptions: {
      args: ({ db }) => [{ table: db.items, id: 'x' }],
      isKept: () => true,
    },
  },
  '@hedgerow/import': {
    fromDexie: plain({ database: 'd', table: 's' }),
    fromEntries: plain({ name: 'x', entries: () => [['a', 1]] }),
    fromIdbKeyval: plain({ database: 'd', store: 's' }),
    fromIndexedDB: plain({ database: 'd', store: 's' }),
    fromLocalForage: plain({ name: 'd', storeName: 's' }),
    importFrom: {
      args: ({ db }) => [
        { name: 'x', open: async () => undefined },
        db.items,
        { map: (x: unknown) => x },
      ],
      isKept: () => true,
      writes: true,
    },
  },
  '@hedgerow/inspector': {
    openInspector: { ...plain({ page: 'http://localhost/', as: 'corner' }), isRefused: true },
  },
  '@hedgerow/inspector/trace': { trace: { args: ({ db }) => [db, { minMs: 1 }], end: closed } },
  '@hedgerow/adapters/tanstack-query': {
    hedgerowQueryStorage: { args: ({ db }) => [db, { prefix: 'q/' }], writes: true },
    hedgerowQueryPersistence: {
      args: ({ db }) => [db, { prefix: 'q/' }],
      // Called only with the queries of TanStack Query.
      without: /^(de)?serialize$/,
    },
  },
  '@hedgerow/adapters/state': {
    hedgerowStateStorage: {
      args: ({ db }) => [db, { prefix: 's/' }],
      // A promise cannot resolve to a revoked proxy, even as the initial value.
      isTyped: (error) => /revoked/.test(String(error)),
      writes: true,
    },
  },
  '@hedgerow/adapters/yjs': {
    HedgerowProvider: {
      args: ({ db }) => [db, 'doc', new Doc(), { prefix: 'y/' }],
      isClass: true,
      writes: true,
    },
  },
  '@hedgerow/adapters/yjs-awareness': {
    shareAwareness: {
      args: () => [new Awareness(new Doc()), 'channel'],
      end: closed,
      isKept: () => true,
    },
  },
  '@hedgerow/server': {
    folderRemote: { args: () => [folder()], members: REMOTE },
    serveRemote: {
      args: ({ remote }) => [remote, { port: 0, host: '127.0.0.1', token: 't', origin: ['*'] }],
      end: closed,
      // It rejects with the error of listening.
      isTyped: (error) => Object(error).syscall !== undefined,
    },
  },
  '@hedgerow/sqlite': {
    sqlite: plain({ location: folder(), name: 'x' }),
  },
  '@hedgerow/sqlite/op-sqlite': { opSqlite: plain({ name: 'x' }) },
  '@hedgerow/sqlite/expo-sqlite': { expoSqlite: plain({ name: 'x' }) },
};

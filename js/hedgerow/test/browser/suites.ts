/** The suites that browsers run: all but those named here. */

/** `needs` is a text in each of the suites, or in a helper that it imports; `browser-suites.test.ts` checks that. */
const REASONS = [
  {
    needs: "/sqlite.mjs'",
    why: 'SQLite in Node',
    suites: [
      'sqlite/at-rest-sql',
      'sqlite/expo-sqlite',
      'sqlite/expo-sqlite-shapes',
      'storage/formats',
      'store/gone',
      'sqlite/op-sqlite-shapes',
      'sqlite/cross-process-locks',
      'sqlite/sql',
      'sqlite/sql-contract',
      'sqlite/sql-driver',
      'sqlite/sql-faults',
    ],
  },
  {
    needs: "'node:child_process'",
    why: 'runs processes of Node',
    suites: [
      'server/cli',
      'package/example-bucket-s3',
      'package/example-node',
      'package/importing',
      'store/tables/migrations-kills',
      'server/remote-node',
      'sqlite/sql-processes',
      'adapters/yjs-kills',
    ],
  },
  {
    needs: "'node:v8'",
    why: 'asks V8 for a collection, or for small memories, by its flags',
    suites: [
      'core/closed-memory',
      'engine/read/iterators',
      'engine/read/proof',
      'core/shelf-traps',
      'engine/read/snapshots',
      'engine/sums/sum-traps',
      'sync/link/sync-traps',
      'core/segment-ids-after-traps',
      'core/traps',
      'engine/watch/watch-faults',
      'worker/worker-memory',
    ],
  },
  {
    needs: 'createRequire(',
    why: "finds two versions of a package in Node's way",
    suites: [
      'tanstack-db/tanstack-db',
      'tanstack-db/tanstack-db-mutations',
      'tanstack-db/tanstack-db-persistence',
      'tanstack-db/tanstack-db-tabs',
    ],
  },
  {
    needs: "'node:vm'",
    why: 'values of another realm of Node',
    suites: ['engine/write/lossy-values', 'package/realms'],
  },
  {
    needs: "'node:os'",
    why: 'files of Node, and entries for them',
    suites: ['package/entries-hostile', 'server/folder-disk'],
  },
  {
    needs: "'node:http'",
    why: 'a server, and parts that Node loads',
    suites: [
      'sync/wire/app-functions',
      'server/cli-check',
      'package/example-bucket',
      'sync/remote/server-pokes',
      'sync/remote/remote-hostile',
      'sync/remote/remote-limits',
      'sync/remote/remote-resume',
      'sync/rest/rest-http',
      'server/server-access',
      'server/signed-remote-node',
      'package/start-up',
      'sync/link/sync-traffic',
    ],
  },
  { needs: "'node:net'", why: 'a proxy that cuts connections', suites: ['sync/link/sync-cut'] },
  {
    needs: '/gateway.mjs',
    why: 'starts servers of S3; `e2e/tests/remote.spec.ts` asks one from a page',
    suites: ['server/cli-s3', 'server/collect-remote-s3', 'sync/remote/remote-s3'],
  },
  {
    needs: "'aws4'",
    why: "an implementation that needs Node's `crypto`",
    suites: ['sync/remote/presign'],
  },
  {
    needs: '@vitest-environment jsdom',
    why: 'is about jsdom',
    suites: ['inspector/inspector-entry', 'package/jsdom'],
  },
  {
    needs: '@vitest-environment happy-dom',
    why: 'is about tests of apps in happy-dom',
    suites: ['package/testing-guide'],
  },
  {
    needs: "from 'typescript-5.4'",
    why: 'compiles examples of pages',
    suites: ['package/error-examples', 'package/guide-examples', 'package/sync-remedies'],
  },
  {
    needs: 'setImmediate(go)',
    why: 'a model of tabs whose clock counts turns of Node; `e2e/tests` has real tabs',
    suites: ['storage/frozen-tabs', 'storage/pins', 'sync/link/sync-frozen', 'storage/takeover'],
  },
  {
    needs: 'vi.mock(',
    why: 'replaces a module of the wrapper, for which engines lack a hook',
    suites: [
      'storage/full-storage-mutant',
      'live/live',
      'live/live-first',
      'live/live-random',
      'live/live-windows',
      'core/read-slices',
      'engine/repair/repair-later',
    ],
  },
  {
    needs: 'readdirSync(DIR',
    why: 'reads this folder',
    suites: ['browser/browser-suites'],
  },
  {
    needs: "vi.stubGlobal('navigator', ",
    why: 'a platform that says and does what it is told to, and storage that lives as long as it is told to',
    suites: [
      'storage/ballast',
      'base/let-firefox-draw',
      'store/storage-health',
      'store/health-listeners',
      'store/persist',
      'core/shared-cache-budget',
    ],
  },
  {
    needs: '.hasRef()',
    why: "asks Node's timers whether they keep it alive",
    suites: ['engine/watch/watch-ends'],
  },
  {
    needs: 'process.memoryUsage',
    why: "measures the heap, or counts Node's warnings",
    suites: ['engine/signal-memory', 'sync/link/sync-hostile'],
  },
  {
    needs: "'node:crypto'",
    why: 'a second opinion by the ciphers of Node',
    suites: ['sync/encryption/at-rest-format'],
  },
  {
    needs: "'node:zlib'",
    why: 'a second opinion by the deflate of Node',
    suites: ['sync/encryption/sync-encrypted'],
  },
  {
    needs: 'vi.stubEnv(',
    why: 'is about the variables of a run, which browsers are told before it',
    suites: ['support/property'],
  },
  { needs: 'nextTick', why: "stands in for Node's `process`", suites: ['base/missing-features'] },
  {
    needs: 'globalThis.setImmediate',
    why: 'a model of an engine whose clock, timers and order of turns are those of the test',
    suites: ['sync/encryption/at-rest-simulated', 'storage/full-storage', 'engine/simulated'],
  },
  { needs: 'Buffer', why: "is about Node's `Buffer`", suites: ['engine/write/buffer-copied'] },
];

/** All packages but the store. */
const PACKAGES = /^(adapters|import|inspector|server|sqlite|tanstack-db)\//;

/** Returns the file of a suite below `js`: without a package it belongs to the store. */
const fileOf = (suite: string): string =>
  `${PACKAGES.test(suite) ? suite.replace('/', '/test/') : `hedgerow/test/${suite}`}.test.ts`;

/** Excluded suites by their files below `js`, with the needed text and the reason. */
export const LEFT_OUT = new Map(
  REASONS.flatMap(({ suites, ...reason }) => suites.map((suite) => [fileOf(suite), reason])),
);

/** The suites that the deep tier runs in each engine: the contract of storage, and the suites that use storage most. */
export const SAMPLE = [
  'storage/segment-store',
  'sync/encryption/at-rest-contract',
  'engine/branches/lines',
  'base/locks',
  'engine/transaction/transaction',
  'engine/transfer/transfer',
  'engine/watch/watch',
].map((suite) => `js/${fileOf(suite)}`);

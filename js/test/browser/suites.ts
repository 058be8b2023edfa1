/** Which suites run in browsers: all but those that are named here. */

/** `needs` is a text in each of the suites, or in a helper that it imports; `browser-suites.test.ts` looks for it. */
const REASONS = [
  {
    needs: "from './sqlite.mjs'",
    why: 'SQLite in Node',
    suites: [
      'at-rest-sql',
      'expo-sqlite',
      'expo-sqlite-shapes',
      'formats',
      'gone',
      'op-sqlite-shapes',
      'process-locks',
      'sql',
      'sql-contract',
      'sql-driver',
      'sql-faults',
    ],
  },
  {
    needs: "'node:child_process'",
    why: 'runs processes of Node',
    suites: [
      'cli',
      'example-bucket-s3',
      'example-node',
      'import',
      'migrations-kills',
      'remote-node',
      'sql-processes',
    ],
  },
  {
    needs: "'node:v8'",
    why: 'asks V8 for a collection, or for small memories, by its flags',
    suites: [
      'closed-memory',
      'iterators',
      'proof',
      'shelf-traps',
      'snapshots',
      'sum-traps',
      'sync-traps',
      'traps',
      'watch-faults',
      'worker-memory',
    ],
  },
  {
    needs: 'createRequire(',
    why: "finds two versions of a package in Node's way",
    suites: ['tanstack-db', 'tanstack-db-mutations', 'tanstack-db-persistence', 'tanstack-db-tabs'],
  },
  {
    needs: "'node:vm'",
    why: 'values of another realm of Node',
    suites: ['lossy-values', 'realms'],
  },
  {
    needs: "'node:os'",
    why: 'files of Node, and entries for them',
    suites: ['entries-hostile', 'folder-disk'],
  },
  {
    needs: "'node:http'",
    why: 'a server, and parts that Node loads',
    suites: [
      'app-functions',
      'cli-check',
      'example-bucket',
      'pokes',
      'remote-hostile',
      'remote-limits',
      'remote-resume',
      'rest-http',
      'server-access',
      'signed-remote-node',
      'start-up',
      'sync-traffic',
    ],
  },
  { needs: "'node:net'", why: 'a proxy that cuts connections', suites: ['sync-cut'] },
  {
    needs: './gateway.mjs',
    why: 'starts servers of S3; `e2e/tests/remote.spec.ts` asks one from a page',
    suites: ['cli-s3', 'collect-remote-s3', 'remote-s3'],
  },
  { needs: "'aws4'", why: "an implementation that needs Node's `crypto`", suites: ['presign'] },
  {
    needs: '@vitest-environment jsdom',
    why: 'is about jsdom',
    suites: ['inspector-entry', 'jsdom'],
  },
  {
    needs: '@vitest-environment happy-dom',
    why: 'is about tests of apps in happy-dom',
    suites: ['testing-guide'],
  },
  {
    needs: "from 'typescript-5.4'",
    why: 'compiles examples of pages',
    suites: ['error-examples', 'guide-examples', 'sync-remedies'],
  },
  {
    needs: 'setImmediate(go)',
    why: 'a model of tabs whose clock counts turns of Node; `e2e/tests` has real tabs',
    suites: ['frozen-tabs', 'pins', 'sync-frozen', 'takeover'],
  },
  {
    needs: 'vi.mock(',
    why: 'replaces a module of the wrapper, for which engines lack a hook',
    suites: [
      'full-storage-mutant',
      'live',
      'live-first',
      'live-random',
      'live-windows',
      'read-slices',
      'repair-later',
    ],
  },
  {
    needs: 'readdirSync(DIR)',
    why: 'reads this folder',
    suites: ['browser-suites'],
  },
  {
    needs: "vi.stubGlobal('navigator', ",
    why: 'a platform that says and does what it is told to, and storage that lives as long as it is told to',
    suites: ['ballast', 'frames', 'health', 'health-listeners', 'persist', 'shared-cache'],
  },
  {
    needs: '.hasRef()',
    why: "asks Node's timers whether they keep it alive",
    suites: ['watch-ends'],
  },
  {
    needs: 'process.memoryUsage',
    why: "measures the heap, or counts Node's warnings",
    suites: ['signal-memory', 'sync-hostile'],
  },
  {
    needs: "'node:crypto'",
    why: 'a second opinion by the ciphers of Node',
    suites: ['at-rest-format'],
  },
  {
    needs: "'node:zlib'",
    why: 'a second opinion by the deflate of Node',
    suites: ['sync-encrypted'],
  },
  {
    needs: 'vi.stubEnv(',
    why: 'is about the variables of a run, which browsers are told before it',
    suites: ['property'],
  },
  { needs: 'nextTick', why: "stands in for Node's `process`", suites: ['platform'] },
  {
    needs: 'globalThis.setImmediate',
    why: 'a model of an engine whose clock, timers and order of turns are those of the test',
    suites: ['at-rest-simulated', 'full-storage', 'simulated'],
  },
  { needs: 'Buffer', why: "is about Node's `Buffer`", suites: ['buffer-copied'] },
];

/** By the name of a file: what it needs, and why it is left out. */
export const LEFT_OUT = new Map(
  REASONS.flatMap(({ suites, ...reason }) => suites.map((suite) => [`${suite}.test.ts`, reason])),
);

/** What the deep tier runs in each engine: the contract of storage, and what touches storage most. */
export const SAMPLE = [
  'segment-store',
  'at-rest-contract',
  'lines',
  'locks',
  'transaction',
  'transfer',
  'watch',
].map((suite) => `js/test/${suite}.test.ts`);

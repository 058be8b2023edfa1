// Lists the browser features that Hedgerow uses and that some browsers in use lack.

const START_UP = 'js/hedgerow/test/package/start-up.test.ts';
const WITHOUT = 'js/hedgerow/test/package/without.test.ts';

/**
 * `data` are paths in browser-compat-data; a version must have all of them. `used` is a file or a folder, and a text in
 * it. `without` is the behaviour without the feature; a feature is `needed` when no store works then. `tests` are files
 * and the titles, or parts of titles, of the tests that remove it.
 */
export const FEATURES = [
  {
    name: 'WebAssembly with SIMD',
    data: ['webassembly/fixed-width-SIMD'],
    used: ['.cargo/config.toml', '+simd128'],
    needed: true,
    without: '`unsupported`, which names it',
    tests: [[START_UP, "['SIMD', 'WebAssembly'"]],
  },
  {
    name: 'the other instructions of the module: bulk memory, sign extension, saturating conversion, multi-value, reference types',
    data: [
      'webassembly/bulk-memory-operations',
      'webassembly/sign-extension-operations',
      'webassembly/non-trapping-float-to-int-conversions',
      'webassembly/multi-value',
      'webassembly/reference-types',
    ],
    used: ['scripts/lib/wasm.mjs', '--enable-reference-types'],
    needed: true,
    without: '`unsupported`; no browser has SIMD and `deflate-raw` without them',
    tests: [[START_UP, "['WebAssembly', 'WebAssembly', undefined"]],
  },
  {
    name: "`DecompressionStream('deflate-raw')`",
    data: ['api/DecompressionStream/DecompressionStream/deflate-raw'],
    used: [
      'js/hedgerow/src/core/compile-packed-module.ts',
      "new DecompressionStream('deflate-raw')",
    ],
    needed: true,
    without: '`unsupported`, which names it',
    tests: [
      [START_UP, "'deflate-raw',"],
      [START_UP, "['DecompressionStream', 'DecompressionStream', undefined"],
    ],
  },
  {
    name: "`'wasm-unsafe-eval'` in a content security policy, where the page has one",
    data: ['http/headers/Content-Security-Policy/script-src/wasm-unsafe-eval'],
    used: ['js/hedgerow/src/base/missing-features.ts', "'wasm-unsafe-eval'"],
    needed: true,
    without: '`unsupported`, which says what to add',
    tests: [
      [START_UP, "['leave to compile', 'WebAssembly'"],
      ['e2e/tests/start-up.spec.ts', 'a policy without wasm-unsafe-eval is unsupported, and named'],
    ],
  },
  {
    name: 'IndexedDB, with `commit()` of a transaction',
    data: ['api/IDBTransaction/commit'],
    used: ['js/hedgerow/src/storage/idb/idb-transaction.ts', 'tx.commit()'],
    needed: true,
    without: '`unsupported`, which names the other storages (`memory()`, `sqlite()`)',
    tests: [
      [START_UP, 'without IndexedDB the default storage is unsupported'],
      [
        'js/hedgerow/test/storage/segment-store.test.ts',
        'loads without IndexedDB, and fails with a typed error',
      ],
    ],
  },
  {
    name: 'JavaScript of 2022: private fields, `Object.hasOwn`, `at`, `cause` of errors, `reason` of signals',
    data: [
      'javascript/classes/private_class_fields',
      'javascript/builtins/Object/hasOwn',
      'javascript/builtins/Array/at',
      'javascript/builtins/Error/Error/options_cause_parameter',
      'api/AbortSignal/reason',
    ],
    used: ['tsconfig.base.json', '"target": "ES2022"'],
    needed: true,
    without: 'does not start; no browser has `deflate-raw` without it',
    tests: [['scripts/test/browser-features.test.mjs', 'nothing newer is used']],
  },
  {
    name: 'streams: `Blob.stream()`, `pipeThrough()`',
    data: ['api/Blob/stream', 'api/ReadableStream/pipeThrough'],
    used: ['js/hedgerow/src/core/compile-packed-module.ts', 'pipeThrough'],
    needed: true,
    without: 'does not start; where a `Blob` alone is no stream (jsdom), a store works',
    tests: [['js/hedgerow/test/package/jsdom.test.ts', 'where a Blob is no stream']],
  },
  {
    name: 'Web Locks (over HTTPS)',
    data: ['api/Navigator/locks'],
    used: ['js/hedgerow/src/storage/idb/idb.ts', 'navigator?.locks'],
    without:
      'reads and writes work; nothing is compacted and `compact()` is `blocked`, unless the store is declared `idb({ exclusive: true })`',
    tests: [
      [WITHOUT, 'nothing is compacted in IndexedDB, and compact() says why'],
      [WITHOUT, 'a store that is declared exclusive is compacted'],
    ],
  },
  {
    name: '`durability` of a transaction',
    data: ['api/IDBTransaction/durability'],
    used: ['js/hedgerow/src/storage/idb/idb.ts', "'durability' in IDBTransaction.prototype"],
    without: 'strict writes are written like relaxed ones; `stats().honoursStrict` is `false`',
    tests: [
      [WITHOUT, 'is asked for with each transaction'],
      [WITHOUT, 'that the browser does not know is told by stats'],
    ],
  },
  {
    name: '`BroadcastChannel`',
    data: ['api/BroadcastChannel'],
    used: ['js/hedgerow/src/storage/tabs/tab-messages.ts', 'new BroadcastChannel'],
    without: 'a tab sees commits of others when it is shown, gets the focus, or writes',
    tests: [
      [WITHOUT, "'BroadcastChannel',"],
      [WITHOUT, 'another tab sees a commit when it gets the focus, or writes'],
    ],
  },
  {
    name: '`navigator.storage.estimate()` (over HTTPS)',
    data: ['api/StorageManager/estimate'],
    used: ['js/hedgerow/src/base', 'storage.estimate?.()'],
    without: '`quotaBytes` and `usageBytes` are `undefined`',
    tests: [
      ['js/hedgerow/test/store/opening.test.ts', 'is undefined without an answer of the platform'],
    ],
  },
  {
    name: '`navigator.storage.persist()` and `persisted()`',
    data: ['api/StorageManager/persist', 'api/StorageManager/persisted'],
    used: ['js/hedgerow/src/base', 'persist?.()'],
    without: 'nothing is asked; `isPersistent` is `undefined`',
    tests: [
      ['js/hedgerow/test/store/opening.test.ts', 'is undefined without an answer of the platform'],
      [
        'js/hedgerow/test/store/opening.test.ts',
        'does not wait for a permission that is neither granted nor refused',
      ],
    ],
  },
  {
    name: '`requestIdleCallback`',
    data: ['api/Window/requestIdleCallback'],
    used: ['js/hedgerow/src/engine/collect/collector.ts', 'requestIdleCallback('],
    without: 'a collection begins in its turn, in slices, and not when the page is idle',
    tests: [
      [WITHOUT, "'requestIdleCallback',"],
      [WITHOUT, 'requestIdleCallback is asked where there is one'],
    ],
  },
  {
    name: '`Symbol.dispose`, `Symbol.asyncDispose`',
    data: ['javascript/builtins/Symbol/dispose', 'javascript/builtins/Symbol/asyncDispose'],
    used: ['js/hedgerow/src/base/disposable.ts', 'Symbol.for('],
    without: '`using` works by the symbol that compilers and polyfills take; `close()` always does',
    tests: [
      [
        'js/hedgerow/test/base/disposable.test.ts',
        'uses the symbol that compilers look for, where the platform has no symbol',
      ],
      [
        'js/hedgerow/test/base/disposable.test.ts',
        'uses the symbol of a polyfill that loads after',
      ],
    ],
  },
  {
    name: '`FinalizationRegistry`',
    data: ['javascript/builtins/FinalizationRegistry'],
    used: ['js/hedgerow/src/base/finalization-registry.ts', 'new FinalizationRegistry'],
    without: 'a scan that nobody ends keeps its commit until the store is closed',
    tests: [[WITHOUT, "'FinalizationRegistry',"]],
  },
  {
    name: '`Uint8Array.fromBase64`',
    data: ['javascript/builtins/Uint8Array/fromBase64'],
    used: ['js/hedgerow/src/core/compile-packed-module.ts', 'fromBase64'],
    without: 'a loop decodes the module: a start takes a few milliseconds more',
    tests: [
      ['js/hedgerow/test/base/missing-features.test.ts', 'are decoded where the platform cannot'],
    ],
  },
  {
    name: '`navigator.deviceMemory` (over HTTPS)',
    data: ['api/Navigator/deviceMemory'],
    used: ['js/hedgerow/src/core/shared-cache-budget.ts', 'deviceMemory'],
    without:
      'the stores of a page share 64 MiB of memory for what they have read, however little the device has',
    tests: [
      ['js/hedgerow/test/core/shared-cache-budget.test.ts', 'on a device of %s GiB is %i MiB'],
    ],
  },
  {
    name: 'Ed25519 in WebCrypto (over HTTPS)',
    data: ['api/SubtleCrypto/sign/ed25519', 'api/SubtleCrypto/verify/ed25519'],
    used: ['js/hedgerow/src/sync/encryption/ed25519.ts', "'Ed25519'"],
    without:
      '`signedRemote` and `signingKeys` are `unsupported`, before any request; nothing else needs it',
    tests: [
      [
        'js/hedgerow/test/sync/encryption/signed-remote.test.ts',
        'are `unsupported` in an engine without %s, before any request',
      ],
    ],
  },
  {
    name: '`reportError`',
    data: ['api/reportError'],
    used: ['js/hedgerow/src/base/call-callback-safely.ts', 'reportError(error)'],
    without: 'errors of your callbacks go to `console.error`',
    tests: [[WITHOUT, 'goes to reportError, and to the console where there is none']],
  },
  {
    name: '`freeze` and `resume` of a page',
    data: ['api/Document/freeze_event'],
    used: ['js/hedgerow/src/storage/tabs/tab-messages.ts', "'freeze'"],
    without:
      '`pagehide` and `pageshow` tell as much; no other engine freezes a page that it keeps shown',
    tests: [['e2e/tests/frozen.spec.ts', 'frozen']],
  },
];

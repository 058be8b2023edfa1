/** The package loads anywhere: importing it touches no global of a browser. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { beforeAll, expect, it } from 'vitest';
import * as hedgerow from '../../src/index.js';

const run = promisify(execFile);

const TRAPPED = [
  ...['indexedDB', 'IDBKeyRange', 'IDBDatabase', 'IDBRequest', 'IDBTransaction', 'IDBFactory'],
  ...['navigator', 'document', 'window', 'self', 'location', 'localStorage', 'caches', 'fetch'],
  ...['MessageChannel', 'BroadcastChannel', 'Worker', 'SharedWorker', 'scheduler', 'setImmediate'],
  ...['setTimeout', 'requestAnimationFrame', 'requestIdleCallback', 'queueMicrotask', 'crypto'],
  ...[
    'performance',
    'TextEncoder',
    'TextDecoder',
    'DecompressionStream',
    'Blob',
    'Response',
    'atob',
  ],
  ...['WebAssembly', 'process', 'Buffer', 'require'],
];

let bundle: string;

beforeAll(async () => {
  // Bundles the sources into one file, since a child process cannot read TypeScript.
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: {
        entry: fileURLToPath(new URL('../../src/index.ts', import.meta.url)),
        formats: ['es'],
      },
      // Includes the parts that load later.
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const [{ output }] = result as unknown as [{ output: [{ code: string }] }];
  bundle = output[0].code;
});

/** Runs code in a process of its own, in which `hedgerow` is the package. */
async function inChild(code: string): Promise<string> {
  const url = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;
  // By standard input: the bundle is too long for an argument.
  const child = run(process.execPath, ['--input-type=module', '-'], { timeout: 30_000 });
  child.child.stdin?.end(code.replace('HEDGEROW', JSON.stringify(url(bundle))));
  return (await child).stdout;
}

it('importing touches no global', async () => {
  const out = await inChild(`
    const touched = [];
    for (const name of ${JSON.stringify(TRAPPED)}) {
      const value = globalThis[name];
      Object.defineProperty(globalThis, name, {
        configurable: true,
        get() { touched.push(name); return value; },
        set() { touched.push(name + '='); },
      });
    }
    const before = Reflect.ownKeys(globalThis).length;
    const touchedBefore = touched.length;
    const imported = import(HEDGEROW);
    touched.length = 0;
    const hedgerow = await imported;
    const during = [...touched];
    console.log(JSON.stringify([during, Reflect.ownKeys(globalThis).length - before, Object.keys(hedgerow)]));
  `);
  const [touched, added, names] = JSON.parse(out) as [string[], number, string[]];
  // Node itself reads some of them when it loads a module.
  expect(touched.filter((name) => !['process', 'Buffer'].includes(name))).toEqual([]);
  expect(added).toBe(0);
  expect(names).toEqual(expect.arrayContaining(['open', 'destroy', 'memory', 'idb']));
});

it('importing works without the globals of a browser', async () => {
  const out = await inChild(`
    for (const name of ${JSON.stringify(TRAPPED)}) {
      if (['process', 'Buffer', 'WebAssembly'].includes(name)) continue;
      Object.defineProperty(globalThis, name, { value: undefined, configurable: true });
    }
    const hedgerow = await import(HEDGEROW);
    hedgerow.idb();
    hedgerow.memory();
    process.stdout.write(typeof hedgerow.open);
  `);
  expect(out).toBe('function');
});

it('an open store does not keep a process alive', async () => {
  const out = await inChild(`
    const { open, memory } = await import(HEDGEROW);
    const db = await open('a', { storage: memory() });
    await db.putMany([['k', 1]]);
    console.log(await db.get('k'));
  `);
  expect(out).toBe('1\n');
});

it('the package exports only its public names', () => {
  expect(Object.keys(hedgerow).sort()).toEqual([
    ...['HedgerowError', 'StoredFile', 'clone', 'decodeKey', 'destroy', 'encodeKey', 'file', 'idb'],
    ...['importStore', 'keyRange', 'live', 'liveCount', 'liveRow', 'memory', 'missingFeatures'],
    ...['open', 'preload', 'repairStore', 'rowType', 'table', 'verifyStore', 'wordsOf'],
  ]);
});

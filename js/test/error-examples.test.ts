/** The first example of a page of errors throws that error. */
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { IDBFactory } from 'fake-indexeddb';
import { transformWithOxc } from 'vite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import * as hedgerow from '../src/index.js';
import * as tables from '../src/tables/index.js';

/** Those whose examples need neither a network, nor another version, nor a fault of storage. */
const CODES = [
  'bad-response',
  'blocked',
  'branch-not-found',
  'closed',
  'conflict',
  'exists',
  'invalid-argument',
  'invalid-export',
  'invalid-key',
  'invalid-patch',
  'invalid-proof',
  'invalid-row',
  'invalid-value',
  'store-not-found',
  'sum-overflow',
];

const ENTRIES: Record<string, object> = { hedgerow, 'hedgerow/tables': tables };

/** The first example of a page, as a function. */
async function exampleOf(code: string): Promise<() => Promise<unknown>> {
  const page = readFileSync(new URL(`../../docs/errors/${code}.md`, import.meta.url), 'utf8');
  const [, text = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const { code: script } = await transformWithOxc(`${text}\nexport {};`, `${code}.ts`);
  const body = script
    .replace(/^import \{([^}]*)\} from "([^"]*)";$/gm, 'const {$1} = entries["$2"];')
    .replace(/^export \{\};?$/m, '');
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  return () => new AsyncFunction('entries', body)(ENTRIES);
}

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('fetch', async () => new Response('not here', { status: 404 }));
});

afterEach(() => {
  vi.unstubAllGlobals();
});

it.each(CODES)('%s', async (code) => {
  const example = await exampleOf(code);
  const thrown = await example().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(thrown).toBeInstanceOf(hedgerow.HedgerowError);
  expect((thrown as hedgerow.HedgerowError).code, String(thrown)).toBe(code);
});

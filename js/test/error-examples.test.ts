/** The first example of a page of errors throws that error. */
import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HedgerowError } from '../src/index.js';
import { blocksOf, runBlocks } from './page-examples.js';

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

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('fetch', async () => new Response('not here', { status: 404 }));
});

afterEach(() => {
  vi.unstubAllGlobals();
});

it.each(CODES)('%s', async (code) => {
  const thrown = await runBlocks(blocksOf(`errors/${code}`).slice(0, 1)).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(thrown).toBeInstanceOf(HedgerowError);
  expect((thrown as HedgerowError).code, String(thrown)).toBe(code);
});

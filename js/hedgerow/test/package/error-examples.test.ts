/** Runs the pages of errors from their first block to the last; where possible, the first block throws the error. */
import { expect, it } from 'vitest';
import { HedgerowError } from '../../src/index.js';
import { blocksOf, pages } from '../support/snippet-list.mjs';
import { runBlocks } from './page-examples.js';
import { inFreshBrowsers, setting } from './page-settings.js';

/** The errors whose examples need no network, no other version and no fault of storage. */
const THROWN = [
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
  'wrong-key',
];

const PAGES = pages().filter((name) => name.startsWith('docs/errors/'));

inFreshBrowsers();

it.each(PAGES)('%s', async (page) => {
  const [, code = ''] = /([a-z-]+)\.md$/.exec(page) ?? [];
  const { after, ...options } = await setting(page);
  const thrown: unknown[] = [];
  const onThrown = THROWN.includes(code) ? (cause: unknown) => thrown.push(cause) : undefined;
  await runBlocks(
    blocksOf(page).map((block) => block.code),
    { ...options, onThrown },
  );
  await after?.();
  if (onThrown === undefined) return;
  expect(thrown).toHaveLength(1);
  expect(thrown[0]).toBeInstanceOf(HedgerowError);
  expect((thrown[0] as HedgerowError).code, String(thrown[0])).toBe(code);
});

it('each of these errors has a page', () => {
  expect(PAGES).toEqual(expect.arrayContaining(THROWN.map((code) => `docs/errors/${code}.md`)));
});

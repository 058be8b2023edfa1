/** The code of pages does what it is shown for: each page runs from its first block to its last one. */
import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { closeAll, runBlocks } from './page-examples.js';
import { server, setting } from './page-settings.js';
import { blocksOf, pages, staleEntries } from './snippet-list.mjs';

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('fetch', server());
});

afterEach(async () => {
  await closeAll();
  vi.unstubAllGlobals();
});

const runOf = (page: string) => blocksOf(page).filter(({ why }) => why === undefined);
const PAGES = pages().filter((page) => !page.startsWith('docs/errors/') && runOf(page).length > 0);

it.each(PAGES)('%s', async (name) => {
  const run = runOf(name);
  const { after, ...options } = await setting(name);
  await runBlocks(
    run.map(({ code }) => code),
    options,
  );
  await after?.();
});

it('what is listed as not run is there', () => {
  expect(staleEntries()).toEqual([]);
});

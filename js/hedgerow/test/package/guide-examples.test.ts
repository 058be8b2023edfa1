/** Runs the code of each page from its first block to its last. */
import { expect, it } from 'vitest';
import { blocksOf, pages, staleEntries } from '../support/snippet-list.mjs';
import { runBlocks } from './page-examples.js';
import { inFreshBrowsers, setting } from './page-settings.js';

inFreshBrowsers();

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

it('each block that is listed as not run exists', () => {
  expect(staleEntries()).toEqual([]);
});

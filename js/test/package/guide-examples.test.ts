/** The code of pages does what it is shown for: each page runs from its first block to its last one. */
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

it('what is listed as not run is there', () => {
  expect(staleEntries()).toEqual([]);
});

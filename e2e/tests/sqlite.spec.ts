/**
 * The engine `chromium-sqlite`: it keeps IndexedDB in SQLite, or refuses to, and is otherwise Playwright's Chromium.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backendOf } from '../lib/engines/backend.mjs';
import { ENGINES } from '../lib/engines/index.mjs';
import { expect, test } from './fixtures.js';
import { openStore, visit } from './store-page.js';

test('IndexedDB is in SQLite', { tag: '@chromium' }, async ({ persistentPage, profileDir }) => {
  const page = await visit(persistentPage.page);
  expect(await backendOf(profileDir)).toBe('none');
  await openStore(page, 'sqlite');
  await page.evaluate(() => window.db.putMany(window.rows(5000)));
  expect(await backendOf(profileDir)).toBe('sqlite');
});

test(
  'a profile whose IndexedDB is in LevelDB is refused',
  { tag: '@chromium' },
  async ({ engine }, testInfo) => {
    const profile = testInfo.outputPath('profile');
    const folder = join(profile, 'Default', 'IndexedDB', 'http_a_80.indexeddb.leveldb');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'MANIFEST-000001'), '');
    await expect(ENGINES[engine].launch(profile)).rejects.toThrow(
      'chromium-sqlite: IndexedDB is in leveldb, not in sqlite',
    );
  },
);

test('the features that Playwright enables stay enabled', { tag: '@chromium' }, async ({
  chromiumPage,
}) => {
  const { page } = chromiumPage;
  await page.goto('chrome://version');
  const line = await page.locator('#command_line').innerText();
  const [first = '', ...others] = [...line.matchAll(/--enable-features=(\S+)/g)].map(
    ([, features]) => String(features),
  );
  expect(others).toHaveLength(1);
  expect(String(others).split(',')).toEqual(expect.arrayContaining(first.split(',')));
});

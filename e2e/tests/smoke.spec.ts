import { expect, test } from './fixtures';

test('the page loads the package', { tag: '@core' }, async ({ persistentPage }) => {
  const { page } = persistentPage;
  expect(await page.evaluate(() => typeof window.hedgerow.open)).toBe('function');
});

test('a profile outlives its browser', async ({ persistentPage }) => {
  await persistentPage.page.evaluate(() => localStorage.setItem('seen', 'yes'));
  const page = await persistentPage.relaunch();
  expect(await page.evaluate(() => localStorage.getItem('seen'))).toBe('yes');
});

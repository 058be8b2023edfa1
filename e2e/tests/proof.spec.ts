/** Proofs leave the browser with the store, and a browser without one verifies them. */
import { expect, type Page, test } from './fixtures.js';
import { openStore, visit } from './store-page.js';

/** A page without any storage. */
async function visitWithoutStore(page: Page): Promise<Page> {
  await page.goto('/verify.html');
  await page.waitForFunction(() => window.verifyProof !== undefined);
  await page.evaluate(() => {
    Object.defineProperty(globalThis, 'indexedDB', { value: undefined });
  });
  return page;
}

test('a browser that knows only the root verifies the proofs of another', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'proved');
  await page.evaluate(() => window.db.putMany(window.rows(20_000)));
  // Read from disk: the memory is empty.
  const again = await visit(await persistentPage.relaunch());
  await openStore(again, 'proved');
  const other = await persistentPage.context.newPage();
  const proved = await again.evaluate(async () => {
    const prove = async (what: Parameters<typeof window.db.prove>[0]) => [
      ...(await window.db.prove(what)),
    ];
    const range = { prefix: 'issue/0012' };
    return {
      root: window.db.root,
      value: await window.db.get('issue/001234'),
      entries: await window.db.scan(range).toArray(),
      present: await prove('issue/001234'),
      absent: await prove('issue/none'),
      inRange: await prove(range),
    };
  });
  expect(proved.entries).toHaveLength(100);

  const verifier = await visitWithoutStore(other);
  const { root, present, absent, inRange } = proved;
  const found = await verifier.evaluate(
    async ({ root, present, absent, inRange }) => {
      const { verifyProof } = window;
      const codeOf = (verifying: Promise<unknown>) =>
        verifying.then(
          () => 'none',
          (cause: { code: string; detail?: string }) => cause.detail ?? cause.code,
        );
      const forged = Uint8Array.from(present);
      forged[forged.length >> 1] = (forged[forged.length >> 1] ?? 0) ^ 1;
      return {
        present: await verifyProof(root, 'issue/001234', Uint8Array.from(present)),
        absent: await verifyProof(root, 'issue/none', Uint8Array.from(absent)),
        inRange: await verifyProof(root, { prefix: 'issue/0012' }, Uint8Array.from(inRange)),
        forged: await codeOf(verifyProof(root, 'issue/001234', forged)),
      };
    },
    { root, present, absent, inRange },
  );
  expect(found).toEqual({
    present: { value: proved.value },
    absent: { absent: true },
    inRange: { entries: proved.entries },
    forged: 'proof',
  });
});

/** `hedgerow/slim` in a real browser: how servers and policies treat the files of its script. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.js';

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

declare global {
  interface Window {
    /** The ways in which modules were compiled. */
    compiledBy: string[];
  }
}

/** The server's headers of the page and of the WebAssembly. */
interface Served {
  readonly policy?: string;
  readonly type?: string;
}

/** Opens the page, and notes how it compiles. */
async function visitSlim(page: Page, { policy = POLICY, type }: Served = {}): Promise<void> {
  await page.addInitScript(() => {
    window.compiledBy = [];
    for (const name of ['compile', 'compileStreaming'] as const) {
      const compile = WebAssembly[name] as (source: unknown) => Promise<WebAssembly.Module>;
      const noted = (source: unknown) => {
        window.compiledBy.push(name);
        return compile(source);
      };
      Object.assign(WebAssembly, { [name]: noted });
    }
  });
  await page.route('**/slim.html', async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), 'content-security-policy': policy };
    await route.fulfill({ response, headers });
  });
  if (type !== undefined) {
    await page.route('**/*.wasm', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'content-type': type } });
    });
  }
  await page.goto('/slim.html');
  await page.waitForFunction(() => window.hedgerow !== undefined);
}

const CAME = { value: 2, hasProof: true, refusal: 'key' };

/** Uses a store and the later part of the module. Returns the results, and how both were compiled. */
const used = (page: Page) =>
  page.evaluate(async () => {
    const { open, HedgerowError } = window.hedgerow;
    const db = await open('slim');
    await db.putMany([
      ['a', 1],
      ['b', 2],
    ]);
    const value = await db.get('b');
    const hasProof = (await db.prove('b')).length > 0;
    const refused = await db.put('x'.repeat(2000), 1).catch((cause: unknown) => cause);
    await db.close();
    const refusal = refused instanceof HedgerowError && (refused.detail ?? refused.code);
    return { value, hasProof, refusal, compiledBy: window.compiledBy };
  });

/** Opens a store, and writes to it, which needs the core; returns the error of either. */
const codeOfWrite = (page: Page) =>
  page.evaluate(async () => {
    const { open, memory } = window.hedgerow;
    const opening = open('slim', { storage: memory() });
    return opening
      .then((db) => db.put('a', 1).finally(() => db.close()))
      .then(
        () => 'written',
        ({ code, detail, status }: { code: string; detail?: string; status?: number }) => ({
          code,
          detail,
          status,
        }),
      );
  });

test('both parts are compiled as they load', {
  tag: ['@chromium', '@core'],
}, async ({ page }) => {
  await visitSlim(page);
  const { compiledBy, ...came } = await used(page);
  expect(came).toEqual(CAME);
  expect(compiledBy).toEqual(['compileStreaming', 'compileStreaming']);
});

for (const type of ['application/octet-stream', 'application/wasm; charset=utf-8', 'text/html']) {
  test(`a server that calls the files ${type} will do`, { tag: '@chromium' }, async ({ page }) => {
    await visitSlim(page, { type });
    const { compiledBy, ...came } = await used(page);
    expect(came).toEqual(CAME);
    expect(compiledBy).toEqual(['compile', 'compile']);
  });
}

test('a page of slim never loads the module as text', { tag: '@chromium' }, async ({ page }) => {
  const bodies: Promise<string>[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('.js')) bodies.push(response.text());
  });
  await visitSlim(page);
  await used(page);
  const scripts = await Promise.all(bodies);
  expect(scripts.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(80_000);
  const asText = /["'`][A-Za-z0-9+/=]{1000}/;
  expect(scripts.filter((script) => asText.test(script))).toEqual([]);
});

test('a policy without wasm-unsafe-eval is unsupported', { tag: '@chromium' }, async ({ page }) => {
  await visitSlim(page, { policy: "script-src 'self'" });
  expect(await codeOfWrite(page)).toEqual({
    code: 'unsupported',
    detail: undefined,
    status: undefined,
  });
});

test('a missing file is not-loaded, and loaded once it is there', { tag: '@chromium' }, async ({
  page,
}) => {
  await visitSlim(page);
  await page.route('**/*.wasm', (route) => route.fulfill({ status: 404, body: 'none' }));
  expect(await codeOfWrite(page)).toEqual({
    code: 'unavailable',
    detail: 'not-loaded',
    status: 404,
  });
  await page.unroute('**/*.wasm');
  await page.route('**/*.wasm', (route) => route.abort());
  expect(await codeOfWrite(page)).toEqual({
    code: 'unavailable',
    detail: 'not-loaded',
    status: undefined,
  });
  await page.unroute('**/*.wasm');
  expect(await codeOfWrite(page)).toBe('written');
});

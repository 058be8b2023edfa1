/**
 * The health of real storage: the report of each engine, at its quota, in private windows, and where storage is denied.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENGINES, isChromium, type LaunchOptions } from '../lib/engines/index.mjs';
import { TabContext } from '../lib/engines/tab.mjs';
import { test as base, expect, openTestPage, type Page } from './fixtures.js';

const FULL = fileURLToPath(new URL('../../js/hedgerow/dist/full.js', import.meta.url));

/** Reads the package as one text that loads no other file. */
const packageText = () => readFile(FULL, 'utf8');

type WithOptions = (options: LaunchOptions, use: (page: Page) => Promise<void>) => Promise<void>;

/** Runs a function on a page of an engine with its own options and its own profile. */
const test = base.extend<{ withOptions: WithOptions }>({
  withOptions: async ({ engine, baseURL, profileDir }, use) => {
    let profiles = 0;
    await use(async (options, useIt) => {
      profiles += 1;
      const browser = await ENGINES[engine].launch(join(profileDir, String(profiles)), options);
      const context = new TabContext(browser, String(baseURL));
      try {
        await useIt(await openTestPage(await context.newPage()));
      } finally {
        await context.close();
      }
    });
  },
});

/** Opens a store with a fallback, writes and reads, and returns its health. */
const openWithFallback = async () => {
  const { memory, open } = window.hedgerow;
  const refused = await open('denied').then(
    () => undefined,
    (cause) => [cause.detail ?? cause.code, cause.cause?.name],
  );
  const db = await open('denied', { advanced: { fallback: memory() } });
  const told: unknown[] = [];
  db.health.subscribe(({ state, cause }) => told.push([state, cause?.detail ?? cause?.code]));
  await db.put('a', 1);
  const row = await db.get('a');
  const { state, cause } = await db.health.get();
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { refused, row, state, code: cause?.detail ?? cause?.code, told };
};

test('a store on disk is best-effort, with the figures that the engine gives', async ({
  persistentPage,
  engine,
}) => {
  const found = await persistentPage.page.evaluate(async () => {
    const db = await window.hedgerow.open('health');
    await db.put('a', 1);
    const startMs = performance.now();
    const health = await db.health.get();
    const firstMs = performance.now() - startMs;
    const again = await db.health.get();
    const secondMs = performance.now() - startMs - firstMs;
    const { honoursStrict } = await db.health.stats();
    const names = (await indexedDB.databases()).map(({ name }) => name);
    return { health, again, firstMs, secondMs, honoursStrict, names };
  });
  console.log(
    `health, ${engine}: ${found.firstMs.toFixed(1)} ms, then ${found.secondMs.toFixed(1)} ms`,
  );
  const hasFigures = engine !== 'webkit';
  expect(found.health).toMatchObject({
    state: 'best-effort',
    // WebKitGTK has no `navigator.storage`.
    isPersistent: hasFigures ? false : undefined,
    isNearQuota: hasFigures ? false : undefined,
    honoursStrict: found.honoursStrict,
  });
  expect(found.health.cause).toBeUndefined();
  expect(typeof found.health.quotaBytes).toBe(hasFigures ? 'number' : 'undefined');
  expect(typeof found.health.usageBytes).toBe(hasFigures ? 'number' : 'undefined');
  expect(found.again.state).toBe('best-effort');
  // Its probe leaves no database.
  expect(found.names).toEqual(['hedgerow/health']);
});

test('persist() answers, or waits for the user while all other calls go on', async ({
  persistentPage,
  engine,
}) => {
  const found = await persistentPage.page.evaluate(async () => {
    const db = await window.hedgerow.open('asking');
    const asked = db.health.persist();
    await db.put('a', 1);
    const { state, isPersistent } = await db.health.get();
    await db.close();
    const late = new Promise((resolve) => setTimeout(() => resolve('no answer'), 1000));
    const answer = await Promise.race([asked, late]);
    return { answer, state, isPersistent };
  });
  // Firefox asks a user, and the test has no user.
  const expected = { chromium: false, firefox: 'no answer', webkit: undefined };
  expect(found.answer).toBe(expected[ENGINES[engine].browser]);
  expect(found.state).toBe('best-effort');
});

test('a full quota is failing until there is room, and is reported once', async ({
  engine,
  withOptions,
}) => {
  await withOptions({ quotaBytes: 24 << 20 }, async (page) => {
    const found = await page.evaluate(async () => {
      const db = await window.hedgerow.open('full');
      const told: string[] = [];
      db.health.subscribe(({ state, cause }) =>
        told.push(cause ? `${state} ${cause.detail ?? cause.code}` : state),
      );
      const value = () => {
        const bytes = new Uint8Array(1 << 20);
        for (let at = 0; at < bytes.length; at += 65_536) {
          crypto.getRandomValues(bytes.subarray(at, at + 65_536));
        }
        return bytes;
      };
      let code: unknown;
      for (let at = 0; at < 100 && code === undefined; at++) {
        await db.put(`k${at}`, value()).catch((cause) => {
          code = cause.detail ?? cause.code;
        });
      }
      for (let at = 0; at < 5; at++) await db.put('more', value()).catch(() => {});
      const full = await db.health.get();
      const rows = await db.count();
      const first = await db.has('k0');
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const toldFull = [...told];
      const empty = async () => {
        await db.clear();
        await db.health.compact();
        await db.put('small', 1);
        return true;
      };
      let isEmptied = false;
      for (let at = 0; at < 30 && !isEmptied; at++) {
        isEmptied = await empty().catch(() => false);
        // Chromium frees the file of a deleted Blob when its handles are collected, which memory pressure triggers.
        for (let made = 0; made < 20; made++) value();
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
      const { state } = await db.health.get();
      return {
        code,
        state,
        rows,
        first,
        isEmptied,
        full: full.state,
        cause: full.cause?.code,
        toldFull,
        told,
      };
    });
    expect(found).toMatchObject({ code: 'quota-exceeded', full: 'failing', cause: found.code });
    expect([found.first, found.rows > 5]).toEqual([true, true]);
    const failures = found.toldFull.filter((text) => text === 'failing quota-exceeded');
    expect(failures).toHaveLength(1);
    expect(found.toldFull.at(-1)).toBe('failing quota-exceeded');
    // WebKit may refuse further writes: it counts the length of the file, which no deletion makes shorter.
    if (engine !== 'webkit') expect(found.isEmptied).toBe(true);
    const state = found.isEmptied ? 'best-effort' : 'failing';
    expect([found.state, found.told.at(-1)?.split(' ')[0]]).toEqual([state, state]);
  });
});

test('a store that is deleted while it is open is reported', async ({ persistentPage }) => {
  const found = await persistentPage.page.evaluate(async () => {
    const db = await window.hedgerow.open('deleted');
    const told: unknown[] = [];
    db.health.subscribe(({ state, cause, message }) =>
      told.push([state, cause?.detail ?? cause?.code, message]),
    );
    await db.put('a', 1);
    await new Promise((resolve) => {
      indexedDB.deleteDatabase('hedgerow/deleted').onsuccess = resolve;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    return told;
  });
  expect(found).toEqual([['failing', 'closed', expect.stringContaining('deleted')]]);
});

test('a private window is ephemeral where the engine shows it', async ({ engine, withOptions }) => {
  await withOptions({ isPrivate: true }, async (page) => {
    const found = await page.evaluate(async () => {
      const db = await window.hedgerow.open('private');
      await db.put('a', 1);
      const { state, cause } = await db.health.get();
      const told: string[] = [];
      db.health.subscribe((health) => told.push(health.state));
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { state, cause, told, row: await db.get('a') };
    });
    // Chromium refuses no call there, so the store cannot know.
    const state = isChromium(engine) ? 'best-effort' : 'ephemeral';
    const told = isChromium(engine) ? [] : ['ephemeral'];
    expect(found).toEqual({ state, cause: undefined, told, row: 1 });
  });
});

test('storage that a sandbox or a setting denies: unsupported, or the fallback', async ({
  persistentPage,
  engine,
  withOptions,
}) => {
  const run = `(${openWithFallback})`;
  const found = await persistentPage.page.evaluate(
    async ([source, run]) => {
      const frame = document.createElement('iframe');
      frame.sandbox.add('allow-scripts');
      // The package as text: a frame without an origin may load no files.
      frame.srcdoc = `<script type="module">
        addEventListener('message', async ({ data: [source, run] }) => {
          const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
          const asked = import(url).then((loaded) => {
            window.hedgerow = loaded;
            return eval(run)();
          });
          parent.postMessage(await asked.catch((cause) => String(cause.stack ?? cause)), '*');
        });
        parent.postMessage('ready', '*');
      </script>`;
      const heard = () =>
        new Promise<unknown>((resolve) =>
          addEventListener('message', ({ data }) => resolve(data), { once: true }),
        );
      const ready = heard();
      document.body.append(frame);
      await ready;
      const result = heard();
      frame.contentWindow?.postMessage([source, run], '*');
      return result;
    },
    [await packageText(), run] as const,
  );
  expect(found).toEqual(deniedWith('SecurityError'));
  if (engine !== 'firefox') return;
  const blockingCookies = { prefs: { 'network.cookie.cookieBehavior': 2 } };
  await withOptions(blockingCookies, async (page) => {
    expect(await page.evaluate(openWithFallback)).toEqual(deniedWith('SecurityError'));
  });
  const prefs = { 'dom.indexedDB.privateBrowsing.enabled': false };
  await withOptions({ prefs, isPrivate: true }, async (page) => {
    expect(await page.evaluate(openWithFallback)).toEqual(deniedWith('InvalidStateError'));
  });
});

const deniedWith = (name: string) => ({
  refused: ['unsupported', name],
  row: 1,
  state: 'ephemeral',
  code: 'unsupported',
  told: [['ephemeral', 'unsupported']],
});

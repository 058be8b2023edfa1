import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type BrowserContext,
  test as base,
  chromium,
  type Page as PlaywrightPage,
} from '@playwright/test';
import { refuseOtherBackend } from '../lib/engines/backend.mjs';
import { ENGINES, type EngineName, isChromium } from '../lib/engines/index.mjs';
import { type AnyContext, type AnyPage, type Tab, TabContext } from '../lib/engines/tab.mjs';

/** A page of any engine. */
export type Page = AnyPage;
export type Context = AnyContext;

/** Set by each project of Playwright's configuration. */
export interface EngineOption {
  /** The engine of `persistentPage`. */
  readonly engine: EngineName;
}

// In the repository, since a system's temporary folder may be in memory: the tests of durability and time must hold for
// a disk.
const PROFILES_DIR = fileURLToPath(new URL('../../.cache/profiles', import.meta.url));

/** A separate browser with an on-disk profile, which outlives the browser. */
export interface PersistentPage<P extends Page = Page, C = Context> {
  /** The open page, with `window.hedgerow` ready; another one after `relaunch`. */
  readonly page: P;
  /** The folder of its profile. */
  readonly profileDir: string;
  /** The running browser, for further pages (tabs) of the same profile. */
  readonly context: C;
  /** Opens a further tab of the test page, with `window.hedgerow` ready. */
  newPage(): Promise<P>;
  /** Closes the browser and starts it again on the same profile; returns the new page. */
  relaunch(): Promise<P>;
}

/** Loads the test page into `page`. */
export async function openTestPage<P extends Page>(page: P): Promise<P> {
  await page.goto('/');
  await page.waitForFunction(() => window.hedgerow !== undefined);
  return page;
}

type ContextOf<P> = { newPage(): Promise<P>; close(): Promise<void> };
type Launch<P, C> = (profileDir: string) => Promise<{ readonly page: P; readonly context: C }>;

/** Passes a browser on the profile to `use`, and ends it. */
async function withProfile<P extends Page, C extends ContextOf<P>>(
  profileDir: string,
  launch: Launch<P, C>,
  use: (page: PersistentPage<P, C>) => Promise<void>,
): Promise<void> {
  let running: Awaited<ReturnType<typeof launch>> | undefined;
  const current = () => {
    if (running === undefined) throw new Error('the browser is not running');
    return running;
  };
  const relaunch = async () => {
    await running?.context.close();
    running = undefined;
    running = await launch(profileDir);
    return openTestPage(running.page);
  };
  try {
    await relaunch();
    await use({
      profileDir,
      get page() {
        return current().page;
      },
      get context() {
        return current().context;
      },
      newPage: async () => openTestPage(await current().context.newPage()),
      relaunch,
    });
  } finally {
    await running?.context.close();
  }
}

interface Fixtures {
  /** A new folder on disk for the profile of a browser. */
  readonly profileDir: string;
  /** A page in any engine. */
  readonly persistentPage: PersistentPage;
  /**
   * The same with all of Playwright, in Chromium alone: for tests that need the DevTools protocol, or change answers of
   * the network. Their titles end with the tag `@chromium`.
   */
  readonly chromiumPage: PersistentPage<PlaywrightPage, BrowserContext>;
}

export const test = base.extend<Fixtures & EngineOption>({
  engine: ['chromium', { option: true }],

  profileDir: async ({ engine }, use) => {
    await mkdir(PROFILES_DIR, { recursive: true });
    const profileDir = await mkdtemp(join(PROFILES_DIR, 'profile-'));
    try {
      await use(profileDir);
      await refuseOtherBackend(ENGINES[engine], profileDir);
    } finally {
      await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
    }
  },

  chromiumPage: async ({ engine, profileDir, launchOptions, baseURL }, use) => {
    if (!isChromium(engine)) throw new Error('tag this test with @chromium');
    const options = { ...launchOptions, baseURL: String(baseURL) };
    await withProfile(profileDir, launchChromium(options), use);
  },

  persistentPage: async ({ engine, profileDir, launchOptions, baseURL }, use) => {
    const options = { ...launchOptions, baseURL: String(baseURL) };
    const launch = isChromium(engine) ? launchChromium(options) : launchEngine(engine, baseURL);
    await withProfile(profileDir, launch, use);
  },
});

function launchChromium(options: object): Launch<PlaywrightPage, BrowserContext> {
  return async (profileDir) => {
    const context = await chromium.launchPersistentContext(profileDir, options);
    // The browser starts with one blank page.
    return { context, page: context.pages()[0] ?? (await context.newPage()) };
  };
}

function launchEngine(name: EngineName, baseURL: string | undefined): Launch<Tab, TabContext> {
  return async (profileDir) => {
    const context = new TabContext(await ENGINES[name].launch(profileDir), String(baseURL));
    return { context, page: await context.newPage() };
  };
}

export { expect } from '@playwright/test';

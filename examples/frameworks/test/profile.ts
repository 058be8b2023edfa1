/**
 * A browser with a profile on disk, which a test can quit and restart. It collects the errors and warnings of its
 * pages.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test';

export class Profile {
  /** Errors and warnings of all pages. The end of a test expects an empty list, so a test takes out those it caused. */
  readonly faults: string[] = [];
  readonly #start: () => Promise<BrowserContext>;
  #context: BrowserContext | undefined;

  constructor(start: () => Promise<BrowserContext>) {
    this.#start = start;
  }

  /** Opens a page in its own tab. `script` runs in it before all others. */
  async open(page: string, script?: () => void): Promise<Page> {
    this.#context ??= await this.#start();
    const tab = await this.#context.newPage();
    tab.on('pageerror', (error) => this.faults.push(`${page}: ${error}`));
    tab.on('console', (said) => {
      if (/^(error|warning)$/.test(said.type())) this.faults.push(`${page}: ${said.text()}`);
    });
    if (script) await tab.addInitScript(script);
    await tab.goto(`${process.env.FRAMEWORKS_URL}${page}.html`);
    return tab;
  }

  /** Ends the browser. The next `open` restarts it. */
  async quit(): Promise<void> {
    await this.#context?.close();
    this.#context = undefined;
  }
}

export const test = base.extend<{ profile: Profile }>({
  profile: async ({ playwright, launchOptions }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'hedgerow-frameworks-'));
    const profile = new Profile(() =>
      playwright.chromium.launchPersistentContext(folder, launchOptions),
    );
    await use(profile);
    await profile.quit();
    await rm(folder, { recursive: true, force: true });
    expect(profile.faults).toEqual([]);
  },
});

// Chromium as a user starts it: Playwright keeps every page that it opens visible, and its
// timers unthrottled. Here pages are hidden when another tab covers them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { chromium } from '@playwright/test';

const FLAGS = [
  '--headless=new',
  '--remote-debugging-port=0',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
const START_MS = 30_000;

/** Runs `work` with a page of a Chromium on the profile, which it takes down in the end. */
export async function withPlainBrowser({ profileDir, executablePath }, work) {
  const path = executablePath ?? chromium.executablePath();
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const args = [...FLAGS, ...root, `--user-data-dir=${profileDir}`, 'about:blank'];
  const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  // A test that runs out of time ends its process without ado.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    const endpoint = await endpointOf(child);
    const browser = await chromium.connectOverCDP(endpoint, { noDefaults: true });
    const context = browser.contexts()[0];
    const result = await work(context.pages()[0] ?? (await context.newPage()));
    // By its own command: it then waits for what its databases have under way.
    const session = await browser.newBrowserCDPSession();
    await session.send('Browser.close').catch(() => {});
    return result;
  } finally {
    const timer = setTimeout(kill, 5000);
    if (child.exitCode === null) child.kill();
    await exited.finally(() => clearTimeout(timer));
    process.off('exit', kill);
  }
}

/** Where Chromium listens, which it says on stderr. */
async function endpointOf(child) {
  const lines = createInterface({ input: child.stderr });
  const signal = AbortSignal.timeout(START_MS);
  child.once('exit', () => lines.close());
  signal.addEventListener('abort', () => lines.close());
  const said = [];
  for await (const line of lines) {
    const found = /DevTools listening on (ws:\S+)/.exec(line);
    if (found !== null) {
      // Chromium stops when nobody reads what it writes.
      child.stderr.resume();
      return found[1];
    }
    said.push(line);
  }
  throw new Error(`Chromium did not start: ${said.join('\n')}`);
}

/** Covers the page by another tab while `work` runs. */
export async function covered(page, work) {
  const other = await page.context().newPage();
  try {
    await other.bringToFront();
    return await work();
  } finally {
    await other.close();
    await page.bringToFront();
  }
}

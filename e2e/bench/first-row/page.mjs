// One page of a browser on a profile on disk: `goto`, `evaluate`, `close`, and `throttle` where the engine can.

import { chromium } from '@playwright/test';
import { findBrowser } from '../../../scripts/lib/browser.mjs';

const FLAGS = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Opens a page of Chromium, whose processor can be slowed down. */
export async function openChromium(engine, profileDir) {
  const executablePath = findBrowser();
  const context = await chromium.launchPersistentContext(profileDir, {
    args: [...FLAGS, ...engine.args],
    ...(executablePath === undefined ? {} : { executablePath }),
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const session = await context.newCDPSession(page);
  return {
    goto: (url) => page.goto(url, { waitUntil: 'commit' }),
    evaluate: (run) => page.evaluate(run),
    throttle: (rate) => session.send('Emulation.setCPUThrottlingRate', { rate }),
    close: () => context.close(),
  };
}

/** Opens a page of another engine. */
export async function openEngine(engine, profileDir) {
  const running = await engine.launch(profileDir);
  const page = await running.newPage();
  return {
    goto: (url) => page.goto(url),
    evaluate: (run) => page.evaluate(run),
    throttle: undefined,
    close: () => running.close(),
  };
}

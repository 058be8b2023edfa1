// Launches Chromium by Playwright on a profile on disk.

import { chromium } from '@playwright/test';
import { findBrowser } from '../../../scripts/lib/browser.mjs';
import { refuseOtherBackend } from '../../lib/engines/backend.mjs';
import { QUIET_FLAGS } from '../../lib/engines/index.mjs';

// A call that collects garbage before a clock starts, and memory that is measured on request, not at the next collection.
const FLAGS = [
  ...QUIET_FLAGS,
  '--js-flags=--expose-gc',
  '--enable-blink-features=ForceEagerMeasureMemory',
];

/**
 * Returns a page, its session of the DevTools protocol, and `close`, which throws if another library than the one of
 * `engine` has kept IndexedDB.
 */
export async function launchChromium(engine, profileDir) {
  const executablePath = findBrowser();
  const context = await chromium.launchPersistentContext(profileDir, {
    args: [...FLAGS, ...engine.args],
    ...(executablePath === undefined ? {} : { executablePath }),
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const session = await context.newCDPSession(page);
  const close = async () => {
    await context.close();
    await refuseOtherBackend(engine, profileDir);
  };
  return { context, page, session, close };
}

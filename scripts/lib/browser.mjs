// Finds the Chromium that tests and benchmarks drive, and installs one when there is none.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ask, CommandFailed, ROOT, run } from './run.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PATHS = [
  ...NAMES.map((name) => `/usr/bin/${name}`),
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Path of a browser, or `undefined`. What `CHROMIUM_PATH` names goes before all others. */
export function findBrowser() {
  const chosen = process.env.CHROMIUM_PATH;
  if (chosen) {
    if (existsSync(chosen)) return chosen;
    throw new CommandFailed(`CHROMIUM_PATH is ${chosen}, and there is no such file`);
  }
  // Ubuntu's package is a shim which, without snapd, only prints how to get the snap:
  // so a path counts only when the program there can tell its version.
  // (Not asked elsewhere: on Windows it would open a window.)
  const answers = (path) => process.platform !== 'linux' || Boolean(ask(path, ['--version']));
  const usable = (path) => existsSync(path) && answers(path);
  return PATHS.find(usable) ?? playwrightBrowser();
}

/** Path of the browser that Playwright has downloaded, if it has. */
function playwrightBrowser() {
  try {
    const require = createRequire(join(ROOT, 'e2e', 'package.json'));
    const path = require('@playwright/test').chromium.executablePath();
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined; // npm packages are not installed yet
  }
}

/** Installs a browser: Debian's own package where that can be done, else Playwright's. */
export async function installBrowser() {
  if (mayInstallPackages()) return installPackages(['chromium']);
  const isRoot = process.getuid?.() === 0;
  const systemLibraries = process.platform === 'linux' && isRoot ? ['--with-deps'] : [];
  await run('playwright', ['install', ...systemLibraries, 'chromium'], { quiet: true });
}

/** Whether `installPackages` can do anything: on Debian, and by root. */
export const mayInstallPackages = () => isDebian() && process.getuid?.() === 0;

/** The lists of packages, which are read once. */
let updated;

/** Installs packages of Debian; rejects where there are none, or nobody may. */
export async function installPackages(names) {
  if (!mayInstallPackages()) throw new CommandFailed('only on Debian, and by root');
  const options = { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true };
  updated ??= run('apt-get', ['update'], options);
  await updated;
  await run('apt-get', ['install', '-y', '--no-install-recommends', ...names], options);
}

// Only Debian's: on Ubuntu `chromium` is the snap's shim.
function isDebian() {
  try {
    return /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

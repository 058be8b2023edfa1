// Finds the Chromium for tests and benchmarks, and installs one if it is missing.

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

/** Returns the path of a browser, or `undefined`. `CHROMIUM_PATH` has priority. */
export function findBrowser() {
  const chosen = process.env.CHROMIUM_PATH;
  if (chosen) {
    if (existsSync(chosen)) return chosen;
    throw new CommandFailed(`CHROMIUM_PATH is ${chosen}, and there is no such file`);
  }
  // Ubuntu's package is a shim that, without snapd, only prints how to install the snap. So this accepts only a program
  // that prints its version. Other systems are not checked: on Windows that would open a window.
  const answers = (path) => process.platform !== 'linux' || Boolean(ask(path, ['--version']));
  const usable = (path) => existsSync(path) && answers(path);
  return PATHS.find(usable) ?? playwrightBrowser();
}

/** Returns the path of the browser that Playwright has downloaded, or `undefined`. */
function playwrightBrowser() {
  try {
    const require = createRequire(join(ROOT, 'package.json'));
    const path = require('playwright-core').chromium.executablePath();
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined; // The npm packages are not installed yet.
  }
}

/** Installs a browser: Debian's package if possible, otherwise Playwright's. */
export async function installBrowser() {
  if (mayInstallPackages()) return installPackages(['chromium']);
  const isRoot = process.getuid?.() === 0;
  const systemLibraries = process.platform === 'linux' && isRoot ? ['--with-deps'] : [];
  await run('playwright-core', ['install', ...systemLibraries, 'chromium'], { quiet: true });
}

/** Whether `installPackages` can work: on Debian, as root. */
export const mayInstallPackages = () => isDebian() && process.getuid?.() === 0;

/** The update of the package lists, which runs once. */
let updated;

/** Installs Debian packages; rejects on other systems, and without root. */
export async function installPackages(names) {
  if (!mayInstallPackages()) throw new CommandFailed('only on Debian, and by root');
  const options = { env: { DEBIAN_FRONTEND: 'noninteractive' }, quiet: true };
  updated ??= run('apt-get', ['update'], options);
  await updated;
  // It waits for another installation to end.
  const lock = ['-o', 'DPkg::Lock::Timeout=600'];
  await run('apt-get', [...lock, 'install', '-y', '--no-install-recommends', ...names], options);
}

// Not Ubuntu: its `chromium` is a shim for the snap.
function isDebian() {
  try {
    return /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

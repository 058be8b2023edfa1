// The jobs of set-up that steps need. They wait for the network more than for a core, and take no slot.

import { findBrowser, mayInstallPackages } from '../lib/browser.mjs';
import { findFirefox, findWebKit } from '../lib/engines.mjs';
import { ask } from '../lib/run.mjs';
import {
  setupBrowsers,
  setupGateway,
  setupPackages,
  setupPostgres,
  setupRust,
  setupSqlite,
  setupWasm,
} from '../setup.mjs';

const jobs = (packages) => [
  { name: 'toolchain', action: setupRust },
  { name: 'packages', action: () => setupPackages({ packages }) },
  // If the system has no browser packages, an npm package installs them. Debian's are installed one after the other.
  {
    name: 'chromium',
    needs: mayInstallPackages() ? [] : ['packages'],
    action: () => setupBrowsers('chromium'),
  },
  { name: 'browsers', needs: ['chromium'], action: () => setupBrowsers('all') },
  { name: 'postgres', needs: ['browsers'], action: setupPostgres },
  { name: 'gateway', action: setupGateway },
  { name: 'wasm-tools', needs: ['toolchain', 'chromium'], action: setupWasm },
  { name: 'sqlite', needs: ['packages'], action: setupSqlite },
];

/**
 * Returns the jobs that `steps` need, and the jobs that these need in turn; `packages` is a set of `lib/packages.mjs`.
 */
export function setUpFor(steps, packages) {
  const all = jobs(packages);
  const needed = new Set(steps.flatMap(({ needs = [] }) => needs));
  for (const { name, needs = [] } of all.toReversed()) {
    if (needed.has(name)) for (const other of needs) needed.add(other);
  }
  return all.filter(({ name }) => needed.has(name)).map((job) => ({ ...job, isFree: true }));
}

const PROGRAMS = {
  chromium: () => ask(findBrowser() ?? 'chromium', ['--version']),
  browsers: () => {
    const versions = [PROGRAMS.chromium(), findFirefox()?.version, findWebKit()?.version];
    return versions.includes(undefined) ? undefined : versions.join();
  },
};
const found = new Map();

/** Returns the versions of the browsers that a step drives: a new version runs it again. */
export function versionsOf({ needs = [] }) {
  return needs
    .filter((name) => Object.hasOwn(PROGRAMS, name))
    .map((name) => {
      // A missing one may be installed later.
      if (!found.get(name)) found.set(name, PROGRAMS[name]());
      return found.get(name);
    })
    .join();
}

// On-disk profiles of Chromium.

import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Chromium } from '../../lib/engines/chromium.mjs';

export { Chromium };

// In the repository, since a system's temporary folder may lie in memory.
const PROFILES = fileURLToPath(new URL('../../../.cache/profiles', import.meta.url));

/**
 * On-disk profiles: copies of one that a first start has made, which is most of what a start on
 * an empty one costs. `end` removes them all.
 */
export async function makeProfiles() {
  await mkdir(PROFILES, { recursive: true });
  const folder = await mkdtemp(join(PROFILES, 'torture-'));
  const first = join(folder, 'first');
  const browser = await Chromium.launch(first);
  await browser.close();
  let made = 0;
  return {
    async make() {
      const profileDir = join(folder, String(++made));
      await cp(first, profileDir, { recursive: true, verbatimSymlinks: true });
      return profileDir;
    },
    remove: (profileDir) => rm(profileDir, { recursive: true, force: true, maxRetries: 5 }),
    end: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

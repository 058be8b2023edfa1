// Keeps profiles on disk, for browsers that are restarted on them.

import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// In the repository, since a system's temporary folder may be in memory.
const PROFILES = fileURLToPath(new URL('../../../.cache/profiles', import.meta.url));

/**
 * Makes profiles of an engine: copies of one from a first start, since a start on an empty one takes longer. `end`
 * removes them all.
 */
async function makeProfiles(engine) {
  await mkdir(PROFILES, { recursive: true });
  const folder = await mkdtemp(join(PROFILES, `${engine.name}-`));
  const first = join(folder, 'first');
  const browser = await engine.launch(first);
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

/** Runs `work` with profiles of an engine, and removes them. */
export async function withProfiles(engine, work) {
  const profiles = await makeProfiles(engine);
  try {
    return await work(profiles);
  } finally {
    await profiles.end();
  }
}

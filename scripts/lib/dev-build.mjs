// Marks builds for development (`npm run build -- --dev`): the core in one part, not optimised. Scripts that measure or
// check the package refuse marked builds.

import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailed, ROOT } from './run.mjs';

// A separate file: the build would drop a module that no code reads.
const markIn = (root) => join(root, 'js', 'hedgerow', 'dist', 'DEVELOPMENT');

/** The demo as it ships: pages and programs that print figures of a development build name this command. */
export const RELEASE_COMMAND = 'npm run demo -- --release';

/** Marks the package in `root`, a checkout, as built for development or for release. */
export async function markBuild({ isDevelopment, root = ROOT }) {
  if (!isDevelopment) return rm(markIn(root), { force: true });
  return writeFile(markIn(root), 'Compiled in a hurry: not for publishing, not for measuring.\n');
}

/** Whether the package in `root` was built for development. */
export const isDevBuild = (root = ROOT) => existsSync(markIn(root));

/** Throws if the package was built for development. */
export function refuseDevBuild(root = ROOT) {
  if (!isDevBuild(root)) return;
  throw new CommandFailed(
    `${join(root, 'js', 'hedgerow', 'dist')} was built for development: run \`npm run build\``,
  );
}

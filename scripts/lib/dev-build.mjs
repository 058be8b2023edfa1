// Builds for development (`npm run build -- --dev`): the core in one part, not optimised. They have a mark, and scripts that
// measure or check the package refuse them.

import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailed, ROOT } from './run.mjs';

// A file of its own: of a module that nothing reads the build would leave nothing.
const markIn = (root) => join(root, 'js', 'dist', 'DEVELOPMENT');

/** The demo as it ships: pages and programs that print figures of a build for development name it. */
export const RELEASE_COMMAND = 'npm run demo -- --release';

/** Marks the package in `root`, a checkout, as built for development or for release. */
export async function markBuild({ isDevelopment, root = ROOT }) {
  if (!isDevelopment) return rm(markIn(root), { force: true });
  return writeFile(markIn(root), 'Compiled in a hurry: not for publishing, not for measuring.\n');
}

/** Whether the package in `root` was built for development. */
export const isDevBuild = (root = ROOT) => existsSync(markIn(root));

/** Throws if it was. */
export function refuseDevBuild(root = ROOT) {
  if (!isDevBuild(root)) return;
  throw new CommandFailed(
    `${join(root, 'js', 'dist')} was built for development: run \`npm run build\``,
  );
}

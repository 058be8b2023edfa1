// Builds for development (`npm run build -- --dev`): the core in one part, not optimised. They have a
// mark, and scripts that measure or check the package refuse them.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, ROOT } from './run.mjs';

const MARK = 'IS_DEVELOPMENT_BUILD';

/** The mark in the generated module of a build for development. */
export const DEV_MARK = `\n/** Compiled in a hurry: not for publishing, not for measuring. */\nexport const ${MARK} = true;\n`;

/** Throws if the package in `root`, a checkout, was built for development. */
export function refuseDevBuild(root = ROOT) {
  const file = join(root, 'js', 'dist', 'core', 'generated', 'module.js');
  if (existsSync(file) && readFileSync(file, 'utf8').includes(MARK)) {
    throw new CommandFailed(
      `${join(root, 'js', 'dist')} was built for development: run \`npm run build\``,
    );
  }
}

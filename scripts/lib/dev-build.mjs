// Builds for development (`npm run build -- --dev`): the core in one part, as it was compiled. They are
// marked, and what measures or checks the package refuses them.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, ROOT } from './run.mjs';

const MARK = 'IS_DEVELOPMENT_BUILD';

/** What the generated module has in it when it was built for development. */
export const DEV_MARK = `\n/** Compiled in a hurry: not for publishing, not for measuring. */\nexport const ${MARK} = true;\n`;

/** Throws when the package in `root`, a checkout, was built for development. */
export function refuseDevBuild(root = ROOT) {
  const file = join(root, 'js', 'dist', 'core', 'generated', 'module.js');
  if (existsSync(file) && readFileSync(file, 'utf8').includes(MARK)) {
    throw new CommandFailed(
      `${join(root, 'js', 'dist')} was built for development: run \`npm run build\``,
    );
  }
}

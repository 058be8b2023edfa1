// `node scripts/browser-features.mjs`: writes the table of features in `docs/browsers.md`. With `--check` it writes no
// file, and exits with 1 when the table is out of date.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { featureTable } from './lib/browser-features.mjs';
import { CommandFailed, ROOT, runMain } from './lib/run.mjs';

const PAGE = join(ROOT, 'docs', 'browsers.md');
const BEGIN = '<!-- features: written by scripts/browser-features.mjs -->\n';
const END = '<!-- features: end -->\n';

await runMain(async () => {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined)
    throw new CommandFailed('docs/browsers.md has no place for the features');
  const wanted = `${before}${BEGIN}\n${featureTable()}\n${END}${after}`;
  if (wanted === page) return;
  if (process.argv.includes('--check')) {
    throw new CommandFailed('docs/browsers.md is out of date: node scripts/browser-features.mjs');
  }
  writeFileSync(PAGE, wanted);
});

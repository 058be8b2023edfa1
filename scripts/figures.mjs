// `node scripts/figures.mjs`: fills in the figures of the pages from `docs/figures.json`. With `--check` it writes no
// file, and exits with 1 when a page differs, or when a front page has a figure without a key. `--take FILE --as RUN`
// first takes the figures of a result of `npm run bench` as the figures of a run.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { faultsOf, fill, readFigures, unkeyed, writeFigures } from './lib/figures.mjs';
import { takeFigures } from './lib/figures-take.mjs';
import { FRONT_PAGES } from './lib/front-page.mjs';
import { CommandFailed, ROOT, runMain } from './lib/run.mjs';

const GUIDES = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

function options() {
  try {
    return parseArgs({
      options: {
        check: { type: 'boolean', default: false },
        take: { type: 'string' },
        as: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new CommandFailed(error.message);
  }
}

await runMain(() => {
  const { check, take, as } = options();
  if ((take === undefined) !== (as === undefined)) throw new CommandFailed('--take FILE --as RUN');
  if (take !== undefined) {
    writeFigures(takeFigures(readFigures(), JSON.parse(readFileSync(take, 'utf8')), as));
  }
  const data = readFigures();
  const faults = faultsOf(data);
  let count = 0;
  for (const page of new Set([...FRONT_PAGES, ...GUIDES])) {
    const before = readFileSync(join(ROOT, page), 'utf8');
    const { text, unknown, differing, keys } = fill(before, data);
    count += keys;
    if (!check && text !== before) writeFileSync(join(ROOT, page), text);
    const bare = FRONT_PAGES.includes(page) ? unkeyed(before) : [];
    const found = [
      ...unknown,
      ...(check ? differing : []),
      ...bare.map((figure) => `${figure} has no key`),
    ];
    faults.push(...found.map((fault) => `${page}: ${fault}`));
  }
  if (faults.length > 0) throw new CommandFailed(`figures:\n${faults.join('\n')}`);
  console.log(`${count} figures and tables of the pages are those of docs/figures.json`);
});

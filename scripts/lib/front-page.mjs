// The pages that people see first: of the repository, of the package, of the site. All show the same code.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

export const FRONT_PAGES = ['README.md', 'js/hedgerow/README.md', 'docs/index.md'];

/** Returns the one block of TypeScript of a front page. */
export function frontCode(page = 'README.md') {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  if (blocks.length !== 1) throw new Error(`${page} has ${blocks.length} blocks of TypeScript`);
  return blocks[0];
}

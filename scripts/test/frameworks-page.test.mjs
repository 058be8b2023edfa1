// Compares the figures in docs/frameworks.md with the blocks that they count.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const PAGE = readFileSync(new URL('../../docs/frameworks.md', import.meta.url), 'utf8');
const FRAMEWORKS = ['React', 'Vue', 'Svelte', 'Solid', 'Angular'];

/** Returns the lines of the block that a comment names, without empty ones and the tags of scripts. */
function linesOf(name) {
  const [, block] = PAGE.split(`<!-- ${name} -->\n\n`)[1]?.match(/^```\w+\n([\s\S]*?)^```$/m) ?? [];
  assert.ok(block, `there is no block: ${name}`);
  return block.split('\n').filter((line) => line.trim() !== '' && !/^<\/?script/.test(line)).length;
}

test('the page counts the lines of the blocks, by hand and with the entry', () => {
  const counted = FRAMEWORKS.map((name) => {
    const [byHand, byEntry] = ['by hand', 'with the entry'].map((how) =>
      linesOf(`${how}: ${name}`),
    );
    return `| ${name} | ${byHand} | ${byEntry} |`;
  });
  for (const row of counted) assert.ok(PAGE.includes(`${row}\n`), `it is: ${row}`);
});

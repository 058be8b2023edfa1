// The pages that people see first are short, show the same code, and link to pages that prove their claims.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { anchorOf } from '../../site/lib/markdown.mjs';
import { FRONT_PAGES, frontCode } from '../lib/front-page.mjs';
import { ROOT } from '../lib/run.mjs';

const read = (page) => readFileSync(join(ROOT, page), 'utf8');

test('a front page has at most 120 lines', () => {
  for (const page of FRONT_PAGES) {
    const lines = read(page).trimEnd().split('\n').length;
    assert.ok(lines <= 120, `${page} has ${lines} lines`);
  }
});

test('the code is the same on all of them, short, and without names that readers do not see', () => {
  const code = frontCode();
  for (const page of FRONT_PAGES) {
    assert.equal(frontCode(page), code, page);
    assert.ok(!read(page).includes('<!-- snippets:'), page);
  }
  const lines = code.split('\n').filter((line) => line.trim() !== '');
  assert.ok(lines.length <= 14, `${lines.length} lines of code`);
  assert.doesNotMatch(code, /fetch\(/);
});

/** The six lines of benefits: a title, a sentence, and the page that proves it. */
const SIX = /^- \*\*[^*]+\.\*\* .*(?:\]\(([^)#]+)(?:#([^)]*))?\)|`(docs\/[^`]+)`)\.$/gm;

test('the six lines link to existing pages and sections', () => {
  for (const page of FRONT_PAGES) {
    const [, section] = read(page).split('\n## What you get\n');
    const found = [...section.split('\n## ', 1)[0].matchAll(SIX)];
    assert.equal(found.length, 6, page);
    for (const [, link, anchor, named] of found) {
      const target = named ?? join(dirname(page), link);
      assert.ok(existsSync(join(ROOT, target)), `${page}: ${target}`);
      if (anchor === undefined) continue;
      const headings = [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, text]) => anchorOf(text));
      assert.ok(headings.includes(anchor), `${page}: ${target}#${anchor}`);
    }
  }
});

// The documentation site: the list of its pages, and the translation of a repository's links.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { anchorOf, onSite } from '../../site/lib/markdown.mjs';
import { sidebar } from '../../site/lib/sidebar.mjs';

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));

test('each page of docs/ is in the list of the site, once', () => {
  const listed = sidebar(DOCS)['/'].flatMap(({ items }) => items.map(({ link }) => link));
  assert.equal(new Set(listed).size, listed.length);
  const pages = readdirSync(DOCS)
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .map((name) => `/${name.replace(/\.md$/, '')}`);
  assert.ok(pages.length > 30);
  const missing = pages.filter((page) => !listed.includes(page));
  assert.deepEqual(missing, [], 'add these to site/lib/sidebar.mjs');
});

test('each page of errors is in the list of errors', () => {
  const [{ items }] = sidebar(DOCS)['/errors/'];
  const pages = readdirSync(`${DOCS}/errors`).filter((name) => name !== 'index.md');
  assert.equal(items.length, pages.length);
});

test("anchors equal GitHub's", () => {
  assert.equal(
    anchorOf('`db.put(key, value, options)`, `db.delete(key)`'),
    'dbputkey-value-options-dbdeletekey',
  );
  assert.equal(anchorOf('`hedgerow/worker`'), 'hedgerowworker');
  assert.equal(anchorOf(anchorOf('Where engines differ: a list')), 'where-engines-differ-a-list');
});

test('links to files that are no pages are no links of the site', () => {
  assert.equal(onSite('live.md#windows', 'tables.md'), 'live.md#windows');
  assert.equal(onSite('../live.md', 'errors/closed.md'), '../live.md');
  assert.equal(onSite('../../README.md', 'errors/closed.md'), '/');
  assert.equal(onSite('../js/hedgerow/test/start-up.test.ts', 'browsers.md'), undefined);
  assert.equal(onSite('../../scripts/x.mjs', 'errors/closed.md'), undefined);
  assert.equal(onSite('https://example.org', 'tables.md'), 'https://example.org');
});

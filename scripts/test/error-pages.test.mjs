// Each code of errors has its page, and no other page exists: the names of the pages are the codes. Each detail has a
// section in the page of its code, where `help` leads.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCE = readFileSync(join(ROOT, 'js/hedgerow/src/base/errors.ts'), 'utf8');
const PAGES = join(ROOT, 'docs/errors');
const namesIn = (text) => [...text.matchAll(/'([a-z-]+)'/g)].map(([, code]) => code);
const CODES = namesIn(/type ErrorCode =[^;]*;/.exec(SOURCE)[0]);
const RETRYABLE = /\/\^\(([^)]*)\)\$\/\.test\(code\)/.exec(SOURCE)[1].split('|');
/** The details of each code that has some. */
const DETAILS = new Map(
  [...SOURCE.matchAll(/^ {2}readonly '?([a-z-]+)'?: ('[a-z-]+'(?: \| '[a-z-]+')*);$/gm)].map(
    ([, code, details]) => [code, namesIn(details)],
  ),
);
/** The codes with details that occur without one, too. */
const BARE = ['invalid-argument'];
/** Errors of this code depend on the status of the answer; without one they are not retried. */
const BY_STATUS = ['remote/status', 'remote/response'];
const read = (name) => readFileSync(join(PAGES, `${name}.md`), 'utf8');
const partsOf = (code) => read(code).split(/^(?=## `[a-z-]+`\n)/m);

/** The parts of the pages, by kinds: the headings of a section are one level deeper than the headings of a page. */
const PARTS = CODES.flatMap((code) => {
  const [whole, ...sections] = partsOf(code);
  const details = DETAILS.get(code) ?? [];
  const bare = { kind: code, text: whole };
  const of = sections.map((text, at) => ({
    kind: `${code}/${details[at]}`,
    text: text.replace(/^##(#?) /gm, '#$1 '),
  }));
  return details.length === 0 || BARE.includes(code) ? [bare, ...of] : of;
});

test('the pages are the codes', () => {
  assert.equal(CODES.length, 21);
  const names = readdirSync(PAGES).map((name) => name.replace(/\.md$/, ''));
  assert.deepEqual(names.sort(), [...CODES, 'index'].sort());
  for (const code of CODES) assert.ok(read(code).startsWith(`# \`${code}\`\n\n`), code);
});

test('the details of a code are the sections of its page, and no two codes share one', () => {
  const all = [...DETAILS.values()].flat();
  assert.ok(all.length > 15);
  assert.equal(new Set([...all, ...CODES]).size, all.length + CODES.length);
  for (const code of CODES) {
    const sections = [...read(code).matchAll(/^## `([a-z-]+)`$/gm)].map(([, detail]) => detail);
    assert.deepEqual(sections, DETAILS.get(code) ?? [], code);
  }
});

test('each page, and each section, has a cause, an example and a remedy', () => {
  for (const { kind, text } of PARTS) {
    const [, cause, remedy] = text.split(/^## (?:Cause|Remedy)\n/m);
    assert.ok(remedy?.trim(), `${kind}: there is no cause, or no remedy`);
    assert.match(cause, /^```ts\n/m, `${kind}: the cause has no example`);
  }
});

test('each of them says whether the same call may succeed later, as `retryable` does', () => {
  for (const { kind, text } of PARTS) {
    const [, said] = /^Retry: (yes|no|for the statuses)\b/m.exec(text) ?? [];
    const expected = RETRYABLE.includes(kind.split('/')[0]) ? 'yes' : 'no';
    assert.equal(said, BY_STATUS.includes(kind) ? 'for the statuses' : expected, kind);
  }
});

/** Kinds of remotes, and kinds that they share with stores. */
const OF_SYNC = [
  ...['conflict', 'corrupt-chunk', 'remote/data', 'missing-chunk', 'offline', 'remote/status'],
  ...['unauthorized', 'remote/gone', 'remote/unsafe', 'rollback', 'wrong-key'],
];

// All blocks of pages run in js/hedgerow/test/package/error-examples.test.ts; js/hedgerow/test/package/sync-remedies.test.ts has the faults.
test('each of sync has a remedy that can be run', () => {
  for (const kind of OF_SYNC) {
    const { text } = PARTS.find((part) => part.kind === kind);
    const [, remedy] = text.split(/^## Remedy\n/m);
    assert.match(remedy, /^```ts\n/m, kind);
  }
});

test('the list of errors has each code once, with its details', () => {
  const rows = [
    ...read('index').matchAll(/^\| \[`([a-z-]+)`\]\(([a-z-]+)\.md\) \|[^|]*\|(.*)\|$/gm),
  ];
  assert.deepEqual(rows.map(([, code]) => code).sort(), CODES.toSorted());
  for (const [, code, page, rest] of rows) {
    const details = [...rest.matchAll(/\[`([a-z-]+)`\]\(([a-z-]+)\.md#([a-z-]+)\)/g)];
    const expected = (DETAILS.get(code) ?? []).map((detail) => [detail, code, detail]);
    assert.equal(page, code);
    assert.deepEqual(
      details.map(([, ...parts]) => parts),
      expected,
      code,
    );
  }
});

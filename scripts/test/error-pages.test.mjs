// Each code of errors has its page, and no other page exists: the names of the pages are the codes.

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
const RETRYABLE = namesIn(/const RETRYABLE[^;]*;/.exec(SOURCE)[0]);
/** These depend on the status of the answer. */
const BY_STATUS = ['bad-response', 'remote'];
const read = (name) => readFileSync(join(PAGES, `${name}.md`), 'utf8');

test('the pages are the codes', () => {
  assert.ok(CODES.length > 30);
  const names = readdirSync(PAGES).map((name) => name.replace(/\.md$/, ''));
  assert.deepEqual(names.sort(), [...CODES, 'index'].sort());
});

test('each page has the code as its title, a cause, an example and a remedy', () => {
  for (const code of CODES) {
    const page = read(code);
    assert.ok(page.startsWith(`# \`${code}\`\n\n`), `${code}: the title is not the code`);
    const [, cause, remedy] = page.split(/^## (?:Cause|Remedy)\n/m);
    assert.ok(remedy?.trim(), `${code}: there is no cause, or no remedy`);
    assert.match(cause, /^```ts\n/m, `${code}: the cause has no example`);
  }
});

test('each page says whether the same call may succeed later, as `retryable` does', () => {
  for (const code of CODES) {
    const [, said] = /^Retry: (yes|no|for the statuses)\b/m.exec(read(code)) ?? [];
    const expected = RETRYABLE.includes(code) ? 'yes' : 'no';
    assert.equal(said, BY_STATUS.includes(code) ? 'for the statuses' : expected, code);
  }
});

/** Codes of remotes, and the codes that they share with stores. */
const OF_SYNC = [
  ...['conflict', 'corrupt-chunk', 'invalid-remote', 'missing-chunk', 'offline', 'remote'],
  ...['remote-auth', 'remote-gone', 'remote-unsafe', 'rollback', 'wrong-key'],
];

// All blocks of pages run in js/hedgerow/test/package/error-examples.test.ts; js/hedgerow/test/package/sync-remedies.test.ts has the faults.
test('each page of sync has a remedy that can be run', () => {
  for (const code of OF_SYNC) {
    const [, remedy] = read(code).split(/^## Remedy\n/m);
    assert.match(remedy, /^```ts\n/m, code);
  }
});

test('the list of errors has each code once', () => {
  const listed = [...read('index').matchAll(/\[`[a-z-]+`\]\(([a-z-]+)\.md\)/g)];
  assert.deepEqual(listed.map(([, code]) => code).sort(), CODES.toSorted());
});

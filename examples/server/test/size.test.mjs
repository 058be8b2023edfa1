// The server is short: people read it, copy it and rewrite it in other languages.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** Returns the lines of a file that are neither blank nor comments. */
function linesOf(name) {
  const text = readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => !/^\s*(\/\/|\/\*|\*|$)/.test(line)).length;
}
const sum = (names) => names.map(linesOf).reduce((a, b) => a + b);

test('push and pull over Postgres, schema included, have at most 220 lines, and HTTP 110', () => {
  assert.ok(sum(['sync.mjs', 'schema.mjs', 'postgres.mjs']) <= 220);
  assert.ok(sum(['server.mjs']) <= 110);
});

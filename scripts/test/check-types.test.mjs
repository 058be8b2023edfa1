// Compares the errors of a compiler with the errors that `js/hedgerow/test/types` expects.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsIn, expectedIn, faultsOf, withoutComments } from '../lib/expected-errors.mjs';

const FILE = `const a: number = 1;
// @ts-expect-error a text in place of a number ['string'] ['number']
const b: number = 'x';
  // @ts-expect-error indented, and without parts
  nope;
`;
const OUTPUT = `a.ts(3,7): error TS2322: Type 'string' is not assignable to type
  'number'.
a.ts(5,3): error TS2304: Cannot find name 'nope'.
`;
const faults = (output, text = FILE) =>
  faultsOf(new Map([['a.ts', expectedIn(text)]]), errorsIn(output));

test('the copies have the same lines, and hide no error', () => {
  const copy = withoutComments(FILE);
  assert.equal(copy.split('\n').length, FILE.split('\n').length);
  assert.ok(!copy.includes('@ts-'));
});

test('the expected errors, with the parts of their messages, are no fault', () => {
  assert.deepEqual(faults(OUTPUT), []);
});

test('an expected error that does not come is a fault', () => {
  assert.match(
    faults(OUTPUT.replace(/a\.ts\(5.*/, '')).join(),
    /^a\.ts:5: no error, but: indented/,
  );
  assert.equal(faults('').length, 2);
});

test('an unexpected error is a fault', () => {
  assert.match(faults(`${OUTPUT}a.ts(1,7): error TS1: wrong`).join(), /^a\.ts:1: TS1: wrong$/);
  assert.match(faults(`${OUTPUT}b.ts(3,7): error TS1: wrong`).join(), /^b\.ts:3: TS1: wrong$/);
});

test('an expected error with another message is a fault', () => {
  assert.match(
    faults(OUTPUT.replace("'number'", 'another')).join(),
    /^a\.ts:3: no 'number' in: TS2322/,
  );
});

test('an error without a file is a fault, such as a compiler that does not start', () => {
  assert.match(faults(`${OUTPUT}error TS5083: Cannot read file`).join(), /TS5083/);
  assert.match(faults(`${OUTPUT}Error: Cannot find module 'tsc'`).join(), /Cannot find module/);
});

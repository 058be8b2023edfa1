/** Each suite runs in browsers, or a list excludes it by name with a reason that still holds. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as util from './node/util.js';
import { LEFT_OUT, SAMPLE } from './suites.js';

/** The folder of the packages. */
const DIR = fileURLToPath(new URL('../../../', import.meta.url));
const HELPERS = /^[\w-]+\/test\/(?!browser\/)/;
const suites = readdirSync(DIR)
  .filter((name) => existsSync(join(DIR, name, 'test')))
  .flatMap((name) =>
    readdirSync(join(DIR, name, 'test'), { recursive: true, encoding: 'utf8' }).map(
      (file) => `${name}/test/${file.replaceAll('\\', '/')}`,
    ),
  )
  .filter((file) => file.endsWith('.test.ts') && !file.includes('/live/frameworks/'));

/** Returns the text of a file and of all helpers that it imports. */
function textOf(file: string, seen = new Set<string>()): string {
  if (seen.has(file)) return '';
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const helpers = [...text.matchAll(/from '(\.{1,2}\/[^']+)\.js'/g)]
    .map(([, name]) => join(dirname(file), `${name}.ts`))
    .filter((helper) => HELPERS.test(relative(DIR, helper)));
  return [text, ...helpers.map((helper) => textOf(helper, seen))].join('\n');
}

/** Returns the modules of Node that a text imports and that have no stand-in for browsers. */
function missingFrom(text: string): string[] {
  const names = [...text.matchAll(/from 'node:([^']+)'/g)].map(([, name]) => `${name}`);
  return names.filter((name) => !existsSync(join(import.meta.dirname, 'node', `${name}.ts`)));
}

describe('the suites that browsers run', () => {
  const run = suites.filter((file) => !LEFT_OUT.has(file));

  it.each(run)('%s imports only modules with a stand-in', (file) => {
    expect(missingFrom(textOf(join(DIR, file)))).toEqual([]);
  });

  it('include the sample', () => {
    expect(SAMPLE.filter((path) => !run.includes(path.slice('js/'.length)))).toEqual([]);
  });
});

describe('the suites that browsers do not run', () => {
  it.each([...LEFT_OUT])('%s still contains its reason', (file, { needs, why }) => {
    expect(suites).toContain(file);
    expect(textOf(join(DIR, file))).toContain(needs);
    expect(why).toMatch(/\w/);
  });
});

describe('the stand-in for the module util of Node', () => {
  const values: readonly unknown[] = [
    ...[undefined, null, 0, -0, Number.NaN, '', '0', 1n, true, []],
    ...[[undefined], [1, [2]], [1, [3]], new Array(1), {}, { a: undefined }, { a: 1 }],
    ...[{ a: 1, b: 2 }, Object.create(null), { [Symbol.for('a')]: 1 }, new Date(0), new Date(1)],
    ...[Uint8Array.of(1), Uint8Array.of(2), Int8Array.of(1), new Uint8Array([0, 1]).subarray(1)],
    ...[new Map([['a', [1]]]), new Map([['a', [2]]]), new Set([1]), new Set([2])],
    ...[new Error('a'), new Error('b'), new TypeError('a')],
  ];

  it('compares as Node does', () => {
    for (const a of values) {
      for (const b of [...values, structuredCloneOf(a)]) {
        expect([a, b, util.isDeepStrictEqual(a, b)]).toEqual([a, b, isDeepStrictEqual(a, b)]);
      }
    }
  });
});

function structuredCloneOf(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return value;
  }
}

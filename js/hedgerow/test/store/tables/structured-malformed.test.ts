/** Stored forms of structured values that are malformed. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { decodeStructured } from '../../../src/store/tables/values/decode-structured.js';
import { failure, thrown } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { expectEqual, someValue, stored } from './structured-values.js';

const TEXTS = [
  ...['~', '~q', '~u', '~UU', '~U ', '~T', '~#set', '~v', '~zNAN', '~z', '~zInfinity', '~z1'],
  ...['~n', '~n-', '~n01', '~n-0', '~n1.5', '~n1e3', '~n 1', '~n1 ', '~n0x1'],
  ...[
    '~bA',
    '~bAA',
    '~bAA=',
    '~bAB==',
    '~bAAB=',
    '~b AA==',
    '~bAA==\n',
    '~bA-_=',
    '~b====',
    '~bAA==AA==',
  ],
];

const DATES = [
  ...[
    '',
    '1970',
    '1970-01-01',
    '1970-01-01T00:00:00Z',
    '1970-01-01T00:00:00.000',
    '1970-01-01T00:00:00.000z',
  ],
  ...['1970-13-01T00:00:00.000Z', '1970-00-01T00:00:00.000Z', '1970-02-29T00:00:00.000Z'],
  ...['1970-04-31T00:00:00.000Z', '1970-01-00T00:00:00.000Z', '1970-01-39T00:00:00.000Z'],
  ...['1970-01-01T24:00:00.000Z', '1970-01-01T00:60:00.000Z', '1970-01-01T00:00:60.000Z'],
  ...['1970-01-01T00:00:00.00xZ', '1970-01-01T00:00:00.x00Z', '19x0-01-01T00:00:00.000Z'],
  ...['1970-01-01 00:00:00.000Z', '+10000-01-01T00:00:00.000Z', '-000001-01-01T00:00:00.000Z'],
  ...['0001-02-29T00:00:00.000Z', '0000-01-01T24:00:00.000Z', '1', '2024', 'Jan 1, 2024'],
];

const MALFORMED: readonly unknown[] = [
  ...TEXTS,
  ...DATES.map((text) => `~t${text}`),
  { a: { b: ['x', '~q'] } },
  ['~#set', 1, 1],
  ['~#set', '~zNaN', '~zNaN'],
  ['~#cmap', 1],
  ['~#cmap', 1, 2, 3],
  ['~#cmap', 1, 2, 1, 3],
  ['~#other', 1],
  ['~#', 1],
  [1, '~#set'],
  ['~#file'],
  ['~#file', 'AA=='],
  ['~#file', 'AA==', 'n', 't'],
  ['~#file', 'AA==', 'n', 't', 1, 2],
  ['~#file', 'AA==', 'n', 't', 'now'],
  ['~#file', 'AA', 'n', 't', null],
  ['~#file', 5, 'n', 't', null],
  ['~#file', 'AA==', 5, 't', null],
  ['~#file', 'AA==', 'n', null, null],
  { a: 1, '~U': 'a' },
  { a: 1, '~U': [5] },
  { a: 1, '~U': ['~~U'] },
  { a: { '~U': { a: 1 } } },
].map((form) => [form]);

describe('stored forms that are malformed', () => {
  it.each(MALFORMED as [unknown][])('%o is refused', (form) => {
    const error = thrown(() => decodeStructured(structuredClone(form)));
    expect(error).toEqual(failure('invalid-argument/value'));
  });

  it('are refused if they are too deep', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
    expect(() => decodeStructured(deep)).toThrow(failure('invalid-argument/value'));
  });

  it('give a value that has this form, or an error of ours', async () => {
    let sound = 0;
    let refused = 0;
    await forSeeds(300, async (from, _, begin) => {
      for (let step = 0; step < 20; step++) {
        const form = damaged(from, someValue(from));
        begin(form);
        const parsed = JSON.parse(form);
        let value: unknown;
        try {
          value = decodeStructured(JSON.parse(form));
        } catch (cause) {
          expect(cause).toEqual(failure('invalid-argument/value'));
          refused += 1;
          continue;
        }
        sound += 1;
        // The order of members, and of merged parts, may differ. In a list, since bytes alone are stored as they are.
        const again = stored([value]);
        if (!/~U/.test(form)) expect(isDeepStrictEqual(again, [parsed])).toBe(true);
        else expectEqual(decodeStructured(again), [value]);
      }
    });
    expect(Math.min(sound, refused)).toBeGreaterThan(0);
  });
});

/** Returns the text of a stored form with a part replaced by another one, or by a mark. */
function damaged(from: Random, value: unknown): string {
  const form = JSON.stringify(stored(value instanceof Uint8Array ? [value] : value));
  const marks = [
    '"~',
    '"~#set",',
    '"~#cmap",',
    '"~t',
    '"~U":[],',
    '"~n1",',
    '[',
    ']',
    '0',
    '=',
    '"',
  ];
  for (let tries = 0; tries < 20; tries++) {
    const at = from.below(form.length);
    const text = form.slice(0, at) + from.pick(marks) + form.slice(at + from.below(3));
    try {
      let isKept = true;
      JSON.parse(text, (_, part) => {
        // The store refuses numbers like 1e999, and keeps -0 as 0.
        if (Math.abs(part) === Number.POSITIVE_INFINITY || Object.is(part, -0)) isKept = false;
      });
      if (isKept) return text;
    } catch {
      // Tries again.
    }
  }
  return form;
}

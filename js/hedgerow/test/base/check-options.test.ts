/** A record of checks gives the type of the options, and refuses all others by name. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  anyNumber,
  anything,
  checkRangeOptions,
  choice,
  count,
  countFrom,
  flag,
  fn,
  KEY_RANGE,
  mandatory,
  type OptionsOf,
  optionsOf,
  plain,
  SIGNAL_OPTIONS,
  type SignalOptions,
  signalCheck,
  sliceLength,
  text,
} from '../../src/base/check-options.js';
import type { KeyRange } from '../../src/base/range.js';
import { ofKind } from '../support/error-kind.js';

const OPTIONS = {
  url: mandatory(text),
  isOpen: flag,
  port: anyNumber,
  limit: count,
  every: countFrom(1),
  sliceMs: sliceLength,
  format: choice('ndjson', 'json'),
  onDone: fn<(rows: number) => void>(),
  links: plain<Record<string, string>>(),
  from: anything<string | number>(),
  ...SIGNAL_OPTIONS,
};
type Options = OptionsOf<typeof OPTIONS>;

const NAMES = 'url isOpen port limit every sliceMs format onDone links from signal';

const check = (given: unknown) => optionsOf('call', given as Options, OPTIONS);
const refusal = (given: unknown) => {
  try {
    check(given);
  } catch (cause) {
    expect(cause).toMatchObject(ofKind('invalid-argument'));
    return (cause as Error).message;
  }
  return expect.fail('the options were taken');
};

describe('the type of options', () => {
  it('has all members of the record, and only mandatory ones must be given', () => {
    expectTypeOf<Options['url']>().toEqualTypeOf<string>();
    expectTypeOf<Options['isOpen']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<Options['port']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Options['limit']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Options['format']>().toEqualTypeOf<'ndjson' | 'json' | undefined>();
    expectTypeOf<Options['onDone']>().toEqualTypeOf<((rows: number) => void) | undefined>();
    expectTypeOf<Options['links']>().toEqualTypeOf<Record<string, string> | undefined>();
    expectTypeOf<Options['from']>().toEqualTypeOf<string | number | undefined>();
    expectTypeOf<Options['signal']>().toEqualTypeOf<AbortSignal | undefined>();
    expectTypeOf<SignalOptions>().toExtend<Pick<Options, 'signal'>>();
    expectTypeOf<{ url: string; limit: undefined }>().toExtend<Options>();
    expectTypeOf<{ limit: number }>().not.toExtend<Options>();
    expectTypeOf<{ url: string; isOpen: number }>().not.toExtend<Options>();
    // @ts-expect-error no member of the record
    const unknown: Options = { url: '', host: '' };
    expectTypeOf(check({ ...unknown, host: undefined }).limit).toEqualTypeOf<number | undefined>();
  });

  it('agrees with the record, or the call does not compile', () => {
    const checks = { key: anything<string>(), limit: count };
    interface Written<Row> {
      readonly key?: (string & keyof Row) | undefined;
      readonly limit?: number | undefined;
    }
    const taken = <Row>(given: Written<Row>) => optionsOf('call', given, checks);
    expectTypeOf(taken<{ id: 1 }>({}).key).toEqualTypeOf<'id' | undefined>();
    const other: { readonly key?: string; readonly limit?: string } = {};
    const [less, more]: [{ readonly key?: string }, Written<unknown> & { readonly extra?: 1 }] = [
      {},
      {},
    ];
    // @ts-expect-error the record has a check for `limit`
    optionsOf('call', less, checks);
    // @ts-expect-error the record has no check for `extra`
    optionsOf('call', more, checks);
    // @ts-expect-error the check of `limit` takes numbers
    optionsOf('call', other, checks);
    const range: KeyRange = {};
    checkRangeOptions('call', range, KEY_RANGE);
    // @ts-expect-error the range has no signal
    checkRangeOptions('call', range, { ...KEY_RANGE, signal: signalCheck });
  });
});

describe('options', () => {
  it('are returned without undefined members, and each is read once', () => {
    let reads = 0;
    const given = {
      get url() {
        reads += 1;
        return 'a';
      },
      isOpen: undefined,
      strange: undefined,
      limit: Number.POSITIVE_INFINITY,
    };
    expect(check(given)).toEqual({ url: 'a', limit: Number.POSITIVE_INFINITY });
    expect(Object.keys(check(given))).toEqual(['url', 'limit']);
    expect(reads).toBe(2);
    expect(check(Object.assign(Object.create(null), { url: 'a' }))).toEqual({ url: 'a' });
  });

  it.each(['strange', 'toString', 'constructor', 'hasOwnProperty', 'Url'])(
    'have no member %s',
    (name) => {
      expect(refusal({ [name]: 1 })).toBe(`call takes no ${name}, but ${NAMES}`);
    },
  );

  it('have no own member __proto__', () => {
    expect(refusal(JSON.parse('{"__proto__":{}}'))).toBe(`call takes no __proto__, but ${NAMES}`);
  });

  it.each<[name: keyof Options, value: unknown, message: string]>([
    ['url', 5, 'a string, not 5'],
    ['isOpen', null, 'a boolean, not null'],
    ['port', '80', 'a number, not 80'],
    ['limit', -1, 'a whole number from 0 on, not -1'],
    ['limit', 0.5, 'a whole number from 0 on, not 0.5'],
    ['every', 0, 'a whole number from 1 on, not 0'],
    ['sliceMs', Number.POSITIVE_INFINITY, 'above 0, and finite, not Infinity'],
    ['format', 'csv', 'ndjson or json, not csv'],
    ['onDone', {}, 'a function, not Object'],
    ['links', [], 'a plain object, not Array'],
    ['signal', {}, 'an AbortSignal, not Object'],
  ])('refuse %s: %o', (name, value, message) => {
    expect(refusal({ [name]: value })).toBe(`call: ${name} must be ${message}`);
  });

  it('that cannot be read are refused with the name', () => {
    const given = {
      get limit(): number {
        throw new Error('no');
      },
    };
    expect(refusal(given)).toBe('call: limit cannot be read');
    expect(refusal([])).toBe('call takes options in a plain object, not Array');
  });
});

describe('a range', () => {
  const take = (given: object) => () => checkRangeOptions('call', given as KeyRange, KEY_RANGE);

  it('has no undefined bound, and no empty prefix', () => {
    expect(take({ gte: 'a' })()).toEqual({ gte: 'a' });
    expect(take({ prefix: undefined })).toThrow('call: prefix is undefined: leave it out');
    expect(take({ prefix: '' })).toThrow('call: prefix is empty: leave it out');
    expect(take({ index: 's' })).toThrow('call takes no index, but prefix gt gte lt lte');
    expect(take([])).toThrow('call takes a range in a plain object, not Array');
  });
});

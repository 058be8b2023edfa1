/**
 * Checks all options and ranges of callers. Each call has one record of checks next to it, from which the type of its
 * options is inferred. The members of the record have the comments that editors show.
 */
import { HedgerowError } from './errors.js';
import type { MembersOf } from './exhaustive-members-type.js';
import { hasCalls, isPlain, kindOf, shownAs } from './runtime-type-checks.js';

/**
 * The check of an option, and the words for the expected value in its message. The third member is never set: it only
 * carries the type of the option.
 */
export type OptionCheck<T> = readonly [is: (value: never) => unknown, expected: string, type?: T];

/** The check of an option that callers must give. Only the type says so: the call itself refuses its absence. */
export type MandatoryCheck<T> = OptionCheck<T> & { readonly isMandatory: true };

/** The checks of all options of a call, by name. */
export type OptionChecks = Readonly<Record<string, OptionCheck<unknown>>>;

type CheckedType<Check> = Check extends OptionCheck<infer T> ? T : never;

/** The options that a record of checks describes. */
export type OptionsOf<Checks extends OptionChecks> = {
  readonly [Name in keyof Checks as Checks[Name] extends MandatoryCheck<unknown> ? never : Name]?:
    | CheckedType<Checks[Name]>
    | undefined;
} & {
  readonly [Name in keyof Checks as Checks[Name] extends MandatoryCheck<unknown>
    ? Name
    : never]: CheckedType<Checks[Name]>;
};

type Member<Options, Name> = Options extends unknown
  ? Name extends keyof Options
    ? Exclude<Options[Name], undefined>
    : never
  : never;

/**
 * A record with a check for each member of `Options`, which takes all values of its type, and with no other check. A
 * type of options that is written by hand agrees with its record, or the call that checks them does not compile.
 */
export type ChecksFor<Options, Checks> = {
  readonly [Name in MembersOf<Options> | keyof Checks]: Name extends MembersOf<Options>
    ? Name extends keyof Checks
      ? Member<Options, Name> extends CheckedType<Checks[Name]>
        ? unknown
        : OptionCheck<Member<Options, Name>>
      : OptionCheck<Member<Options, Name>>
    : never;
};

const ofType = (type: string): OptionCheck<never> => [
  (value) => typeof value === type,
  `a ${type}`,
];

/** Makes the check of a whole number. Infinity passes: `Infinity % 1` is NaN. */
export const countFrom = (low: number): OptionCheck<number> => [
  (value: unknown) => typeof value === 'number' && value >= low && !(value % 1),
  `a whole number from ${low} on`,
];

const FUNCTION = ofType('function');
const PLAIN: OptionCheck<never> = [isPlain, 'a plain object'];
const ANYTHING: OptionCheck<never> = [() => true, ''];

export const flag: OptionCheck<boolean> = ofType('boolean');
export const text: OptionCheck<string> = ofType('string');
export const anyNumber: OptionCheck<number> = ofType('number');
/** Also the number of a row: the count of rows before it. */
export const count = countFrom(0);
/** Milliseconds of a slice. */
export const sliceLength: OptionCheck<number> = [
  (ms: number) => Number.isFinite(ms) && ms > 0,
  'above 0, and finite',
];
export const signalCheck: OptionCheck<AbortSignal> = [
  (value: AbortSignal) => typeof value.aborted === 'boolean' && value.addEventListener,
  'an AbortSignal',
];

/** A function; its arguments and its result are checked where it is called. */
export const fn = <F extends (...args: never) => unknown>(): OptionCheck<F> => FUNCTION;

/** A plain object, whose members the call checks. */
export const plain = <T extends object>(): OptionCheck<T> => PLAIN;

/** A value that only the call can check. */
export const anything = <T>(): OptionCheck<T> => ANYTHING;

/** One of a few texts. */
export const choice = <Value extends string>(...values: Value[]): OptionCheck<Value> => [
  (value) => values.includes(value),
  values.join(' or '),
];

export const durabilityCheck = choice('relaxed', 'strict');

/** The same check, of an option that callers must give. */
export const mandatory = <T>(check: OptionCheck<T>) => check as MandatoryCheck<T>;

/** The options of a call that only a signal ends. */
export const SIGNAL_OPTIONS = { signal: signalCheck };
export type SignalOptions = OptionsOf<typeof SIGNAL_OPTIONS>;

/** `T` with members that are never `undefined`. */
export type DefinedMembers<T> = { readonly [Name in keyof T]: Exclude<T[Name], undefined> };

function refuse(what: string, cause?: unknown): never {
  throw new HedgerowError('invalid-argument', what, { cause });
}

/** Throws `invalid-argument` unless `given` is a plain object. */
export function checkPlain(call: string, given: unknown, what = 'options'): void {
  if (!isPlain(given)) refuse(`${call} takes ${what} in a plain object, not ${kindOf(given)}`);
}

/**
 * Returns the members of `given` that are not `undefined`, each read once. Throws `invalid-argument` unless `checks` has
 * all of them, and takes their values.
 */
export function optionsOf<Options extends object, Checks extends OptionChecks>(
  call: string,
  given: Options,
  checks: Checks & ChecksFor<Options, Checks>,
  what = 'options',
): DefinedMembers<Options> {
  checkPlain(call, given, what);
  const found: Record<string, unknown> = {};
  let at = what;
  try {
    for (const name of Object.keys(given)) {
      at = name;
      const value = given[name as keyof Options];
      if (value === undefined) continue;
      if (!Object.hasOwn(checks, name)) {
        refuse(`${call} takes no ${name}, but ${Object.keys(checks).join(' ')}`);
      }
      const [is, expected] = checks[name] as OptionCheck<unknown>;
      if (!is(value as never)) {
        refuse(`${call}: ${name} must be ${expected}, not ${shownAs(value)}`);
      }
      found[name] = value;
    }
  } catch (cause) {
    if (cause instanceof HedgerowError) throw cause;
    refuse(`${call}: ${at} cannot be read`, cause);
  }
  return found as DefinedMembers<Options>;
}

/** Throws `invalid-argument` unless `value` has the functions `names`, which the promise of a store lacks. */
export function checkHas(call: string, value: unknown, names: string, what: string): void {
  if (!hasCalls(value, names)) refuse(`${call} takes ${what}, not ${kindOf(value)}`);
}

/** Throws `invalid-argument` unless `value` can be the number of a row. */
export function checkNumber(call: string, value: unknown): asserts value is number {
  const [is, expected] = count;
  if (!is(value as never)) refuse(`${call} takes ${expected}, not ${shownAs(value)}`);
}

/** Throws `invalid-argument` unless a store can have this name. */
export function checkStoreName(name: unknown): void {
  if (typeof name === 'string' && !/\p{Surrogate}/u.test(name)) return;
  refuse(`the name of a store is well-formed text, not ${kindOf(name)}`);
}

/** The checks of the bounds of a range of rows. Their type is `KeyRange`: a bound that is `undefined` is refused. */
export const KEY_RANGE = {
  prefix: anything<unknown>(),
  gt: anything<unknown>(),
  gte: anything<unknown>(),
  lt: anything<unknown>(),
  lte: anything<unknown>(),
};

/** The checks of a range of rows, or of an index. */
export const ENTRY_RANGE = { ...KEY_RANGE, index: text, equals: anything<unknown>() };

/** Names of members that narrow a range. */
const BOUND = /^(prefix|[gl]te?|equals|index)$/;

/**
 * Checks a range as `optionsOf` checks options. Refuses an `undefined` bound, and an empty prefix: a forgotten variable
 * must not select all rows.
 */
export function checkRangeOptions<Options extends object, Checks extends OptionChecks>(
  call: string,
  given: Options,
  checks: Checks & ChecksFor<Options, Checks>,
): DefinedMembers<Options> {
  const range = optionsOf<Options, Checks>(call, given, checks, 'a range');
  for (const name of Object.keys(given)) {
    if (BOUND.test(name) && !(name in range)) refuse(`${call}: ${name} is undefined: leave it out`);
  }
  if ('prefix' in range && range.prefix === '') refuse(`${call}: prefix is empty: leave it out`);
  if ('equals' in range && !('index' in range)) refuse(`${call}: equals needs an index`);
  return range;
}

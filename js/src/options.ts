/**
 * The one check of all options and ranges that callers give. A member of one name is of one kind in
 * every call that has it.
 */
import { HedgerowError } from './errors.js';
import { isPlain, kindOf, shownAs } from './kind.js';

/** What a member may be, and how a message says so. */
type Kind = readonly [is: (value: unknown) => boolean, what: string];

const ofType = (type: string, what: string): Kind => [(value) => typeof value === type, what];
const oneOf = (...texts: unknown[]): Kind => [
  (value) => texts.includes(value),
  texts.map((text) => `'${text}'`).join(' or '),
];
const number = (is: (value: number) => boolean, what: string): Kind => [
  (value) => typeof value === 'number' && is(value),
  what,
];
const countFrom = (low: number): Kind =>
  number(
    (value) => value >= low && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY),
    `a whole number from ${low} on`,
  );

const FUNCTION = ofType('function', 'a function');
const BOOLEAN = ofType('boolean', 'true or false');
const PLAIN: Kind = [isPlain, 'a plain object'];
/** Only the call that has such a member knows more. */
const ANY: Kind = [() => true, ''];

const KINDS: Readonly<Record<string, Kind>> = {
  signal: [
    (value) =>
      typeof (value as AbortSignal).aborted === 'boolean' &&
      'addEventListener' in (value as object),
    'an AbortSignal',
  ],
  durability: oneOf('relaxed', 'strict'),
  format: oneOf('ndjson', 'json'),
  limit: countFrom(0),
  commitEvery: countFrom(1),
  sliceMs: number((ms) => ms > 0 && ms < Number.POSITIVE_INFINITY, 'above 0 and finite'),
  cacheBytes: number((bytes) => bytes >= 0 && bytes < 2 ** 31, 'from 0 to below 2 GiB'),
  index: ofType('string', 'the name of an index'),
  storage: [(value) => FUNCTION[0]((value as { open?: unknown }).open), 'what idb() returns'],
  branches: [(value) => BOOLEAN[0](value) || Array.isArray(value), 'true or an array of names'],
  indexes: PLAIN,
  sums: PLAIN,
  reverse: BOOLEAN,
  initial: BOOLEAN,
  wait: BOOLEAN,
  create: BOOLEAN,
  persist: BOOLEAN,
  salvage: BOOLEAN,
};

/** `T` without members that are `undefined`. */
export type Defined<T> = { readonly [Name in keyof T]: Exclude<T[Name], undefined> };

function isKind([is]: Kind, value: unknown): boolean {
  try {
    return is(value);
  } catch {
    return false;
  }
}

function refuse(what: string, cause?: unknown): never {
  throw new HedgerowError('invalid-argument', what, { cause });
}

/** The kinds of all members of a list of names. */
const lists = new Map<string, Map<string, Kind>>();

function kindsOf(names: string): Map<string, Kind> {
  let kinds = lists.get(names);
  if (kinds === undefined) {
    const kindOfMember = (name: string) => KINDS[name] ?? (name.startsWith('on') ? FUNCTION : ANY);
    kinds = new Map(names.split(' ').map((name) => [name, kindOfMember(name)]));
    lists.set(names, kinds);
  }
  return kinds;
}

/**
 * The members of `given` that are not `undefined`, each read once. Throws `invalid-argument` unless
 * all of them are among `names` and of their kinds.
 */
export function optionsOf<T extends object>(
  call: string,
  given: T,
  names: string,
  what = 'options',
): Defined<T> {
  if (!isPlain(given)) refuse(`${call} takes ${what} in a plain object, not ${kindOf(given)}`);
  const kinds = kindsOf(names);
  const found: Record<string, unknown> = {};
  try {
    for (const name of Object.keys(given)) {
      const value: unknown = given[name as keyof T];
      if (value === undefined) continue;
      const kind = kinds.get(name);
      if (kind === undefined) refuse(`${call} takes no ${name}, but ${names}`);
      if (!isKind(kind, value)) {
        refuse(`${call}: ${name} must be ${kind[1]}, not ${shownAs(value)}`);
      }
      found[name] = value;
    }
  } catch (cause) {
    if (cause instanceof HedgerowError) throw cause;
    refuse(`${call}: ${what} cannot be read`, cause);
  }
  return found as Defined<T>;
}

/** Throws `invalid-argument` unless a store can have this name. */
export function checkName(name: unknown): void {
  if (typeof name === 'string' && !/\p{Surrogate}/u.test(name)) return;
  refuse(`the name of a store is well-formed text, not ${kindOf(name)}`);
}

/** Members of ranges: of keys, of entries of an index too, and of what reads them. */
const KEYS = 'prefix gt gte lt lte';
export const RANGE = {
  keys: KEYS,
  signal: `${KEYS} signal`,
  entries: `${KEYS} index equals`,
  waiting: `${KEYS} index equals wait`,
  counted: `${KEYS} index equals wait signal`,
  scanned: `${KEYS} index equals wait signal reverse limit`,
} as const;

/** As `optionsOf`, of a range. */
export function rangeOf<T extends object>(
  call: string,
  given: T,
  names: (typeof RANGE)[keyof typeof RANGE],
): Defined<T> {
  const range = optionsOf(call, given, names, 'a range');
  if ('equals' in range && !('index' in range)) refuse(`${call}: equals is of an index: name it`);
  return range;
}

/**
 * The one check of all options and ranges that callers give. A member of one name is of one kind in
 * every call that has it.
 */
import { HedgerowError } from './errors.js';
import { isPlain, kindOf } from './kind.js';

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

/** Of other members only the calls that have them know more. */
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
  let members: [string, unknown][];
  try {
    members = Object.entries(given).filter(([, value]) => value !== undefined);
  } catch (cause) {
    refuse(`${call}: ${what} cannot be read`, cause);
  }
  for (const [name, value] of members) {
    if (!names.split(' ').includes(name)) refuse(`${call} takes no ${name}, but ${names}`);
    const kind = KINDS[name] ?? (name.startsWith('on') ? FUNCTION : undefined);
    if (kind && !isKind(kind, value)) {
      const shown = Object(value) === value ? kindOf(value) : String(value);
      refuse(`${call}: ${name} must be ${kind[1]}, not ${shown}`);
    }
  }
  return Object.fromEntries(members) as Defined<T>;
}

/** Throws `invalid-argument` unless a store can have this name. */
export function checkName(name: unknown): void {
  if (typeof name === 'string' && !/\p{Surrogate}/u.test(name)) return;
  refuse(`the name of a store is well-formed text, not ${kindOf(name)}`);
}

/**
 * As `optionsOf`, of a range: of keys, with what `more` names beside it, and of an index if that is
 * among these.
 */
export function rangeOf<T extends object>(call: string, given: T, more = ''): Defined<T> {
  const range = optionsOf(call, given, `prefix gt gte lt lte ${more}`, 'a range');
  if ('equals' in range && !('index' in range)) refuse(`${call}: equals is of an index: name it`);
  return range;
}

/** As `rangeOf`, of what a scan takes. */
export function scanned<T extends object>(call: string, given: T): Defined<T> {
  return rangeOf(call, given, 'index equals reverse limit signal wait');
}

/** Checks all options and ranges of callers. A member has the same kind in every call that takes it. */
import { HedgerowError } from './errors.js';
import { hasCalls, isPlain, kindOf, shownAs } from './runtime-type-checks.js';

/** The check of a member, and the words for the expected value in its message. */
type Kind = readonly [is: (value: never) => unknown, what: string];

const ofType = (type: string): Kind => [(value) => typeof value === type, `a ${type}`];
const oneOf = (one: string, other: string): Kind => [
  (value) => value === one || value === other,
  `${one} or ${other}`,
];
const number = (is: (value: number) => boolean, what: string): Kind => [
  (value) => typeof value === 'number' && is(value),
  what,
];
// Infinity passes: `Infinity % 1` is NaN.
const countFrom = (low: number): Kind =>
  number((value) => value >= low && !(value % 1), `a whole number from ${low} on`);

/** The number of a row: the count of rows before it. */
const NUMBER = countFrom(0);
const PLAIN: Kind = [isPlain, 'a plain object'];
const STORAGE: Kind = [
  (value: { open?: unknown }) => typeof value.open === 'function',
  'such as idb()',
];
/** The kind of members that only their call can check. */
const ANY: Kind = [() => true, ''];

const KINDS: Readonly<Record<string, Kind>> = {
  signal: [
    (value: AbortSignal) => typeof value.aborted === 'boolean' && value.addEventListener,
    'an AbortSignal',
  ],
  durability: oneOf('relaxed', 'strict'),
  format: oneOf('ndjson', 'json'),
  offset: NUMBER,
  limit: countFrom(0),
  commitEvery: countFrom(1),
  sliceMs: number((ms) => ms > 0 && ms < Number.POSITIVE_INFINITY, 'above 0, and finite'),
  cacheBytes: number((bytes) => bytes >= 0 && bytes < 2 ** 31, 'below 2 GiB'),
  index: ofType('string'),
  storage: STORAGE,
  fallback: STORAGE,
  encryption: [
    (value: { over?: unknown }) => typeof value.over === 'function',
    'of hedgerow/encryption',
  ],
  indexes: PLAIN,
  // `open` passes the tables of `table()` to their own code, not here.
  tables: [() => 0, 'made by table()'],
  sums: PLAIN,
  advanced: PLAIN,
  link: PLAIN,
};

/** Returns the kind of a member. A type in a list of names, as in `url:string`, counts for that call only. */
function kindOfMember(name: string, type: string | undefined): Kind {
  if (type !== undefined) return ofType(type);
  if (/^on[A-Z]/.test(name)) return ofType('function');
  if (
    /^(reverse|initial|wait|mustExist|exclusive|salvage|checkIndexes|dropOtherIndexes|nulls)$/.test(
      name,
    )
  )
    return ofType('boolean');
  return KINDS[name] ?? ANY;
}

/** `T` with members that are never `undefined`. */
export type DefinedMembers<T> = { readonly [Name in keyof T]: Exclude<T[Name], undefined> };

function refuse(what: string, cause?: unknown): never {
  throw new HedgerowError('invalid-argument', what, { cause });
}

/** Throws `invalid-argument` unless `given` is a plain object. */
export function checkPlain(call: string, given: unknown, what = 'options'): void {
  if (!isPlain(given)) refuse(`${call} takes ${what} in a plain object, not ${kindOf(given)}`);
}

/** The kinds of the members, for each list of names. */
const lists = new Map<string, Map<string, Kind>>();

/**
 * Returns the members of `given` that are not `undefined`, each read once. Throws `invalid-argument` unless all are
 * among `names` and of their kinds. A member that no other call has gets its type in its name: `url:string`.
 */
export function optionsOf<T extends object>(
  call: string,
  given: T,
  names: string,
  what = 'options',
): DefinedMembers<T> {
  checkPlain(call, given, what);
  let kinds = lists.get(names);
  if (kinds === undefined) {
    kinds = new Map();
    for (const one of names.split(' ')) {
      const [name = '', type] = one.split(':');
      kinds.set(name, kindOfMember(name, type));
    }
    lists.set(names, kinds);
  }
  const found: Record<string, unknown> = {};
  let at = what;
  try {
    for (const name of Object.keys(given)) {
      at = name;
      const value = given[name as keyof T];
      if (value === undefined) continue;
      const kind = kinds.get(name);
      if (kind === undefined) {
        refuse(`${call} takes no ${name}, but ${[...kinds.keys()].join(' ')}`);
      }
      const [is, expected] = kind;
      if (!is(value as never)) {
        refuse(`${call}: ${name} must be ${expected}, not ${shownAs(value)}`);
      }
      found[name] = value;
    }
  } catch (cause) {
    if (cause instanceof HedgerowError) throw cause;
    refuse(`${call}: ${at} cannot be read`, cause);
  }
  return found as DefinedMembers<T>;
}

/** Throws `invalid-argument` unless `value` has the functions `names`, which the promise of a store lacks. */
export function checkHas(call: string, value: unknown, names: string, what: string): void {
  if (!hasCalls(value, names)) refuse(`${call} takes ${what}, not ${kindOf(value)}`);
}

/** Throws `invalid-argument` unless `value` can be the number of a row. */
export function checkNumber(call: string, value: unknown): asserts value is number {
  const [is, expected] = NUMBER;
  if (!is(value as never)) refuse(`${call} takes ${expected}, not ${shownAs(value)}`);
}

/** Throws `invalid-argument` unless a store can have this name. */
export function checkStoreName(name: unknown): void {
  if (typeof name === 'string' && !/\p{Surrogate}/u.test(name)) return;
  refuse(`the name of a store is well-formed text, not ${kindOf(name)}`);
}

/** The members of ranges, for the calls that take them. */
const KEYS = 'prefix gt gte lt lte';
const ENTRIES = `${KEYS} index equals`;
const WAITING = `${ENTRIES} wait`;
const COUNTED = `${WAITING} signal`;
export const RANGE = {
  keys: KEYS,
  signal: `${KEYS} signal`,
  entries: ENTRIES,
  waiting: WAITING,
  counted: COUNTED,
  ordered: `${COUNTED} reverse`,
  scanned: `${COUNTED} reverse after offset limit`,
} as const;

/** Names of members that narrow a range. */
const BOUND = /^(prefix|[gl]te?|equals|index)$/;

/**
 * Checks a range as `optionsOf` checks options. Refuses an `undefined` bound, and an empty prefix: a forgotten variable
 * must not select all rows.
 */
export function checkRangeOptions<T extends object>(
  call: string,
  given: T,
  names: (typeof RANGE)[keyof typeof RANGE],
): DefinedMembers<T> {
  const range = optionsOf(call, given, names, 'a range');
  for (const name of Object.keys(given)) {
    if (BOUND.test(name) && !(name in range)) refuse(`${call}: ${name} is undefined: leave it out`);
  }
  if ('prefix' in range && range.prefix === '') refuse(`${call}: prefix is empty: leave it out`);
  if ('equals' in range && !('index' in range)) refuse(`${call}: equals needs an index`);
  return range;
}

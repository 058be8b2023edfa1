/** Ranges of keys, and their encoding for the core. */
import * as ReadFlag from './abi/read-flag.js';
import { checkRangeOptions, ENTRY_RANGE, flag, type OptionsOf } from './check-options.js';
import { HedgerowError } from './errors.js';
import type { Exactly } from './exhaustive-members-type.js';
import { checkKey, compareKeys } from './key.js';
import { isList, isPlain } from './runtime-type-checks.js';

/** The keys that satisfy all given members, in the order of their UTF-8 bytes. */
export interface KeyRange {
  /** Keys that start with this. */
  readonly prefix?: string;
  /** Keys above this. */
  readonly gt?: string;
  /** Keys not below this. */
  readonly gte?: string;
  /** Keys below this. */
  readonly lt?: string;
  /** Keys not above this. */
  readonly lte?: string;
}

/** Builds a range of the given bounds. Leaves out an empty prefix, since all keys begin with it. */
export function buildKeyRange(
  bounds: {
    readonly [Name in keyof KeyRange]: string | undefined;
  },
): KeyRange {
  return Object.fromEntries(
    Object.entries(bounds).filter(
      ([name, key]) => key !== undefined && (name !== 'prefix' || key !== ''),
    ),
  );
}

/** The parts and their flags, in the order in which the core reads them. */
const PARTS = [
  ['prefix', ReadFlag.prefix],
  ['gt', ReadFlag.gt],
  ['gte', ReadFlag.gte],
  ['lt', ReadFlag.lt],
  ['lte', ReadFlag.lte],
] as const satisfies readonly (readonly [keyof KeyRange, number])[];

let encoder: TextEncoder | undefined;

/** A range for the core: flags, then the length and bytes of each part. */
export interface EncodedRange {
  readonly flags: number;
  readonly rangeBytes: Uint8Array;
}

/** Returns whether a key is in a range. */
export function isInRange(
  key: string,
  { prefix, gt, gte, lt, lte }: Exactly<KeyRange, 'prefix' | 'gt' | 'gte' | 'lt' | 'lte'>,
): boolean {
  return (
    (prefix === undefined || key.startsWith(prefix)) &&
    (gt === undefined || compareKeys(key, gt) > 0) &&
    (gte === undefined || compareKeys(key, gte) >= 0) &&
    (lt === undefined || compareKeys(key, lt) < 0) &&
    (lte === undefined || compareKeys(key, lte) <= 0)
  );
}

/** Throws `invalid-argument` if a range has two lower bounds, or two upper ones. */
export function checkBounds({ gt, gte, lt, lte }: { [Name in keyof KeyRange]?: unknown }): void {
  if ((gt !== undefined && gte !== undefined) || (lt !== undefined && lte !== undefined)) {
    const message = 'a range has one of gt and gte, and one of lt and lte';
    throw new HedgerowError('invalid-argument', message);
  }
}

/** Encodes a range; throws `invalid-argument/key` or `invalid-argument`. */
export function encodeRange(range: Exactly<KeyRange, (typeof PARTS)[number][0]>): EncodedRange {
  checkBounds(range);
  let flags = 0;
  const parts: Uint8Array[] = [];
  encoder ??= new TextEncoder();
  for (const [name, flag] of PARTS) {
    const key = range[name];
    if (key === undefined) continue;
    checkKey(key, name);
    parts.push(encoder.encode(key));
    flags |= flag;
  }
  const rangeBytes = new Uint8Array(parts.reduce((sum, part) => sum + 4 + part.length, 0));
  const view = new DataView(rangeBytes.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.length, true);
    rangeBytes.set(part, at + 4);
    at += 4 + part.length;
  }
  return { flags, rangeBytes };
}

/** Returns the part of a range `above` a key, or `below` it. Throws as `encodeRange` does. */
export function cut(
  range: Exactly<KeyRange, (typeof PARTS)[number][0]>,
  key: string,
  side: 'above' | 'below',
): KeyRange {
  // Check before a bound is dropped: a malformed bound must not pass.
  encodeRange(range);
  checkKey(key);
  const { prefix, gt, gte, lt, lte } = range;
  const [lower, upper] = [gt ?? gte, lt ?? lte];
  if (side === 'above') {
    const isIn = lower === undefined || compareKeys(lower, key) <= 0;
    return isIn ? buildKeyRange({ prefix, gt: key, lt, lte }) : range;
  }
  const isIn = upper === undefined || compareKeys(upper, key) >= 0;
  return isIn ? buildKeyRange({ prefix, gt, gte, lt: key }) : range;
}

/** Returns whether `keys` is a range, not a list of keys. */
export function isRange(keys: unknown): boolean {
  return isPlain(keys) && !isList(keys);
}

const DELETED_RANGE = { ...ENTRY_RANGE, wait: flag };

/** Checks a range to delete. Refuses a range without a bound, which would delete all rows by mistake. */
export function deletedRange<Range extends object>(call: string, range: Range): Range {
  const given: OptionsOf<typeof DELETED_RANGE> = range;
  const wanted = checkRangeOptions(call, given, DELETED_RANGE);
  const hasBound = Object.keys(wanted).some((name) => /^(prefix|[gl]te?|equals)$/.test(name));
  if (hasBound) return wanted as object as Range;
  throw new HedgerowError(
    'invalid-argument',
    `${call}: the range has no bound; clear() deletes all`,
  );
}

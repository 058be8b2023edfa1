/** Ranges of keys, and how they are written for the core. */
import { HedgerowError } from './errors.js';
import { checkKey, compareKeys } from './key.js';

/** The keys that satisfy all that is given, in the order of their UTF-8 bytes. */
export interface KeyRange {
  /** Keys that start with this. */
  readonly prefix?: string | undefined;
  /** Keys above this. */
  readonly gt?: string | undefined;
  /** Keys not below this. */
  readonly gte?: string | undefined;
  /** Keys below this. */
  readonly lt?: string | undefined;
  /** Keys not above this. */
  readonly lte?: string | undefined;
}

/** Flags of the core's `scan` besides those for the range. */
export const ScanFlag = { reverse: 1, keys: 2, values: 4, secondary: 256 } as const;

const HAS_PREFIX = 8;
const LOWER_SHIFT = 4;
const UPPER_SHIFT = 6;
const INCLUDED = 1;
const EXCLUDED = 2;

/** A range as the core reads it: flags, and for each part its length and its bytes. */
export interface EncodedRange {
  readonly flags: number;
  readonly rangeBytes: Uint8Array;
}

/** Whether a key is in a range. */
export function isInRange(key: string, { prefix, gt, gte, lt, lte }: KeyRange): boolean {
  return (
    (prefix === undefined || key.startsWith(prefix)) &&
    (gt === undefined || compareKeys(key, gt) > 0) &&
    (gte === undefined || compareKeys(key, gte) >= 0) &&
    (lt === undefined || compareKeys(key, lt) < 0) &&
    (lte === undefined || compareKeys(key, lte) <= 0)
  );
}

/** Encodes a range; throws `invalid-key` or `invalid-argument`. */
export function encodeRange(range: KeyRange): EncodedRange {
  const { prefix, gt, gte, lt, lte } = range;
  if (gt !== undefined && gte !== undefined) {
    throw new HedgerowError('invalid-argument', 'a range has either gt or gte');
  }
  if (lt !== undefined && lte !== undefined) {
    throw new HedgerowError('invalid-argument', 'a range has either lt or lte');
  }
  let flags = 0;
  const parts: Uint8Array[] = [];
  const encoder = new TextEncoder();
  const add = (key: string | undefined, flag: number) => {
    if (key === undefined) return;
    checkKey(key);
    parts.push(encoder.encode(key));
    flags |= flag;
  };
  add(prefix, HAS_PREFIX);
  add(gt, EXCLUDED << LOWER_SHIFT);
  add(gte, INCLUDED << LOWER_SHIFT);
  add(lt, EXCLUDED << UPPER_SHIFT);
  add(lte, INCLUDED << UPPER_SHIFT);
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

/** A key is the range that holds it alone. */
export function encodeProved(keyOrRange: string | KeyRange): EncodedRange {
  if (typeof keyOrRange === 'string') return encodeRange({ gte: keyOrRange, lte: keyOrRange });
  if (typeof keyOrRange === 'object' && keyOrRange !== null) return encodeRange(keyOrRange);
  throw new HedgerowError('invalid-argument', 'what is proved is a key or a range');
}

/** Ranges of keys as half-open intervals. */
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { compareKeys, utf8Length } from '../../base/key.js';
import { MAX_KEY_BYTES } from '../../base/limits.js';
import type { KeyRange } from '../../base/range.js';

/** The strings from `low` on and below `high` (without it: all), in the order of their UTF-8 bytes. */
export interface Interval {
  readonly low: string;
  readonly high: string | undefined;
}

/** Returns the first string after another one. */
const after = (text: string) => `${text}\0`;

/** Returns the first string after all that start with `prefix`, if one exists. */
function afterAll(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) as number);
  for (;;) {
    const last = points.pop();
    if (last === undefined) return undefined;
    // Skip the surrogates after U+D7FF: no key contains one.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    if (last < 0x10_ffff) return String.fromCodePoint(...points, next);
  }
}

/** Returns the interval of a range that `encodeRange` takes. */
export function intervalOf({
  prefix,
  gt,
  gte,
  lt,
  lte,
}: Exactly<KeyRange, 'prefix' | 'gt' | 'gte' | 'lt' | 'lte'>): Interval {
  let low = gt === undefined ? (gte ?? '') : after(gt);
  let high = lte === undefined ? lt : after(lte);
  if (prefix !== undefined) {
    const end = afterAll(prefix);
    if (compareKeys(prefix, low) > 0) low = prefix;
    if (high === undefined || (end !== undefined && compareKeys(end, high) < 0)) high = end;
  }
  return { low, high };
}

/** Reports whether an interval contains no string. */
export function isEmpty({ low, high }: Interval): boolean {
  return high !== undefined && compareKeys(low, high) >= 0;
}

/** Returns the range of an interval, which is wider if the upper bound is longer than a key can be. */
export function intervalToRange({ low, high }: Interval): KeyRange {
  const lower = low.endsWith('\0') ? { gt: low.slice(0, -1) } : { gte: low };
  if (high?.endsWith('\0')) return { ...lower, lte: high.slice(0, -1) };
  if (high === undefined || utf8Length(high) > MAX_KEY_BYTES) return lower;
  return { ...lower, lt: high };
}

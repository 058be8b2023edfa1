/** The expected entries of an index, computed without encoding keys. */
import type {
  EntryPosition,
  IndexDefinition,
  IndexScanOptions,
  Scalar,
  SecondaryKey,
} from '../src/index.js';
import { compareKeys, type Entry } from './model.js';

export type IndexedEntry = [key: string, value: unknown, secondary: SecondaryKey];

function memberAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = /^(0|[1-9][0-9]*)$/.test(name) ? at[Number(name)] : undefined;
    else if (typeof at === 'object' && at !== null && Object.hasOwn(at, name)) {
      at = (at as Record<string, unknown>)[name];
    } else return undefined;
  }
  return at;
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  return typeof value === 'number' || typeof value === 'boolean';
}

const TYPES = ['boolean', 'number', 'string'];

function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return compareKeys(a, b);
  if (typeof a === typeof b) return Number(a) - Number(b);
  return TYPES.indexOf(typeof a) - TYPES.indexOf(typeof b);
}

const listOf = (key: SecondaryKey) => (Array.isArray(key) ? key : [key]) as readonly Scalar[];

/** Compares only the columns that both have. */
function compareSecondary(a: SecondaryKey, b: SecondaryKey): number {
  const [left, right] = [listOf(a), listOf(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const order = compareScalars(left[at] as Scalar, right[at] as Scalar);
    if (order !== 0) return order;
  }
  return 0;
}

/** The order of entries in an index. */
export function comparePositions(a: EntryPosition, b: EntryPosition): number {
  return compareSecondary(a[0], b[0]) || compareKeys(a[1], b[1]);
}

/** All entries of an index in order. */
export function entriesOfRows(
  { path, prefix = '' }: IndexDefinition,
  rows: readonly Entry[],
): IndexedEntry[] {
  const paths = typeof path === 'string' ? [path] : path;
  const found: IndexedEntry[] = [];
  for (const [key, value] of rows) {
    if (!key.startsWith(prefix) || value instanceof Uint8Array) continue;
    const members = paths.map((one) => memberAt(value, one));
    if (members.filter(Array.isArray).length > 1) continue;
    const width = Math.max(1, ...members.map((one) => (Array.isArray(one) ? one.length : 1)));
    const isEmpty = members.some((one) => Array.isArray(one) && one.length === 0);
    const seen = new Set<string>();
    for (let at = 0; at < (isEmpty ? 0 : width); at++) {
      const scalars = members.map((one) => (Array.isArray(one) ? one[at] : one));
      if (!scalars.every(isScalar) || seen.has(JSON.stringify(scalars))) continue;
      seen.add(JSON.stringify(scalars));
      found.push([key, value, paths.length === 1 ? (scalars[0] as Scalar) : scalars]);
    }
  }
  return found.sort((a, b) => comparePositions([a[2], a[0]], [b[2], b[0]]));
}

/** The expected result of a scan of a range of them. */
export function selectEntries(
  entries: readonly IndexedEntry[],
  range: Omit<IndexScanOptions, 'index'>,
): IndexedEntry[] {
  const { equals, prefix, gt, gte, lt, lte, after } = range;
  const { reverse = false, offset = 0, limit = Infinity } = range;
  const bounds = [gt, gte, lt, lte].filter((bound) => bound !== undefined);
  const one = bounds.length === 1 ? listOf(bounds[0] as SecondaryKey)[0] : undefined;
  const found = entries.filter(([key, , secondary]) => {
    if (after !== undefined) {
      const order = comparePositions([secondary, key], after);
      if (reverse ? order >= 0 : order <= 0) return false;
    }
    const first = listOf(secondary)[0];
    if (typeof one === 'boolean' && typeof first !== 'boolean') return false;
    if (one !== undefined && typeof first !== typeof one) return false;
    return (
      (equals === undefined || compareSecondary(secondary, equals) === 0) &&
      (prefix === undefined || (typeof first === 'string' && first.startsWith(prefix))) &&
      (gt === undefined || compareSecondary(secondary, gt) > 0) &&
      (gte === undefined || compareSecondary(secondary, gte) >= 0) &&
      (lt === undefined || compareSecondary(secondary, lt) < 0) &&
      (lte === undefined || compareSecondary(secondary, lte) <= 0)
    );
  });
  return (reverse ? found.reverse() : found).slice(offset, offset + limit);
}

/** How many of the entries, in the order of a scan, come before a position. */
export function rankOf(
  entries: readonly IndexedEntry[],
  at: EntryPosition,
  reverse = false,
): number {
  const sign = reverse ? -1 : 1;
  return entries.filter(([key, , secondary]) => sign * comparePositions([secondary, key], at) < 0)
    .length;
}

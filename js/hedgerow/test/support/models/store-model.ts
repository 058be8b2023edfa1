/** The expected content of a store: a plain sorted array, and simple reads of it. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { ErrorKind } from '../../../src/base/errors.js';
import type { ScanOptions } from '../../../src/engine/read/scan-options.js';
import { HedgerowError, memory, open, type Store } from '../../../src/index.js';
import { ofKind } from '../error-kind.js';

export type Entry = [key: string, value: unknown];

/** Compares keys by their bytes in UTF-8, which differs from JavaScript's `<`. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Sorts entries by their keys; of equal keys the last wins. */
export function sorted(entries: Iterable<readonly [string, unknown]>): Entry[] {
  return [...new Map(entries)].sort(([a], [b]) => compareKeys(a, b));
}

/** Returns the expected result of a scan of sorted entries. */
export function select(entries: readonly Entry[], options: ScanOptions): Entry[] {
  const { prefix, gt, gte, lt, lte, after } = options;
  const { reverse = false, offset = 0, limit = Infinity } = options;
  const found = entries.filter(
    ([key]) =>
      (after === undefined || (reverse ? -1 : 1) * compareKeys(key, after) > 0) &&
      (prefix === undefined || key.startsWith(prefix)) &&
      (gt === undefined || compareKeys(key, gt) > 0) &&
      (gte === undefined || compareKeys(key, gte) >= 0) &&
      (lt === undefined || compareKeys(key, lt) < 0) &&
      (lte === undefined || compareKeys(key, lte) <= 0),
  );
  return (reverse ? found.reverse() : found).slice(offset, offset + limit);
}

/** Returns how many of the entries, in the order of a scan, come before a key. */
export function rankIn(entries: readonly Entry[], at: string, reverse = false): number {
  return entries.filter(([key]) => (reverse ? -1 : 1) * compareKeys(key, at) < 0).length;
}

/** Opens a store in memory that holds `entries`. */
export async function storeOf(entries: readonly (readonly [string, unknown])[] = []) {
  const db = await open('test', { storage: memory() });
  if (entries.length > 0) await db.putMany(entries);
  return db;
}

/** Options of `expect.poll` for other handles, which hear of a commit a moment later. */
export const SOON = { interval: 2, timeout: 120_000 };

/** Returns all entries of a store. */
export function all(db: Store): Promise<Entry[]> {
  return db.scan().toArray();
}

/** As `toEqual`, which takes seconds for large bytes and texts. */
export function expectSame(actual: unknown, expected: unknown, message = ''): void {
  if (!isDeepStrictEqual(actual, expected)) {
    expect(short(actual), message).toEqual(short(expected));
    expect.fail(`${message}: not the same, further in than the excerpts`);
  }
}

function short(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes(${value.length}): ${value.subarray(0, 20)}`;
  if (typeof value === 'string') return value.length > 80 ? `${value.slice(0, 80)}…` : value;
  return Array.isArray(value) ? value.map(short) : value;
}

const NAMES: Readonly<Record<string, string>> = {
  aborted: 'AbortError',
  'quota-exceeded': 'QuotaExceededError',
};

/** Returns the matcher of the error that a call must fail with: `{ name, code, ... }`. */
export function failure(kind: ErrorKind, facts: Partial<HedgerowError> = {}) {
  return expect.objectContaining({
    name: NAMES[kind] ?? 'HedgerowError',
    ...ofKind(kind),
    ...facts,
  });
}

/** Expects that `change` fails as `error` says, and that the store then is unchanged and still works. */
export async function refuses(
  db: Store,
  change: () => Promise<unknown>,
  error: unknown,
  message = '',
): Promise<void> {
  const [root, before] = [db.root, await all(db)];
  await expect(change(), message).rejects.toEqual(error);
  expect(db.root, message).toBe(root);
  expectSame(await all(db), before, message);
  await db.put('refused?', 'no');
  expect(await db.get('refused?')).toBe('no');
  await db.delete('refused?');
  expect(db.root, message).toBe(root);
}

/** Milliseconds after which a call counts as hung: far more than it takes, since the machine may be busy. */
const HUNG_MS = 120_000;

/** Settles with a call; rejects if it takes longer than `ms`. */
export async function within<T>(call: Promise<T>, ms = HUNG_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not settled after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error that a call throws synchronously. */
export function thrown(call: () => unknown): HedgerowError {
  try {
    call();
  } catch (cause) {
    if (cause instanceof HedgerowError) return cause;
    throw cause;
  }
  return expect.fail('it has not thrown');
}

/** Returns the members that have a value. */
export const defined = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };

/** Returns the number of deleted rows, which in a transaction is the whole result. */
export const rowsIn = (deleted: unknown) => (deleted as { rows?: number }).rows ?? deleted;

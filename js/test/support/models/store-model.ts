/** What a store should hold: a plain sorted array, and reads of it that cannot be wrong. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { HedgerowError, memory, open, type ScanOptions, type Store } from '../../../src/index.js';

export type Entry = [key: string, value: unknown];

/** The order of keys: by their bytes in UTF-8, which is not that of JavaScript's `<`. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Entries in the order of their keys; of equal keys the last wins. */
export function sorted(entries: Iterable<readonly [string, unknown]>): Entry[] {
  return [...new Map(entries)].sort(([a], [b]) => compareKeys(a, b));
}

/** What a scan of sorted entries should give. */
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

/** How many of the entries, in the order of a scan, come before a key. */
export function rankIn(entries: readonly Entry[], at: string, reverse = false): number {
  return entries.filter(([key]) => (reverse ? -1 : 1) * compareKeys(key, at) < 0).length;
}

/** An open store in memory, holding `entries`. */
export async function storeOf(entries: readonly (readonly [string, unknown])[] = []) {
  const db = await open('test', { storage: memory() });
  if (entries.length > 0) await db.putMany(entries);
  return db;
}

/** How `expect.poll` waits for other handles, which hear of a commit a moment later. */
export const SOON = { interval: 2, timeout: 20_000 };

/** All that a store holds. */
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

/** `{ name, code, ... }` of the error that a call must fail with. */
export function failure(code: HedgerowError['code'], facts: Partial<HedgerowError> = {}) {
  return expect.objectContaining({
    name: code === 'aborted' ? 'AbortError' : 'HedgerowError',
    code,
    ...facts,
  });
}

/** `change` must fail as `error` says and leave the store as it was, and able to work. */
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

/** Time after which a call counts as hung, in milliseconds: far more than it takes, since the machine may be busy. */
const HUNG_MS = 20_000;

/** Settles with a call; rejects when it takes longer than `ms`. */
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

/** The error that a call throws in its turn. */
export function thrown(call: () => unknown): HedgerowError {
  try {
    call();
  } catch (cause) {
    if (cause instanceof HedgerowError) return cause;
    throw cause;
  }
  return expect.fail('it has not thrown');
}

/** The members that have a value. */
export const defined = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };

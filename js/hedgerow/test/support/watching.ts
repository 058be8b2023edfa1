/** Helpers of the watch tests. */
import { isDeepStrictEqual } from 'node:util';
import { expect, vi } from 'vitest';
import { type Change, type KeyRange, memory, open, type Store } from '../../src/index.js';
import { compareKeys, type Entry, expectSame, select, sorted } from './models/store-model.js';

/** Handles of one store in memory that see each other's commits, like tabs. */
export async function handles<Count extends 1 | 2 | 3>(count: Count, name = 'watched') {
  const storage = { ...memory(), isShared: true };
  const opening = Array.from({ length: count }, () => open(name, { storage }));
  return (await Promise.all(opening)) as Count extends 1 ? [Store] : [Store, Store, Store];
}

/** Fails unless `isTrue`. An `expect` for each of many changes costs more than the changes do. */
function check(isTrue: boolean, message: string): void {
  if (!isTrue) expect.fail(message);
}

/**
 * A copy of the rows of a range, updated by a watch callback. It throws for an empty call, for changes out of order,
 * and for a change that does not fit its rows.
 */
export class Copy {
  readonly rows: Map<string, unknown>;
  calls = 0;
  root = '';
  /** The changes of each call. */
  readonly told: (readonly Change[])[] = [];

  /** Begins with `rows`; without them the first call must have all rows. */
  constructor(rows?: readonly Entry[]) {
    this.rows = new Map(rows ?? []);
    this.#isInitial = rows === undefined;
  }

  #isInitial: boolean;

  /** The callback. */
  readonly take = (changes: readonly Change[], { root }: { readonly root: string }): void => {
    this.calls += 1;
    this.root = root;
    this.told.push(changes);
    expect(root).toMatch(/^[0-9a-f]{64}$/);
    if (!this.#isInitial) expect(changes.length).toBeGreaterThan(0);
    let last: string | undefined;
    for (const change of changes) {
      const { key } = change;
      check(last === undefined || compareKeys(last, key) < 0, `${last} before ${key}`);
      last = key;
      check(!this.#isInitial || change.op === 'insert', `${change.op} ${key} at first`);
      check(this.rows.has(key) === (change.op !== 'insert'), `${change.op} ${key}`);
      if (change.op !== 'insert') expectSame(change.oldValue, this.rows.get(key), key);
      if (change.op === 'delete') this.rows.delete(key);
      else {
        if (change.op === 'update') {
          check(!isDeepStrictEqual(change.oldValue, change.newValue), `${key} is as it was`);
        }
        this.rows.set(key, change.newValue);
      }
    }
    this.#isInitial = false;
  };

  /** Waits until the copy equals `entries` in `range`, or until `isOver`. */
  async becomes(
    entries: Iterable<readonly [string, unknown]>,
    range: KeyRange = {},
    isOver = () => false,
  ): Promise<void> {
    const expected = select(sorted(entries), range);
    const isThere = () => !this.#isInitial && isDeepStrictEqual(sorted(this.rows), expected);
    await until(() => isOver() || isThere()).catch(() => {});
    if (isOver()) return;
    expectSame(sorted(this.rows), expected, JSON.stringify(range));
    expect(isThere()).toBe(true);
  }
}

/** Waits until a condition holds. */
export async function until(isTrue: () => boolean): Promise<void> {
  await vi.waitUntil(isTrue, { timeout: 120_000, interval: 1 });
}

/** Lets all work in progress continue for some turns. */
export async function rest(turns = 20): Promise<void> {
  for (let at = 0; at < turns; at++) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Returns how many watches of a store are active. */
export function watches(db: Store) {
  const watch = db.watch.bind(db) as Store['watch'];
  const seen = { begun: 0, now: 0 };
  vi.spyOn(db, 'watch').mockImplementation((range, take, options) => {
    const stop = watch(range, take, options);
    seen.begun += 1;
    seen.now += 1;
    let isOver = false;
    return () => {
      if (!isOver) seen.now -= 1;
      isOver = true;
      stop();
    };
  });
  return seen;
}

/**
 * Random changes by two handles and on a branch, shown live in random windows over rows and indexes. Each shown list is
 * one that the store has had, never older than the one before; unchanged rows stay the same objects; no listener is
 * called without a change; and at rest each list equals a fresh scan.
 */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import type { IndexScanOptions, ScanOptions } from '../../src/engine/read/scan-options.js';
import {
  type IndexDefinitions,
  memory,
  open,
  type PatchOperation,
  type Store,
} from '../../src/index.js';
import { type Live, live, liveCount, liveRow } from '../../src/live/index.js';
import { kindOf } from '../support/error-kind.js';
import {
  choosePalette,
  definitionsOf,
  KEYS,
  memberOf,
  modelOf,
  positionIn,
  type Range,
  rangeOf,
  rowValue,
} from '../support/models/indexed-rows.js';
import {
  all,
  compareKeys,
  type Entry,
  expectSame,
  select,
  sorted,
} from '../support/models/store-model.js';
import { line } from '../support/one-line.js';
import { forSeeds } from '../support/property.js';
import type { Random } from '../support/random.js';
import { rest, until } from '../support/watching.js';

/** How often rows in memory count as absent, so that a read of a snapshot is taken. */
let coldness = 0;
let chance = () => 1;
vi.mock('../../src/live/read-synchronously.js', async (original) => {
  const own = await original<typeof import('../../src/live/read-synchronously.js')>();
  const isReadable: typeof own.isReadable = (...args) =>
    own.isReadable(...args) && chance() >= coldness;
  return { ...own, isReadable };
});
/** The most changes that a list follows; as many as usual if undefined. */
let followed: number | undefined;
vi.mock('../../src/live/most-changes.js', async (original) => {
  const own = await original<typeof import('../../src/live/most-changes.js')>();
  return {
    mostChanges: (...args: Parameters<typeof own.mostChanges>) =>
      followed ?? own.mostChanges(...args),
  };
});

type Options = ScanOptions | (Range & Pick<IndexScanOptions, 'after'>);
type Rows = ReadonlyMap<string, unknown>;

/** A window; on the `common` range, if there is one. */
function windowOf(from: Random, definitions: IndexDefinitions, common?: Options): Options {
  const limit = from.below(4) > 0 ? { limit: from.pick([0, 1, 2, 3, 5, 8]) } : {};
  const offset = from.below(2) === 0 ? { offset: from.pick([1, 2, 3, 5, 40]) } : {};
  const reverse = from.below(2) === 0;
  if (common !== undefined) {
    return { ...common, offset: from.below(14), limit: 1 + from.below(5), reverse };
  }
  if (from.below(2) === 0) {
    const whole = rangeOf(from, definitions);
    const after = from.below(4) === 0 ? { after: positionIn(from, definitions, whole.index) } : {};
    return { ...whole, reverse, ...limit, ...offset, ...after } as Options;
  }
  const bounds = from.pick<() => ScanOptions>([
    () => ({}),
    () => ({ prefix: from.pick(['k', 'k1', 'm', 'x']) }),
    () => ({ gte: from.pick(KEYS), lt: from.pick(KEYS) }),
    () => ({ gt: from.pick(KEYS) }),
  ])();
  const after = from.below(4) === 0 ? { after: from.pick(KEYS) } : {};
  return { ...bounds, reverse, ...limit, ...offset, ...after };
}

function selected(rows: Rows, definitions: IndexDefinitions, options: Options): unknown[] {
  return 'index' in options
    ? modelOf(rows, definitions, options as Range)
    : select(sorted(rows), options as ScanOptions);
}

/** The order of members is part of a value. */
const isSameRow = (a: unknown, b: unknown) =>
  isDeepStrictEqual(a, b) && JSON.stringify(a) === JSON.stringify(b);

/** Checks all states of a live query. */
class Checked {
  readonly #shown: Live<readonly unknown[]>;
  readonly options: Options;
  readonly #versions: readonly Rows[];
  readonly #definitions: IndexDefinitions;
  /** The shown lists that are not checked yet, and the version of the last one. */
  readonly #pending: (readonly (readonly unknown[])[])[] = [];
  #version = 0;
  #stop: () => void;
  #last: ReturnType<Live<readonly unknown[]>['get']>;
  faults: string[] = [];
  calls = 0;

  constructor(db: Store, options: Options, versions: readonly Rows[], defs: IndexDefinitions) {
    this.#shown = live(db, options as ScanOptions) as Live<readonly unknown[]>;
    this.options = options;
    this.#versions = versions;
    this.#definitions = defs;
    this.#last = this.#shown.get();
    this.#note();
    this.#stop = this.#shown.subscribe(() => this.#told());
  }

  #told(): void {
    const state = this.#shown.get();
    const last = this.#last;
    this.calls += 1;
    this.#last = state;
    // Shown before this listener came, and reported after.
    if (state === last) return;
    const isSame =
      isSameRow(last.rows, state.rows) &&
      last.status === state.status &&
      last.isStale === state.isStale;
    if (isSame) this.faults.push('another state for the same rows');
    for (const row of state.rows) {
      const same = last.rows.find((old) => isSameRow(old, row));
      if (same !== undefined && !last.rows.includes(row)) this.faults.push(`${line(row)} is new`);
    }
    this.#note();
  }

  #note(): void {
    const { status, rows, error, isStale } = this.#last;
    if (status === 'error') this.faults.push(`failed: ${error}`);
    if (status === 'ready' && !isStale) this.#pending.push(rows);
  }

  /** Checks the shown lists; `versions` has all lists that the store has had by then. */
  check(): void {
    for (const rows of this.#pending.splice(0)) this.#find(rows);
    if (this.faults.length > 0) expect.fail(`${line(this.options)}: ${this.faults.join('; ')}`);
  }

  #find(rows: readonly unknown[]): void {
    const at = this.#versions.findIndex(
      (version, at) =>
        at >= this.#version &&
        isDeepStrictEqual([...rows], selected(version, this.#definitions, this.options)),
    );
    if (at < 0) {
      const since = this.#versions
        .slice(this.#version)
        .map((version) => line(selected(version, this.#definitions, this.options)));
      this.faults.push(`${line(rows)} is none of ${since.join(' ')}`);
    } else this.#version = at;
  }

  get rows() {
    return this.#shown.get().rows;
  }

  get isReady(): boolean {
    const { status, isStale } = this.#shown.get();
    return status === 'ready' && !isStale;
  }

  /** Unsubscribes and subscribes again, as React does in StrictMode. */
  remount(): void {
    this.#stop();
    this.#stop = this.#shown.subscribe(() => this.#told());
  }

  close(): void {
    this.#shown.close();
  }
}

/** Makes a random change. */
async function change(
  db: Store,
  from: Random,
  roots: string[],
  note: () => Promise<void>,
): Promise<string> {
  const key = from.pick(KEYS);
  switch (from.below(9)) {
    case 0:
    case 1:
      await db.put(key, rowValue(from));
      return 'put';
    case 2:
      await db.delete(key);
      return 'delete';
    case 3: {
      const count = from.below(3) === 0 ? 300 : from.below(6);
      const many = Array.from(
        { length: count },
        (_, at): Entry => [from.below(2) === 0 ? from.pick(KEYS) : `k1${at}`, rowValue(from)],
      );
      await db.putMany(many);
      return 'putMany';
    }
    case 4: {
      const [gte, lt] = [key, from.pick(KEYS)].sort(compareKeys) as [string, string];
      await db.deleteMany({ gte, lt });
      return 'deleteMany';
    }
    case 5: {
      const patch = Array.from({ length: from.below(9) }, (): PatchOperation => {
        const key = from.pick(KEYS);
        if (from.below(3) === 0) return { op: 'delete', key };
        if (from.below(2) === 0) return { op: 'put', key, value: rowValue(from) };
        const merge = { owner: JSON.parse(JSON.stringify(memberOf(from))) };
        return { op: 'update', key, merge };
      });
      await db.applyPatch(patch).catch((error: { code?: string }) => {
        expect(kindOf(error)).toBe('invalid-data/patch');
      });
      return 'patch';
    }
    case 6:
      await db.transaction(async (tx) => {
        const value = await tx.get(key);
        tx.delete(key);
        if (value !== undefined) tx.put(from.pick(KEYS), value);
        tx.put(from.pick(KEYS), rowValue(from));
      });
      return 'transaction';
    case 7:
      // Back and forth: a read must not take rows of a commit in between.
      if (roots.length > 0) await db.branches.reset(from.pick(roots));
      return 'resetTo';
    default: {
      const value = await db.get(key);
      await db.put(key, rowValue(from));
      await note();
      if (value === undefined) await db.delete(key);
      else await db.put(key, value);
      return 'and back';
    }
  }
}

describe('live windows', () => {
  it('show lists that the store has had, in order, and at rest the current list', async () => {
    const made = new Map<string, number>();
    let calls = 0;
    await forSeeds(60, async (from, seed, begin) => {
      choosePalette(from);
      coldness = from.pick([0, 0, 0.3, 1]);
      followed = from.pick([undefined, undefined, 0, 2]);
      chance = () => from.next();
      const definitions = definitionsOf(from);
      const storage = { ...memory(), isShared: true };
      const openOne = () => open(`live ${seed}`, { storage, indexes: definitions });
      const [first, second] = [await openOne(), await openOne()];
      const start = Array.from({ length: from.below(12) }, () => from.pick(KEYS));
      await first.putMany(start.map((key): Entry => [key, rowValue(from)]));
      const db = from.below(3) === 0 ? await first.branches.open('own') : first;
      const handles = db === first ? [first, second] : [db];
      const snapshots = [db.snapshot()];
      const versions: Rows[] = [];
      const note = async (by: Store) => {
        versions.push(new Map(await all(by)));
        if (from.below(3) === 0 && by === db) snapshots.push(by.snapshot());
      };
      await note(db);
      let windows: Checked[] = [];
      // Many windows on one range, or few on as many.
      const common = from.pick<() => Options | undefined>([
        () => undefined,
        () => ({}),
        () => rangeOf(from, definitions) as Options,
      ])();
      const most = common === undefined ? 8 : 24;
      const count = liveCount(db);
      const row = liveRow(db, 'k1');
      const stops = [count.subscribe(() => {}), row.subscribe(() => {})];
      const check = () => {
        for (const one of windows) one.check();
      };
      for (let at = 0; at < 25; at++) {
        const by = from.pick(handles);
        const isHasty = from.below(3) === 0;
        begin({ handle: handles.indexOf(by), coldness, followed, definitions, hasty: isHasty });
        // Now and then the first read is under way while others write.
        for (let more = from.below(most / 4); more > 0 && windows.length < most; more--) {
          const options = windowOf(from, definitions, common);
          windows.push(new Checked(db, options, versions, definitions));
        }
        if (from.below(4) === 0 && windows.length > 0) from.pick(windows).remount();
        if (from.below(8) === 0 && windows.length > 0) {
          const [gone] = windows.splice(from.below(windows.length), 1) as [Checked];
          calls += gone.calls;
          gone.check();
          gone.close();
        }
        const roots = snapshots.map(({ root }) => root);
        const what = await change(by, from, by === db ? roots : [], () => note(by));
        await note(by);
        made.set(what, (made.get(what) ?? 0) + 1);
        if (isHasty) continue;
        await until(() => db.root === by.root);
        await rest(from.below(4));
        check();
      }
      const expected = await all(db);
      const rows = new Map(expected);
      for (const one of windows) {
        const last = selected(rows, definitions, one.options);
        await until(() => one.isReady && isDeepStrictEqual([...one.rows], last)).catch(() => {
          expectSame([...one.rows], last, line(one.options));
        });
        expectSame(
          [...one.rows],
          await db.scan(one.options as ScanOptions).toArray(),
          line(one.options),
        );
        calls += one.calls;
      }
      check();
      await until(() => count.get().count === expected.length);
      await until(() => isDeepStrictEqual(row.get().value, rows.get('k1')));
      for (const stop of stops) stop();
      for (const one of windows) one.close();
      windows = [];
      for (const one of snapshots) one.close();
      await Promise.all([first.close(), second.close()]);
    });
    console.log(`${calls} calls;`, [...made].map(([what, n]) => `${n} ${what}`).join(', '));
    expect(calls).toBeGreaterThan(0);
  });
});

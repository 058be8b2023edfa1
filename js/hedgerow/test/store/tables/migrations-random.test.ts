/** Handles of three versions of an app at once, opened, closed and killed at random, against a model. By seeds. */

import { describe, expect, it } from 'vitest';
import { memory, type Storage } from '../../../src/index.js';
import type { SegmentStore } from '../../../src/storage/segment-store.js';
import {
  migrated,
  openV1,
  openV2,
  openV3,
  type TaskV1,
  type TaskV2,
  type TaskV3,
  task,
  toV2,
  toV3,
} from '../../support/migration-tables.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

const STEPS = 120;
const KEYS = 60;

type Row = TaskV1 | TaskV2 | TaskV3;
/** The calls that are used here, of tables of any version. */
interface Tasks {
  put(row: Row): Promise<void>;
  putMany(rows: Row[]): Promise<unknown>;
  delete(id: string): Promise<void>;
  update(id: string, change: (row: Row) => Row): Promise<Row | undefined>;
  get(id: string): Promise<Row | undefined>;
  toArray(): Promise<Row[]>;
  where(conditions: object): { toArray(): Promise<Row[]>; count(): Promise<number> };
  migration(): Promise<{ remaining: number; refused: number; error: unknown }>;
}
interface Handle {
  readonly version: number;
  readonly db: { close(): Promise<void>; readonly tasks: Tasks };
  kill(): void;
}
/** A row as it was last written. */
interface Written {
  readonly version: number;
  readonly row: Row;
}

/** Storage for one handle, which can end as if its process had. */
function killable(inner: Storage): { storage: Storage; kill: () => void } {
  let isDead = false;
  let release = () => {};
  const killed = new Promise<void>((resolve) => {
    release = resolve;
  });
  const never = new Promise<never>(() => {});
  const through = async <T>(run: () => Promise<T>): Promise<T> => {
    if (isDead) return never;
    // A call that has arrived takes effect; its answer never comes.
    const result = await run();
    return isDead ? never : result;
  };
  const wrapped = (store: SegmentStore): SegmentStore => ({
    load: (known, since) => through(() => store.load(known, since)),
    reserve: (freesSpace) => through(() => store.reserve(freesSpace)),
    read: (wanted) => through(() => store.read(wanted)),
    write: (batch) => through(() => store.write(batch)),
    history: (name) => through(() => store.history(name)),
    delete: (...args) => through(() => store.delete(...args)),
    close: () => store.close(),
  });
  const { locks } = inner;
  const storage: Storage = {
    ...inner,
    open: async (name, options) => wrapped(await inner.open(name, options)),
    ...(locks && {
      locks: {
        ...locks,
        query: () => locks.query(),
        request: (name, options, hold) =>
          isDead
            ? never
            : locks.request(name, options, (lock) =>
                Promise.race([hold(lock), killed as Promise<never>]),
              ),
      },
    }),
  };
  const kill = () => {
    isDead = true;
    release();
  };
  return { storage, kill };
}

function brought({ version, row }: Written, to: number): Row {
  let made = row;
  if (version < 2 && to >= 2) made = toV2(made as TaskV1);
  if (version < 3 && to >= 3) made = toV3(made as TaskV2);
  return made;
}

/** Row `n` in the form of a version. */
const rowOf = (n: number, version: number, next: Random) =>
  brought({ version: 1, row: task(n, { rank: next.below(50) }) }, version);

async function run(next: Random): Promise<void> {
  const inner = memory();
  const model = new Map<string, Written>();
  let handles: Handle[] = [];
  let newest = 1;

  const openOne = async (version: number) => {
    const { storage, kill } = killable(inner);
    const opening = [openV1, openV2, openV3][version - 1] as typeof openV1;
    // Killed handles never close.
    const db = (await opening(storage, { isKilled: true })) as unknown as Handle['db'];
    newest = Math.max(newest, version);
    handles.push({ version, db, kill });
    return handles.at(-1) as Handle;
  };

  /** The effects of one call on the store and on the model. */
  const change = async ({ version, db }: Handle) => {
    const n = next.below(KEYS);
    const { id } = task(n);
    const what = next.below(10);
    if (what < 4) {
      const row = rowOf(n, version, next);
      await db.tasks.put(row);
      model.set(id, { version, row });
    } else if (what < 5) {
      const rows = [0, 1, 2].map((at) => rowOf((n + at) % KEYS, version, next));
      await db.tasks.putMany(rows);
      for (const row of rows) model.set(row.id, { version, row });
    } else if (what < 6) {
      await db.tasks.delete(id);
      model.delete(id);
    } else {
      const rank = next.below(50);
      const update = () =>
        db.tasks
          .update(id, (row) => ({ ...row, rank }))
          .catch((error) => {
            expect(error).toMatchObject({
              code: 'newer-version',
              detail: 'schema',
              table: 'tasks',
            });
            expect(newest).toBeGreaterThan(version);
            return 'newer' as const;
          });
      let found = await update();
      if (found === undefined && model.has(id)) {
        // It hears of a row of another handle a moment later.
        await expect.poll(() => db.tasks.get(id).catch(() => 'newer')).toBeDefined();
        found = await update();
      }
      if (found === 'newer') {
        expect(model.has(id)).toBe(true);
        return;
      }
      const written = model.get(id);
      expect(found === undefined).toBe(written === undefined);
      if (found === undefined || written === undefined) return;
      expect(found).toEqual({ ...brought(written, version), rank });
      model.set(id, { version, row: found });
    }
  };

  /** Checks all reads of a handle of the newest version. */
  const check = async () => {
    const { db } = handles.find((one) => one.version === newest) ?? (await openOne(newest));
    const wanted = [...model.values()]
      .map((written) => brought(written, newest))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    // The writes of others may still arrive.
    await expect.poll(() => db.tasks.toArray(), { timeout: 10_000 }).toEqual(wanted);
    const byRank = (rows: Row[]) =>
      [...rows].sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
    for (const state of ['open', 'closed', 'blocked', 'none']) {
      const isWanted = (row: Row) => ((row as TaskV1).status ?? (row as TaskV2).state) === state;
      const query = db.tasks.where(newest === 1 ? { status: state } : { state });
      expect(await query.toArray()).toEqual(byRank(wanted.filter(isWanted)));
    }
    if (newest < 3) return;
    for (const label of ['even', 'odd', 'open']) {
      const isWanted = (row: Row) => (row as TaskV3).labels.includes(label);
      expect(await db.tasks.where({ labels: label }).count()).toBe(wanted.filter(isWanted).length);
    }
  };

  await openOne(1);
  await Promise.all(
    [...Array(KEYS).keys()].map(async (n) => {
      const row = rowOf(n, 1, next);
      await handles[0]?.db.tasks.put(row);
      model.set(row.id, { version: 1, row });
    }),
  );
  for (let step = 0; step < STEPS; step++) {
    const what = next.below(20);
    const handle = handles.length > 0 ? next.pick(handles) : await openOne(1 + next.below(3));
    if (what === 0 && handles.length < 4) await openOne(1 + next.below(3));
    else if (what === 1) {
      handles = handles.filter((one) => one !== handle);
      if (next.below(2) === 0) await handle.db.close();
      else handle.kill();
    } else if (what === 2) await check();
    else await change(handle);
  }
  await check();
  const last = handles.find((one) => one.version === newest) ?? (await openOne(newest));
  await migrated(last.db);
  const { db } = last as unknown as { db: Awaited<ReturnType<typeof openV3>> };
  if (newest > 1) {
    for await (const [, stored] of db.scan()) expect(stored).toMatchObject({ '~v': newest });
  }
  expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
  for (const { db } of handles) await db.close();
}

describe('three versions of an app at once', () => {
  it('are right in random histories', () => forSeeds(12, run));
});

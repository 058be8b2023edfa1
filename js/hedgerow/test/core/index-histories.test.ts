/**
 * Random changes by two handles with indexes: after each commit every index matches the rows, and the root equals the
 * root of a fresh store.
 */
import { describe, expect, it, vi } from 'vitest';
import {
  type IndexDefinitions,
  memory,
  open,
  type PatchOperation,
  type Store,
} from '../../src/index.js';
import { kindOf } from '../support/error-kind.js';
import { fault, type Step, step } from '../support/models/index-steps.js';
import {
  choosePalette,
  definitionsOf,
  KEYS,
  memberOf,
  modelOf,
  rangeOf,
  rowValue,
} from '../support/models/indexed-rows.js';
import {
  all,
  compareKeys,
  type Entry,
  expectSame,
  SOON,
  sorted,
} from '../support/models/store-model.js';
import { line } from '../support/one-line.js';
import { expectNoFault, forSeeds } from '../support/property.js';
import type { Random } from '../support/random.js';

function operationOf(from: Random): PatchOperation {
  const key = from.pick(KEYS);
  const kind = from.below(12);
  if (kind === 0) return { op: 'clear' };
  if (kind < 4) return { op: 'delete', key };
  if (kind < 8) return { op: 'put', key, value: rowValue(from) };
  const merge = {
    [from.pick(['owner', 'tags', 'age'])]: JSON.parse(JSON.stringify(memberOf(from))),
  };
  return { op: 'update', key, merge };
}

/** Makes a random change of the store and of the rows of the model. */
async function change(
  db: Store,
  from: Random,
  rows: Map<string, unknown>,
  definitions: IndexDefinitions,
): Promise<string> {
  const key = from.pick(KEYS);
  switch (from.below(8)) {
    case 0: {
      const value = rowValue(from);
      rows.set(key, value);
      await db.put(key, value);
      return 'put';
    }
    case 1:
      rows.delete(key);
      await db.delete(key);
      return 'delete';
    case 2: {
      const many = Array.from(
        { length: from.below(3) === 0 ? 300 : from.below(6) },
        (_, at): Entry => [from.below(3) === 0 ? from.pick(KEYS) : `k1${at}`, rowValue(from)],
      );
      for (const [one, value] of many) rows.set(one, value);
      await db.putMany(many);
      return 'putMany';
    }
    case 3: {
      const [gte, lt] = [key, from.pick(KEYS)].sort(compareKeys) as [string, string];
      for (const one of [...rows.keys()]) {
        if (compareKeys(one, gte) >= 0 && compareKeys(one, lt) < 0) rows.delete(one);
      }
      await db.deleteMany({ gte, lt });
      return 'deleteMany';
    }
    case 4: {
      if (from.below(3) > 0) return 'nothing';
      rows.clear();
      await db.clear();
      return 'clear';
    }
    case 5:
    case 6: {
      const patch = Array.from({ length: from.below(9) }, () => operationOf(from));
      const after = new Map(rows);
      try {
        for (const one of patch) {
          if (one.op === 'clear') after.clear();
          else if (one.op === 'delete') after.delete(one.key);
          else if (one.op === 'put') after.set(one.key, one.value);
          else if (one.op === 'update' && !('newValue' in one)) {
            const had = after.has(one.key) ? after.get(one.key) : {};
            const isObject = typeof had === 'object' && had !== null && !Array.isArray(had);
            if (!isObject || had instanceof Uint8Array) throw new Error('no object');
            after.set(one.key, { ...had, ...one.merge });
          }
        }
      } catch {
        // The patch does not check rows that a clear deletes.
        await db.applyPatch(patch).then(
          () => expect(patch.some(({ op }) => op !== 'update')).toBe(true),
          (error: { code?: string }) => expect(kindOf(error)).toBe('invalid-data/patch'),
        );
        rows.clear();
        for (const [one, value] of await all(db)) rows.set(one, value);
        return 'refused';
      }
      await db.applyPatch(patch);
      rows.clear();
      for (const [one, value] of after) rows.set(one, value);
      return 'patch';
    }
    default: {
      let steps: Step[] = [];
      await db.transaction(async (tx) => {
        steps = [];
        for (let at = 0; at < 4; at++) steps.push(await step(tx, from, definitions, steps));
      });
      expectNoFault(fault(rows, definitions, steps));
      return 'transaction';
    }
  }
}

/** Checks that every index of the handle matches the rows. */
async function check(
  db: Store,
  definitions: IndexDefinitions,
  rows: Map<string, unknown>,
  from: Random,
): Promise<void> {
  expectSame(await all(db), sorted(rows));
  for (const index of Object.keys(definitions)) {
    const expected = modelOf(rows, definitions, { index });
    expectSame(await db.scan({ index }).toArray(), expected, index);
    expect(await db.count({ index }), `count of ${index}`).toBe(expected.length);
    const range = rangeOf(from, definitions);
    expectSame(await db.scan(range).toArray(), modelOf(rows, definitions, range), line(range));
    expect(await db.count(range), `count of ${line(range)}`).toBe(
      modelOf(rows, definitions, range).length,
    );
  }
}

describe('the indexes of two handles', () => {
  it('match the rows after each commit, and the root equals the root of a fresh store', async () => {
    const made = new Map<string, number>();
    await forSeeds(25, async (from, seed, begin) => {
      choosePalette(from);
      const storage = { ...memory(), isShared: true };
      const rows = new Map<string, unknown>();
      // A handle with other definitions builds its indexes, and may drop the old ones.
      for (let life = 0; life < 3; life++) {
        const definitions = definitionsOf(from);
        const wanted = [definitions, from.below(2) === 0 ? definitions : undefined];
        const handles: Store[] = [];
        for (const indexes of wanted) {
          const dropOtherIndexes = indexes !== undefined;
          handles.push(
            await open(`indexes ${seed}`, { storage, indexes, advanced: { dropOtherIndexes } }),
          );
        }
        const [first, second] = handles as [Store, Store];
        for (let at = 0; at < 8; at++) {
          const db = from.pick(handles);
          const hasIndexes = db === first || wanted[1] !== undefined;
          begin({ life, handle: handles.indexOf(db), definitions });
          // Until the indexes are built, a transaction that reads them is refused.
          if (hasIndexes && at === 0) await check(db, definitions, rows, from);
          const inTransactions = hasIndexes ? definitions : undefined;
          const what =
            inTransactions === undefined
              ? await putsOf(db, from, rows)
              : await change(db, from, rows, inTransactions);
          made.set(what, (made.get(what) ?? 0) + 1);
          await vi.waitFor(() => expect(second.root).toBe(first.root), SOON);
          await check(first, definitions, rows, from);
          if (wanted[1] !== undefined) await check(second, definitions, rows, from);
          expectSame(await all(second), sorted(rows));
          const fresh = await open('test', { storage: memory(), indexes: definitions });
          await fresh.putMany(sorted(rows));
          // Old indexes are dropped a moment later.
          await vi.waitFor(() => expect(first.root).toBe(fresh.root), SOON);
          await fresh.close();
        }
        for (const db of handles) await db.close();
      }
    });
    console.log([...made].map(([what, times]) => `${times} ${what}`).join(', '));
  });
});

/** Changes rows through a handle without indexes. */
async function putsOf(db: Store, from: Random, rows: Map<string, unknown>): Promise<string> {
  const many = Array.from(
    { length: 1 + from.below(40) },
    (): Entry => [from.pick(KEYS), rowValue(from)],
  );
  for (const [one, value] of many) rows.set(one, value);
  await db.putMany(many);
  return 'putMany of another';
}

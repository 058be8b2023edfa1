/** The definitions given to `open` hold on every branch, at once, also after a reset or a reopening. */
import { describe, expect, it } from 'vitest';
import type { SumDefinitions } from '../../src/core/sum-tree-definition.js';
import { type IndexDefinitions, memory, open, type Store } from '../../src/index.js';
import { watched } from '../support/doubles/watched-storage.js';
import { type Entry, failure } from '../support/models/store-model.js';
import { until } from '../support/watching.js';

const RULE = { total: { prefix: 's/', sum: '/n' } };
const row = (n: unknown) => ({ n });
const rows = (count: number): Entry[] =>
  Array.from({ length: count }, (_, at): Entry => [`s/${at}`, { n: at, m: 1 }]);
const bad = failure('invalid-argument/value');

/** Returns the root of a fresh store with the rows of a handle and these definitions. */
async function rootOf(db: Store, sums?: SumDefinitions, indexes?: IndexDefinitions) {
  const fresh = await open('fresh', { storage: memory(), advanced: { sums }, indexes });
  await fresh.putMany(await db.scan().toArray());
  const { root } = fresh;
  await fresh.close();
  return root;
}

/** Expects that the store takes a row that would break a rule of sums. */
async function takesAnything(db: Store): Promise<void> {
  await db.put('s/bad', row(-1));
  await db.delete('s/bad');
}

async function refusesBad(db: Store): Promise<void> {
  const before = await db.scan().toArray();
  await expect(db.put('s/bad', row(-1))).rejects.toEqual(bad);
  await expect(db.putMany([['s/bad', row('x')]])).rejects.toEqual(bad);
  await expect(db.transaction(async (tx) => tx.put('s/bad', row(0.5)))).rejects.toEqual(bad);
  await expect(db.applyPatch([{ op: 'put', key: 's/bad', value: row([]) }])).rejects.toEqual(bad);
  expect(await db.scan().toArray()).toEqual(before);
}

describe('a rule of sums', () => {
  it('that was dropped does not apply to any branch, from the first write on', async () => {
    const storage = memory();
    const made = await open('test', { storage, advanced: { sums: RULE } });
    await made.putMany(rows(50));
    await (await made.branches.open('draft')).put('s/d', row(1));
    await made.close();
    const db = await open('test', { storage, advanced: { sums: {} } });
    const draft = await db.branches.open('draft');
    await draft.put('s/x', row(-1));
    await db.put('s/y', row('none'));
    expect(await db.branches.merge(draft)).toMatchObject({ rows: 2 });
    for (const one of [db, draft]) {
      expect(one.root).toBe(await rootOf(one));
      expect(one.sumTree('total').root.sum).toBe(0n);
    }
    await db.close();
  });

  it('that was changed applies to every branch in its new form', async () => {
    const storage = memory();
    const made = await open('test', { storage, advanced: { sums: RULE } });
    await made.putMany(rows(50));
    await (await made.branches.open('draft')).put('s/d', { n: 1, m: 1 });
    await made.close();
    const sums = { total: { prefix: 's/', sum: '/m' } };
    const db = await open('test', { storage, advanced: { sums } });
    // The sum of the old tree, which still exists, is different.
    expect(() => db.sumTree('total').root).toThrow(expect.objectContaining({ code: 'not-ready' }));
    const draft = await db.branches.open('draft');
    await draft.put('s/x', { n: -1, m: 7 });
    expect(draft.sumTree('total').root.sum).toBe(58n);
    await expect(draft.put('s/y', { n: 1, m: -1 })).rejects.toEqual(bad);
    await db.branches.merge(draft);
    expect(db.sumTree('total').root.sum).toBe(58n);
    expect(db.root).toBe(draft.root);
    expect(db.root).toBe(await rootOf(db, sums));
    await db.close();
  });

  it('that was added applies to every branch at its first write, and at merges', async () => {
    const storage = memory();
    const made = await open('test', { storage });
    await made.putMany(rows(50));
    await made.branches.open('draft');
    await made.close();
    const db = await open('test', { storage, advanced: { sums: RULE } });
    const draft = await db.branches.open('draft');
    await refusesBad(draft);
    await refusesBad(db);
    await draft.put('s/x', row(3));
    expect(draft.sumTree('total').root.sum).toBe(1228n);
    expect((await draft.sumTree('total').get('s/x'))?.sum).toBe(3n);
    await db.branches.merge('draft');
    expect(db.sumTree('total').root.sum).toBe(1228n);
    expect([db.root, draft.root]).toEqual(Array(2).fill(await rootOf(db, RULE)));
    // The rule also holds on a later branch, and on a branch that a handle switches to.
    const other = await db.branches.open('other');
    await refusesBad(other);
    await db.branches.switchTo('other');
    await refusesBad(db);
    await db.close();
  });

  it('builds its trees on every branch that opens, without a write', async () => {
    const storage = memory();
    const made = await open('test', { storage, advanced: { sums: { gone: { sum: '/m' } } } });
    await made.putMany(rows(50));
    await made.branches.open('draft');
    await made.close();
    const db = await open('test', { storage, advanced: { sums: RULE } });
    const draft = await db.branches.open('draft');
    const root = await rootOf(db, RULE);
    await until(() => [db.root, draft.root].every((one) => one === root));
    await db.close();
  });

  it('refuses writes while stored rows break it, until one commit mends them all', async () => {
    const storage = memory();
    const made = await open('test', { storage });
    await made.putMany(rows(20));
    await made.put('s/bad', row(-1));
    await made.put('s/worse', row('x'));
    await made.close();
    const indexes = { n: { path: '/n' } };
    const db = await open('test', { storage, advanced: { sums: RULE }, indexes });
    const { root } = db;
    await expect(db.put('s/good', row(1))).rejects.toEqual(bad);
    await expect(db.put('s/bad', row(1))).rejects.toEqual(bad);
    await expect(db.sumTree('total').get('s/1')).rejects.toEqual(bad);
    expect(() => db.sumTree('total').root).toThrow(expect.objectContaining({ code: 'not-ready' }));
    // Reads continue, and so do all calls that do not change rows.
    expect(await db.get('s/bad')).toEqual(row(-1));
    expect(await db.count()).toBe(22);
    expect((await db.scan({ index: 'n' }).toArray()).length).toBe(22);
    await db.sumTree('hand').put('a', { value: new Uint8Array(1), sum: 4n });
    await (await db.branches.open('draft')).close();
    await db.putMany([
      ['s/bad', row(100)],
      ['s/worse', row('1000')],
    ]);
    expect(db.sumTree('total').root.sum).toBe(1290n);
    expect(db.sumTree('hand').root.sum).toBe(4n);
    await refusesBad(db);
    expect(db.root).not.toBe(root);
    await db.close();
  });
});

describe('resetTo', () => {
  it('to a root from before a rule makes the tree, and refuses rows that break it', async () => {
    const storage = memory();
    const made = await open('test', { storage });
    await made.putMany(rows(30));
    await made.branches.open('before');
    await made.put('s/bad', row(-1));
    await made.branches.open('bad');
    await made.delete('s/bad');
    await made.close();
    const db = await open('test', { storage, advanced: { sums: RULE } });
    await db.sumTree('total').get('s/1');
    await db.put('s/x', row(5));
    const { root } = db;
    await expect(db.branches.reset('bad')).rejects.toEqual(bad);
    expect(db.root).toBe(root);
    await db.branches.reset('before');
    // The tree is there at once.
    expect(db.sumTree('total').root.sum).toBe(435n);
    expect(db.root).toBe(await rootOf(db, RULE));
    await refusesBad(db);
    await db.put('s/x', row(6));
    expect(db.sumTree('total').root.sum).toBe(441n);
    expect(await db.count()).toBe(31);
    await db.close();
  });

  it('to a root with dropped rules and indexes does not restore them', async () => {
    const storage = memory();
    const made = await open('test', {
      storage,
      advanced: { sums: { ...RULE, other: { sum: '/n' } } },
      indexes: { n: { path: '/n' }, m: { path: '/m' } },
    });
    await made.putMany(rows(30));
    await made.branches.open('before');
    await made.close();
    const indexes = { m: { path: '/m' } };
    const db = await open('test', {
      storage,
      advanced: { sums: {}, dropOtherIndexes: true },
      indexes,
    });
    await db.putMany(rows(40));
    await takesAnything(db);
    const root = await rootOf(db, {}, indexes);
    await until(() => db.root === root);
    for (const target of [
      'before',
      (await db.branches.list()).find(({ name }) => name === 'before')?.root,
    ]) {
      await db.branches.reset(target as string);
      expect(await db.count()).toBe(30);
      expect(db.root).toBe(await rootOf(db, {}, indexes));
      expect((await db.scan({ index: 'm' }).toArray()).length).toBe(30);
      await takesAnything(db);
      await db.putMany(rows(40));
    }
    // The branch itself has not changed, since no handle opened it.
    expect((await db.branches.list())[1]?.name).toBe('before');
    const before = await db.branches.open('before');
    await takesAnything(before);
    const settled = await rootOf(before, {}, indexes);
    await until(() => before.root === settled);
    await db.close();
  });

  it('only moves the ref where the definitions are the same', async () => {
    const options = { advanced: { sums: RULE }, indexes: { n: { path: '/n' } } };
    const db = await open('test', { storage: memory(), ...options });
    await db.putMany(rows(30));
    const before = db.snapshot();
    await db.put('s/x', row(1));
    await db.branches.reset(before);
    expect(db.root).toBe(before.root);
    await db.close();
  });
});

describe('repair', () => {
  it('to a commit of other definitions does not restore them', async () => {
    const storage = watched(memory());
    const made = await open('test', {
      storage,
      advanced: { sums: { ...RULE, other: { sum: '/n' } } },
      indexes: { n: { path: '/n' }, m: { path: '/m' } },
    });
    await made.putMany(rows(30));
    await made.scan({ index: 'n' }).toArray();
    await made.close();
    const good = new Set(storage.stored.keys());
    const sums = { total: { prefix: 's/', sum: '/m' } };
    const indexes = { m: { path: '/m' } };
    const advanced = { sums, dropOtherIndexes: true };
    const changing = await open('test', { storage, indexes, advanced });
    await changing.put('s/x', { n: -1, m: 1 });
    await until(() => storage.stored.size > good.size);
    await changing.close();
    const db = await open('test', { storage, indexes, advanced: { ...advanced, cacheBytes: 0 } });
    await db.sumTree('total').get('s/1');
    storage.hooks.read = (id, bytes) => (good.has(id) ? bytes : bytes.fill(0x55));
    expect((await db.health.repair()).commitsDropped).toBeGreaterThan(0);
    delete storage.hooks.read;
    expect(await db.count()).toBe(30);
    await db.put('s/y', { n: -1, m: 1 });
    expect(db.sumTree('total').root.sum).toBe(31n);
    const root = await rootOf(db, sums, indexes);
    await until(() => db.root === root);
    await db.close();
  });
});

describe('handles with other definitions', () => {
  it('have each their own definitions at the same time, and drop no tree of the other', async () => {
    const storage = { ...memory(), isShared: true };
    const one = await open('versions', {
      storage,
      advanced: { sums: { total: { sum: '/n' } } },
      indexes: { n: { path: '/n' } },
    });
    await one.putMany(rows(30));
    const other = await open('versions', {
      storage,
      advanced: { sums: { count: { sum: '/m' } } },
      indexes: { m: { path: '/m' } },
    });
    const check = async () => {
      for (const [db, index, sum, of] of [
        [one, 'n', 'total', 'n'],
        [other, 'm', 'count', 'm'],
      ] as const) {
        const stored = await db.scan<Record<string, number>>().toArray();
        expect((await db.scan({ index }).toArray()).length).toBe(stored.length);
        await db.sumTree(sum).get('s/1');
        const total = stored.reduce((all, [, value]) => all + (value[of] ?? 0), 0);
        expect(db.sumTree(sum).root.sum).toBe(BigInt(total));
      }
    };
    await check();
    // Each handle has built its missing trees: from now on no handle builds or drops any.
    const settled = async () => {
      await one.put('s/1', { n: 1, m: 1 });
      await until(() => one.root === other.root);
    };
    await settled();
    await check();
    const made = new Set<string>();
    for (let round = 0; round < 6; round++) {
      const db = round % 2 === 0 ? one : other;
      await db.put(`s/${round}`, { n: 10 + round, m: 2 });
      await until(() => one.root === other.root);
      expect(one.sumTree('count').root.sum).toBe(other.sumTree('count').root.sum);
      expect(one.sumTree('total').root.sum).toBe(other.sumTree('total').root.sum);
      made.add(db.root);
      await check();
      expect(db.root).toBe(one.root);
      // The rules of both apply.
      await expect(one.put('s/x', { n: 1, m: -1 })).rejects.toEqual(bad);
      await expect(other.put('s/x', { n: -1, m: 1 })).rejects.toEqual(bad);
    }
    expect(made.size).toBe(6);
    await Promise.all([one.close(), other.close()]);
  });

  it('that give one name two definitions each read their own', async () => {
    const storage = { ...memory(), isShared: true };
    const one = await open('names', { storage, advanced: { sums: { total: { sum: '/n' } } } });
    await one.putMany(rows(30));
    const other = await open('names', { storage, advanced: { sums: { total: { sum: '/m' } } } });
    for (let round = 0; round < 4; round++) {
      for (const [db, of] of [
        [one, 'n'],
        [other, 'm'],
      ] as const) {
        await db.put(`s/${round}`, { n: round, m: 2 });
        const stored = await db.scan<Record<string, number>>().toArray();
        const total = stored.reduce((all, [, value]) => all + (value[of] ?? 0), 0);
        await db.sumTree('total').get('s/1');
        expect(db.sumTree('total').root.sum).toBe(BigInt(total));
        await expect(db.put('s/x', { n: 1, m: 1, [of]: -1 })).rejects.toEqual(bad);
      }
    }
    await Promise.all([one.close(), other.close()]);
  });

  it('without definitions keep existing trees and their rules', async () => {
    const storage = memory();
    const options = { advanced: { sums: RULE }, indexes: { n: { path: '/n' } } };
    const made = await open('test', { storage, ...options });
    await made.putMany(rows(30));
    await (await made.branches.open('draft')).close();
    await made.close();
    const plain = await open('test', { storage });
    for (const db of [plain, await plain.branches.open('draft')]) {
      await refusesBad(db);
      await db.put('s/x', row(1));
      expect(db.root).toBe(await rootOf(db, RULE, options.indexes));
    }
    await plain.close();
  });
});

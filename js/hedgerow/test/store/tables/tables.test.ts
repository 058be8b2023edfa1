import { afterEach, describe, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';

interface Issue {
  id: string;
  title: string;
  status: string;
  modified: number;
  owner?: string | null;
  tags?: string[];
}

const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: {
    byState: ['status', 'modified'],
    byOwner: ['owner', 'status', 'modified'],
    byTag: ['tags'],
    byTitle: { columns: ['title'], nulls: false },
    byWord: [{ words: 'title' }],
  },
});
interface Step {
  project: string;
  number: number;
  text: string;
}
const steps = table({ schema: rowType<Step>(), key: ['project', 'number'] });

const opened: { close(): Promise<void> }[] = [];
async function store() {
  const db = await open('tables', { storage: memory(), tables: { issues, steps } });
  opened.push(db);
  return db;
}
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

const issue = (n: number, more: Partial<Issue> = {}): Issue => ({
  id: `i${n}`,
  title: `Issue ${n}`,
  status: n % 3 === 0 ? 'open' : 'closed',
  modified: 1000 + n,
  ...more,
});

describe('tables', () => {
  it('put, get, has, delete and count rows', async () => {
    const db = await store();
    await db.issues.put(issue(1));
    expect(await db.issues.get('i1')).toEqual(issue(1));
    expect(await db.get('issues/i1')).toEqual(issue(1));
    expect(await db.issues.has('i1')).toBe(true);
    expect(await db.issues.count()).toBe(1);
    await db.issues.delete('i1');
    expect(await db.issues.get('i1')).toBeUndefined();
  });

  it('query by an index, with order, window and cursor', async () => {
    const db = await store();
    await db.issues.putMany(Array.from({ length: 30 }, (_, n) => issue(n)));
    const open = db.issues.where({ status: 'open' });
    expect(await open.count()).toBe(10);
    const newest = open.orderBy('modified', 'desc');
    expect((await newest.limit(3).toArray()).map((one) => one.id)).toEqual(['i27', 'i24', 'i21']);
    const page = await newest.limit(2).toArray();
    const next = await newest
      .after(page[1] as Issue)
      .limit(2)
      .toArray();
    expect(next.map((one) => one.id)).toEqual(['i21', 'i18']);
    expect((await newest.offset(8).toArray()).map((one) => one.id)).toEqual(['i3', 'i0']);
    expect((await newest.at(9))?.id).toBe('i0');
    expect(await newest.at(10)).toBeUndefined();
    const between = db.issues.where({ status: 'open', modified: { gte: 1005, lt: 1013 } });
    expect((await between.toArray()).map((one) => one.id)).toEqual(['i6', 'i9', 'i12']);
    expect(await db.issues.where({ owner: null, status: 'open' }).count()).toBe(10);
  });

  it('refuse a query without an index, unless it scans', async () => {
    const db = await store();
    await db.issues.putMany(Array.from({ length: 10 }, (_, n) => issue(n)));
    await expect(db.issues.where({ modified: 1003 }).toArray()).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
      table: 'issues',
      message: expect.stringContaining("['modified']"),
    });
    const found = await db.issues
      .where({ modified: { gte: 1003 } })
      .scan()
      .offset(1)
      .limit(2)
      .toArray();
    expect(found.map((one) => one.id)).toEqual(['i4', 'i5']);
  });

  it('have keys of several parts in value order', async () => {
    const db = await store();
    for (const number of [10, 9, 100, -1])
      await db.steps.put({ project: 'a', number, text: `${number}` });
    await db.steps.put({ project: 'b', number: 1, text: 'b' });
    expect((await db.steps.toArray()).map((one) => one.text)).toEqual([
      '-1',
      '9',
      '10',
      '100',
      'b',
    ]);
    expect((await db.steps.get(['a', 10]))?.text).toBe('10');
    const part = db.steps.where({ project: 'a', number: { gt: 9 } });
    expect((await part.toArray()).map((one) => one.text)).toEqual(['10', '100']);
    expect(await db.steps.where({ project: 'a' }).count()).toBe(4);
    expect(await db.steps.rank(['b', 1])).toBe(4);
  });

  it('load bytes', async () => {
    const db = await store();
    const lines = Array.from({ length: 50 }, (_, n) => JSON.stringify(issue(n))).join('\n');
    await db.issues.putMany(new Blob([lines]));
    expect(await db.issues.count()).toBe(50);
    const list = JSON.stringify(
      Array.from({ length: 50 }, (_, n) => ({ project: 'p"[,', number: n, text: 'x\\"' })),
    );
    await db.steps.putMany(new Response(list));
    expect(await db.steps.count()).toBe(50);
  });

  it('are in transactions, branches and snapshots', async () => {
    const db = await store();
    await db.issues.put(issue(1));
    using before = db.snapshot();
    await db.transaction(async (tx) => {
      tx.issues.put(issue(2));
      const changed = await tx.issues.update('i1', { status: 'done', owner: undefined });
      expect(changed?.status).toBe('done');
      expect(await tx.issues.where({ status: 'done' }).count()).toBe(1);
    });
    expect((await before.issues.get('i1'))?.status).toBe('closed');
    expect(await before.issues.count()).toBe(1);
    const draft = await db.branches.open('draft');
    await draft.issues.update('i1', (one) => ({ ...one, title: 'Draft' }));
    expect((await db.issues.get('i1'))?.title).toBe('Issue 1');
    await db.branches.merge('draft');
    expect((await db.issues.get('i1'))?.title).toBe('Draft');
    await expect(db.issues.insert(issue(1))).rejects.toMatchObject({
      code: 'exists',
      table: 'issues',
      key: 'i1',
    });
    await db.issues.insert(issue(3));
    expect((await db.issues.deleteMany({ status: 'closed' })).rows).toBe(1);
    expect((await db.issues.toArray()).map((one) => one.id)).toEqual(['i1', 'i3']);
  });

  it('are ready when their indexes are', async () => {
    const storage = memory();
    await using before = await open('later', { storage });
    await before.putMany(
      Array.from({ length: 5000 }, (_, n) => [`issues/i${n}`, issue(n)] as [string, Issue]),
    );
    await using db = await open('later', { storage, tables: { issues } });
    await db.issues.ready();
    expect(await db.issues.where({ status: 'open' }).count({ wait: false })).toBe(1667);
  });

  it('find rows by words', async () => {
    const db = await store();
    await db.issues.put(issue(1, { title: 'The leaking Gate leads nowhere' }));
    await db.issues.put(issue(2, { title: 'Leave the gate' }));
    await db.issues.put(issue(3, { title: 'Roof' }));
    const seen: unknown[] = [];
    const found = async (words: string) =>
      (await db.issues.where({ title: { words } }).toArray()).map(({ id }) => id).sort();
    expect(await found('lea')).toEqual(['i1', 'i2']);
    expect(await found('GAT lead')).toEqual(['i1']);
    expect(await found('...')).toEqual([]);
    expect(await db.issues.where({ title: { words: 'lea' } }).count()).toBe(2);
    const stop = db.issues
      .where({ title: { words: 'lea' } })
      .watch((changes) => seen.push(...changes));
    await db.issues.put(issue(4, { title: 'leaf, lead' }));
    await db.issues.put(issue(5, { title: 'nothing' }));
    // Commits before a watch has looked are reported as one diff.
    await expect.poll(() => seen).toMatchObject([{ op: 'insert', key: 'i4' }]);
    await db.issues.delete('i2');
    await expect
      .poll(() => seen)
      .toMatchObject([
        { op: 'insert', key: 'i4' },
        { op: 'delete', key: 'i2' },
      ]);
    stop();
  });

  it('watch rows', async () => {
    const db = await store();
    const seen: unknown[] = [];
    const stop = db.issues.where({ status: 'open' }).watch((changes) => seen.push(...changes));
    await db.issues.put(issue(1));
    await db.issues.put(issue(3));
    await expect.poll(() => seen.length).toBe(1);
    expect(seen).toMatchObject([{ op: 'insert', key: 'i3', newValue: { id: 'i3' } }]);
    stop();
  });
});

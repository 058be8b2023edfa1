/** The namespaces of a store, `table(name)`, and the advanced options of `open`. */
import { describe, expect, it } from 'vitest';
import { HedgerowError, memory, type OpenOptions, open, rowType, table } from '../../src/index.js';
import { failure } from '../support/models/store-model.js';

interface Issue {
  readonly id: string;
}
const issues = table({ schema: rowType<Issue>(), key: 'id' });

describe('the namespaces of a store', () => {
  it('are the same objects at each use, and their calls need no this', async () => {
    const db = await open('app', { storage: memory() });
    const { branches, history, health, backup } = db;
    expect(db.branches).toBe(branches);
    const { list, open: openBranch } = branches;
    const { diff, commit } = history;
    const { stats } = health;
    await commit((tx) => tx.put('a', 1));
    expect((await diff('0'.repeat(64), db.root).toArray()).map(({ key }) => key)).toEqual(['a']);
    const draft = await openBranch('draft');
    expect([db.branches.current, draft.branches.current]).toEqual(['main', 'draft']);
    expect((await list()).map(({ name }) => name)).toEqual(['main', 'draft']);
    expect((await stats()).rows).toBe(1);
    expect((await backup.export()).root).toBe(db.root);
    await db.close();
    await expect(list()).rejects.toEqual(failure('closed'));
  });

  it('are no names for tables, and names of their members are', async () => {
    for (const name of ['branches', 'history', 'health', 'backup', 'table', 'scan']) {
      const opened = open('app', { storage: memory(), tables: { [name]: issues } });
      await expect(opened).rejects.toEqual(failure('invalid-argument', { table: name }));
    }
    const tables = { commit: issues, changes: issues, stats: issues };
    for (const [name, one] of Object.entries(tables)) {
      const db = await open('app', { storage: memory(), tables: { [name]: one } });
      await db.close();
    }
  });
});

describe('table(name)', () => {
  it('returns the table of this name, on branches, too, and refuses others', async () => {
    const db = await open('app', { storage: memory(), tables: { issues } });
    expect(db.table('issues')).toBe(db.issues);
    await db.table('issues').put({ id: '1' });
    const draft = await db.branches.open('draft');
    expect(await draft.table('issues').get('1')).toEqual({ id: '1' });
    expect(draft.table('issues')).toBe(draft.issues);
    for (const name of ['issue', 'scan', '', undefined, null, {}]) {
      expect(() => db.table(name as never)).toThrow(failure('invalid-argument'));
    }
    expect(() => db.table('issue' as never)).toThrow(/no table issue/);
    await db.close();
  });
});

describe('advanced options', () => {
  it.each([
    ['mustExist', true],
    ['dropOtherIndexes', true],
    ['onIndexProgress', () => {}],
    ['sums', {}],
    ['fallback', memory()],
    ['sliceMs', 4],
    ['cacheBytes', 0],
    ['onDeleted', () => {}],
  ])('%s is refused out of advanced, and the message names the place', async (name, value) => {
    const options = { storage: memory(), indexes: {}, [name]: value } as OpenOptions;
    const error = await open('app', options).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(HedgerowError);
    expect(error).toEqual(failure('invalid-argument'));
    expect((error as Error).message).toContain(`advanced: { ${name} }`);
  });

  it('refuse unknown members, and values that are no plain object', async () => {
    for (const advanced of [{ persist: true }, { storage: memory() }, null, 5, []]) {
      const opened = open('app', { storage: memory(), advanced: advanced as never });
      await expect(opened).rejects.toEqual(failure('invalid-argument'));
    }
  });
});

import { describe, expect, test } from 'vitest';
import { memory, open, table } from '../../hedgerow/src/index.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { until } from '../../hedgerow/test/support/watching.js';
import { hedgerowCollectionOptions } from '../src/index.js';
import {
  closing,
  type Issue,
  issue,
  type Person,
  ready,
  stores,
  VERSIONS,
} from './tanstack-db-issues.js';

describe.each(VERSIONS)('@tanstack/db %s', (_, { createCollection, createTransaction }) => {
  test('mutations are written, seen by other tabs, and rolled back with their error', async () => {
    const [db, other] = await stores(2);
    await db.issues.put(issue(1));
    const mine = createCollection(hedgerowCollectionOptions({ table: db.issues }));
    const theirs = createCollection(hedgerowCollectionOptions({ table: other.issues }));
    await Promise.all([mine.preload(), theirs.preload()]);

    const told: string[] = [];
    mine.subscribeChanges((changes) => {
      for (const change of changes) told.push(`${change.type} ${change.key}`);
    });
    await ready(mine.insert(issue(2)));
    expect(await db.issues.get('i000002')).toEqual(issue(2));
    expect(mine.get('i000002')).toMatchObject(issue(2));
    await ready(
      mine.update('i000001', (draft) => {
        draft.title = 'New';
      }),
    );
    await ready(mine.delete('i000002'));
    expect(await db.issues.toArray()).toEqual([issue(1, { title: 'New' })]);
    await until(() => theirs.get('i000001')?.title === 'New' && theirs.size === 1);
    expect(told.filter((one) => /^delete/.test(one))).toEqual(['delete i000002']);

    // Another tab has it; this one has not heard of it yet.
    await other.issues.put(issue(3));
    const refused = mine.insert(issue(3, { title: 'Mine' }));
    await expect(ready(refused)).rejects.toMatchObject({ code: 'exists', key: 'i000003' });
    await until(() => mine.get('i000003')?.title === 'Issue 3');
    await Promise.all([mine.cleanup(), theirs.cleanup()]);
  });

  test('one transaction of the store has the mutations of several collections, or no mutation', async () => {
    const [db] = await stores(1);
    await db.people.put({ name: 'ada', team: 'a' });
    const left = createCollection(hedgerowCollectionOptions({ table: db.issues }));
    const right = createCollection(hedgerowCollectionOptions({ table: db.people }));
    await Promise.all([left.preload(), right.preload()]);
    const transact = (change: () => void) => {
      const made = createTransaction({
        autoCommit: false,
        mutationFn: ({ transaction }) => left.utils.acceptMutations(transaction),
      });
      made.mutate(change);
      return made.commit();
    };
    const commits: string[] = [];
    const stop = db.watch({}, (_, { root }) => void commits.push(root));
    await transact(() => {
      left.insert(issue(1));
      right.update('ada', (draft) => {
        draft.team = 'b';
      });
    });
    expect(await db.issues.has('i000001')).toBe(true);
    expect(await db.people.get('ada')).toEqual({ name: 'ada', team: 'b' });
    await until(() => commits.length > 0);
    expect(commits).toHaveLength(1);
    stop();

    // The second one is refused, so the first one is not written.
    await db.people.put({ name: 'bob', team: 'a' });
    await until(() => right.has('bob'));
    await right.cleanup();
    const again = createCollection(hedgerowCollectionOptions({ table: db.people }));
    const refused = transact(() => {
      left.insert(issue(2));
      again.insert({ name: 'bob', team: 'c' });
    });
    await expect(refused).rejects.toMatchObject({ code: 'exists', table: 'people' });
    expect(await db.issues.has('i000002')).toBe(false);
    expect(left.has('i000002')).toBe(false);
    await Promise.all([left.cleanup(), again.cleanup()]);
  });

  test('mutations write only changed members, and keep the changes of another tab', async () => {
    const [db, other] = await stores(2);
    await db.issues.put(issue(2));
    const mine = createCollection(hedgerowCollectionOptions({ table: db.issues }));
    await mine.preload();
    await other.issues.update('i000002', { title: 'Theirs' });
    const change = mine.update('i000002', (draft) => {
      draft.status = 'closed';
      draft.owner = undefined as never;
    });
    await ready(change);
    const { owner: _, ...rest } = issue(2);
    expect(await db.issues.get('i000002')).toEqual({
      ...rest,
      title: 'Theirs',
      status: 'closed',
    });
    await until(() => mine.get('i000002')?.title === 'Theirs');
    // A deleted row stays deleted.
    await other.issues.delete('i000002');
    await ready(
      mine.update('i000002', (draft) => {
        draft.title = 'Mine';
      }),
    );
    await until(() => mine.size === 0);
    expect(await db.issues.count()).toBe(0);
    await mine.cleanup();
  });

  test('mutations count in the order in which they were made, however fast they come', async () => {
    const [db] = await stores(1);
    const mine = createCollection(hedgerowCollectionOptions({ table: db.issues }));
    await mine.preload();
    const titled = (title: string) => (draft: Issue) => void Object.assign(draft, { title });
    const made = [mine.insert(issue(1)), mine.insert(issue(2))];
    for (let at = 0; at < 5; at++) made.push(mine.update('i000001', titled(`${at}`)));
    made.push(mine.delete('i000002'));
    await Promise.all(made.map(ready));
    expect(await db.issues.toArray()).toEqual([issue(1, { title: '4' })]);
    expect(mine.toArray).toMatchObject([issue(1, { title: '4' })]);
    await mine.cleanup();
  });

  test('a refused mutation does not hold up the later ones', async () => {
    const [db, other] = await stores(2);
    const mine = createCollection(hedgerowCollectionOptions({ table: db.issues }));
    await mine.preload();
    await other.issues.put(issue(1));
    const made = [mine.insert(issue(1, { title: 'Mine' })), mine.insert(issue(2))];
    const ends = await Promise.allSettled(made.map(ready));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await db.issues.toArray()).toEqual([issue(1), issue(2)]);
    await mine.cleanup();
  });

  test('a row that the schema of a table refuses is rolled back with its error', async () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) =>
          (value as Person).team === ''
            ? { issues: [{ message: 'no team', path: ['team'] }] }
            : { value: value as Person },
        types: undefined as { input: Person; output: Person } | undefined,
      },
    } as const;
    const checked = table({ schema, key: 'name' });
    const db = await open('checked', { storage: memory(), tables: { checked } });
    closing.push(() => db.close());
    const mine = createCollection(hedgerowCollectionOptions({ table: db.checked }));
    await mine.preload();
    await ready(mine.insert({ name: 'ada', team: 'a' }));
    const refused = mine.insert({ name: 'bob', team: '' });
    expect(mine.has('bob')).toBe(true);
    await expect(ready(refused)).rejects.toMatchObject({
      ...ofKind('invalid-argument/value'),
      pointer: '/team',
    });
    expect(mine.has('bob')).toBe(false);
    await mine.cleanup();
  });
});

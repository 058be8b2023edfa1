/** A bound branch has one writer: it refuses writes that the next pull would undo. */
import { expect, it } from 'vitest';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { memory, open, rowType, table } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { mutators } from '../../../src/sync/mutators/index.js';
import { memoryRemote } from '../../../src/sync/remote/index.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import { bind, rowsOf, theirs } from '../../support/worlds/mutators-app.js';

interface Issue {
  id: string;
  title: string;
}
const issues = table({ schema: rowType<Issue>(), key: 'id', indexes: { byTitle: ['title'] } });

async function setting(localWrites?: boolean) {
  const server = new ServerDouble(theirs);
  server.set([
    ['issues/1', { id: '1', title: 'Gate' }],
    ['count', 1],
  ]);
  const db = await open('app', { storage: memory(), tables: { issues } });
  const app = await db.connect(
    mutators({
      mutators: { add: (tx: Transaction, by: number) => void tx.put('count', by) },
      pull: (request) => json(server.pull(request)),
      push: (request) => json(server.push(request)),
      localWrites,
    }),
  );
  await app.pull();
  const empty = db.root;
  await app.mutate.add(5);
  const draft = await db.branches.open('draft');
  await draft.put('drafted', 1);
  const filled = await open('other', { storage: memory() });
  await filled.put('from the bucket', 1);
  const remote = memoryRemote();
  await (await filled.connect(bucket(remote))).push();
  await filled.close();
  return { server, db, app, draft, before: empty, remote };
}

type Setting = Awaited<ReturnType<typeof setting>>;
type Write = (given: Setting) => Promise<unknown>;
const row = { id: '2', title: 'Roof' };

/** By the member of a store. */
const WRITES: Record<string, Write> = {
  put: ({ db }) => db.put('k', 1),
  delete: ({ db }) => db.delete('count'),
  insert: ({ db }) => db.insert('k', 1),
  update: ({ db }) => db.update('issues/1', { title: 'Old gate' }),
  putMany: ({ db }) => db.putMany([['k', 1]]),
  deleteMany: ({ db }) => db.deleteMany(['count']),
  applyPatch: ({ db }) => db.applyPatch([{ op: 'put', key: 'k', value: 1 }]),
  clear: ({ db }) => db.clear(),
  transaction: ({ db }) => db.transaction((tx) => tx.put('k', 1)),
  'history.commit': ({ db }) => db.history.commit((tx) => tx.delete('count')),
  writer: async ({ db }) => {
    const writer = db.writer();
    writer.tryPut('k', 1);
    await writer.close();
  },
  'branches.merge': ({ db }) => db.branches.merge('draft'),
  'history.revert': ({ db, before }) => db.history.revert(before, db.root),
  'branches.reset': ({ db, before }) => db.branches.reset(before),
  remote: async ({ db, remote }) => (await db.connect(bucket(remote))).pull(),
};

/** Other forms of these, and other handles. */
const FORMS: Record<string, Write> = {
  'a range': ({ db }) => db.deleteMany({ prefix: 'issues/' }),
  'rows in bytes': ({ db }) => db.putMany(new Blob(['{"id":"k"}\n']), { key: '/id' }),
  'a function as update': ({ db }) => db.update('count', () => 7),
  'a put of many in one turn': ({ db }) =>
    Promise.any([db.put('k', 1), db.put('l', 1), db.delete('count')]).catch(
      ({ errors: [cause] }: AggregateError) => Promise.reject(cause),
    ),
  'another handle': async ({ db }) => (await db.branches.open('main')).put('k', 1),
  'a handle that has switched': async ({ db }) => {
    const other = await db.branches.open('draft');
    await other.branches.switchTo('main');
    await other.put('k', 1);
  },
};

/** By the member of a table. */
const TABLE_WRITES: Record<string, Write> = {
  put: ({ db }) => db.issues.put(row),
  insert: ({ db }) => db.issues.insert(row),
  update: ({ db }) => db.issues.update('1', { title: 'Old gate' }),
  delete: ({ db }) => db.issues.delete('1'),
  deleteMany: ({ db }) => db.issues.deleteMany(['1']),
  clear: ({ db }) => db.issues.clear(),
  putMany: ({ db }) => db.issues.putMany([row]),
  where: ({ db }) => db.issues.where({ title: 'Gate' }).delete(),
};

/** Members that change no rows of the branch. */
const READS = new Set(
  `__v_skip all at backup.export between branches.current branches.delete branches.list branches.open
   branches.preview branches.switchTo close connect constructor count get getMany has health.compact health.get
   health.persist health.repair health.stats health.subscribe health.verify history.diff history.since
   history.sinceFork keyOf keysOf migration op orderBy prove rank ready root rowSource scan sinceFork snapshot source
   sumTree toArray tryMigration watch`.split(/\s+/),
);

/** Returns the public members of a class. */
function membersOf(object: object): string[] {
  const own = Object.getPrototypeOf(object) as object | null;
  if (own === null || own === Object.prototype) return [];
  return [...Object.getOwnPropertyNames(own), ...membersOf(own)];
}

const cases = [
  ...Object.entries(WRITES).map(([name, write]) => [`db.${name}`, write] as const),
  ...Object.entries(FORMS),
  ...Object.entries(TABLE_WRITES).map(([name, write]) => [`db.issues.${name}`, write] as const),
];

it.each(cases)('%s is refused on a bound branch, and changes no row', async (_, write) => {
  const given = await setting();
  const { db, app, draft } = given;
  const { root } = db;
  await expect(write(given)).rejects.toEqual(
    failure('invalid-argument', { message: expect.stringContaining('app.mutate') }),
  );
  expect(db.root).toBe(root);
  expect(await db.get('count')).toBe(5);
  // Calls go on, and so do other branches.
  await app.mutate.add(6);
  expect(await db.get('count')).toBe(6);
  await draft.put('k', 1);
  await app.push();
  await app.pull();
  await db.close();
});

it('each member of a store and of a table is listed as a write or a read', async () => {
  const { db } = await setting();
  const namespaces = (['branches', 'history', 'health', 'backup'] as const).flatMap((space) =>
    Object.keys(db[space]).map((name) => `${space}.${name}`),
  );
  const all = [[...membersOf(db), ...namespaces], membersOf(db.issues)];
  const writes = [WRITES, TABLE_WRITES].map((known) => new Set(Object.keys(known)));
  const unknown = all.map((names, at) =>
    names.filter((name) => !READS.has(name) && !writes[at]?.has(name)),
  );
  expect(unknown).toEqual([[], []]);
  expect([...READS].filter((name) => !all.flat().includes(name))).toEqual([]);
  await db.close();
});

it('a load that began before the branch was bound is refused at its commit', async () => {
  const server = new ServerDouble(theirs);
  const db = await open('app', { storage: memory() });
  let go = () => {};
  const isBound = new Promise<void>((resolve) => {
    go = resolve;
  });
  async function* rows() {
    yield ['k', 1] as const;
    await isBound;
    yield ['l', 1] as const;
  }
  const loading = db.putMany(rows());
  const refused = expect(loading).rejects.toEqual(failure('invalid-argument'));
  await bind(db, server);
  go();
  await refused;
  expect(await rowsOf(db)).toEqual({});
  await db.close();
});

it('a read-only transaction and observers of rows go on on a bound branch', async () => {
  const server = new ServerDouble(theirs);
  server.set([['tasks/1', { id: '1', name: 'Gate' }]]);
  const tasks = table({
    schema: rowType<{ id: string; title: string }>(),
    key: 'id',
    indexes: { byTitle: ['title'] },
    version: 2,
    migrate: ({ id, name }: { id: string; name: string }) => ({ id, title: name }),
  });
  const db = await open('app', { storage: memory(), tables: { tasks } });
  const app = await bind(db as never, server);
  await app.pull();
  await expect.poll(() => db.tasks.migration()).toMatchObject({ remaining: 0 });
  expect(await db.tasks.where({ title: 'Gate' }).toArray()).toEqual([{ id: '1', title: 'Gate' }]);
  expect(await db.transaction((tx) => tx.tasks.get('1'))).toEqual({ id: '1', title: 'Gate' });
  const sums = db.sumTree('by hand');
  await sums.putMany([{ key: 'a', sum: 1n, value: new Uint8Array(1) }]);
  const { root } = sums;
  expect(await db.health.repair()).toMatchObject({ rowsLost: 0 });
  server.set([['news', 1]]);
  await app.pull();
  expect(sums.root).toEqual(root);
  await db.close();
});

it('localWrites allows all writes, and the next pull that has news undoes them', async () => {
  for (const [name, write] of cases) {
    const given = await setting(true);
    const { server, db, app } = given;
    const before = await rowsOf(db);
    await write(given);
    expect(await rowsOf(db), name).not.toEqual(before);
    await app.mutate.add(8);
    server.set([['news', 1]]);
    await app.pull();
    expect(await rowsOf(db), name).toEqual({ ...server.rows, count: 8 });
    await db.close();
  }
});

it('localWrites is true or false', async () => {
  await expect(setting('yes' as never)).rejects.toEqual(failure('invalid-argument'));
});

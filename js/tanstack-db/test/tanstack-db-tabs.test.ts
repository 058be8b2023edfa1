import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as newest from '@tanstack/db';
import { persistedCollectionOptions } from '@tanstack/db-sqlite-persistence-core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { memory, open, type Store } from '../../hedgerow/src/index.js';
import { rest, until, watches } from '../../hedgerow/test/support/watching.js';
import { hedgerowPersistence } from '../src/index.js';

type Todo = { id: string; title: string };
type Persistence = ReturnType<typeof hedgerowPersistence>;
type Mutations = Parameters<Persistence['coordinator']['requestApplyLocalMutations']>[1];

const todo = (id: string, title = id): Todo => ({ id, title });

const from = createRequire(import.meta.resolve('@tanstack/db-sqlite-persistence-core'));
const path = from.resolve('@tanstack/db').replace('/cjs/index.cjs', '/esm/index.js');
const { createCollection }: typeof newest = await import(pathToFileURL(path).href);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function tabs(): Promise<[Store, Store]> {
  const storage = { ...memory(), isShared: true };
  const dbs = [await open('tabs', { storage }), await open('tabs', { storage })] as const;
  closing.push(() => Promise.all(dbs.map((db) => db.close())));
  return [...dbs];
}

function collection(persistence: Persistence, more: object = {}) {
  const options = { id: 'todos', getKey: ({ id }: Todo) => id, persistence, ...more };
  const made = createCollection(
    persistedCollectionOptions<Todo, string>(options as never) as never,
  ) as unknown as newest.Collection<Todo, string>;
  closing.push(() => made.cleanup());
  return made;
}

interface Source {
  begin(): void;
  write(told: object): void;
  commit(): unknown;
  markReady(): void;
}

/** A collection that gets its rows from a server, and the actions of that server. */
function served(db: Store) {
  let source: Source | undefined;
  const made = collection(hedgerowPersistence(db), {
    sync: {
      sync: (given: Source) => {
        source = given;
        given.markReady();
      },
    },
  });
  const tell = async (...rows: Todo[]) => {
    source?.begin();
    for (const value of rows) source?.write({ type: 'insert', value });
    await source?.commit();
  };
  return { made, tell };
}

const ready = (one: { isPersisted: { promise: Promise<unknown> } }) => one.isPersisted.promise;
const tx = (seq: number, ...rows: Todo[]) => ({
  txId: `tx-${seq}-${rows.map(({ title }) => title)}`,
  term: 1,
  seq,
  rowVersion: seq,
  mutations: rows.map((value) => ({ type: 'insert' as const, key: value.id, value })),
});

test('a server without news does not make a tab deaf to another one', async () => {
  const [db, other] = await tabs();
  const [one, two] = [served(db), served(other)];
  await Promise.all([one.made.preload(), two.made.preload()]);
  for (let at = 0; at < 3; at++) await one.tell();
  await two.tell(todo('a'));
  await until(() => one.made.has('a'));
  await two.tell(todo('b'));
  await until(() => one.made.has('b'));
  await one.tell(todo('c'));
  await until(() => two.made.size === 3);
});

test('a transaction of a tab that is behind comes behind all others, and all hear of it', async () => {
  const [db, other] = await tabs();
  const [mine, theirs] = [db, other].map((one) =>
    hedgerowPersistence(one, { keptTransactions: 2 }),
  );
  const { adapter, coordinator } = mine as Persistence;
  const told: unknown[] = [];
  closing.push(coordinator.subscribe('todos', ({ payload }) => told.push(payload)));
  // The second place stays free, and the log has forgotten the first one.
  for (const seq of [1, 3, 4]) await adapter.applyCommittedTx('todos', tx(seq, todo(`${seq}`)));
  await until(() => told.length === 3);
  for (const seq of [1, 2]) {
    await theirs?.adapter.applyCommittedTx('todos', tx(seq, todo('late', `${seq}`)));
    // The other tab hears of it a moment later.
    await expect
      .poll(() => adapter.getStreamPosition('todos'))
      .toMatchObject({ latestSeq: 4 + seq });
    await until(() => told.length === 3 + seq);
    expect(told.at(-1)).toMatchObject({ seq: 4 + seq, changedRows: [{ key: 'late' }] });
  }
  expect(await adapter.pullSince('todos', 4)).toMatchObject({ changedKeys: ['late'] });
  // The tab that was behind took these places for its own, and has not heard of the transactions there.
  expect(await theirs?.adapter.pullSince('todos', 4)).toMatchObject({ requiresFullReload: true });
});

/** Takes the places `seqs` of a tab's collection for transactions that change no rows. */
function publishEmpty({ coordinator }: Persistence, seqs: readonly number[]) {
  for (const seq of seqs) {
    const payload = { ...tx(seq), latestRowVersion: seq, requiresFullReload: true };
    coordinator.publish('todos', { payload } as never);
  }
}

interface Committing {
  commit(collectionId: string, tx: object, wanted: object): Promise<unknown>;
}

interface Heard {
  readonly type: string;
  readonly seq: number;
  readonly requiresFullReload: boolean;
}

test.each([1, 2, 3])(
  'a row that another tab has put at place %i, which this tab gives to empty transactions, is reported behind them',
  async (place) => {
    const [db, other] = await tabs();
    const [mine, theirs] = [db, other].map((one) => hedgerowPersistence(one));
    const heard: Heard[] = [];
    closing.push(
      mine?.coordinator.subscribe('todos', ({ payload }) => heard.push(payload as Heard)) as never,
    );
    for (let seq = 1; seq <= place; seq++) {
      const rows = seq === place ? [todo('a')] : [];
      await theirs?.adapter.applyCommittedTx('todos', tx(seq, ...rows));
    }
    await expect
      .poll(() => mine?.adapter.getStreamPosition('todos'))
      .toMatchObject({ latestSeq: place });
    // The collection has taken all three places before the first transaction is committed.
    const adapter = mine?.adapter as unknown as Committing;
    for (const seq of [1, 2, 3]) {
      const empty = { txId: `empty-${seq}`, mutations: [] };
      await adapter.commit('todos', empty, { term: 1, seq, rowVersion: seq });
    }
    await until(() => heard.some(({ seq, requiresFullReload }) => seq > 3 && requiresFullReload));
  },
);

test('rows at the place of an empty transaction that could not be committed are reported', async () => {
  const [db, other] = await tabs();
  const [mine, theirs] = [db, other].map((one) => hedgerowPersistence(one));
  const heard: Heard[] = [];
  closing.push(
    mine?.coordinator.subscribe('todos', ({ payload }) => heard.push(payload as Heard)) as never,
  );
  const commit = vi.spyOn(mine?.adapter as unknown as Committing, 'commit');
  for (let at = 0; at < 2; at++) commit.mockRejectedValueOnce(new Error('no space'));
  publishEmpty(mine as Persistence, [1, 2]);
  const resets = () => heard.filter(({ type }) => type === 'collection:reset').length;
  for (const seq of [1, 2]) {
    await theirs?.adapter.applyCommittedTx('todos', tx(seq, todo(`${seq}`)));
    await until(() => resets() === seq);
  }
  await theirs?.adapter.applyCommittedTx('todos', tx(3, todo('3')));
  await until(() => heard.some(({ seq }) => seq === 3));
  expect(resets()).toBe(2);
});

test('two collections of one tab and one name see the writes of each other', async () => {
  const [db] = await tabs();
  const persistence = hedgerowPersistence(db);
  const both = [collection(persistence), collection(persistence)];
  await Promise.all(both.map((one) => one.preload()));
  for (const id of ['a', 'b', 'c', 'd']) {
    for (const [at, one] of both.entries()) {
      await ready(one.insert(todo(`${id}${at}`)));
      await until(() => both.every((each) => each.has(`${id}${at}`)));
    }
  }
});

test('commits that a collection may hear of after its own mutation are reported with their rows', async () => {
  const [db] = await tabs();
  const { coordinator, adapter } = hedgerowPersistence(db);
  const told: object[] = [];
  closing.push(coordinator.subscribe('todos', ({ payload }) => told.push(payload as object)));
  const put = (title: string) => {
    const mutation = { mutationId: title, type: 'insert', key: 'a', value: todo('a', title) };
    return coordinator.requestApplyLocalMutations('todos', [mutation] as Mutations);
  };
  await put('1');
  await until(() => told.length === 1);
  await rest(5);
  await put('2');
  await until(() => told.length === 2);
  // The collection has it, and no other commit came between.
  expect(told[1]).toMatchObject({ changedRows: [] });

  // A mutation takes so long that its commit is reported before its end, and the next one waits for it.
  const get = vi.spyOn(adapter as unknown as { commit(): Promise<unknown> }, 'commit');
  const commit = get.getMockImplementation() ?? Object.getPrototypeOf(adapter).commit.bind(adapter);
  get.mockImplementationOnce(async (...given: never[]) => {
    const at = await commit(...given);
    await until(() => told.length === 3);
    return at;
  });
  await put('3');
  await put('4');
  await until(() => told.length === 4);
  expect(told[3]).toMatchObject({ changedRows: [{ value: { title: '4' } }] });
});

describe('a mutation of a tab whose collection has a transaction of another tab', () => {
  /** Commits in another tab and in this one, at once or after the message has been handled; returns the messages. */
  async function messagesOf(isHandled: boolean) {
    const [db, other] = await tabs();
    const watch = vi.spyOn(db, 'watch').mockReturnValue(() => {});
    const { coordinator, adapter } = hedgerowPersistence(db);
    const messages: { changedRows: { value: Todo }[] }[] = [];
    const stop = coordinator.subscribe('todos', ({ payload }) => messages.push(payload as never));
    const report = watch.mock.calls[0]?.[1] as unknown as (changes: object[]) => Promise<void>;
    const keys = async () =>
      (await db.scan({ prefix: 'tanstack-db/' }).toArray()) as [string, object][];
    const reported = new Set<string>();
    /** Reports the transactions that were added to the log. */
    const reportNew = async () => {
      const logged = (await keys()).filter(([, value]) => 'txId' in value);
      return report(
        logged
          .filter(([key]) => !reported.has(key) && reported.add(key))
          .map(([key, newValue]) => ({ op: 'insert', key, newValue })),
      );
    };
    await hedgerowPersistence(other).adapter.applyCommittedTx('todos', tx(1, todo('a', 'theirs')));
    await adapter.getStreamPosition('todos');
    await expect.poll(() => db.root).toBe(other.root);
    await reportNew();
    if (isHandled) await rest(5);
    const value = { ...todo('a', 'mine') };
    const mutation = { mutationId: 'm', type: 'insert', key: 'a', value } as const;
    await coordinator.requestApplyLocalMutations?.('todos', [mutation]);
    await reportNew();
    stop();
    return messages.map(({ changedRows }) => changedRows.map(({ value }) => value.title));
  }

  test('is sent to it again if it may have been in front of that transaction', async () => {
    expect(await messagesOf(false)).toEqual([['theirs'], ['mine']]);
  });

  test('is not sent again after it', async () => {
    expect(await messagesOf(true)).toEqual([['theirs'], []]);
  });
});

test('a collection shows the rows of the store after a reset, and goes on', async () => {
  const [db] = await tabs();
  const mine = collection(hedgerowPersistence(db));
  await mine.preload();
  await ready(mine.insert(todo('a')));
  const { root } = db;
  await ready(mine.insert(todo('b')));
  await db.branches.reset(root);
  await until(() => !mine.has('b'));
  await ready(mine.insert(todo('c')));
  expect([...mine.keys()].sort()).toEqual(['a', 'c']);
});

test('a collection hears no more after its end', async () => {
  const [db] = await tabs();
  const mine = collection(hedgerowPersistence(db));
  const seen = watches(db);
  await mine.preload();
  await ready(mine.insert(todo('a')));
  await db.branches.reset(db.root);
  await mine.cleanup();
  await db.branches.reset(db.root);
  await rest();
  expect(seen.now).toBe(0);
});

test('signatures of indexes may be any text', async () => {
  const [db] = await tabs();
  const { adapter } = hedgerowPersistence(db);
  await adapter.applyCommittedTx('todos', tx(1, todo('a')));
  const expressionSql = [JSON.stringify({ type: 'ref', path: ['title'] })];
  const entries = () => db.count({ prefix: 'tanstack-db/todos/i/' });
  const signatures = ['toString', '__proto__', 'constructor', ''];
  for (const [at, signature] of signatures.entries()) {
    await adapter.markIndexRemoved('todos', signature);
    await adapter.ensureIndex('todos', signature, { expressionSql });
    expect(await entries(), signature).toBe(at + 1);
  }
  for (const signature of signatures) await adapter.markIndexRemoved('todos', signature);
  expect(await entries()).toBe(0);
});

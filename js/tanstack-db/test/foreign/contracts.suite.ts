/** The contracts of the persistence package of TanStack DB, on a store. */
// @ts-nocheck: the contracts are in a checkout, which the compiler does not know.
import { BTreeIndex, createCollection } from '@tanstack/db';
import { persistedCollectionOptions } from '@tanstack/db-sqlite-persistence-core';
import { runPersistedCollectionConformanceSuite } from 'tanstack-db-checkout/packages/db-sqlite-persistence-core/tests/contracts/persisted-collection-conformance-contract';
import { runRuntimeBridgeE2EContractSuite } from 'tanstack-db-checkout/packages/db-sqlite-persistence-core/tests/contracts/runtime-bridge-e2e-contract';
import { runRuntimePersistenceContractSuite } from 'tanstack-db-checkout/packages/db-sqlite-persistence-core/tests/contracts/runtime-persistence-contract';
import { runSQLiteCoreAdapterContractSuite } from 'tanstack-db-checkout/packages/db-sqlite-persistence-core/tests/contracts/sqlite-core-adapter-contract';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { memory, open } from '../../../hedgerow/src/index.js';
import { hedgerowPersistence } from '../../src/index.js';
import { e2eConfig } from './e2e-config.js';
import { ContractDriver, SQLiteCorePersistenceAdapter } from './persistence-under-test.js';
import { generateSeedData } from './suites.js';

const closing = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

runSQLiteCoreAdapterContractSuite('core adapter', (options = {}) => {
  const driver = new ContractDriver();
  const cleanup = () => driver.close();
  closing.push(cleanup);
  return { adapter: new SQLiteCorePersistenceAdapter({ ...options, driver }), driver, cleanup };
});

// A driver is a store, which is opened at once.
const dbs = await Promise.all(
  Array.from({ length: 3 }, (_, at) => open(`runtime-${at}`, { storage: memory() })),
);
let next = 0;
runRuntimePersistenceContractSuite('runtime persistence', {
  createDatabaseHarness: () => {
    const db = dbs[next++];
    return { createDriver: () => db, cleanup: () => db.close() };
  },
  createAdapter: (db) => hedgerowPersistence(db).adapter,
  createPersistence: (db, coordinator) => ({
    ...hedgerowPersistence(db),
    ...(coordinator && { coordinator }),
  }),
  createCoordinator: () => hedgerowPersistence(dbs[0]).coordinator,
});

runRuntimeBridgeE2EContractSuite('runtime bridge', () => {
  const storage = memory();
  let opened = open('bridge', { storage });
  const adapter = async () => hedgerowPersistence(await opened).adapter;
  let seq = 0;
  return {
    writeTodoFromClient: async (todo) => {
      seq += 1;
      const mutations = [{ type: 'insert', key: todo.id, value: todo }];
      const tx = { txId: `tx-${seq}`, term: 1, seq, rowVersion: seq, mutations };
      await (await adapter()).applyCommittedTx('todos', tx);
    },
    loadTodosFromClient: async (id = 'todos') => (await adapter()).loadSubset(id, {}),
    loadUnknownCollectionErrorFromClient: async () => {
      try {
        const rows = await (await adapter()).loadSubset('missing', {});
        return { name: '', message: `no error, but ${rows.length} rows` };
      } catch (error) {
        return error;
      }
    },
    restartHost: async () => {
      await (await opened).close();
      opened = open('bridge', { storage });
    },
    cleanup: async () => (await opened).close(),
  };
});

let config: ReturnType<typeof e2eConfig>;
beforeAll(async () => {
  const db = await open('conformance', { storage: memory() });
  const seed = generateSeedData();
  const collection = (id, syncMode) =>
    createCollection(
      persistedCollectionOptions({
        id: `${id}-${syncMode}`,
        syncMode,
        getKey: (row) => row.id,
        persistence: hedgerowPersistence(db),
        autoIndex: 'eager',
        defaultIndexType: BTreeIndex,
      }),
    );
  const pairOf = async (id, rows) => {
    const { adapter } = hedgerowPersistence(db);
    for (const mode of ['eager', 'on-demand']) {
      const mutations = rows.map((value) => ({ type: 'insert', key: value.id, value }));
      const tx = { txId: `${id}-${mode}`, term: 1, seq: 1, rowVersion: 1, mutations };
      await adapter.applyCommittedTx(`${id}-${mode}`, tx);
    }
    const pair = { eager: collection(id, 'eager'), onDemand: collection(id, 'on-demand') };
    await pair.eager.preload();
    return pair;
  };
  const users = await pairOf('users', seed.users);
  const posts = await pairOf('posts', seed.posts);
  const comments = await pairOf('comments', seed.comments);
  const each = async ({ eager, onDemand }, write) => {
    for (const one of [eager, onDemand]) await write(one)?.isPersisted.promise;
  };
  config = e2eConfig(
    { users, posts, comments },
    {
      insertUser: (user) => each(users, (one) => one.insert(user)),
      updateUser: (id, updates) =>
        each(users, (one) =>
          one.has(id) ? one.update(id, (draft) => void Object.assign(draft, updates)) : undefined,
        ),
      deleteUser: (id) => each(users, (one) => (one.has(id) ? one.delete(id) : undefined)),
      insertPost: (post) => each(posts, (one) => one.insert(post)),
    },
    () => db.close(),
  );
});
afterEach(() => config.afterEach());
afterAll(() => config.teardown());

runPersistedCollectionConformanceSuite('persisted collections', async () => config);

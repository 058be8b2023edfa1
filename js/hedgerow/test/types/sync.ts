/** The types of connections: each kind by its transport, and mutators with the tables of their store. */

import { expectTypeOf } from 'expect-type';
import { clone, memory, open, type Transaction, type TransactionWith } from 'hedgerow';
import { useConnection } from 'hedgerow/react';
import {
  type BucketConnection,
  bucket,
  type Connection,
  type ConnectionState,
  type MutatorState,
  memoryRemote,
  mutators,
  type PullResult,
  type RestConnection,
  rest,
} from 'hedgerow/sync';
import { db, type Issue, type IssueId, id, type tables } from './app.js';

const remote = memoryRemote();
const urls = { pull: { url: '/pull' }, push: { url: '/push' } };

const connection = await db.connect(bucket(remote, { policy: 'local' }));
expectTypeOf(connection).toEqualTypeOf<BucketConnection>();
expectTypeOf(await connection.pull()).toEqualTypeOf<PullResult>();
expectTypeOf(connection.state).toEqualTypeOf<ConnectionState>();
connection.onPull(({ rows }) => expectTypeOf(rows).toEqualTypeOf<number>());
connection.start({ everyMs: 1000, collect: { graceMs: 1 } });
expectTypeOf(await db.connect(rest(urls))).toEqualTypeOf<RestConnection>();
const all: Connection[] = [connection, await db.connect(rest(urls))];
expectTypeOf(all[0]!.state.isLeader).toEqualTypeOf<boolean>();

// A mutator has the tables of the store, without an annotation.
const app = await db.connect(
  mutators({
    ...urls,
    mutators: {
      async close(tx, { id }: { id: IssueId }) {
        expectTypeOf(await tx.issues.get(id)).toEqualTypeOf<Issue | undefined>();
        return 7;
      },
      nothing() {},
    },
  }),
);
expectTypeOf(await app.mutate.close({ id })).toEqualTypeOf<number>();
await app.mutate.nothing();
expectTypeOf(app.state).toEqualTypeOf<MutatorState>();
expectTypeOf(useConnection(app).pendingCalls).toEqualTypeOf<number>();
expectTypeOf(useConnection(undefined as typeof connection | undefined).status).toEqualTypeOf<
  ConnectionState['status']
>();
// @ts-expect-error the argument of another mutator
app.mutate.close(7);

// Mutators with annotations run on each store that has what they name.
const ours = { put: (tx: Transaction, key: string) => tx.put(key, 1) };
const plain = await open('plain', { storage: memory() });
const transport = mutators({ ...urls, mutators: ours });
await (await plain.connect(transport)).mutate.put('a');
await (await db.connect(transport)).mutate.put('a');
// So do mutators of tables, whose transport belongs to no store yet.
const calls = {
  close: async (tx: TransactionWith<typeof tables>, close: { id: IssueId }) =>
    (await tx.issues.get(close.id))?.title,
  count: (tx: Transaction) => tx.count(),
};
const server = mutators({ ...urls, mutators: calls });
expectTypeOf(await (await db.connect(server)).mutate.close({ id })).toEqualTypeOf<
  string | undefined
>();
// @ts-expect-error a store without the tables
plain.connect(server);
await plain.connect(
  mutators({
    ...urls,
    mutators: {
      close: (tx) => {
        // @ts-expect-error a store without tables
        tx.issues;
      },
    },
  }),
);

expectTypeOf((await clone('a', bucket(remote))).connection).toEqualTypeOf<BucketConnection>();
expectTypeOf((await clone('a', bucket(remote), { tables: {} as typeof tables })).db).toEqualTypeOf<
  typeof db
>();
// @ts-expect-error a remote is no transport
db.connect(remote);
// @ts-expect-error a place of another kind
clone('a', rest(urls));

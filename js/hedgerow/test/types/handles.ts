/** Tables on all handles: stores, branches, snapshots and transactions. */

import { expectTypeOf } from 'expect-type';
import {
  type Change,
  type InputOf,
  type KeyOf,
  live,
  memory,
  open,
  type RowOf,
  type Snapshot,
  type Store,
  type StoreWith,
  type Transaction,
} from 'hedgerow';
import {
  db,
  type Issue,
  type IssueId,
  id,
  issue,
  type issues,
  type Step,
  type steps,
  tables,
  type visits,
} from './app.js';

// Types of a table.
expectTypeOf<RowOf<typeof issues>>().toEqualTypeOf<Issue>();
expectTypeOf<InputOf<typeof issues>>().toEqualTypeOf<Issue>();
expectTypeOf<KeyOf<Issue, typeof issues.definition>>().toEqualTypeOf<IssueId>();
expectTypeOf<KeyOf<Step, typeof steps.definition>>().toEqualTypeOf<readonly [string, number]>();
expectTypeOf<RowOf<typeof visits>['at']>().toEqualTypeOf<number>();

// A store without tables is a Store.
expectTypeOf(await open('plain')).toEqualTypeOf<Store>();
expectTypeOf(await open('plain', {})).toEqualTypeOf<Store>();
expectTypeOf(await open('plain', { storage: memory() })).toEqualTypeOf<Store>();
const plain = await open('plain');
// @ts-expect-error a store without tables ['issues' does not exist]
plain.issues;

// A store with tables has these, and is a Store.
expectTypeOf(db).toEqualTypeOf<StoreWith<Readonly<typeof tables>>>();
const asStore: Store = db;
async function close(store: Store) {
  await store.close();
}
await close(db);
await asStore.put('other', 1);
expectTypeOf(await db.get('other')).toEqualTypeOf<unknown>();
// @ts-expect-error no such table ['nope' does not exist]
db.nope;
// @ts-expect-error nearly a table [Did you mean 'issues'?]
db.isues;
// @ts-expect-error a store cannot be assigned to
db.issues = steps;
// @ts-expect-error a definition is no table
await open('app', { tables: { issues: { key: 'id' } } });
// @ts-expect-error an unknown option
await open('app', { tables, nope: 1 });
// @ts-expect-error a store without tables in place of one with them
export const withTables: StoreWith<typeof tables> = plain;

// Watches.
db.issues.watch((changes, at) => {
  expectTypeOf(at.root).toEqualTypeOf<string>();
  for (const change of changes) {
    expectTypeOf(change.key).toEqualTypeOf<IssueId>();
    if (change.op === 'insert') expectTypeOf(change.newValue).toEqualTypeOf<Issue>();
    else expectTypeOf(change.oldValue).toEqualTypeOf<Issue>();
    // @ts-expect-error not of each change
    change.newValue;
  }
});
db.steps.where({ project: 'a' }).watch((changes) => {
  for (const change of changes) {
    expectTypeOf(change.key).toEqualTypeOf<readonly [string, number]>();
    if (change.op === 'update') expectTypeOf(change.newValue).toEqualTypeOf<Step>();
  }
});
db.watch({ prefix: 'x' }, (changes) => expectTypeOf(changes).toEqualTypeOf<readonly Change[]>());

// Transactions.
const done = await db.transaction(async (tx) => {
  tx.issues.put(issue);
  await tx.issues.insert(issue);
  tx.steps.delete(['a', 1]);
  tx.put('other', 1);
  expectTypeOf(await tx.issues.get(id)).toEqualTypeOf<Issue | undefined>();
  expectTypeOf(await tx.issues.update(id, { title: 'x' })).toEqualTypeOf<Issue | undefined>();
  expectTypeOf(await tx.issues.where({ status: 'open' }).toArray()).toEqualTypeOf<Issue[]>();
  expectTypeOf(await tx.issues.where({ status: 'open' }).delete()).toEqualTypeOf<number>();
  expectTypeOf(await tx.issues.deleteMany([id])).toEqualTypeOf<number>();
  const all: Transaction = tx;
  // @ts-expect-error a member is missing
  tx.steps.put({ project: 'a', number: 1 });
  // @ts-expect-error a member is of another type
  await tx.steps.insert({ project: 'a', number: '1', text: '' });
  // @ts-expect-error a string that is no key
  tx.issues.delete('i1');
  // @ts-expect-error the columns in another order
  await tx.steps.get([1, 'a']);
  // @ts-expect-error an unknown member
  await tx.issues.update(id, { nope: 1 });
  // @ts-expect-error no such column
  tx.issues.where({ nope: 1 });
  // @ts-expect-error no such table
  tx.nope;
  // @ts-expect-error loads are not parts of transactions
  tx.issues.putMany;
  // @ts-expect-error a transaction cannot be watched
  tx.issues.watch;
  // @ts-expect-error nor can a query in it
  tx.issues.all().watch;
  // @ts-expect-error nor can it be shown live
  tx.issues.all().source;
  return all !== undefined;
});
expectTypeOf(done).toEqualTypeOf<boolean>();
const { value } = await db.history.commit((tx) => tx.steps.get(['a', 1]));
expectTypeOf(value).toEqualTypeOf<Step | undefined>();

// Branches, also of branches, and merges of their handles.
const draft = await db.branches.open('draft');
expectTypeOf(await draft.issues.get(id)).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await (await draft.branches.open('more')).steps.toArray()).toEqualTypeOf<Step[]>();
await draft.issues.update(id, { title: 'Draft' });
await draft.transaction((tx) => tx.issues.put(issue));
await db.branches.merge(draft);
await db.branches.merge('draft');
// @ts-expect-error no such table
draft.nope;
// @ts-expect-error a string that is no key
await draft.issues.get('i1');

// Snapshots.
using snapshot = db.snapshot();
const asSnapshot: Snapshot = snapshot;
await db.branches.reset(asSnapshot);
expectTypeOf(await snapshot.issues.get(id)).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await snapshot.steps.getMany([['a', 1]])).toEqualTypeOf<(Step | undefined)[]>();
const ordered = snapshot.issues.where({ status: 'open' }).orderBy('modified').limit(1);
expectTypeOf(await ordered.toArray()).toEqualTypeOf<Issue[]>();
expectTypeOf(await ordered.first()).toEqualTypeOf<Issue | undefined>();
// @ts-expect-error no such column
snapshot.issues.where({ nope: 1 });
// @ts-expect-error no such index
snapshot.issues.all().using('nope');
// @ts-expect-error a snapshot is not written
snapshot.issues.put;
// @ts-expect-error a snapshot is not written
snapshot.issues.insert;
// @ts-expect-error a snapshot is not written
snapshot.issues.update;
// @ts-expect-error a snapshot is not written
snapshot.issues.delete;
// @ts-expect-error a snapshot is not written
snapshot.issues.deleteMany;
// @ts-expect-error a snapshot is not written
snapshot.issues.putMany;
// @ts-expect-error a snapshot is not written
snapshot.issues.clear;
// @ts-expect-error nor by a query
snapshot.issues.all().delete;
// @ts-expect-error a snapshot does not change
snapshot.issues.watch;
// @ts-expect-error nor do its queries
ordered.watch;
// @ts-expect-error they cannot be shown live
ordered.source;

// Live queries have the rows.
expectTypeOf(live(db.issues).get().rows).toEqualTypeOf<readonly Issue[]>();
expectTypeOf(live(draft.steps.orderBy('number')).get().rows).toEqualTypeOf<readonly Step[]>();
// @ts-expect-error a snapshot does not change
live(snapshot.issues.all());

// A table by its name.
expectTypeOf(db.table('issues')).toEqualTypeOf(db.issues);
expectTypeOf(draft.table('steps')).toEqualTypeOf(draft.steps);
// @ts-expect-error no such table ['"nope"' is not assignable]
db.table('nope');

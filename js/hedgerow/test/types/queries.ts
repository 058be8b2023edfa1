/** Conditions, orders and results of queries. */

import { expectTypeOf } from 'expect-type';
import type { Query } from 'hedgerow';
import { db, type Issue, id, issue, type Meeting, type Step, type Visit } from './app.js';

// Right calls.
db.issues.where({});
db.issues.where({ status: 'open', modified: { gte: 1, lt: 2 } });
db.issues.where({ id, isPinned: true, title: { startsWith: 'a' } });
db.issues.where({ status: { startsWith: 'op' } });
db.issues.where({ title: { words: 'fix gate' } });
db.issues.where({ '/author/name': 'ada', '/author/home/city': { gt: 'a' } });
db.issues.where({ status: 'open' }).where({ modified: { gt: 1 } });
db.issues.between('modified', 1, 2).between('title', 'a', 'b');
db.issues.between('labels', 'a', 'b');
db.issues.between('/author/name', 'a', 'b');
db.issues.orderBy('modified');
db.issues.orderBy(['status', '/author/name'], 'desc');
db.issues.all().reverse().limit(1).offset(1).after(issue).using('byState').scan();
db.issues.all().filter((row) => row.author.home?.city);
db.steps.where({ project: 'a', number: { gt: 1 } });

// Columns.
// @ts-expect-error undefined is no condition ['status' are incompatible]
db.issues.where({ status: undefined });
// @ts-expect-error not a member ['nope' does not exist in type] [id?:]
db.issues.where({ nope: 1 });
// @ts-expect-error nearly a member [Did you mean to write 'status'?]
db.issues.where({ stauts: 'open' });
// @ts-expect-error an object is no column ['author' does not exist in type]
db.issues.where({ author: { name: 'ada' } });
// @ts-expect-error a pointer that is a column of no index [does not exist in type]
db.issues.where({ '/author/home': 'x' });
// @ts-expect-error not a member ["nope"] ["title"] ["modified"]
db.issues.between('nope', 1, 2);
// @ts-expect-error not a member ["nope"] ["title"] ["modified"]
db.issues.orderBy('nope');
// @ts-expect-error one of them is not a member ["nope"] ["title"]
db.issues.orderBy(['status', 'nope']);
// @ts-expect-error a column of another table
db.steps.where({ status: 'open' });
// @ts-expect-error no direction
db.issues.orderBy('status', 'up');
// @ts-expect-error not a member, after another condition
db.issues.where({ status: 'open' }).where({ nope: 1 });

// Types of columns.
// @ts-expect-error a number in place of a string
db.issues.where({ title: 1 });
// @ts-expect-error a string in place of a number
db.issues.where({ modified: '1' });
// @ts-expect-error not a value of the column ["closed"]
db.issues.where({ status: 'lost' });
// @ts-expect-error a string that is no key
db.issues.where({ id: 'i1' });
// @ts-expect-error a list of numbers in place of one
db.issues.where({ modified: [1, 2] });
// @ts-expect-error an array column is compared by its members
db.issues.where({ labels: ['a'] });
// @ts-expect-error of another type than its members
db.issues.where({ labels: 1 });
// @ts-expect-error of another type than the member that the pointer leads to
db.issues.where({ '/author/name': 1 });
// @ts-expect-error bounds of another type
db.issues.where({ modified: { gte: '1' } });
// @ts-expect-error the second bounds are of another type
db.issues.where({ title: { gte: 'a', lt: 'b' }, modified: { gte: 1, lt: 'b' } });
// @ts-expect-error no such bound
db.issues.where({ modified: { above: 1 } });
// @ts-expect-error a number does not start with text
db.issues.where({ modified: { startsWith: '1' } });
// @ts-expect-error a number has no words
db.issues.where({ modified: { words: '1' } });
// @ts-expect-error bounds of another type
db.issues.between('modified', 'a', 'b');
// @ts-expect-error one of them is of another type
db.issues.between('modified', 1, 'b');
// @ts-expect-error a Date in place of a number
db.issues.between('modified', new Date(), new Date());

// Absent and null values.
db.issues.where({ owner: null, parent: null, labels: null, '/author/home/city': null });
// @ts-expect-error it is never absent
db.issues.where({ title: null });
// @ts-expect-error it is never absent
db.issues.where({ '/author/name': null });
// @ts-expect-error a bound is a value
db.issues.where({ parent: { gt: null } });
// @ts-expect-error a bound is a value
db.issues.between('owner', null, 'x');

// Indexes.
db.issues.all().using('byOwner');
// @ts-expect-error no such index ["nope"] ["byState"] ["byWord"]
db.issues.all().using('nope');
// @ts-expect-error the name of a column
db.issues.where({ status: 'open' }).using('status');
// @ts-expect-error a table without indexes
db.steps.all().using('byState');

// Dates.
const now = new Date();
db.meetings.where({ begins: { gte: now }, ended: null });
db.meetings.where({ days: now }).between('begins', now, now).orderBy('begins');
// @ts-expect-error a text in place of a Date
db.meetings.where({ begins: '2026-01-01' });
// @ts-expect-error a number in place of a Date
db.meetings.between('begins', 1, 2);
// @ts-expect-error a set is no column
db.meetings.where({ guests: 'ada' });
// @ts-expect-error nor is a bigint
db.meetings.where({ cents: 1n });

// Windows.
// @ts-expect-error a number
db.issues.all().limit('1');
// @ts-expect-error another row
db.issues.all().after({ id });
// @ts-expect-error a key in place of the row
db.issues.all().after(id);
// @ts-expect-error a row has no such member
db.issues.all().filter((row) => row.nope);

// The results.
const open = db.issues.where({ status: 'open' });
expectTypeOf(await open.toArray()).toEqualTypeOf<Issue[]>();
expectTypeOf(await open.first()).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await open.at(1)).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await open.count()).toEqualTypeOf<number>();
expectTypeOf((await open.delete()).rows).toEqualTypeOf<number>();
for await (const row of open) expectTypeOf(row).toEqualTypeOf<Issue>();
expectTypeOf(await open.orderBy('title').reverse().limit(1).toArray()).toEqualTypeOf<Issue[]>();
expectTypeOf(await db.issues.toArray()).toEqualTypeOf<Issue[]>();
expectTypeOf(await db.issues.at(1)).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await db.issues.all().first()).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await db.issues.between('modified', 1, 2).first()).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await db.steps.orderBy('number').first()).toEqualTypeOf<Step | undefined>();
expectTypeOf(await db.visits.where({ page: '/' }).toArray()).toEqualTypeOf<Visit[]>();
expectTypeOf(await db.meetings.all().toArray()).toEqualTypeOf<Meeting[]>();
for await (const row of db.meetings) expectTypeOf(row).toEqualTypeOf<Meeting>();

// @ts-expect-error there may be no such row ['undefined']
(await open.first()).title;

// A function of the app that takes any query of these rows.
async function titles(query: Query<Issue>): Promise<string[]> {
  return (await query.limit(10).toArray()).map((row) => row.title);
}
await titles(open);
await titles(db.issues.all());
// @ts-expect-error a query of other rows
await titles(db.steps.all());

/** Written rows and keys. */

import { expectTypeOf } from 'expect-type';
import type { WriteResult } from 'hedgerow';
import { db, type Issue, id, issue, meeting, type Step, type Visit } from './app.js';

const step: Step = { project: 'a', number: 1, text: 'x' };

// Keys.
expectTypeOf(await db.issues.get(id)).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await db.steps.get(['a', 1])).toEqualTypeOf<Step | undefined>();
expectTypeOf(await db.visits.get(1)).toEqualTypeOf<Visit | undefined>();
expectTypeOf(await db.issues.getMany([id])).toEqualTypeOf<(Issue | undefined)[]>();
expectTypeOf(await db.issues.getMany(new Set([id]))).toEqualTypeOf<(Issue | undefined)[]>();
expectTypeOf(await db.steps.getMany([['a', 1]])).toEqualTypeOf<(Step | undefined)[]>();
expectTypeOf(await db.issues.has(id)).toEqualTypeOf<boolean>();
expectTypeOf(await db.steps.rank(['a', 1])).toEqualTypeOf<number>();
await db.steps.delete(['a', 1]);
expectTypeOf(await db.steps.deleteMany([['a', 1]])).toEqualTypeOf<WriteResult>();
expectTypeOf(await db.issues.deleteMany({ status: 'open' })).toEqualTypeOf<WriteResult>();

// @ts-expect-error a string that is no key ['IssueId']
await db.issues.get('i1');
// @ts-expect-error a number
await db.issues.get(1);
// @ts-expect-error a list
await db.issues.get([id]);
// @ts-expect-error it may be undefined
await db.issues.get(issue.owner);
// @ts-expect-error a string that is no key
await db.issues.has('i1');
// @ts-expect-error a string that is no key
await db.issues.delete('i1');
// @ts-expect-error a string that is no key
await db.issues.rank('i1');
// @ts-expect-error a string that is no key
await db.issues.update('i1', { title: 'x' });
// @ts-expect-error a list of strings that are no keys
await db.issues.getMany(['i1']);
// @ts-expect-error one key
await db.issues.getMany(id);
// @ts-expect-error a list of strings that are no keys
await db.issues.deleteMany(['i1']);
// @ts-expect-error one key: its characters are no keys
await db.issues.deleteMany(id);
// @ts-expect-error conditions of an unknown column
await db.issues.deleteMany({ nope: 1 });
// @ts-expect-error a column of the key is missing
await db.steps.get(['a']);
// @ts-expect-error one column too many
await db.steps.get(['a', 1, 2]);
// @ts-expect-error the columns in another order
await db.steps.get([1, 'a']);
// @ts-expect-error the first column alone
await db.steps.get('a');
// @ts-expect-error a column of another type
await db.steps.delete(['a', '1']);
// @ts-expect-error the columns in another order
await db.steps.update([1, 'a'], { text: 'y' });
// @ts-expect-error a column of another type
await db.steps.getMany([['a', '1']]);
// @ts-expect-error one key in place of a list of them
await db.steps.deleteMany(['a', 1]);
// @ts-expect-error of another type than the one column of the key
await db.visits.get('1');

// Rows.
expectTypeOf(await db.issues.put(issue)).toEqualTypeOf<void>();
await db.issues.put({ ...issue, owner: 'ada' }, { durability: 'strict' });
await db.issues.insert(issue);
await db.steps.putMany([step, step]);
await db.steps.putMany(new Set([step]));
await db.steps.putMany(
  (async function* () {
    yield step;
  })(),
);
await db.steps.putMany(new Blob(['{}']), { format: 'ndjson' });
await db.steps.putMany(await fetch('/steps'));
await db.meetings.put(meeting);

// @ts-expect-error members are missing ['text']
await db.steps.put({ project: 'a', number: 1 });
// @ts-expect-error a member is of another type
await db.steps.put({ project: 'a', number: '1', text: 'x' });
// @ts-expect-error a member too many ['nope' does not exist]
await db.steps.put({ project: 'a', number: 1, text: 'x', nope: 1 });
// @ts-expect-error a row of another table
await db.steps.put(issue);
// @ts-expect-error a key, and a row
await db.steps.put('a', step);
// @ts-expect-error a member is missing
await db.steps.insert({ project: 'a', number: 1 });
// @ts-expect-error a row that may be absent
await db.issues.put(await db.issues.get(id));
// @ts-expect-error rows of another table
await db.steps.putMany([issue]);
// @ts-expect-error a member of one row is of another type
await db.steps.putMany([step, { project: 'a', number: '1', text: 'x' }]);
// @ts-expect-error one row
await db.steps.putMany(step);
// @ts-expect-error keys come from the rows
await db.steps.putMany([step], { key: '/text' });
// @ts-expect-error a text in place of a Date
await db.meetings.put({ ...meeting, begins: '2026-01-01' });

// Updates.
expectTypeOf(await db.issues.update(id, { title: 'x' })).toEqualTypeOf<Issue | undefined>();
await db.issues.update(id, { owner: undefined, status: 'closed' });
await db.issues.update(id, (row) => ({ ...row, modified: row.modified + 1 }));
await db.issues.update(id, async (row) => ({ ...row, title: 'x' }));
await db.issues.update(id, (row) => (row.isPinned ? undefined : { ...row, isPinned: true }));
// @ts-expect-error an unknown member ['nope' does not exist]
await db.issues.update(id, { nope: 1 });
// @ts-expect-error a member of another type
await db.issues.update(id, { modified: 'x' });
// @ts-expect-error a member of another type next to a right one
await db.issues.update(id, { title: 'x', status: 'lost' });
// @ts-expect-error a member that no row lacks cannot be removed
await db.issues.update(id, { title: undefined });
// @ts-expect-error a row that lacks members
await db.issues.update(id, (row) => ({ id: row.id }));
// @ts-expect-error a row has no such member
await db.issues.update(id, (row) => ({ ...row, title: row.nope }));
// @ts-expect-error a member of another type
await db.steps.update(['a', 1], (row) => ({ ...row, text: 1 }));

// Operations of patches.
await db.applyPatch([db.issues.op.put(issue), db.steps.op.delete(['a', 1])]);
// @ts-expect-error a row of another table
db.issues.op.put(step);
// @ts-expect-error a string that is no key
db.issues.op.delete('i1');

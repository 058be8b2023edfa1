/** Arguments of calls: each call copies them as JSON, and refuses values that JSON would change. */
import { expect, it } from 'vitest';
import { ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import { bind, store, theirs } from '../../support/worlds/mutators-app.js';

it('a call copies its arguments at once', async () => {
  const db = await store();
  const app = await bind(db, new ServerDouble(theirs));
  const args = { id: 'a', title: 'first' };
  const call = app.mutate.openIssue(args);
  args.title = 'second';
  await call;
  expect(await db.get('issue/a')).toMatchObject({ title: 'first' });
  expect(app.calls()[0]?.args).toEqual({ id: 'a', title: 'first' });
});

it.each([
  ['a bigint', 1n],
  ['a Date', new Date(0)],
  ['a Date in an object', { due: new Date(0) }],
  ['a Date in a list', [{ due: [new Date(0)] }]],
  ['bytes', new Uint8Array(1)],
  ['a Map', { map: new Map() }],
  ['what is no number', { n: Number.NaN }],
])('%s is refused, and makes no call', async (_, args) => {
  const db = await store();
  const app = await bind(db, new ServerDouble(theirs));
  await expect(app.mutate.add(args as never)).rejects.toEqual(failure('invalid-argument/value'));
  expect(app.calls()).toEqual([]);
  expect(await db.count()).toBe(0);
});

/** Backups of a bound store: the rows are the server's, and the queue belongs to one device. */
import { expect, it } from 'vitest';
import { importStore, memory, open } from '../../../src/index.js';
import { ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import { bind, type ours, rowsOf, theirs } from '../../support/worlds/mutators-app.js';

it('an export of all branches has no queue: two devices with one queue would use the same ids', async () => {
  const server = new ServerDouble(theirs);
  const db = await open('app', { storage: memory() });
  const app = await bind(db, server);
  await app.mutate.add(1);
  await (await db.branches.open('draft')).put('drafted', 1);
  const file = await new Response((await db.backup.export({ branches: true })).stream()).blob();
  const storage = memory();
  const { branches } = await importStore('app', file, { storage });
  expect(branches).toEqual(['draft']);
  const restored = await open('app', { storage });
  expect(await rowsOf(restored)).toEqual({ count: 1 });
  await expect(bind(restored, server)).rejects.toEqual(failure('invalid-argument'));
  await restored.put('count', 2);
  await restored.close();
  await db.close();
});

it('waiting calls move to another device as JSON, and run again there', async () => {
  const server = new ServerDouble(theirs);
  server.set([['count', 10]]);
  const db = await open('app', { storage: memory() });
  const app = await bind(db, server);
  await app.mutate.add(1);
  await app.mutate.openIssue({ id: '1', title: 'Gate' });
  const file = JSON.stringify(app.calls());
  await db.close();
  const other = await open('app', { storage: memory() });
  const link = await bind(other, server);
  await link.pull();
  for (const { name, args } of JSON.parse(file) as { name: keyof typeof ours; args: never }[]) {
    await link.mutate[name](args);
  }
  await link.push();
  await link.pull();
  expect(server.rows).toEqual({ count: 11, 'issue/1': { title: 'Gate', isClosed: false } });
  expect(await rowsOf(other)).toEqual(server.rows);
  await other.close();
});

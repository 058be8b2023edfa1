/** Undo of calls: a mutator returns the call that undoes its own, and a device touches no other row. */
import { expect, it } from 'vitest';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { memory, type Storage } from '../../../src/index.js';
import { ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import { device as deviceOf, rowsOf } from '../../support/worlds/mutators-app.js';

interface Issue {
  readonly title: string;
  readonly status: string;
}
interface Step {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}
type Row = readonly [key: string, value: unknown];

/** The same rules on both sides. */
function moved(issue: Issue | undefined, { from, to }: Step): Issue {
  if (issue?.status !== from) throw new Error('changed since');
  return { ...issue, status: to };
}

const mine = {
  async create(tx: Transaction, { id, title }: { id: string; title: string }) {
    tx.put(`issue/${id}`, { title, status: 'open' });
    return { undo: { remove: { id } } };
  },
  async rename(tx: Transaction, { id, title }: { id: string; title: string }) {
    const issue = await tx.get<Issue>(`issue/${id}`);
    tx.put(`issue/${id}`, { ...issue, title });
  },
  async move(tx: Transaction, step: Step) {
    tx.put(`issue/${step.id}`, moved(await tx.get<Issue>(`issue/${step.id}`), step));
    return { undo: { move: { id: step.id, from: step.to, to: step.from } } };
  },
  /** The row with its comments. */
  async remove(tx: Transaction, { id }: { id: string }) {
    const rows: Row[] = [];
    for (const prefix of [`issue/${id}`, `comment/${id}/`]) {
      for await (const row of tx.scan({ prefix })) rows.push(row);
    }
    for (const [key] of rows) tx.delete(key);
    return { undo: { restore: { id, rows } } };
  },
  async restore(tx: Transaction, { id, rows }: { id: string; rows: readonly Row[] }) {
    for (const [key, value] of rows) if (!(await tx.has(key))) tx.put(key, value);
    return { undo: { remove: { id } } };
  },
};

const theirs = {
  create: (rows: Map<string, unknown>, { id, title }: { id: string; title: string }) =>
    void rows.set(`issue/${id}`, { title, status: 'open' }),
  rename(rows: Map<string, unknown>, { id, title }: { id: string; title: string }) {
    rows.set(`issue/${id}`, { ...(rows.get(`issue/${id}`) as Issue), title });
  },
  move(rows: Map<string, unknown>, step: Step) {
    rows.set(`issue/${step.id}`, moved(rows.get(`issue/${step.id}`) as Issue, step));
  },
  remove(rows: Map<string, unknown>, { id }: { id: string }) {
    for (const key of [...rows.keys()]) {
      if (key === `issue/${id}` || key.startsWith(`comment/${id}/`)) rows.delete(key);
    }
  },
  restore(rows: Map<string, unknown>, given: { rows: readonly Row[] }) {
    for (const [key, value] of given.rows) if (!rows.has(key)) rows.set(key, value);
  },
};

const device = (server: ServerDouble, storage?: Storage) => deviceOf(server, mine, storage);

/** A server with an issue and two comments, and two devices. */
async function setting() {
  const server = new ServerDouble(theirs);
  server.set([
    ['comment/1/a', 'first'],
    ['comment/1/b', 'second'],
    ['issue/1', { title: 'Gate', status: 'open' }],
  ]);
  const [one, other] = [await device(server), await device(server)];
  const close = async () => {
    for (const { sync } of [one, other, one]) await sync();
    expect(await rowsOf(one.db)).toEqual(server.rows);
    expect(await rowsOf(other.db)).toEqual(server.rows);
    for (const { db } of [one, other]) await db.close();
  };
  return { server, one, other, close };
}

it('undo reverses a call, and undo of the undo repeats it', async () => {
  const { server, one, close } = await setting();
  const before = await rowsOf(one.db);
  const done = await one.app.mutate.remove({ id: '1' });
  expect(await rowsOf(one.db)).toEqual({});
  const undone = await one.app.undo(done);
  expect(await rowsOf(one.db)).toEqual(before);
  const redone = await one.app.undo(undone);
  expect(await rowsOf(one.db)).toEqual({});
  await one.app.undo(redone);
  await one.sync();
  expect(server.rows).toEqual(before);
  expect(server.done.map(({ name }) => name)).toEqual(['remove', 'restore', 'remove', 'restore']);
  await close();
});

it('undo keeps later changes of others', async () => {
  const { server, one, other, close } = await setting();
  const done = await one.app.mutate.move({ id: '1', from: 'open', to: 'closed' });
  await one.sync();
  await other.sync();
  await other.app.mutate.rename({ id: '1', title: 'Old gate' });
  await other.app.mutate.create({ id: '2', title: 'Roof' });
  await other.sync();
  await one.app.undo(done);
  await one.sync();
  expect(server.rows).toMatchObject({
    'issue/1': { title: 'Old gate', status: 'open' },
    'issue/2': { title: 'Roof', status: 'open' },
  });
  await close();
});

it('an undo that others have overtaken is refused by its mutator, and changes no row', async () => {
  const { server, one, other, close } = await setting();
  const done = await one.app.mutate.move({ id: '1', from: 'open', to: 'closed' });
  await one.sync();
  await other.sync();
  await other.app.mutate.move({ id: '1', from: 'closed', to: 'archived' });
  await other.sync();
  // This device has not heard of that yet: its undo has an effect here, until the pull.
  await one.app.undo(done);
  expect(await one.db.get('issue/1')).toMatchObject({ status: 'open' });
  await one.app.pull();
  expect(await one.db.get('issue/1')).toMatchObject({ status: 'archived' });
  const args = { id: '1', from: 'closed', to: 'open' };
  expect(one.rejected).toMatchObject([{ name: 'move', args, error: new Error('changed since') }]);
  await one.sync();
  // The server never hears of it.
  expect(server.refused).toEqual([]);
  await expect(one.app.undo(done)).rejects.toThrow('changed since');
  expect(one.app.calls()).toEqual([]);
  await close();
});

it('the result of a call can be undone after the page was closed', async () => {
  const server = new ServerDouble(theirs);
  const storage = memory();
  const first = await device(server, storage);
  const done = JSON.stringify(await first.app.mutate.create({ id: '1', title: 'Gate' }));
  await first.db.close();
  const { db, app, sync } = await device(server, storage);
  expect(await db.get('issue/1')).toEqual({ title: 'Gate', status: 'open' });
  await app.undo(JSON.parse(done) as Awaited<ReturnType<(typeof mine)['create']>>);
  expect(await rowsOf(db)).toEqual({});
  await sync();
  expect(server.rows).toEqual({});
  await db.close();
});

it('undo accepts exactly one call of a mutator', async () => {
  const { one, close } = await setting();
  const { app } = one;
  const undos: unknown[] = [
    undefined,
    null,
    'remove',
    {},
    { undo: null },
    { undo: 'remove' },
    { undo: {} },
    { undo: { nobody: 1 } },
    { undo: { toString: 1 } },
    { undo: { remove: { id: '1' }, create: { id: '2', title: '' } } },
  ];
  for (const done of undos) {
    await expect(app.undo(done as never)).rejects.toEqual(failure('invalid-argument'));
  }
  expect(app.calls()).toEqual([]);
  await close();
});

it('undo and redo without a call go through the calls of this device, back and forth', async () => {
  const { one, other, close } = await setting();
  const { app, db } = one;
  const titleOf = async () => (await db.get<Issue>('issue/1'))?.status;
  const can = () => [app.state.canUndo, app.state.canRedo];
  let changes = 0;
  app.subscribe(() => {
    changes += 1;
  });
  expect([await app.undo(), await app.redo(), can()]).toEqual([
    undefined,
    undefined,
    [false, false],
  ]);
  await app.mutate.move({ id: '1', from: 'open', to: 'begun' });
  // It cannot be undone, and is left out.
  await app.mutate.rename({ id: '1', title: 'Old gate' });
  await app.mutate.move({ id: '1', from: 'begun', to: 'closed' });
  expect(can()).toEqual([true, false]);
  expect(changes).toBeGreaterThan(0);
  expect(await app.undo()).toMatchObject({ undo: { move: { from: 'begun', to: 'closed' } } });
  expect([await titleOf(), can()]).toEqual(['begun', [true, true]]);
  await app.undo();
  expect([await titleOf(), can()]).toEqual(['open', [false, true]]);
  await app.redo();
  await app.redo();
  expect([await titleOf(), can()]).toEqual(['closed', [true, false]]);
  await app.undo();
  // A new call ends what could be made again.
  const last = await app.mutate.move({ id: '1', from: 'begun', to: 'open' });
  expect([await app.redo(), can()]).toEqual([undefined, [true, false]]);
  // A call that is undone by its result leaves the list.
  await app.undo(last);
  await app.undo();
  expect([await titleOf(), can()]).toEqual(['open', [false, true]]);
  expect(other.app.state).toMatchObject({ canUndo: false, canRedo: false });
  await close();
});

it('a call whose undo is refused leaves the list, and the call before it is next', async () => {
  const { one, other, close } = await setting();
  const { app, db } = one;
  await app.mutate.create({ id: '2', title: 'Roof' });
  await app.mutate.move({ id: '1', from: 'open', to: 'closed' });
  await one.sync();
  await other.sync();
  await other.app.mutate.move({ id: '1', from: 'closed', to: 'archived' });
  await other.sync();
  await one.sync();
  await expect(app.undo()).rejects.toThrow('changed since');
  expect([app.state.canUndo, app.state.canRedo]).toEqual([true, false]);
  await app.undo();
  expect(await db.has('issue/2')).toBe(false);
  expect(app.state.canUndo).toBe(false);
  await close();
});

/** Only compiled. */
export async function types(app: Awaited<ReturnType<typeof device>>['app']) {
  const removed = await app.mutate.remove({ id: '1' });
  const restored = await app.undo(removed);
  restored.undo.remove.id satisfies string;
  // @ts-expect-error: it returns no undo
  await app.undo(await app.mutate.rename({ id: '1', title: '' }));
  // @ts-expect-error: there is no such mutator
  await app.undo({ undo: { nobody: 1 } });
  // @ts-expect-error: it takes other arguments
  await app.undo({ undo: { remove: { key: '1' } } });
}

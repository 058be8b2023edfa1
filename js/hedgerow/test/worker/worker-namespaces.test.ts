/** The namespaces of a store in a worker, and `table(name)`. */
import { afterEach, expect, it, vi } from 'vitest';
import { rowType, table } from '../../src/index.js';
import { closeAll } from '../support/doubles/worker-wire.js';
import { failure } from '../support/models/store-model.js';
import { until, world } from '../support/worlds/worker-world.js';

const issues = table({ schema: rowType<{ readonly id: string }>(), key: 'id' });

afterEach(closeAll);

it('calls of namespaces reach the store, also on a branch', async () => {
  const remote = await world({ issues }).page();
  const { branches, history, health, backup } = remote;
  expect(await branches.current).toBe('main');
  const { value, before, after } = await history.commit(async (tx) => {
    tx.issues.put({ id: '1' });
    return tx.issues.count();
  });
  expect(value).toBe(1);
  expect((await history.diff(before, after).toArray()).map(({ op }) => op)).toEqual(['insert']);
  const draft = await branches.open('draft');
  await draft.issues.put({ id: '2' });
  expect(await draft.branches.current).toBe('draft');
  expect((await draft.history.sinceFork().toArray()).length).toBe(1);
  expect((await draft.issues.sinceFork().toArray()).map(({ key }) => key)).toEqual(['2']);
  expect((await branches.preview(draft)).changed).toBe(1);
  expect((await branches.merge(draft)).rows).toBe(1);
  await draft.close();
  await branches.delete('draft');
  expect((await branches.list()).map(({ name }) => name)).toEqual(['main']);
  expect((await health.verify()).ok).toBe(true);
  expect((await backup.export()).root).toBe(await remote.root);
  await branches.reset(before);
  expect(await remote.issues.count()).toBe(0);
});

it('health.subscribe is called in the page, until it is stopped', async () => {
  const { page, store } = world();
  const remote = await page();
  const listener = vi.fn();
  const stop = remote.health.subscribe(listener);
  // Storage in memory is reported soon.
  await until(() => listener.mock.calls.length === 1);
  expect(listener.mock.calls[0]?.[0]).toMatchObject({ state: 'ephemeral' });
  stop();
  expect((await (await store()).health.get()).state).toBe('ephemeral');
});

it('table(name) is the member of this name', async () => {
  const remote = await world({ issues }).page();
  expect(remote.table('issues')).toBe(remote.issues);
  await remote.table('issues').put({ id: '1' });
  expect(await remote.issues.has('1')).toBe(true);
  expect(() => remote.table('none' as never)).toThrow(failure('invalid-argument'));
});

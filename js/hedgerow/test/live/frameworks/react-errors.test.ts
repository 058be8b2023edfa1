// @vitest-environment happy-dom
/** Hooks show why they stopped, and read again on request. */
import { createElement, type ReactNode, StrictMode, useEffect } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError, memory, open, type Store } from '../../../src/index.js';
import { useLive, useLiveRow } from '../../../src/live/frameworks/react.js';
import type { LiveRowState, LiveState } from '../../../src/live/index.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import { kindOf } from '../../support/error-kind.js';
import { type Entry, failure } from '../../support/models/store-model.js';
import { handles, rest, until } from '../../support/watching.js';
import { clear, rendered } from './react-page.js';

afterEach(() => {
  clear();
  vi.restoreAllMocks();
});

const mount = (element: ReactNode) => rendered(element);

/** A component that notes the state of each render. */
function noting<State>(use: () => State) {
  const states: State[] = [];
  const Component = () => {
    const state = use();
    useEffect(() => void states.push(state));
    return null;
  };
  return { states, last: () => states.at(-1) as State, element: createElement(Component) };
}

const rows = (count: number): Entry[] =>
  Array.from({ length: count }, (_, at) => [`k${String(at).padStart(5, '0')}`, { at }]);

/** A row, all rows, and the first of them, shown by hooks of a handle. */
function shown(db: Store) {
  const row = noting(() => useLiveRow(db, 'k00001'));
  const all = noting(() => useLive(db, { prefix: 'k' }));
  const some = noting(() => useLive(db, { prefix: 'k', limit: 2 }));
  const hooks = [row, all, some] as const;
  const elements = hooks.map(({ element }, key) => createElement('i', { key }, element));
  const page = mount(elements);
  const states = () =>
    hooks.map(({ last }) => last() as LiveRowState<unknown> | LiveState<unknown>);
  const are = (status: string) => until(() => states().every((one) => one?.status === status));
  return { ...page, row, all, some, states, are };
}

const errors = (states: readonly { readonly error: unknown }[]) => states.map(({ error }) => error);

describe('hooks are in `error`, with the cause and the earlier rows,', () => {
  it('when their handle was closed', async () => {
    const db = await open('react', { storage: memory() });
    await db.putMany(rows(5));
    const page = shown(db);
    await page.are('ready');
    const before = page.all.last().rows;
    await db.close();
    await page.are('error');
    expect(errors(page.states())).toEqual(Array(3).fill(failure('closed')));
    expect(page.all.last().rows).toBe(before);
    expect(page.row.last().value).toEqual({ at: 1 });
  });

  it('when the store was deleted, though all is in memory', async () => {
    const storage = memory();
    const db = await open('react', { storage });
    await db.putMany(rows(5));
    const page = shown(db);
    await page.are('ready');
    await storage.destroy('react');
    await page.are('error');
    expect(errors(page.states())).toEqual(Array(3).fill(failure('closed')));
    const late = noting(() => useLiveRow(db, 'k00002'));
    mount(late.element);
    await until(() => late.last()?.status === 'error');
    expect(late.last().error).toEqual(failure('closed'));
  });

  it('when their branch was deleted in another tab, until it is made again', async () => {
    const [one, other] = await handles(2, 'react branches');
    await one.putMany(rows(5));
    const draft = await one.branches.open('draft');
    const page = shown(draft);
    await page.are('ready');
    await other.branches.delete('draft');
    await page.are('error');
    expect(errors(page.states())).toEqual(Array(3).fill(failure('not-found/branch')));
    const anew = await other.branches.open('draft');
    await anew.put('k00001', 'anew');
    await one.branches.open('draft');
    await page.are('ready');
    await until(() => page.row.last().value === 'anew');
    expect(page.all.last().rows.length).toBe(5);
    await anew.delete('k00000');
    await until(() => page.all.last().rows.length === 4);
    await until(() => page.some.last().rows[0]?.[0] === 'k00001');
    await Promise.all([one.close(), other.close()]);
  });
});

describe('hooks in `error` read again', () => {
  /** Makes a store with 20,000 rows and a damaged segment. */
  async function damaged(storage: WatchedStorage): Promise<Store> {
    const made = await open('react', { storage });
    await made.putMany(rows(20_000));
    const good = new Set(storage.stored.keys());
    await made.putMany(rows(3).map(([key]): Entry => [key, { at: 'changed' }]));
    await made.close();
    storage.hooks.read = (id, bytes) => {
      if (!good.has(id)) bytes.fill(0x55, bytes.length / 4, bytes.length / 2);
      return bytes;
    };
    return open('react', { storage, advanced: { cacheBytes: 0 } });
  }

  it('after `repair`', async () => {
    const storage = watched(memory());
    const db = await damaged(storage);
    const page = shown(db);
    await page.are('error');
    for (const error of errors(page.states())) {
      expect(['corrupt-chunk', 'missing-chunk']).toContain(kindOf(error));
    }
    const states = page.all.states.length;
    await rest();
    expect(page.all.states.length).toBe(states);
    expect((await db.health.repair()).commitsDropped).toBe(1);
    await page.are('ready');
    expect(page.row.last().value).toEqual({ at: 1 });
    expect(page.all.last().rows.length).toBe(20_000);
    // They go on from there.
    await db.put('k00001', 'after');
    await until(() => page.row.last().value === 'after');
    await until(() => page.some.last().rows[1]?.[1] === 'after');
    await until(() => page.all.last().rows[1]?.[1] === 'after');
    await db.close();
  });

  it('after `switchTo`', async () => {
    const db = await open('react', { storage: memory() });
    await db.putMany(rows(5));
    await db.branches.open('draft');
    await db.branches.switchTo('draft');
    const page = shown(db);
    await page.are('ready');
    const [[first], value] = [page.all.last().rows, page.row.last().value];
    await db.branches.delete('draft');
    await page.are('error');
    expect(errors(page.states())).toEqual(Array(3).fill(failure('not-found/branch')));
    await db.branches.switchTo('main');
    await page.are('ready');
    // Unchanged rows stay the same objects.
    expect(page.all.last().rows[0]).toBe(first);
    expect(page.row.last().value).toBe(value);
    await db.put('k00001', 'main');
    await until(() => page.row.last().value === 'main');
    await db.close();
  });

  it('when they are mounted again, or another component shows the same', async () => {
    const db = await open('react', { storage: memory() });
    await db.putMany(rows(5));
    const watch = vi.spyOn(db, 'watch').mockImplementation((_, __, options) => {
      queueMicrotask(() => options?.onError?.(new HedgerowError('unavailable/storage', 'not now')));
      return () => {};
    });
    const one = noting(() => useLive(db));
    const page = mount(createElement(StrictMode, null, one.element));
    await until(() => one.last()?.status === 'error');
    await rest();
    const count = watch.mock.calls.length;
    await rest();
    expect(watch.mock.calls.length).toBe(count);
    watch.mockRestore();
    const other = noting(() => useLive(db));
    mount(other.element);
    await until(() => one.last().status === 'ready' && other.last()?.status === 'ready');
    expect(other.last().rows).toBe(one.last().rows);
    page.unmount();
    const again = noting(() => useLive(db));
    mount(again.element);
    await until(() => again.last()?.status === 'ready');
    await db.close();
  });

  it('no more after their last component has gone', async () => {
    const db = await open('react', { storage: memory() });
    const page = shown(db);
    await page.are('ready');
    page.unmount();
    await rest();
    const scan = vi.spyOn(db, 'scan');
    const watch = vi.spyOn(db, 'watch');
    await db.branches.reset(db.root);
    await rest();
    expect([scan.mock.calls.length, watch.mock.calls.length]).toEqual([0, 0]);
    await db.close();
  });
});

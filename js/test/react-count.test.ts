/** The hook `useCount`, in React, on a document of happy-dom. */
import { createElement, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';
import { type IndexRange, type KeyRange, memory, open, type Store } from '../src/index.js';
import { useCount, useScan } from '../src/react/index.js';
import { failure, storeOf } from './model.js';
import { mount, noting } from './react-page.js';
import { rows } from './watch-changes.js';
import { handles, rest, until } from './watching.js';

const loading = { status: 'loading', count: undefined, error: undefined };
const ready = (count: number) => ({ status: 'ready', count, error: undefined });

describe('useCount', () => {
  it('is loading, then the number, whoever changes it, and renders only when it does', async () => {
    const [db, other] = await handles(2);
    await db.putMany(rows(5));
    const { states, last, element } = noting(() => useCount(db));
    mount(element);
    await until(() => last().status === 'ready');
    await db.put('k000001', 'changed');
    await other.put('x', 1);
    await until(() => last().count === 6);
    await other.clear();
    await until(() => last().count === 0);
    expect(states).toEqual([loading, ready(5), ready(6), ready(0)]);
  });

  it('of ranges written inline watches each once, for all components', async () => {
    const db = await open('test', { storage: memory(), indexes: { at: { path: '/at' } } });
    await db.putMany(rows(10));
    const watch = vi.spyOn(db, 'watchCount');
    const one = noting(() => useCount(db, { gte: 'k000005', lt: 'k000009' }));
    const two = noting(() => useCount(db, { lt: 'k000009', gte: 'k000005' }));
    const three = noting(() => useCount(db, { index: 'at', gt: 3 }));
    const list = noting(() => useScan(db, { gte: 'k000005', lt: 'k000009' }));
    const page = createElement('div', null, one.element, two.element, three.element, list.element);
    const { render, unmount } = mount(page);
    await until(() => list.last().status === 'ready');
    await until(() => [one, two, three].every(({ last }) => last().status === 'ready'));
    expect([one, two, three].map(({ last }) => last().count)).toEqual([4, 4, 6]);
    render(createElement('div', null, one.element, two.element, three.element, list.element));
    expect(watch).toHaveBeenCalledTimes(2);
    unmount();
    await rest();
    await db.put('k000006a', { at: 100 });
    await rest();
    expect(one.last()).toEqual(ready(4));
  });

  it('follows another range and another store', async () => {
    const [db, other] = [await storeOf(rows(3)), await storeOf(rows(7))];
    let [store, range]: [Store | undefined, KeyRange | IndexRange] = [undefined, {}];
    const { last, element } = noting(() => useCount(store, range));
    const { render } = mount(createElement(StrictMode, null, element));
    const show = () => render(createElement(StrictMode, null, createElement(element.type)));
    expect(last()).toEqual(loading);
    for (const [next, wanted, count] of [
      [db, {}, 3],
      [db, { gt: 'k000000' }, 2],
      [other, { gt: 'k000000' }, 6],
    ] as const) {
      [store, range] = [next, wanted];
      show();
      await until(() => last().count === count);
    }
  });

  it('tells an error with the last number, and counts again after a recovery', async () => {
    const db = await storeOf(rows(3));
    const draft = await db.branch('draft');
    const { last, element } = noting(() => useCount(draft));
    mount(element);
    await until(() => last().count === 3);
    await db.deleteBranch('draft');
    await until(() => last().status === 'error');
    expect(last()).toEqual({ status: 'error', count: 3, error: failure('branch-not-found') });
    await db.put('more', 1);
    await db.branch('draft');
    await until(() => last().status === 'ready');
    expect(last()).toEqual(ready(4));
  });

  it('of what is no range is an error that tells so', async () => {
    const db = await storeOf();
    for (const range of [{ limit: 1 }, { index: 'none' }, 'k', { equals: 1 }] as never[]) {
      const { last, element } = noting(() => useCount(db, range));
      mount(element);
      await until(() => last().status === 'error');
      expect(last()).toMatchObject({ count: undefined, error: failure('invalid-argument') });
    }
  });

  it('is loading on a server', async () => {
    const db = await storeOf();
    const Component = () => String(useCount(db).status);
    expect(renderToString(createElement(Component))).toBe('loading');
  });
});

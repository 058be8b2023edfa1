// @vitest-environment happy-dom
/** The parts of Solid that other frameworks lack: stores, owners, hydration. */
import { createEffect, createRoot, createSignal } from 'solid-js';
import { createStore } from 'solid-js/store';
import { createComponent, getNextElement, hydrate, insert, template } from 'solid-js/web';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useLive, useLiveCount, useLiveRow } from '../../../src/live/frameworks/solid.js';
import { until, watches } from '../../support/watching.js';
import { issueOf, storeOf, tablesOf } from './framework.js';

afterEach(() => void vi.restoreAllMocks());

it('takes handles from stores of Solid, which make no proxies of them', async () => {
  const db = await tablesOf(4);
  const [state, set] = createStore({ db, query: db.issues.where({ state: 'open' }), key: 'i1' });
  expect([state.db, state.query]).toEqual([db, state.query]);
  expect(state.db).toBe(db);
  await createRoot(async (dispose) => {
    const list = useLive(() => state.query);
    const row = useLiveRow(
      () => state.db.issues,
      () => state.key,
    );
    const count = useLiveCount(() => state.db);
    expect([list.rows.length, row.value, count.count]).toEqual([2, issueOf(1), 4]);
    set('key', 'i2');
    expect(row.value).toEqual(issueOf(2));
    await state.db.issues.put(issueOf(6));
    await until(() => list.rows.length === 3 && count.count === 5);
    dispose();
  });
});

it('follows options in a store that are changed in place', async () => {
  const db = await storeOf(9);
  const [state, set] = createStore({ options: { limit: 1, reverse: false } });
  createRoot((dispose) => {
    const list = useLive(db, () => state.options);
    expect(list.rows.length).toBe(1);
    set('options', 'limit', 3);
    set('options', 'reverse', true);
    expect(list.rows.map(([key]) => key)).toEqual(['k8', 'k7', 'k6']);
    dispose();
  });
});

it('is followed by readers of its members, and ends with its owner', async () => {
  const db = await storeOf(3);
  const seen = watches(db);
  const [offset, move] = createSignal(0);
  const keys: string[] = [];
  const end = createRoot((dispose) => {
    const list = useLive(db, () => ({ offset: offset(), limit: 2 }));
    expect(Object.keys(list)).toEqual(['status', 'rows', 'offset', 'isStale', 'error']);
    createEffect(() => keys.push(list.rows.map(([key]) => key).join()));
    return dispose;
  });
  move(1);
  await until(() => keys.length === 2);
  await db.put('k3', 'outside');
  await db.delete('k0');
  await until(() => keys.length === 3);
  expect(keys).toEqual(['k0,k1', 'k1,k2', 'k2,k3']);
  end();
  await until(() => seen.now === 0);
});

describe('the markup of a server', () => {
  it('is taken over, then shows the current rows', async () => {
    const db = await storeOf(3);
    const made = template('<p>');
    const Page = () => {
      const list = useLive(db);
      const p = getNextElement(made) as Element;
      insert(p, () => `${list.status} ${list.rows.length}`);
      return p;
    };
    // The output of `renderToString` for the same component: see `server.test.ts`.
    const container = document.createElement('div');
    container.innerHTML = '<p data-hk="00">loading 0</p>';
    document.body.append(container);
    const [p] = container.children;
    Object.assign(globalThis, { _$HY: { events: [], completed: new WeakSet(), r: {} } });
    const dispose = hydrate(() => createComponent(Page, {}), container);
    await until(() => container.textContent === 'ready 3');
    expect(container.children[0]).toBe(p);
    await db.put('more', 1);
    await until(() => container.textContent === 'ready 4');
    dispose();
    container.remove();
  });
});

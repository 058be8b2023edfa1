// @vitest-environment happy-dom
/** The parts of Vue that other frameworks lack: refs, deep proxies, effect scopes, hydration. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createApp,
  createSSRApp,
  effectScope,
  h,
  isProxy,
  KeepAlive,
  nextTick,
  reactive,
  ref,
  shallowRef,
} from 'vue';
import { renderToString } from 'vue/server-renderer';
import { useLive, useLiveCount, useLiveRow } from '../../../src/live/frameworks/vue.js';
import { live } from '../../../src/live/index.js';
import { rest, until, watches } from '../../support/watching.js';
import { issueOf, rowsOf, storeOf, tablesOf } from './framework.js';

afterEach(() => void vi.restoreAllMocks());

const Empty = { render: () => null };

describe('handles in deep proxies of Vue', () => {
  it('are unchanged: refs and reactive objects make no proxies of them', async () => {
    const db = await tablesOf(3);
    const draft = await db.branches.open('draft');
    const snapshot = db.snapshot();
    const query = db.issues.where({ state: 'open' });
    const shown = live(db);
    const all = { db, draft, snapshot, table: db.issues, query, shown, of: snapshot.issues };
    const state = reactive({ ...all, list: [db], deep: { db } });
    for (const [name, one] of Object.entries(all)) {
      expect(isProxy(ref(one).value), name).toBe(false);
      expect(state[name as keyof typeof all], name).toBe(one);
    }
    expect(state.list[0]).toBe(db);
    expect(state.deep.db).toBe(db);
    // All of their calls work.
    await state.db.issues.put(issueOf(8));
    await ref(draft).value.put('x', 1);
    expect(await state.query.count()).toBe(3);
    expect(await state.table.get('i8')).toEqual(issueOf(8));
    expect(await state.snapshot.count()).toBe(3);
    expect(await state.of.get('i8')).toBe(undefined);
    expect(state.shown.get().rows.length).toBe(4);
    state.shown.close();
    snapshot.close();
    await state.db.close();
  });

  it('are arguments, in refs, getters and plain', async () => {
    const db = await tablesOf(4);
    const state = reactive({ db, query: db.issues.where({ state: 'open' }), limit: 1, key: 'i1' });
    const opened = ref<typeof db>();
    const scope = effectScope();
    const shown = scope.run(() => ({
      plain: useLive(db.issues),
      query: useLive(() => state.query),
      limited: useLive(() => state.query.limit(state.limit)),
      range: useLive(
        () => state.db,
        () => ({ prefix: 'issues/', limit: state.limit }),
      ),
      late: useLiveCount(opened),
      row: useLiveRow(
        () => state.db.issues,
        () => state.key,
      ),
      ofRef: useLiveRow(ref(db.issues), ref('i2')),
    }))!;
    const { plain, query, limited, range, late, row, ofRef } = shown;
    expect([plain, query, limited, range].map(({ value }) => value.rows.length)).toEqual([
      4, 2, 1, 1,
    ]);
    expect(late.value.status).toBe('loading');
    expect([row.value.value, ofRef.value.value]).toEqual([issueOf(1), issueOf(2)]);
    state.limit = 2;
    state.key = 'i3';
    opened.value = db as never;
    expect([limited, range].map(({ value }) => value.rows.length)).toEqual([2, 2]);
    expect([row.value.value, late.value.count]).toEqual([issueOf(3), 4]);
    await db.issues.put(issueOf(4));
    await until(() => late.value.count === 5 && plain.value.rows.length === 5);
    scope.stop();
  });

  it('are followed into options and sources that are changed in place', async () => {
    const db = await storeOf(9);
    const options = reactive({ limit: 1, reverse: false });
    const limit = ref(1);
    const rowOf = (key: string) => key;
    const source = () => ({ db, options: { limit: limit.value }, rowOf });
    const scope = effectScope();
    const [list, own] = scope.run(() => [useLive(db, options), useLive({ source })] as const)!;
    expect([list.value.rows.length, own.value.rows.length]).toEqual([1, 1]);
    options.limit = 3;
    options.reverse = true;
    limit.value = 2;
    expect([list.value.rows.length, own.value.rows.length]).toEqual([3, 2]);
    expect(list.value.rows[0]?.[0]).toBe('k8');
    scope.stop();
  });

  it('give the same rows as before, without proxies', async () => {
    const db = await storeOf(3);
    const scope = effectScope();
    const list = scope.run(() => useLive(db))!;
    const [before] = list.value.rows;
    expect([list.value, list.value.rows, before, before?.[1]].map(isProxy)).toEqual(
      Array(4).fill(false),
    );
    await db.put('k1', 'new');
    await until(() => list.value.rows[1]?.[1] === 'new');
    expect(list.value.rows[0]).toBe(before);
    scope.stop();
  });
});

describe('an effect scope', () => {
  it('outside of components shows rows, and ends them with itself', async () => {
    const db = await storeOf(2);
    const seen = watches(db);
    const key = shallowRef('k0');
    const scope = effectScope(true);
    const row = scope.run(() => useLiveRow(db, key))!;
    expect(row.value.value).toEqual({ at: 0 });
    key.value = 'k1';
    expect(row.value.value).toEqual({ at: 1 });
    await nextTick();
    await db.put('k1', 'new');
    await until(() => row.value.value === 'new');
    scope.stop();
    await until(() => seen.now === 0);
    await db.put('k1', 'unseen');
    await rest();
    expect(row.value.value).toBe('new');
  });

  it('of a component that is kept alive goes on until the component is unmounted', async () => {
    const db = await storeOf(2);
    const seen = watches(db);
    const List = {
      setup() {
        const list = useLive(db);
        return () => list.value.rows.map(([key]) => key).join();
      },
    };
    const isShown = ref(true);
    const container = document.createElement('div');
    const app = createApp(() => h(KeepAlive, () => (isShown.value ? h(List) : h(Empty))));
    app.mount(container);
    isShown.value = false;
    await nextTick();
    expect(container.textContent).toBe('');
    await db.put('k2', 1);
    await rest();
    isShown.value = true;
    await nextTick();
    expect(container.textContent).toBe('k0,k1,k2');
    expect(seen).toEqual({ begun: 1, now: 1 });
    app.unmount();
    await until(() => seen.now === 0);
  });
});

describe('the markup of a server', () => {
  it('is taken over without a mismatch, then shows the current rows', async () => {
    const db = await storeOf(3);
    const component = {
      setup() {
        const list = useLive(db);
        return () => h('ul', [list.value.status, ...list.value.rows.map(([key]) => h('li', key))]);
      },
    };
    const page = { render: () => h('main', [h(component)]) };
    const html = await renderToString(createSSRApp(page));
    expect(html).toBe('<main><ul>loading</ul></main>');
    const container = document.createElement('div');
    container.innerHTML = html;
    const printed = ['warn', 'error'].map((name) => vi.spyOn(console, name as 'warn'));
    const app = createSSRApp(page);
    app.mount(container);
    await until(() => container.textContent === 'readyk0k1k2');
    for (const spy of printed) expect(spy).not.toHaveBeenCalled();
    app.unmount();
    // A page without markup of a server has its rows at once.
    const other = createApp(page);
    other.mount(container);
    expect(container.textContent).toBe(
      `ready${rowsOf(3)
        .map(([key]) => key)
        .join('')}`,
    );
    other.unmount();
  });
});

// @vitest-environment happy-dom
/** The parts of Svelte that other frameworks lack: runes, and reads outside of effects. */
import { flushSync, mount, unmount } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { afterEach, expect, it, vi } from 'vitest';
import { useLive, useLiveCount, useLiveRow } from '../../../src/live/frameworks/svelte.js';
import { until, watches } from '../../support/watching.js';
import { issueOf, storeOf, tablesOf } from './framework.js';
import Proxied from './Proxied.svelte';

afterEach(() => void vi.restoreAllMocks());

type DbOf = Awaited<ReturnType<typeof tablesOf>>;
interface Given {
  options: () => object;
  db: () => DbOf | undefined;
  table: () => DbOf['issues'];
  query: () => ReturnType<DbOf['issues']['where']>;
  key: () => string;
}
interface Begun {
  state: { db: DbOf };
  change(key: string, most: number): void;
  close(): void;
}

it('takes handles from $state, which makes no proxies of them, and is read by $derived', async () => {
  const db = await tablesOf(5);
  const target = document.createElement('div');
  let begun: Begun | undefined;
  const component = mount(Proxied, {
    target,
    props: {
      db,
      query: db.issues.where({ state: 'open' }),
      use: ({ db, table, query, key, options }: Given) => ({
        list: useLive(query),
        row: useLiveRow(table, key),
        count: useLiveCount(db),
        range: useLive(db, options),
      }),
      began: (own: Begun) => {
        begun = own;
      },
    },
  });
  const { state, change, close } = begun as unknown as Begun;
  expect(state.db).toBe(db);
  expect(target.textContent).toBe('1 2 i1 5 ready 1');
  flushSync(() => change('i2', 2));
  expect(target.textContent).toBe('2 4 i2 5 ready 2');
  await state.db.issues.put(issueOf(6));
  flushSync(() => change('i2', 9));
  await until(() => target.textContent === '4 8 i2 6 ready 6');
  flushSync(close);
  expect(target.textContent).toBe('4 8 i2  loading 0');
  await unmount(component);
});

it('is read outside of effects, as in handlers of events, and soon stops following', async () => {
  const db = await storeOf(3);
  const seen = watches(db);
  const state = new SvelteMap([['key', 'k0']]);
  const row = useLiveRow(db, () => state.get('key'));
  const list = useLive(db, { limit: 2 });
  expect(row.value).toEqual({ at: 0 });
  state.set('key', 'k1');
  expect(row.value).toEqual({ at: 1 });
  expect({ ...list }.rows.length).toBe(2);
  expect(Object.keys(list)).toEqual(['status', 'rows', 'offset', 'isStale', 'error']);
  await db.put('k1', 'new');
  await until(() => row.value === 'new');
  await until(() => seen.now === 0);
  await db.put('k1', 'newer');
  await until(() => row.value === 'newer');
});

/** The hooks, in React, on a document of happy-dom. */
import { createElement, memo, StrictMode } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';
import { memory, open, type ScanOptions, type Store } from '../src/index.js';
import { type Row, type RowState, type ScanState, useRow, useScan } from '../src/react/index.js';
import { reconciled } from '../src/react/rows.js';
import { compareKeys, type Entry, failure, select, sorted } from './model.js';
import { line } from './one-line.js';
import { expectNoFault, forSeeds, stepFault } from './property.js';

import { mount, noting, roots } from './react-page.js';
import { handles, until, watches } from './watching.js';

/** A store, and how many watches of it are under way. */
async function counted(rows: readonly Entry[] = [], db?: Store) {
  const store = db ?? (await open('react', { storage: memory() }));
  if (rows.length > 0) await store.putMany(rows);
  return { db: store, seen: watches(store) };
}

const rows = (count: number): Entry[] =>
  Array.from({ length: count }, (_, at) => [`k${String(at).padStart(4, '0')}`, { at }]);

describe('useRow', () => {
  it('is loading, then what the row is, whoever changes it; absent is no row that is loading', async () => {
    const [db, other] = await handles(2);
    const { states, last, element } = noting(() => useRow(db, 'a'));
    mount(element);
    await until(() => last().status === 'ready');
    expect(states).toEqual([
      { status: 'loading', value: undefined, error: undefined },
      { status: 'ready', value: undefined, error: undefined },
    ]);
    for (const change of [
      () => db.put('a', { n: 1 }),
      () => other.put('a', { n: 2 }),
      () => other.delete('a'),
    ]) {
      const count = states.length;
      await change();
      await db.put('b', count);
      await until(() => states.length === count + 1);
    }
    expect(states.slice(2).map(({ value }) => value)).toEqual([{ n: 1 }, { n: 2 }, undefined]);
    await Promise.all([db.close(), other.close()]);
  });

  it('moves to another key and another store, and to none', async () => {
    const one = await counted([
      ['a', 1],
      ['b', 2],
    ]);
    const two = await counted([['b', 3]]);
    let state: RowState | undefined;
    const Component = ({ db, name }: { db?: Store; name: string }) => {
      state = useRow(db, name);
      return null;
    };
    const { render } = mount(createElement(Component, { name: 'a' }));
    expect(state?.status).toBe('loading');
    render(createElement(Component, { db: one.db, name: 'a' }));
    await until(() => state?.value === 1);
    render(createElement(Component, { db: one.db, name: 'b' }));
    expect(state?.status).toBe('loading');
    await until(() => state?.value === 2);
    render(createElement(Component, { db: two.db, name: 'b' }));
    await until(() => state?.value === 3);
    expect([one.seen.now, two.seen.now]).toEqual([0, 1]);
    render(createElement(Component, { name: 'b' }));
    await until(() => two.seen.now === 0);
    expect(state?.status).toBe('loading');
  });

  it('tells errors', async () => {
    const { db } = await counted();
    const { last, element } = noting(() => useRow(db, '\ud800'));
    mount(element);
    await until(() => last().status === 'error');
    expect(last().error).toEqual(failure('invalid-key'));
    await db.close();
    const closed = noting(() => useRow(db, 'a'));
    mount(closed.element);
    await until(() => closed.last().status === 'error');
    expect(closed.last().error).toEqual(failure('closed'));
  });
});

describe('useScan', () => {
  it('renders the components whose rows have changed, and no others', async () => {
    const { db } = await counted([...rows(20), ['other', 1]]);
    const rendered = new Map<string, number>();
    const Item = memo(({ row: [key, value] }: { row: Row<{ at: number }> }) => {
      rendered.set(key, (rendered.get(key) ?? 0) + 1);
      return createElement('li', null, `${key} ${value.at}`);
    });
    let lists = 0;
    const List = () => {
      lists += 1;
      // Made anew each time.
      const { rows } = useScan<{ at: number }>(db, { prefix: 'k' });
      return rows.map((row) => createElement(Item, { key: row[0], row }));
    };
    const { container } = mount(createElement(List));
    await until(() => container.children.length === 20);
    const before = lists;
    await db.put('k0003', { at: 33 });
    await until(() => container.textContent?.includes('k0003 33') === true);
    expect([...rendered].filter(([, times]) => times !== 1)).toEqual([['k0003', 2]]);
    await db.put('other', 2);
    await db.put('k0004', { at: 4 });
    await db.transaction(async (tx) => {
      tx.delete('k0000');
      tx.put('k0000x', { at: 100 });
    });
    await until(() => container.textContent?.includes('k0000x') === true);
    expect(lists).toBe(before + 2);
    expect([...rendered].filter(([, times]) => times !== 1)).toEqual([['k0003', 2]]);
    expect(container.children.length).toBe(20);
    expect(container.children[0]?.textContent).toBe('k0000x 100');
  });

  it('has one watch for all who show the same, and none when nobody does', async () => {
    const { db, seen } = await counted(rows(3));
    const states: ScanState[] = [];
    const Component = ({ at, reverse }: { at: number; reverse?: boolean }) => {
      states[at] = useScan(
        db,
        at % 2 ? { gte: 'k', lt: 'l', reverse } : { reverse, lt: 'l', gte: 'k' },
      );
      return null;
    };
    const all = (count: number) =>
      Array.from({ length: count }, (_, at) => createElement(Component, { at, key: at }));
    const { render, unmount } = mount(all(10));
    await until(() => states.every(({ status }) => status === 'ready'));
    expect(new Set(states.map(({ rows }) => rows)).size).toBe(1);
    expect(seen).toEqual({ begun: 1, now: 1 });
    for (let round = 0; round < 5; round++) render(all(10 - round));
    render([...all(3), createElement(Component, { at: 3, reverse: false, key: 'new' })]);
    await until(() => states[3]?.status === 'ready');
    expect(seen).toEqual({ begun: 1, now: 1 });
    unmount();
    await until(() => seen.now === 0);
    expect(seen).toEqual({ begun: 1, now: 0 });
  });

  it('is mounted twice by StrictMode with one watch', async () => {
    const { db, seen } = await counted(rows(3));
    const { last, element } = noting(() => useScan(db));
    const { unmount } = mount(createElement(StrictMode, null, element));
    await until(() => last().rows.length === 3);
    expect(seen).toEqual({ begun: 1, now: 1 });
    unmount();
    await until(() => seen.now === 0);
  });

  it('reads a window again only when what it shows may have changed', async () => {
    const { db } = await counted(rows(50));
    const scan = vi.spyOn(db, 'scan');
    const { states, last, element } = noting(() => useScan(db, { prefix: 'k', limit: 5 }));
    mount(element);
    await until(() => last().rows.length === 5);
    const [first, second] = last().rows;
    expect(scan).toHaveBeenCalledTimes(1);
    await db.put('k0020', 'below');
    await db.delete('k0021');
    await db.delete('k0001');
    await until(() => last().rows.at(-1)?.[0] === 'k0005');
    expect(scan).toHaveBeenCalledTimes(2);
    expect(last().rows[0]).toBe(first);
    expect(last().rows[1]).not.toBe(second);
    expect(states.length).toBe(3);
  });

  it('keeps an error with the rows from before, and goes on when it can', async () => {
    const { db } = await counted(rows(9));
    const scan = vi.spyOn(db, 'scan');
    const { last, element } = noting(() => useScan(db, { limit: 2, reverse: true }));
    mount(element);
    await until(() => last().status === 'ready');
    const { rows: before } = last();
    scan.mockImplementationOnce(() => {
      throw new Error('unreadable');
    });
    await db.put('k0008', 1);
    await until(() => last().status === 'error');
    expect(last()).toEqual({ status: 'error', rows: before, error: new Error('unreadable') });
    await db.put('k0000', 1);
    await until(() => last().status === 'ready');
    expect(last().rows.map(([, value]) => value)).toEqual([1, { at: 7 }]);
  });

  it('shows what an index lists, a row once for each of its entries', async () => {
    const db = await open('react', {
      storage: memory(),
      indexes: { byTag: { path: '/tags' } },
    });
    await db.putMany([
      ['a', { tags: ['x', 'y'] }],
      ['b', { tags: ['y'] }],
      ['c', { tags: ['z'] }],
    ]);
    const all = noting(() => useScan(db, { index: 'byTag' }));
    const own = noting(() => useScan(db, { index: 'byTag', equals: 'y', limit: 2, reverse: true }));
    mount([
      createElement('i', { key: 1 }, all.element),
      createElement('i', { key: 2 }, own.element),
    ]);
    await until(() => all.last().status === 'ready' && own.last().status === 'ready');
    const listed = (rows: readonly (readonly [string, unknown, unknown])[]) =>
      rows.map(([key, , secondary]) => `${secondary}${key}`).join(' ');
    expect(listed(all.last().rows)).toBe('xa ya yb zc');
    expect(listed(own.last().rows)).toBe('yb ya');
    const [before, count] = [all.last().rows as readonly unknown[], own.states.length];
    await db.put('c', { tags: ['z', 'w'] });
    await until(() => listed(all.last().rows) === 'wc xa ya yb zc');
    expect(all.last().rows.map((row) => before.indexOf(row))).toEqual([-1, 0, 1, 2, -1]);
    expect(own.states.length).toBe(count);
    await db.delete('b');
    await until(() => listed(own.last().rows) === 'ya');
  });

  it('refuses what db.scan and db.watch refuse', async () => {
    const { db } = await counted();
    const bad: readonly unknown[] = [
      ...[{ gt: 'a', gte: 'a' }, { limit: -1 }, { limit: 2, lt: 'a', lte: 'b' }, { limit: 0.5 }],
      ...[{ limit: 5n }, { limit: Number.NaN }, { limit: null }, { limit: '5' }, { reverse: 1 }],
      ...[{ perfix: 'a' }, { equals: 1 }, { index: 5 }, null, 'text', 5, [], Symbol('s')],
    ];
    for (const [at, options] of bad.entries()) {
      const { last, element } = noting(() => useScan(db, options as never));
      mount(element);
      await until(() => last().status === 'error');
      expect(last().error, String(at)).toEqual(failure('invalid-argument'));
    }
    for (const key of [5, 5n, null, Symbol('k'), {}]) {
      const { last, element } = noting(() => useRow(db, key as never));
      mount(element);
      await until(() => last().status === 'error');
      expect(last().error, String(key)).toEqual(failure('invalid-argument'));
    }
  });

  it('is loading on a server, and takes over what that has rendered', async () => {
    const { db, seen } = await counted(rows(3));
    const Component = () => {
      const { status, rows } = useScan(db);
      return createElement('p', null, status, rows.length);
    };
    const html = renderToString(createElement(Component));
    expect(html).toContain('loading');
    expect(seen.begun).toBe(0);
    const container = document.createElement('div');
    container.innerHTML = html;
    const onRecoverableError = vi.fn();
    roots.push(hydrateRoot(container, createElement(Component), { onRecoverableError }));
    await until(() => container.textContent === 'ready3');
    expect(onRecoverableError).not.toHaveBeenCalled();
  });

  it('shows what the store holds, after random commits in two handles, and keeps what is the same', async () => {
    await forSeeds(8, async (from, seed, begin) => {
      const dbs = await handles(2, `react ${seed}`);
      const keys = ['a', 'b', 'c', '\uff5e', '\u{1f600}', 'a\0', 'ab', '\ud7ff', '\uffff'];
      const hooks = Array.from({ length: 8 }, () => {
        const options: ScanOptions = {
          ...(from.next() < 0.3 ? { gte: from.pick(keys) } : {}),
          ...(from.next() < 0.3 ? { lte: from.pick(keys) } : {}),
          ...(from.next() < 0.4 ? { limit: from.below(5) } : {}),
          ...(from.next() < 0.3 ? { offset: from.below(4) } : {}),
          reverse: from.next() < 0.5,
        };
        const db = from.pick(dbs);
        return { options, ...noting(() => useScan(db, { ...options })) };
      });
      const { unmount } = mount(
        hooks.map(({ element }, key) => createElement('i', { key }, element)),
      );
      for (let step = 0; step < 12; step++) {
        const before = hooks.map(({ last }) => last());
        const edits = Array.from({ length: 1 + from.below(4) }, (): Entry => {
          const value = from.next() < 0.3 ? undefined : from.pick([0, [1], { x: 2 }]);
          return [from.pick(keys), value];
        });
        begin({ edits });
        await from.pick(dbs).transaction(async (tx) => {
          for (const [key, value] of edits) {
            if (value === undefined) tx.delete(key);
            else tx.put(key, value);
          }
        });
        // A handle that is behind sees it when it has heard of it.
        const expected = (options: ScanOptions) => select(sorted(all), options);
        const all = await longest(dbs);
        const isShown = ({ options, last }: (typeof hooks)[number]) =>
          last()?.status === 'ready' &&
          JSON.stringify(last().rows) === JSON.stringify(expected(options));
        await until(() => hooks.every(isShown)).catch(() => {
          const faults = hooks.map(({ options, last }) =>
            stepFault(step, { useScan: options }, last().rows, expected(options)),
          );
          expectNoFault(faults.find((fault) => fault !== undefined));
        });
        for (const [at, { last, options }] of hooks.entries()) {
          const old = new Map(before[at]?.rows);
          for (const row of last().rows) {
            const was = before[at]?.rows.find(([key]) => key === row[0]);
            const isEqual = JSON.stringify(old.get(row[0])) === JSON.stringify(row[1]);
            if (isEqual) expect(row, `the row before, of ${line(options)}`).toBe(was);
          }
        }
      }
      for (const { states } of hooks) {
        for (const [at, { rows }] of states.entries()) {
          const message = 'rendered with what was shown';
          if (at > 1)
            expect(JSON.stringify(rows), message).not.toBe(JSON.stringify(states[at - 1]?.rows));
        }
      }
      unmount();
      await Promise.all(dbs.map((db) => db.close()));
    });
  });
});

/** What the handle holds that has come further. */
async function longest(dbs: readonly Store[]): Promise<Entry[]> {
  await until(() => new Set(dbs.map(({ root }) => root)).size === 1);
  return (dbs[0] as Store).scan().toArray();
}

describe('rows that were read again', () => {
  it('are the same where they are equal, and the list is when all are', () => {
    const before: Row[] = [
      ['a', { x: [1, { y: null }] }],
      ['b', Uint8Array.of(1, 2)],
      ['c', [1]],
      ['c', [2]],
    ];
    const again = structuredClone(before) as Row[];
    expect(reconciled(before, again)).toBe(before);
    const other = structuredClone(before) as [string, unknown][];
    other[0]![1] = { x: [1, { y: 0 }] };
    other[1]![1] = Uint8Array.of(1, 3);
    other.reverse();
    const rows = reconciled(before, other);
    expect(rows.map((row) => before.indexOf(row))).toEqual([3, 2, -1, -1]);
    expect(rows.map(([key]) => key).sort(compareKeys)).toEqual(['a', 'b', 'c', 'c']);
    expect(reconciled([['a', { x: 1, y: 2 }]], [['a', { y: 2, x: 1 }]])[0]?.[1]).toEqual({
      y: 2,
      x: 1,
    });
  });
});

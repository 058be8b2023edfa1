// @vitest-environment happy-dom
/** The parts of React that other frameworks lack: dropped renders, Suspense, transitions, hydration. */
import {
  Component,
  createElement,
  memo,
  type ReactNode,
  StrictMode,
  Suspense,
  startTransition,
  useState,
} from 'react';
import { hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  useLive,
  useLiveRowSuspense,
  useLiveSuspense,
} from '../../../src/live/frameworks/react.js';
import type { LiveQuery } from '../../../src/live/types.js';
import { kindOf } from '../../support/error-kind.js';
import type { Entry } from '../../support/models/store-model.js';
import { rest, until, watches } from '../../support/watching.js';
import { gated, rowsOf, storeOf } from './framework.js';
import { clear, rendered } from './react-page.js';

afterEach(clear);

/** Catches errors from below, until it is asked to try again. */
class Boundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};
  static getDerivedStateFromError = (error: unknown) => ({ error });
  retry = () => this.setState({ error: undefined });
  override render() {
    const { error } = this.state;
    return error === undefined ? this.props.children : `caught ${kindOf(error)}`;
  }
}

const text = (rows: readonly unknown[]) => rows.map((row) => [row].flat()[0]).join(' ');
const within = (element: ReactNode) =>
  createElement(Boundary, null, createElement(Suspense, { fallback: 'waiting' }, element));

describe('hooks', () => {
  it('render only the components whose rows have changed', async () => {
    const db = await storeOf(9);
    const rendered9 = new Map<string, number>();
    const Item = memo(({ row: [key, value] }: { row: readonly [string, unknown] }) => {
      rendered9.set(key, (rendered9.get(key) ?? 0) + 1);
      return createElement('li', null, `${key} ${JSON.stringify(value)}`);
    });
    let lists = 0;
    const List = () => {
      lists += 1;
      // It is made again each time.
      const { rows } = useLive(db, { prefix: 'k' });
      return rows.map((row) => createElement(Item, { key: row[0], row }));
    };
    const { container } = rendered(createElement(List));
    await until(() => container.children.length === 9);
    const before = lists;
    await db.put('other', 1);
    await db.put('k4', { at: 4 });
    await db.put('k3', 'new');
    await until(() => container.textContent?.includes('k3 "new"') === true);
    expect([...rendered9].filter(([, times]) => times > 1)).toEqual([['k3', 2]]);
    expect(lists).toBe(before + 1);
  });

  it('leave no watch behind when a render is dropped', async () => {
    const db = await storeOf(3);
    const seen = watches(db);
    const never = new Promise(() => {});
    const Dropped = () => {
      useLive(db, { limit: 2 });
      throw never;
    };
    const { container } = rendered(within(createElement(Dropped)));
    expect(container.textContent).toBe('waiting');
    expect(seen.begun).toBe(1);
    await until(() => seen.now === 0);
  });

  it('share one watch, whoever renders', async () => {
    const db = await storeOf(3);
    const seen = watches(db);
    const One = ({ at }: { at: number }) => {
      const options = at % 2 ? { gte: 'k', lt: 'l' } : { lt: 'l', gte: 'k' };
      return createElement('i', null, useLive(db, options).rows.length);
    };
    const all = (count: number) =>
      createElement(
        StrictMode,
        null,
        Array.from({ length: count }, (_, at) => createElement(One, { at, key: at })),
      );
    const { container, render } = rendered(all(10));
    for (let count = 9; count > 3; count--) render(all(count));
    await until(() => container.textContent === '3333');
    expect(seen).toEqual({ begun: 1, now: 1 });
  });

  it('take over the markup of a server', async () => {
    const db = await storeOf(3);
    const List = () => {
      const { status, rows } = useLive(db);
      return createElement('p', null, `${status} ${rows.length}`);
    };
    const html = renderToString(createElement(List));
    expect(html).toBe('<p>loading 0</p>');
    const onRecoverableError = vi.fn();
    const { container } = rendered(null, (container) => {
      container.innerHTML = html;
      return hydrateRoot(container, createElement(List), { onRecoverableError });
    });
    await until(() => container.textContent === 'ready 3');
    expect(onRecoverableError).not.toHaveBeenCalled();
  });
});

describe.each([false, true])('with Suspense, in StrictMode: %s,', (isStrict) => {
  const shown = (element: ReactNode) =>
    within(isStrict ? createElement(StrictMode, null, element) : element);
  const List = ({ query }: { query: LiveQuery<unknown> | undefined }) => {
    const { rows, isStale } = useLiveSuspense(query);
    return `${text(rows)}${isStale ? ' stale' : ''}`;
  };
  const list = (query?: LiveQuery<unknown>) => shown(createElement(List, { query }));

  it('a hook waits for the first rows, and keeps them when its arguments change', async () => {
    const db = await storeOf(5);
    const [one, two] = [gated(db, { limit: 2 }), gated(db, { offset: 3 })];
    const { container, render } = rendered(list());
    expect(container.textContent).toBe('waiting');
    render(list(one.query));
    expect(container.textContent).toBe('waiting');
    one.open();
    await until(() => container.textContent === 'k0 k1');
    render(list(two.query));
    expect(container.textContent).toBe('k0 k1 stale');
    two.open();
    await until(() => container.textContent === 'k3 k4');
    await db.put('k3a', 1);
    await until(() => container.textContent === 'k3 k3a k4');
  });

  it('a component that is dropped while it waits is followed until its rows are there', async () => {
    const db = await storeOf(3);
    const seen = watches(db);
    const { query, open } = gated(db, { limit: 2 });
    const { container, render } = rendered(list(query));
    expect(container.textContent).toBe('waiting');
    render(null);
    open();
    await until(() => seen.begun === 1);
    await until(() => seen.now === 0);
  });

  it('a hook shows rows in memory at once', async () => {
    const db = await storeOf(3);
    const Row = () => `${JSON.stringify(useLiveRowSuspense(db, 'k1').value)}`;
    const Index = () => text(useLiveSuspense(db, { reverse: true }).rows);
    const { container } = rendered(
      shown([createElement(Row, { key: 1 }), createElement(Index, { key: 2 })]),
    );
    expect(container.textContent).toBe('{"at":1}k2 k1 k0');
  });

  it('an error is thrown to the boundary, which can try again', async () => {
    const db = await storeOf(3);
    let fault: Error | undefined = Object.assign(new Error('not now'), { code: 'mine' });
    const whenReady = () => (fault ? Promise.reject(fault) : undefined);
    const query: LiveQuery<unknown> = {
      source: () => ({ db, options: {}, name: 'failing', rowOf: (key) => key, whenReady }),
    };
    let boundary: Boundary | null = null;
    const ref = (one: Boundary | null) => {
      boundary = one;
    };
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    const inner = createElement(Suspense, { fallback: 'waiting' }, createElement(List, { query }));
    const element = createElement(Boundary, { ref, children: inner });
    const { container } = rendered(isStrict ? createElement(StrictMode, null, element) : element);
    expect(container.textContent).toBe('waiting');
    await until(() => container.textContent === 'caught mine');
    fault = undefined;
    await until(() => {
      (boundary as Boundary | null)?.retry();
      return container.textContent === 'k0 k1 k2';
    });
    printed.mockRestore();
  });

  it('an error that another component shows, too, is tried again for both', async () => {
    const db = await storeOf(3);
    let fault: Error | undefined = Object.assign(new Error('not now'), { code: 'mine' });
    const whenReady = () => (fault ? Promise.reject(fault) : undefined);
    const query: LiveQuery<unknown> = {
      source: () => ({ db, options: {}, name: 'failing', rowOf: (key) => key, whenReady }),
    };
    const Other = () => `${useLive(query).status}: `;
    let boundary: Boundary | null = null;
    const ref = (one: Boundary | null) => {
      boundary = one;
    };
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    const inner = createElement(Suspense, { fallback: 'waiting' }, createElement(List, { query }));
    const { container } = rendered([
      createElement(Other, { key: 1 }),
      createElement(Boundary, { key: 2, ref, children: inner }),
    ]);
    await until(() => container.textContent === 'error: caught mine');
    fault = undefined;
    await until(() => {
      (boundary as Boundary | null)?.retry();
      return container.textContent === 'ready: k0 k1 k2';
    });
    printed.mockRestore();
  });

  it('refused arguments are thrown, too', async () => {
    const db = await storeOf(1);
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    const Bad = () => text(useLiveSuspense(db, { limit: -1 }).rows);
    const { container } = rendered(shown(createElement(Bad)));
    await until(() => container.textContent === 'caught invalid-argument');
    printed.mockRestore();
  });
});

describe('in a transition', () => {
  it('other arguments show the earlier rows, then their own, and never a mix', async () => {
    const db = await storeOf(30);
    let turn = (_: number) => {};
    const seen: string[] = [];
    const Page = () => {
      const [page, setPage] = useState(0);
      turn = (next) => startTransition(() => setPage(next));
      const { rows } = useLive(db, { offset: page * 3, limit: 3 });
      seen.push(`${page}: ${text(rows)}`);
      return createElement('p', null, text(rows));
    };
    const { container } = rendered(createElement(Page));
    const pages = [0, 1, 2].map((page) => text(sortedRows().slice(page * 3, page * 3 + 3)));
    for (const page of [0, 1, 2]) {
      turn(page);
      await until(() => container.textContent === pages[page]);
    }
    expect([...new Set(seen)]).toEqual(pages.map((rows, page) => `${page}: ${rows}`));
    await rest();
  });
});

const sortedRows = (): Entry[] => rowsOf(30).sort(([a], [b]) => (a < b ? -1 : 1));

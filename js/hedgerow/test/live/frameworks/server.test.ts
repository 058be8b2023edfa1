/** Rendering on a server, by the builds that frameworks have for it: they neither read nor follow a store. */
import { PassThrough } from 'node:stream';
import { text as streamed } from 'node:stream/consumers';
import { createElement, Suspense } from 'react';
import { renderToString as ofReact, renderToPipeableStream } from 'react-dom/server';
import { createComponent, renderToString as ofSolid, ssr, ssrHydrationKey } from 'solid-js/web';
import { render as ofSvelte } from 'svelte/server';
import { expect, it, vi } from 'vitest';
import { createSSRApp } from 'vue';
import { renderToString as ofVue } from 'vue/server-renderer';
import { RECOVERY } from '../../../src/base/internal-symbols.js';
import type { Store } from '../../../src/index.js';
import * as react from '../../../src/live/frameworks/react.js';
import * as solid from '../../../src/live/frameworks/solid.js';
import * as svelte from '../../../src/live/frameworks/svelte.js';
import { rest } from '../../support/watching.js';
import { storeOf } from './framework.js';
import Shown from './Shown.svelte';
import { shownBy } from './vue-page.js';

/** Records all calls of a store. */
function asked(db: Store) {
  return (['watch', 'scan', 'snapshot', RECOVERY] as const).map((name) => vi.spyOn(db, name));
}
const loading = (own: object) =>
  JSON.stringify({ status: 'loading', ...own, isStale: false, error: undefined });
const text = (html: string) =>
  html
    .replace(/<!--.*?-->|<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .trim();

/** The states that a framework renders: of a list, a row, a count, and without a store. */
type Rendered = (db: Store) => Promise<string[]> | string[];

const FRAMEWORKS: Record<string, Rendered> = {
  React: (db) =>
    [
      () => react.useLive(db),
      () => react.useLiveRow(db, 'k1'),
      () => react.useLiveCount(db),
      () => react.useLive(undefined),
    ].map((use) => ofReact(createElement(() => JSON.stringify(use())))),
  Vue: (db) =>
    Promise.all(
      [
        shownBy(
          'rows',
          () => [db],
          () => {},
        ),
        shownBy(
          'row',
          () => [db, 'k1'],
          () => {},
        ),
        shownBy(
          'count',
          () => [db],
          () => {},
        ),
        shownBy(
          'rows',
          () => [undefined],
          () => {},
        ),
      ].map((component) => ofVue(createSSRApp(component))),
    ),
  Svelte: (db) =>
    [
      () => svelte.useLive(db),
      () => svelte.useLiveRow(db, 'k1'),
      () => svelte.useLiveCount(db),
      () => svelte.useLive(undefined),
    ].map((use) => ofSvelte(Shown, { props: { use, noted: () => {} } }).body),
  Solid: (db) =>
    [
      () => solid.useLive(db),
      () => solid.useLiveRow(db, 'k1'),
      () => solid.useLiveCount(db),
      () => solid.useLive(undefined),
    ].map((use) =>
      ofSolid(() =>
        createComponent(
          () => ssr(['<p', '>', '</p>'], ssrHydrationKey(), JSON.stringify(use())) as never,
          {},
        ),
      ),
    ),
};

// This runs before Solid has rendered: Solid remembers that.
it('of Solid and Svelte does not read outside of components, too', async () => {
  const db = await storeOf(3);
  const calls = asked(db);
  expect([solid.useLive(db).status, svelte.useLive(db).status]).toEqual(['loading', 'loading']);
  await rest();
  for (const call of calls) expect(call).not.toHaveBeenCalled();
});

it.each(Object.entries(FRAMEWORKS))('of %s shows that it is loading', async (_, rendered) => {
  const db = await storeOf(3);
  const calls = asked(db);
  const all = await rendered(db);
  const states = [
    { rows: [], offset: 0 },
    { value: undefined },
    { count: undefined },
    { rows: [], offset: 0 },
  ];
  expect(all.map(text)).toEqual(states.map(loading));
  await rest();
  for (const call of calls) expect(call).not.toHaveBeenCalled();
});

it('of Solid has the markup that is hydrated in its own test', () => {
  const Page = () => {
    const list = solid.useLive(undefined);
    return ssr(
      ['<p', '>', '</p>'],
      ssrHydrationKey(),
      `${list.status} ${list.rows.length}`,
    ) as never;
  };
  expect(ofSolid(() => createComponent(Page, {}))).toBe('<p data-hk="00">loading 0</p>');
});

it('of React with Suspense sends the fallback, which the browser replaces', async () => {
  const db = await storeOf(3);
  const calls = asked(db);
  const Rows = () => String(react.useLiveSuspense(db).rows.length);
  const errors: unknown[] = [];
  const element = createElement(Suspense, { fallback: 'waiting' }, createElement(Rows));
  const { pipe } = renderToPipeableStream(createElement('main', null, element), {
    onError: (error) => void errors.push(error),
  });
  const html = await streamed(pipe(new PassThrough()));
  expect(html).toContain('waiting');
  expect(String(errors[0])).toContain('getServerSnapshot');
  for (const call of calls) expect(call).not.toHaveBeenCalled();
});

/** A strip of what kept the app's page busy, and of what this page has done itself. */

import { type Bar, placed } from '../model/time-line.js';
import type { Context, MakePanel } from './context.js';
import { button, fill, h, table } from './dom.js';

/** The newest milliseconds that the strip shows. */
const SPANS = [5_000, 30_000, 120_000] as const;
const LISTED = 100;
const ROW_PX = 20;
const KINDS = { task: 'long task', measure: 'measure', inspector: 'this page' } as const;

const ms = (time: number) => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;

function strip(bars: readonly Bar[], spanMs: number): HTMLElement {
  const endMs = Math.max(...bars.map(({ startMs, durationMs }) => startMs + durationMs), 0);
  const fromMs = endMs - spanMs;
  const all = placed(bars.filter(({ startMs, durationMs }) => startMs + durationMs >= fromMs));
  const shown = all.map(({ bar, row }) => {
    const { name, startMs, durationMs, kind } = bar;
    const element = h(
      'span',
      { class: `flame ${kind}`, title: `${name}: ${ms(durationMs)}` },
      name,
    );
    const at = Math.max(0, startMs - fromMs);
    element.style.left = `${(at / spanMs) * 100}%`;
    element.style.width = `${(Math.min(durationMs, startMs + durationMs - fromMs) / spanMs) * 100}%`;
    element.style.top = `${row * ROW_PX}px`;
    return element;
  });
  const rows = Math.max(1, ...all.map(({ row }) => row + 1));
  const label = `The last ${spanMs / 1000} seconds; the table below has the figures`;
  const element = h('div', { class: 'flames', role: 'img', 'aria-label': label }, ...shown);
  element.style.height = `${rows * ROW_PX}px`;
  return element;
}

function listOf(bars: readonly Bar[]): HTMLElement {
  const newest = bars.slice(-LISTED).reverse();
  const rows = newest.map(({ name, kind, startMs, durationMs }) => [
    name,
    KINDS[kind],
    `${(startMs / 1000).toFixed(2)} s`,
    ms(durationMs),
  ]);
  return table('Entries', ['what', 'kind', 'began at', 'took'], rows);
}

/** The panel. */
export const timePanel: MakePanel = ({ timeLine }: Context) => {
  let spanMs: number = SPANS[1];
  const result = h('div', {});
  const draw = () => {
    const { bars } = timeLine;
    const none = h('p', { class: 'faint' }, 'Nothing yet.');
    fill(result, ...(bars.length === 0 ? [none] : [strip(bars, spanMs), listOf(bars)]));
  };
  let isWaiting = false;
  const stop = timeLine.subscribe(() => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      draw();
    });
  });
  const spans = SPANS.map((span) =>
    button(`Last ${span / 1000} s`, () => {
      spanMs = span;
      draw();
    }),
  );
  draw();
  const element = h(
    'div',
    { class: 'plain' },
    h('h2', {}, 'Time'),
    h(
      'p',
      { class: 'faint' },
      'Long tasks (50 ms and more, whoever caused them) and measures (performance.measure) of the page that has opened this one (or of this one), and ' +
        'how long calls of this page took. Hedgerow works in slices of 8 ms, which are too short for a browser to report: a strip ' +
        'without long tasks is what it should be.',
    ),
    h('div', { class: 'tools' }, ...spans),
    result,
  );
  return { element, close: stop };
};

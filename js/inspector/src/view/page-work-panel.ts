/** Shows what kept the app's page busy, the traces of its stores, and the work of this page itself. */

import type { Bar } from '../model/page-work-timeline.js';
import type { TracedStore } from '../trace/cross-window-trace-types.js';
import { button, fill, h, tableElement } from './dom.js';
import { flameChart, KINDS, ms } from './flame-chart.js';
import type { MakePanel, PanelContext } from './panel-types.js';

/** The spans of the strip, in milliseconds. */
const SPANS = [1_000, 5_000, 30_000, 120_000] as const;
const LISTED = 100;
/** Milliseconds between two looks at the traces of the app's page. */
const LOOK_MS = 250;

const whole = new Intl.NumberFormat('en');
const number = (value: number | undefined) => (value === undefined ? '' : whole.format(value));

/** Shows slices, which are many, as one line. */
function slicesOf(bars: readonly Bar[]): HTMLElement | undefined {
  const slices = bars.filter(({ kind }) => kind === 'slice');
  if (slices.length === 0) return undefined;
  const longestMs = slices.reduce((most, { durationMs }) => Math.max(most, durationMs), 0);
  return h('p', {}, `${number(slices.length)} slices, the longest of ${ms(longestMs)}.`);
}

function listOf(bars: readonly Bar[]): HTMLElement {
  const newest = bars
    .filter(({ kind }) => kind !== 'slice')
    .slice(-LISTED)
    .reverse();
  const rows = newest.map(({ name, kind, startMs, durationMs }) => [
    name,
    KINDS[kind][0],
    `${(startMs / 1000).toFixed(2)} s`,
    ms(durationMs),
  ]);
  return tableElement('Entries', ['what', 'kind', 'began at', 'took'], rows);
}

function watchesOf(traces: readonly TracedStore[]): HTMLElement[] {
  const rows = traces.flatMap((trace) =>
    trace
      .watches()
      .map(({ range, branch, calls, changes, longestMs }) => [
        h('code', {}, range),
        trace.store,
        branch,
        number(calls),
        number(changes),
        calls === 0 ? '' : ms(longestMs),
      ]),
  );
  if (rows.length === 0) return [];
  const columns = ['range', 'store', 'branch', 'calls', 'changes', 'longest call'];
  return [h('h3', {}, 'Watches and live queries'), tableElement('Watches', columns, rows)];
}

function linksOf(traces: readonly TracedStore[]): HTMLElement[] {
  const rows = traces.flatMap((trace) =>
    trace
      .links()
      .map(({ name, status, requests, sentBytes, receivedBytes }) => [
        name,
        trace.store,
        status,
        number(requests),
        number(sentBytes),
        number(receivedBytes),
      ]),
  );
  if (rows.length === 0) return [];
  const columns = ['remote', 'store', 'loop', 'requests', 'bytes sent', 'bytes received'];
  return [h('h3', {}, 'Remotes'), tableElement('Remotes', columns, rows)];
}

const INTRO =
  'Long tasks (50 ms and more, whoever caused them) and measures (performance.measure) of the page that has opened this one ' +
  '(or of this one), and how long calls of this page took. ';
const UNTRACED =
  'Hedgerow works in slices of 8 ms, which are too short for a browser to report. Where the app calls trace(db) of ' +
  '@hedgerow/inspector/trace, its calls, slices, watches and remotes are shown here, and in the performance panel of the ' +
  'browser.';
const tracedText = (traces: readonly TracedStore[]) =>
  `The page traces ${traces.map(({ store }) => store || 'the store without a name').join(', ')}.`;

/** Creates all figures, as they are now. */
function resultOf(
  traces: readonly TracedStore[],
  bars: readonly Bar[],
  spanMs: number,
): HTMLElement[] {
  const none = h('p', { class: 'faint' }, 'Nothing yet.');
  const slices = slicesOf(bars);
  return [
    h('p', { class: 'faint' }, traces.length > 0 ? tracedText(traces) : UNTRACED),
    ...(bars.length === 0 ? [none] : [flameChart(bars, spanMs)]),
    ...(slices === undefined ? [] : [slices]),
    ...watchesOf(traces),
    ...linksOf(traces),
    ...(bars.length === 0 ? [] : [h('h3', {}, 'Entries'), listOf(bars)]),
  ];
}

export const timePanel: MakePanel = ({ timeLine }: PanelContext) => {
  let spanMs: number = SPANS[1];
  let isHeld = false;
  const result = h('div', {});
  const draw = () => fill(result, ...resultOf(timeLine.traces, timeLine.bars, spanMs));
  let isWaiting = false;
  const drawSoon = () => {
    // A person may be reading: the element with the focus stays.
    if (isWaiting || isHeld || result.contains(document.activeElement)) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      draw();
    });
  };
  const stop = timeLine.subscribe(drawSoon);
  let before = '';
  const look = () => {
    timeLine.look();
    const now = JSON.stringify(timeLine.traces.map((one) => [one.watches(), one.links()]));
    if (now !== before) drawSoon();
    before = now;
  };
  const timer = setInterval(look, LOOK_MS);
  const spans = SPANS.map((span) => {
    const choose = () => {
      spanMs = span;
      for (const [at, one] of spans.entries()) {
        one.setAttribute('aria-pressed', String(SPANS[at] === span));
      }
      draw();
    };
    return button(`Last ${span / 1000} s`, choose, { 'aria-pressed': String(span === spanMs) });
  });
  const hold = button(
    'Hold still',
    () => {
      isHeld = !isHeld;
      hold.setAttribute('aria-pressed', String(isHeld));
      if (!isHeld) draw();
    },
    { 'aria-pressed': 'false' },
  );
  look();
  draw();
  const intro = h('p', { class: 'faint' }, INTRO);
  const tools = h('div', { class: 'tools' }, ...spans, hold);
  const element = h('div', { class: 'plain' }, h('h2', {}, 'Time'), intro, tools, result);
  return {
    element,
    close() {
      clearInterval(timer);
      stop();
    },
  };
};

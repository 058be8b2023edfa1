/** Draws bars as a strip of flames: a lane for each kind, without overlaps. */

import { type Bar, joinBars, packBars } from '../model/page-work-timeline.js';
import { h } from './dom.js';

/** The title of a bar of each kind, and of its lane. */
export const KINDS = {
  call: ['call', 'calls'],
  slice: ['slice', 'slices'],
  callback: ['callback', 'callbacks of watches'],
  task: ['long task', 'long tasks'],
  measure: ['measure', 'measures of the app'],
  inspector: ['this page', 'this page'],
} as const;

const ROW_PX = 20;
/** Parts of the strip: a person cannot distinguish shorter bars. */
const PARTS = 400;
/** The least share of the strip at which a bar has space for its name. */
const NAMED = 0.05;

export const ms = (time: number) => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;

/** Draws the bars of one kind. */
function lane(
  bars: readonly Bar[],
  kind: Bar['kind'],
  fromMs: number,
  spanMs: number,
): HTMLElement {
  const all = packBars(joinBars(bars, spanMs / PARTS));
  const shown = all.map(({ bar: { name, startMs, durationMs }, row }) => {
    const title = name.includes(', longest') ? name : `${name}: ${ms(durationMs)}`;
    const text = durationMs / spanMs < NAMED ? '' : name;
    const element = h('span', { class: `flame ${kind}`, title }, text);
    const at = Math.max(0, startMs - fromMs);
    element.style.left = `${(at / spanMs) * 100}%`;
    element.style.width = `${(Math.min(durationMs, startMs + durationMs - fromMs) / spanMs) * 100}%`;
    element.style.top = `${row * ROW_PX}px`;
    return element;
  });
  const rows = h('div', { class: 'lane' }, ...shown);
  rows.style.height = `${Math.max(1, ...all.map(({ row }) => row + 1)) * ROW_PX}px`;
  return h('div', {}, h('p', { class: 'faint' }, KINDS[kind][1]), rows);
}

/** Draws the newest milliseconds of all bars. */
export function flameChart(bars: readonly Bar[], spanMs: number): HTMLElement {
  const endOf = ({ startMs, durationMs }: Bar) => startMs + durationMs;
  const endMs = bars.reduce((latest, bar) => Math.max(latest, endOf(bar)), 0);
  const fromMs = endMs - spanMs;
  const shown = bars.filter((bar) => endOf(bar) >= fromMs);
  const kinds = (Object.keys(KINDS) as Bar['kind'][]).filter((kind) =>
    shown.some((bar) => bar.kind === kind),
  );
  const label = `The last ${spanMs / 1000} seconds; the table below has the figures`;
  const lanes = kinds.map((one) =>
    lane(
      shown.filter(({ kind }) => kind === one),
      one,
      fromMs,
      spanMs,
    ),
  );
  return h('div', { class: 'flames', role: 'img', 'aria-label': label }, ...lanes);
}

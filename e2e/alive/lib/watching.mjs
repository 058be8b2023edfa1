// Records what the probes see on an idle page and during loads.

import { isChromium } from '../../lib/engines/index.mjs';
import { clicking } from './clicks.mjs';
import { summary } from './figures.mjs';

/** The probes, and how long each rests before it asks again; `null` for probes from outside. */
const PROBES = { frame: 0, timer: 4, message: null, fetch: 4, database: 4, click: null };
const TASKS = ['longTasks', 'longFrames'];

/** Returns the scenarios, in the order in which they are shown. */
export function scenarios({ rows, stores, shortRows, idleMs, unslicedPasses }) {
  const thousands = (count) => count.toLocaleString('en');
  const each = Math.round(rows / stores);
  return [
    { name: 'idle', title: 'an idle page', idleMs, passes: 1 },
    { name: 'sliced', title: `${thousands(rows)} rows`, load: { rows }, passes: 1 },
    {
      name: 'blocks',
      title: `${thousands(rows)} rows of an asynchronous source`,
      load: { rows, source: 'blocks' },
      passes: 1,
    },
    {
      name: 'stores',
      title: `${stores} x ${thousands(each)} rows at the same time`,
      load: { rows: each, stores },
      passes: 1,
    },
    {
      name: 'unsliced',
      title: `${thousands(shortRows)} rows without slices`,
      load: { rows: shortRows, sliceMs: 1e9 },
      passes: unslicedPasses,
    },
  ];
}

function chosen({ only, ...options }) {
  const all = scenarios(options);
  const unknown = only?.filter((name) => !all.some((one) => one.name === name)) ?? [];
  if (unknown.length === 0) return all.filter(({ name }) => only?.includes(name) ?? true);
  const names = all.map(({ name }) => name);
  throw new Error(`no scenario ${unknown.join(', ')}; there are ${names.join(', ')}`);
}

/**
 * Runs each scenario twice: without clicks, and with clicks, which only Chromium's protocol sends without a wait. After
 * a click Chromium delays timers and messages until the next frame, whatever the page does, which would hide the effect
 * of loads on them.
 */
export async function watchAll(browser, options, show) {
  const results = [];
  for (const scenario of chosen(options)) {
    const passes = [];
    for (let pass = 0; pass < 2 * scenario.passes; pass++) {
      const clicks = pass % 2 === 1;
      if (clicks && !isChromium(browser.engine)) continue;
      show(`${scenario.title}${clicks ? ', with clicks' : ''}`);
      await browser.visit('alive');
      const watch = () => watchOnce(browser, scenario);
      passes.push({ clicks, ...(clicks ? await clicking(browser, watch) : await watch()) });
    }
    results.push(summarize(scenario, passes));
  }
  return results;
}

async function watchOnce(browser, { idleMs, load }) {
  if (load === undefined) return { seen: await browser.call('idle', idleMs) };
  return browser.call('load', load);
}

function summarize({ name, title, load }, passes) {
  const quiet = passes.filter(({ clicks }) => !clicks);
  const clicked = passes.filter(({ clicks }) => clicks);
  const probes = {};
  for (const [probe, pauseMs] of Object.entries(PROBES)) {
    const from = probe === 'click' ? clicked : quiet;
    probes[probe] = summary(
      from.flatMap(({ seen }) => seen[probe]),
      pauseMs,
    );
  }
  for (const kind of TASKS) {
    const all = quiet.map(({ seen }) => seen[kind]);
    probes[kind] = all.includes(null) ? null : { count: all.flat().length, max: most(all.flat()) };
  }
  const loads = quiet.flatMap(({ ms, loaded }) =>
    loaded === undefined ? [] : [{ ms, ...loaded }],
  );
  return { name, title, load, probes, loads };
}

function most(values) {
  return values.length === 0 ? null : Math.max(...values);
}

/** Shows the health and figures of a store, the levels of its tree, and how much of each segment is live. */

import type { Health, Stats } from 'hedgerow';
import { kindOfError } from 'hedgerow/kit';
import { type LivePart, livePartOf, type SegmentLive } from '../model/live-segment-bytes.js';
import { countText, shortRoot, sizeText } from '../model/value-text.js';
import { button, fact, fill, h, tableElement } from './dom.js';
import type { MakePanel, PanelContext } from './panel-types.js';

/** Most segments that the table lists; the bar has all. */
const LISTED = 500;

const sizeOr = (bytes: number | undefined) => (bytes === undefined ? 'not told' : sizeText(bytes));
const share = (part: number, all: number) =>
  all === 0 ? '' : `${Math.round((part / all) * 100)} %`;

function healthFacts({ state, message, cause, isPersistent, usageBytes, quotaBytes }: Health) {
  return [
    fact('Health', h('strong', {}, state), ` ${message}`),
    cause !== undefined && fact('Cause', `${kindOfError(cause)}: ${cause.message}`),
    fact('Persistent', isPersistent === undefined ? 'not told' : isPersistent ? 'yes' : 'no'),
    fact('Origin', `${sizeOr(usageBytes)} of ${sizeOr(quotaBytes)}`),
  ];
}

function statsFacts(stats: Stats): HTMLElement[] {
  const { root, rows, segments, smallSegments, chunks, storedBytes, liveBytes } = stats;
  const other = { this: 'this page', other: 'another tab', none: 'nobody (no Web Locks)' };
  return [
    fact('Root', h('code', { title: root }, shortRoot(root))),
    fact('Rows', countText(rows)),
    fact(
      'Stored',
      `${sizeText(storedBytes)} in ${countText(segments)} segments (${countText(smallSegments)} small), ${countText(chunks)} chunks`,
    ),
    fact(
      'Live',
      `${sizeText(liveBytes)} stored, of the root shown (${share(liveBytes, storedBytes)})`,
    ),
    // This page never collects: a tab of the app does, once one is open.
    fact(
      'Collector',
      stats.compactor === 'other' ? 'a tab of the app, if one is open' : other[stats.compactor],
    ),
    fact(
      'Cache of this page',
      `${sizeText(stats.cachedBytes)}, packed and unpacked; ${countText(stats.cacheHits)} hits, ${countText(stats.cacheMisses)} misses`,
    ),
  ];
}

function levelsElements({ levels, liveBytes }: Stats): HTMLElement[] {
  const rows = levels.map(({ level, nodes, bytes, storedBytes, minBytes, maxBytes }) => [
    level === 0 ? '0, leaves' : level,
    countText(nodes),
    sizeText(storedBytes),
    sizeText(bytes),
    `${sizeText(minBytes)} to ${sizeText(maxBytes)}`,
  ]);
  const columns = ['level', 'nodes', 'stored', 'unpacked', 'one node, unpacked'];
  const storedBytes = levels.reduce((sum, level) => sum + level.storedBytes, 0);
  const rest = `Nodes of rows take ${sizeText(storedBytes)} of the ${sizeText(liveBytes)} that are stored and live. The commit, indexes, sum trees and large values take the rest.`;
  return [tableElement('Levels of the tree', columns, rows), h('p', { class: 'faint' }, rest)];
}

/** Creates a bar of all segments: their widths are their bytes, and their live parts are filled. */
function segmentsBar({ segments, bytes }: LivePart): HTMLElement {
  const parts = segments.map(({ id, bytes: size, liveBytes }) => {
    const part = h('span', {
      class: 'segment',
      title: `segment ${id}: ${share(liveBytes, size)} live`,
    });
    part.style.flexGrow = `${size / Math.max(1, bytes)}`;
    part.style.setProperty('--live', `${(liveBytes / Math.max(1, size)) * 100}%`);
    return part;
  });
  const label = 'Segments, filled as far as they are live; the table below has the figures';
  return h('div', { class: 'bar', role: 'img', 'aria-label': label }, ...parts);
}

function segmentRow({ id, bytes, liveBytes, chunks, holds }: SegmentLive) {
  return [
    id,
    sizeText(bytes),
    `${sizeText(liveBytes)} (${share(liveBytes, bytes)})`,
    countText(chunks),
    holds,
  ];
}

function livePartElements(part: LivePart): (HTMLElement | false)[] {
  const { segments, bytes, liveBytes, missing, hasSums } = part;
  const first = [...segments].sort((a, b) => b.bytes - b.liveBytes - (a.bytes - a.liveBytes));
  const columns = ['segment', 'stored', 'live', 'chunks', 'holds'];
  const cut = segments.length > LISTED ? ` The table has the ${LISTED} with most dead bytes.` : '';
  return [
    h(
      'p',
      {},
      `${sizeText(liveBytes)} of ${sizeText(bytes)} stored are reached by a branch or a fork (${share(liveBytes, bytes)}).${cut}`,
    ),
    hasSums &&
      h('p', { class: 'problem' }, 'Sum trees are not followed: their bytes count as dead here.'),
    missing > 0 &&
      h('p', { class: 'problem' }, `${countText(missing)} chunks are missing: check the store.`),
    segmentsBar(part),
    tableElement('Segments', columns, first.slice(0, LISTED).map(segmentRow)),
  ];
}

/** Creates the part of the panel that measures on request: it reads all live nodes. */
function liveSection(context: PanelContext): { element: HTMLElement; close(): void } {
  const { name, storage } = context.session.place;
  const measuring = new AbortController();
  const result = h('div', {});
  const measure = async () => {
    start.disabled = true;
    const onProgress = (chunks: number) =>
      fill(result, h('p', {}, `${countText(chunks)} chunks …`));
    const { signal } = measuring;
    const part = await context.runTimed('live parts of segments', () =>
      livePartOf(name, storage, { signal, onProgress }),
    );
    start.disabled = false;
    fill(result, ...(part === undefined ? [] : livePartElements(part)));
  };
  const start = button('Measure what is live in each segment', measure);
  const element = h(
    'section',
    {},
    h('h2', {}, 'Segments'),
    h('div', { class: 'tools' }, start),
    result,
  );
  return { element, close: () => measuring.abort() };
}

export const storagePanel: MakePanel = (context) => {
  const { db } = context.session;
  const facts = h('dl', { class: 'facts' }, h('div', { class: 'faint' }, 'Reading …'));
  const levels = h('section', {});
  const live = liveSection(context);
  const draw = async () => {
    const [health, stats] = await Promise.all([db.health.get(), db.health.stats()]);
    fill(facts, ...healthFacts(health), ...statsFacts(stats));
    fill(levels, h('h2', {}, 'Tree of rows'), ...levelsElements(stats));
  };
  const read = () => context.runTimed('statistics', draw);
  void read();
  const element = h(
    'div',
    { class: 'plain' },
    h('div', { class: 'tools' }, button('Read again', read)),
    facts,
    live.element,
    levels,
  );
  return { element, close: live.close };
};

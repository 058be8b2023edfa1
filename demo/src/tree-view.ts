/**
 * Draws the tree from the figures of its levels alone.
 *
 * Each level is a row of blocks. The top row is the root; each further row shows the children of *one* node of the row
 * above, which is marked, as many as nodes have on average. So the marked blocks are a path from the root to a leaf:
 * the nodes that a single changed row rewrites.
 */
import type { Stats } from 'hedgerow';

type Level = Stats['levels'][number];

import { byId, make, setText } from './elements.js';
import { showFigures } from './figure-list.js';
import * as format from './format.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 1000;
const BLOCK_HEIGHT = 30;
const FAN_HEIGHT = 34;

/** The ends of the logarithmic axis of node sizes. */
const AXIS = { from: 64, to: 65_536 };

function shape(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** Draws a row of `blocks`, one off the middle marked, and a fan from it to the row below. */
function row(blocks: number, hasFan: boolean): SVGElement {
  const marked = Math.floor(0.62 * blocks);
  const height = BLOCK_HEIGHT + (hasFan ? FAN_HEIGHT : 0);
  const svg = shape('svg', {
    viewBox: `0 0 ${WIDTH} ${height}`,
    height,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  });
  const width = WIDTH / blocks;
  const gap = Math.min(3, 0.22 * width);
  const block = (index: number) => {
    const [left, right] = [index * width + gap / 2, (index + 1) * width - gap / 2];
    return `M${left.toFixed(2)} 0H${right.toFixed(2)}V${BLOCK_HEIGHT}H${left.toFixed(2)}z`;
  };
  const others = Array.from({ length: blocks }, (_, index) => index).filter((i) => i !== marked);
  if (others.length > 0)
    svg.append(shape('path', { class: 'node', d: others.map(block).join('') }));
  svg.append(shape('path', { class: 'node marked', d: block(marked) }));
  if (!hasFan) return svg;
  const [left, right] = [marked * width + gap / 2, (marked + 1) * width - gap / 2];
  const [top, bottom] = [BLOCK_HEIGHT + 1, height];
  const points = `${left},${top} ${right},${top} ${WIDTH},${bottom} 0,${bottom}`;
  svg.append(shape('polygon', { class: 'fan', points }));
  return svg;
}

/** Returns the place of `bytes` on the axis of node sizes, in percent. */
function onAxis(bytes: number): number {
  const part = Math.log(bytes / AXIS.from) / Math.log(AXIS.to / AXIS.from);
  return 100 * Math.min(Math.max(part, 0), 1);
}

/** Shows the smallest, the mean and the largest node of a level on the axis. */
function sizes({ nodes, bytes, minBytes, maxBytes }: Level): HTMLElement {
  const mean = bytes / nodes;
  const [from, to] = [onAxis(minBytes), onAxis(maxBytes)];
  const range = `left:${from}%;width:${Math.max(to - from, 0.5)}%`;
  const words =
    nodes === 1
      ? `${format.size(bytes)} unpacked`
      : `${format.size(minBytes)} to ${format.size(maxBytes)}, mean ${format.size(mean)}, unpacked`;
  return make(
    'div',
    { class: 'sizes' },
    make(
      'div',
      { class: 'axis', 'aria-hidden': 'true' },
      make('i', { class: 'range', style: range }),
      make('i', { class: 'mean', style: `left:${onAxis(mean)}%` }),
    ),
    make('span', {}, words),
  );
}

function levelName(level: number, count: number): string {
  if (level === 0) return count === 1 ? 'Root, a leaf' : 'Leaves';
  return level === count - 1 ? 'Root' : `Level ${level}`;
}

function sizesOf({ bytes, storedBytes }: Level): string {
  return `${format.size(storedBytes)} packed, ${format.size(bytes)} unpacked`;
}

function levelView(stats: Stats, index: number): HTMLElement {
  const { levels, rows } = stats;
  const level = levels[index] as Level;
  const above = levels[index - 1];
  const below = levels[index + 1];
  const blocks = above === undefined ? 1 : Math.max(1, Math.round(level.nodes / above.nodes));
  const children = below === undefined ? rows / level.nodes : below.nodes / level.nodes;
  const kind = below === undefined ? 'rows' : 'children';
  const each =
    level.nodes === 1
      ? `${format.count(children)} ${kind}`
      : `about ${format.count(children)} ${kind} each`;
  const drawn = blocks < level.nodes ? `, drawn: the ${blocks} below one node` : '';
  return make(
    'li',
    {},
    make(
      'div',
      { class: 'level-words' },
      make('strong', {}, levelName(level.level, levels.length)),
      make('span', {}, `${format.plural(level.nodes, 'node')}, ${sizesOf(level)}`),
      make('span', { class: 'soft' }, `${each}${drawn}`),
    ),
    sizes(level),
    row(blocks, below !== undefined),
  );
}

/** Shows the tree of a store. */
export function showTree(stats: Stats): void {
  const { root, rows, levels, segments, chunks, storedBytes, memoryBytes } = stats;
  setText('root', root);
  byId<HTMLButtonElement>('copy-root').disabled = rows === 0;
  const nodes = levels.reduce((sum, level) => sum + level.nodes, 0);
  const path = levels.reduce((sum, level) => sum + level.storedBytes / level.nodes, 0);
  const all = levels.reduce((sum, level) => sum + level.storedBytes, 0);
  setText(
    'tree-verdict',
    rows === 0
      ? 'empty'
      : `${format.plural(nodes, 'node')}, ${format.plural(levels.length, 'level')}`,
  );
  const list = make('ol', { 'aria-label': 'Levels of the tree, from the root' });
  if (rows > 0) list.append(...levels.map((_, index) => levelView(stats, index)));
  byId('tree').replaceChildren(list);
  if (rows > 0) {
    const part = `${format.size(path)} of ${format.size(all)}, packed`;
    const text = `To change one row, the store rewrites the nodes on one path from the root to a leaf: about ${part}. All others stay as they are.`;
    byId('tree').append(make('p', { class: 'note' }, text));
  }
  showFigures('tree-figures', [
    ['Rows', format.count(rows)],
    ['Stored, packed', format.size(storedBytes)],
    ['Chunks', format.count(chunks)],
    ['Segments in IndexedDB', format.count(segments)],
    ['Linear memory', format.size(memoryBytes)],
  ]);
}

/** Compares the root with the earlier roots of the same rows. */
export function showSameRoot(before: readonly (string | undefined)[], now: string): void {
  const words = before.includes(now) ? '✓ The same root as before loading again.' : '';
  setText('root-same', words);
}

/** Makes the button next to the root copy it. */
export function wireCopy(): void {
  const button = byId<HTMLButtonElement>('copy-root');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(byId('root').textContent);
      button.textContent = 'Copied';
    } catch {
      // Copying is not allowed: leave it selected, for the reader's own keys.
      getSelection()?.selectAllChildren(byId('root'));
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1600);
  });
}

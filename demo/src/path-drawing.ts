/**
 * The way of a proof, drawn from the root down to the leaf: each level in its place, left or right
 * as the key says. Levels with a sibling that the proof tells have a row; the many below, whose
 * other side is empty, are one fine line.
 */
import * as format from './format.js';
import { LEVELS, type Sibling, sidesOf, sumsOnTheWay } from './proof-parts.js';

/** What is drawn. */
export interface Way {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** From the root down; `undefined` for bytes that are no proof. */
  readonly siblings: readonly Sibling[] | undefined;
  /** At its end; `null` for nothing. */
  readonly leaf: { readonly name: string; readonly sum: bigint } | null;
  /** What the root says. */
  readonly total: bigint;
  readonly verdict: 'none' | 'holds' | 'refused';
}

const TOP = 46;
const ROW = 31;
const MOST_ROWS_HEIGHT = 780;
const FINE_STEP = 0.6;
const WIDE = 520;
const LEAF = 'M0 0C14 8 14 20 0 32C-14 20-14 8 0 0zM0 6V24';

/** Draws into an element, and again whenever its width changes. */
export class PathDrawing {
  readonly #element: HTMLElement;
  #way: Way | undefined;
  #width = 0;

  constructor(element: HTMLElement) {
    this.#element = element;
    new ResizeObserver(() => {
      if (element.clientWidth !== this.#width) this.#draw();
    }).observe(element);
  }

  show(way: Way | undefined): void {
    this.#way = way;
    this.#draw();
  }

  #draw(): void {
    this.#width = this.#element.clientWidth;
    const way = this.#way;
    if (way?.siblings === undefined || this.#width === 0) {
      const words = way === undefined ? '' : 'These bytes are no proof: there is no path to draw.';
      this.#element.replaceChildren(words);
      return;
    }
    this.#element.replaceChildren(draw(way, way.siblings, this.#width));
  }
}

function svg(tag: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.textContent = text;
  return element;
}

function draw(way: Way, siblings: readonly Sibling[], width: number): SVGElement {
  const isWide = width >= WIDE;
  const sides = sidesOf(way.key);
  const depth = siblings.at(-1)?.depth ?? 0;
  const row = Math.min(ROW, MOST_ROWS_HEIGHT / Math.max(depth, 1));
  const hasWords = row >= 14;
  const number = isWide ? format.count : format.shortCount;
  const sums = sumsOnTheWay(siblings, way.leaf?.sum ?? 0n);
  const x = across(sides.slice(0, depth), isWide ? [150, width - 240] : [86, width - 138]);
  const y = (at: number) => TOP + at * row;
  const told = new Map(siblings.map((sibling) => [sibling.depth, sibling.sum]));
  const total = Number(sums[0] ?? 0n);

  const lines: SVGElement[] = [];
  const marks: SVGElement[] = [];
  const words: SVGElement[] = [
    svg('text', { x: 0, y: 16, class: 'head' }, 'Level'),
    svg('text', { x: width, y: 16, class: 'head end' }, 'Sum on the path'),
  ];
  for (let at = 0; at <= depth; at++) {
    const here = x(at);
    if (hasWords) {
      words.push(svg('text', { x: 0, y: y(at) + 4, class: 'level' }, at === 0 ? 'root' : `${at}`));
      const isWrong = at === 0 && sums[0] !== way.total;
      const kind = `sum end ${at === 0 ? 'total' : ''} ${isWrong ? 'wrong' : ''}`;
      const text = at === 0 ? format.count(sums[0] ?? 0n) : number(sums[at] ?? 0n);
      words.push(svg('text', { x: width, y: y(at) + 4, class: kind }, text));
    }
    marks.push(svg('circle', { cx: here, cy: y(at), r: at === 0 ? 7 : 4, class: 'on-way' }));
    if (at === 0) continue;
    // Beside the way: as far from its branch as the way itself, on the other side.
    const beside = 2 * x(at - 1) - here;
    const isLeft = beside < here;
    const sum = told.get(at);
    const from = { x1: x(at - 1), y1: y(at - 1), x2: beside, y2: y(at) };
    if (sum === undefined) {
      lines.push(svg('line', { ...from, class: 'empty' }));
      marks.push(svg('circle', { cx: beside, cy: y(at), r: 2.5, class: 'empty' }));
      continue;
    }
    lines.push(svg('line', { ...from, class: 'told' }));
    const half = Math.min(5 + 8 * Math.sqrt(Number(sum) / Math.max(total, 1)), row / 2);
    const corners = `${beside},${y(at) - 5} ${beside - half},${y(at) + half + 4} ${beside + half},${y(at) + half + 4}`;
    marks.push(svg('polygon', { points: corners, class: 'told' }));
    if (!hasWords) continue;
    const edge = isLeft ? beside - half - 6 : beside + half + 6;
    const kind = isLeft ? 'beside end' : 'beside';
    words.push(svg('text', { x: edge, y: y(at) + 8, class: kind }, number(sum)));
  }
  const way1 = Array.from({ length: depth + 1 }, (_, at) => `${x(at)},${y(at)}`).join(' ');
  lines.push(svg('polyline', { points: way1, class: 'on-way' }));

  const fine = fineLine(sides.slice(depth), x(depth), y(depth));
  lines.push(svg('polyline', { points: fine.points, class: 'fine-way' }));
  const isRight = x(depth) < width * 0.55;
  const wordsX = isRight ? fine.right + 18 : fine.left - 18;
  const empties = LEVELS - depth;
  for (const [line, text] of [
    `${empties} more levels,`,
    'with empty siblings:',
    'one bit each',
  ].entries()) {
    const kind = isRight ? 'level' : 'level end';
    words.push(svg('text', { x: wordsX, y: y(depth) + 62 + line * 17, class: kind }, text));
  }

  const { x: endX, y: endY } = fine;
  const { leaf } = way;
  const name = leaf === null ? 'nothing' : shortened(leaf.name, width);
  // About half as wide as it is written: it must not stick out.
  const half = Math.max(84, name.length * 4.8);
  const nameX = half * 2 > width ? width / 2 : Math.min(Math.max(endX, half), width - half);
  if (leaf === null) marks.push(svg('circle', { cx: endX, cy: endY + 10, r: 9, class: 'nothing' }));
  else marks.push(svg('path', { d: LEAF, transform: `translate(${endX} ${endY})`, class: 'leaf' }));
  const people = leaf === null ? 'sum 0' : format.count(leaf.sum);
  const nameY = endY + (leaf === null ? 42 : 54);
  words.push(svg('text', { x: nameX, y: nameY, class: 'name middle' }, name));
  words.push(svg('text', { x: nameX, y: nameY + 20, class: 'sum middle' }, people));

  const height = nameY + 30;
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' });
  picture.setAttribute('class', `way ${way.verdict}`);
  const spoken = `The path from the root down to ${name}: ${siblings.length} siblings in the proof, with their sums, and ${LEVELS - siblings.length} empty.`;
  picture.setAttribute('aria-label', spoken);
  picture.append(...lines, ...marks, ...words);
  return picture;
}

/** As much of a name as fits. */
function shortened(name: string, width: number): string {
  const most = Math.floor(width / 9.6);
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** Where each level of the way stands, so that all of it and what is beside it fits `between`. */
function across(sides: readonly number[], [left, right]: number[]): (depth: number) => number {
  const at = [0];
  for (const side of sides) at.push((at.at(-1) ?? 0) + (side === 0 ? -1 : 1));
  const all = at.flatMap((here, depth) => [here, 2 * (at[depth - 1] ?? here) - here]);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const room = (right ?? 0) - (left ?? 0);
  const step = Math.min(30, room / Math.max(most - least, 1));
  const start = (left ?? 0) + (room - step * (most - least)) / 2;
  return (depth) => start + step * ((at[depth] ?? 0) - least);
}

/** The rest of the way, one short step for each level. */
function fineLine(sides: readonly number[], startX: number, startY: number) {
  const drift = [0];
  for (const side of sides) drift.push((drift.at(-1) ?? 0) + (side === 0 ? -1 : 1));
  const widest = Math.max(...drift.map(Math.abs), 1);
  const step = Math.min(1.5, 34 / widest);
  const xs = drift.map((at) => startX + at * step);
  const ys = drift.map((_, at) => startY + at * FINE_STEP);
  return {
    points: xs.map((x, at) => `${x.toFixed(2)},${(ys[at] ?? 0).toFixed(2)}`).join(' '),
    left: Math.min(...xs),
    right: Math.max(...xs),
    x: xs.at(-1) ?? startX,
    y: ys.at(-1) ?? startY,
  };
}

/**
 * Draws the path of a proof from the root down to the leaf: each level to the left or right of its parent, as the bit
 * of the key says. A level whose sibling is in the proof has its own row; the many levels below, whose siblings are
 * empty, are one fine line.
 */
import * as format from './format.js';
import { LEVELS, type Sibling, sidesOf, sumsOnTheWay } from './proof-parts.js';

/** A proof's path, to be drawn. */
export interface Way {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** From the root down; `undefined` for bytes that are no proof. */
  readonly siblings: readonly Sibling[] | undefined;
  /** The leaf at its end; `null` for an absent key. */
  readonly leaf: { readonly name: string; readonly sum: bigint } | null;
  /** The total in the root. */
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

/** The places of one drawing, and its elements so far: lines lie below marks, and marks below words. */
class Drawing {
  readonly lines: SVGElement[] = [];
  readonly marks: SVGElement[] = [];
  readonly words: SVGElement[] = [];
  readonly #way: Way;
  readonly #siblings: readonly Sibling[];
  readonly #width: number;
  /** Levels below the root with siblings in the proof. */
  readonly #depth: number;
  readonly #row: number;
  readonly #sums: readonly bigint[];
  readonly #sides: ReturnType<typeof sidesOf>;
  readonly #number: (sum: bigint) => string;
  readonly #x: (level: number) => number;

  constructor(way: Way, siblings: readonly Sibling[], width: number) {
    this.#way = way;
    this.#siblings = siblings;
    this.#width = width;
    this.#depth = siblings.at(-1)?.depth ?? 0;
    this.#row = Math.min(ROW, MOST_ROWS_HEIGHT / Math.max(this.#depth, 1));
    this.#sums = sumsOnTheWay(siblings, way.leaf?.sum ?? 0n);
    this.#sides = sidesOf(way.key);
    const isWide = width >= WIDE;
    this.#number = isWide ? format.count : format.shortCount;
    const between: [number, number] = isWide ? [150, width - 240] : [86, width - 138];
    this.#x = across(this.#sides.slice(0, this.#depth), between);
  }

  get #hasWords(): boolean {
    return this.#row >= 14;
  }

  #y(level: number): number {
    return TOP + level * this.#row;
  }

  /** Draws the path through the levels that have siblings, each with its sum. */
  levels(): void {
    const sumOf = new Map(this.#siblings.map((sibling) => [sibling.depth, sibling.sum]));
    this.words.push(
      svg('text', { x: 0, y: 16, class: 'head' }, 'Level'),
      svg('text', { x: this.#width, y: 16, class: 'head end' }, 'Sum on the path'),
    );
    for (let level = 0; level <= this.#depth; level++) {
      if (this.#hasWords) this.#wordsOf(level);
      const r = level === 0 ? 7 : 4;
      const [cx, cy] = [this.#x(level), this.#y(level)];
      this.marks.push(svg('circle', { cx, cy, r, class: 'on-way' }));
      if (level > 0) this.#sibling(level, sumOf.get(level));
    }
    const points = Array.from(
      { length: this.#depth + 1 },
      (_, level) => `${this.#x(level)},${this.#y(level)}`,
    ).join(' ');
    this.lines.push(svg('polyline', { points, class: 'on-way' }));
  }

  #wordsOf(level: number): void {
    const isRoot = level === 0;
    const [sum, y] = [this.#sums[level] ?? 0n, this.#y(level) + 4];
    const isWrong = isRoot && this.#sums[0] !== this.#way.total;
    const kind = `sum end ${isRoot ? 'total' : ''} ${isWrong ? 'wrong' : ''}`;
    const text = isRoot ? format.count(sum) : this.#number(sum);
    this.words.push(svg('text', { x: 0, y, class: 'level' }, isRoot ? 'root' : `${level}`));
    this.words.push(svg('text', { x: this.#width, y, class: kind }, text));
  }

  /** Draws the sibling of the path at a level: as far from their parent as the path, on the other side. */
  #sibling(level: number, sum: bigint | undefined): void {
    const [parent, y] = [this.#x(level - 1), this.#y(level)];
    const x = 2 * parent - this.#x(level);
    const line = { x1: parent, y1: this.#y(level - 1), x2: x, y2: y };
    if (sum === undefined) {
      this.lines.push(svg('line', { ...line, class: 'empty' }));
      this.marks.push(svg('circle', { cx: x, cy: y, r: 2.5, class: 'empty' }));
      return;
    }
    this.lines.push(svg('line', { ...line, class: 'told' }));
    const share = Number(sum) / Math.max(Number(this.#sums[0] ?? 0n), 1);
    const half = Math.min(5 + 8 * Math.sqrt(share), this.#row / 2);
    const bottom = y + half + 4;
    const points = `${x},${y - 5} ${x - half},${bottom} ${x + half},${bottom}`;
    this.marks.push(svg('polygon', { points, class: 'told' }));
    if (!this.#hasWords) return;
    const isLeft = x < this.#x(level);
    const place = { x: isLeft ? x - half - 6 : x + half + 6, y: y + 8 };
    const kind = isLeft ? 'beside end' : 'beside';
    this.words.push(svg('text', { ...place, class: kind }, this.#number(sum)));
  }

  /** Draws the levels below, whose siblings are empty: a fine line down to the leaf. Returns its end. */
  emptyLevels(): { readonly x: number; readonly y: number } {
    const [depth, x, y] = [this.#depth, this.#x(this.#depth), this.#y(this.#depth)];
    const fine = fineLine(this.#sides.slice(depth), x, y);
    this.lines.push(svg('polyline', { points: fine.points, class: 'fine-way' }));
    const isRight = x < this.#width * 0.55;
    const wordsX = isRight ? fine.right + 18 : fine.left - 18;
    const kind = isRight ? 'level' : 'level end';
    const text = [`${LEVELS - depth} more levels,`, 'with empty siblings:', 'one bit each'];
    for (const [line, words] of text.entries()) {
      this.words.push(svg('text', { x: wordsX, y: y + 62 + line * 17, class: kind }, words));
    }
    return fine;
  }

  /** Draws the leaf, or its absence. Returns its name, and where its words end. */
  leaf({ x, y }: { readonly x: number; readonly y: number }): { name: string; bottom: number } {
    const { leaf } = this.#way;
    const width = this.#width;
    const name = leaf === null ? 'nothing' : shortened(leaf.name, width);
    // About half the width of the text, which must not stick out.
    const half = Math.max(84, name.length * 4.8);
    const nameX = half * 2 > width ? width / 2 : Math.min(Math.max(x, half), width - half);
    this.marks.push(
      leaf === null
        ? svg('circle', { cx: x, cy: y + 10, r: 9, class: 'nothing' })
        : svg('path', { d: LEAF, transform: `translate(${x} ${y})`, class: 'leaf' }),
    );
    const people = leaf === null ? 'sum 0' : format.count(leaf.sum);
    const nameY = y + (leaf === null ? 42 : 54);
    this.words.push(svg('text', { x: nameX, y: nameY, class: 'name middle' }, name));
    this.words.push(svg('text', { x: nameX, y: nameY + 20, class: 'sum middle' }, people));
    return { name, bottom: nameY + 30 };
  }
}

function draw(way: Way, siblings: readonly Sibling[], width: number): SVGElement {
  const drawing = new Drawing(way, siblings, width);
  drawing.levels();
  const { name, bottom: height } = drawing.leaf(drawing.emptyLevels());
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' });
  picture.setAttribute('class', `way ${way.verdict}`);
  const spoken = `The path from the root down to ${name}: ${siblings.length} siblings in the proof, with their sums, and ${LEVELS - siblings.length} empty.`;
  picture.setAttribute('aria-label', spoken);
  picture.append(...drawing.lines, ...drawing.marks, ...drawing.words);
  return picture;
}

/** Shortens a name to a width. */
function shortened(name: string, width: number): string {
  const most = Math.floor(width / 9.6);
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** Places each level of the path, so that the path and its siblings fit `between`. */
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

/** Draws the rest of the path, one short step for each level. */
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

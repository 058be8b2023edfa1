/** Places the nodes of a level: from left to right, each as wide as its share of the bytes. */

import type { DrawnLevel } from './drawing.js';
import { plural, size } from './words.js';

/** Of a drawing, in its own units; it is stretched to the page. */
export const WIDTH = 1000;
/** The least width of a new node, so that it is visible. */
const LEAST_NEW = 3;
/** The most nodes of a level that are drawn with words, and with lines down. */
const MOST_TOLD = 150;

export interface Block {
  readonly left: number;
  readonly right: number;
  readonly isNew: boolean;
  /** Empty where there are too many. */
  readonly words: string;
}

export function blocksOf({ level, bytes, entries, lastKeys, isNew }: DrawnLevel): Block[] {
  const all = bytes.reduce((sum, value) => sum + value, 0);
  const gap = Math.min(2.5, (0.25 * WIDTH) / bytes.length);
  let at = 0;
  return bytes.map((value, nth) => {
    const left = at;
    at += (WIDTH * value) / all;
    const fresh = isNew[nth] ?? false;
    const right = Math.max(at - gap, left + (fresh ? LEAST_NEW : 0.2));
    const below = plural(
      entries[nth] ?? 0,
      level === 0 ? 'entry' : 'child',
      level === 0 ? 'entries' : 'children',
    );
    const words =
      bytes.length > MOST_TOLD
        ? ''
        : `${size(value)} unpacked, ${below}, up to ${JSON.stringify(lastKeys[nth])}${fresh ? ', new' : ''}`;
    return { left, right, isNew: fresh, words };
  });
}

/** Draws blocks as one path. */
export function pathOf(blocks: readonly Block[], top: number, bottom: number): string {
  return blocks
    .map(
      ({ left, right }) =>
        `M${left.toFixed(2)} ${top}H${right.toFixed(2)}V${bottom}H${left.toFixed(2)}z`,
    )
    .join('');
}

/** Draws lines from each node to its children: one path for the new ones and one for the others. */
export function fansOf(
  { entries, bytes }: DrawnLevel,
  above: readonly Block[],
  below: readonly Block[],
  height: number,
): { readonly fresh: string; readonly old: string } {
  let [fresh, old] = ['', ''];
  if (bytes.length > MOST_TOLD) return { fresh, old };
  let at = 0;
  for (const [nth, { left, right, isNew }] of above.entries()) {
    const first = below[at];
    at += entries[nth] ?? 0;
    const last = below[at - 1];
    if (first === undefined || last === undefined) continue;
    const fan = `M${left.toFixed(2)} 0H${right.toFixed(2)}L${last.right.toFixed(2)} ${height}H${first.left.toFixed(2)}z`;
    if (isNew) fresh += fan;
    else old += fan;
  }
  return { fresh, old };
}

/** The generations of a checkpoint as a reader of parts sees them: their frames of rows, and of nodes. */

import type { Directory } from '../remote/format/directory.js';
import type { Generation } from '../remote/format/head.js';
import { pathOf } from '../remote/format/names.js';
import { type FramedKind, framesAt } from '../remote/format/pack.js';
import type { ByteRange } from '../remote/remote.js';
import { compareBytes } from './order.js';

/** A frame of an object. */
export interface Place {
  readonly kind: FramedKind;
  readonly path: string;
  readonly range: ByteRange;
}

/** A frame of edits, and the key of its first one. */
export interface RowPlace extends Place {
  readonly firstKey: Uint8Array;
}

/** A frame of nodes, and its number. */
export interface NodePlace extends Place {
  readonly nth: number;
}

/** What the directory of a generation tells. */
export class Parts {
  /** In the order of keys. */
  readonly rows: readonly RowPlace[];
  /** In the order of keys. */
  readonly nodes: readonly NodePlace[];
  readonly #byStart = new Map<number, NodePlace[]>();
  readonly topBytes: Uint8Array;

  constructor(generation: Generation, directory: Directory) {
    const packs = generation.packs.filter(({ edits }) => edits > 0);
    const objects = generation.packs.filter(({ edits }) => edits === 0);
    this.topBytes = directory.topBytes;
    this.rows = directory.packs.flatMap((frames, nth) => {
      const path = pathOf('p', (packs[nth] as (typeof packs)[number]).nameBytes);
      const ranges = framesAt(frames.map(({ length }) => length));
      return frames.map(({ firstKey }, at): RowPlace => {
        return { kind: 'pack', path, range: ranges[at] as ByteRange, firstKey };
      });
    });
    const nodes: NodePlace[] = [];
    for (const [object, frames] of directory.nodes.entries()) {
      const path = pathOf('p', (objects[object] as (typeof objects)[number]).nameBytes);
      const ranges = framesAt(frames.map(({ length }) => length));
      for (const [at, { starts }] of frames.entries()) {
        const range = ranges[at] as ByteRange;
        const place: NodePlace = { kind: 'nodes', path, range, nth: nodes.length };
        nodes.push(place);
        for (const start of starts) {
          const places = this.#byStart.get(start);
          if (places === undefined) this.#byStart.set(start, [place]);
          else places.push(place);
        }
      }
    }
    this.nodes = nodes;
  }

  /** Whether the directory belongs to the generation. */
  static fits({ packs }: Generation, directory: Directory): boolean {
    const rows = packs.filter(({ edits }) => edits > 0).length;
    // The directory itself is the last.
    return directory.packs.length === rows && directory.nodes.length === packs.length - rows - 1;
  }

  /** The frames in which nodes are whose hashes begin so. */
  nodesAt(start: number): readonly NodePlace[] {
    return this.#byStart.get(start) ?? [];
  }

  /** The last frame that begins at a key or before it, by its number; -1 if all begin after it. */
  frameOf(key: Uint8Array): number {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareBytes((this.rows[middle] as RowPlace).firstKey, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The frames that may have edits of keys from `from` on and below `to`; undefined for no bound. */
  between(from: Uint8Array | undefined, to: Uint8Array | undefined): readonly RowPlace[] {
    const first = from === undefined ? 0 : Math.max(0, this.frameOf(from));
    const isBelow = ({ firstKey }: RowPlace) => to === undefined || compareBytes(firstKey, to) < 0;
    return this.rows.slice(first).filter(isBelow);
  }
}

/** Reads the directories of a checkpoint: the frames of rows, and of nodes, in each layer. */

import type { Scope } from '../remote/format/cipher-suite.js';
import { objectPath } from '../remote/format/content-names.js';
import type { Layer, PackRecord } from '../remote/format/head-record.js';
import type { Directory } from '../remote/format/layer-directory.js';
import {
  type FramedKind,
  type FramePlace,
  type Front,
  frameOpener,
  framesAt,
  type OpenFrame,
} from '../remote/format/pack-read.js';
import type { ByteRange } from '../remote/remote.js';
import { compareBytes } from './compare-bytes.js';

/** A frame of an object. */
export interface ObjectFrame {
  readonly kind: FramedKind;
  readonly path: string;
  readonly range: ByteRange;
  /** Resolves to the content of the frame, still deflated. Rejects with `remote/data` or `wrong-key`. */
  open(frameBytes: Uint8Array): Promise<Uint8Array>;
}

/** A frame of edits, with its first key. */
export interface RowPlace extends ObjectFrame {
  readonly firstKey: Uint8Array;
}

/** A frame of nodes, with its number. */
export interface NodePlace extends ObjectFrame {
  readonly nth: number;
}

/** The frames in the directory of a layer. */
export class LayerParts {
  /** In the order of keys. */
  readonly rows: readonly RowPlace[];
  /** In the order of keys. */
  readonly nodes: readonly NodePlace[];
  readonly #byStart = new Map<number, NodePlace[]>();
  readonly topBytes: Uint8Array;

  private constructor(
    packs: readonly ObjectFrames[],
    objects: readonly ObjectFrames[],
    directory: Directory,
  ) {
    this.topBytes = directory.topBytes;
    this.rows = packs.flatMap(({ places }, pack) =>
      places.map((place, nth): RowPlace => {
        return { ...place, firstKey: directory.packs[pack]?.firstKeys[nth] as Uint8Array };
      }),
    );
    const nodes: NodePlace[] = [];
    for (const [object, { places }] of objects.entries()) {
      for (const [at, one] of places.entries()) {
        const place: NodePlace = { ...one, nth: nodes.length };
        nodes.push(place);
        for (const start of directory.nodes[object]?.starts[at] ?? []) {
          const known = this.#byStart.get(start);
          if (known === undefined) this.#byStart.set(start, [place]);
          else known.push(place);
        }
      }
    }
    this.nodes = nodes;
  }

  /** Returns the parts of a layer; `undefined` if the directory is of another one. */
  static of({ packs }: Layer, directory: Directory, scope: Scope): LayerParts | undefined {
    const rows = packs.filter(({ edits }) => edits > 0);
    // The last one is the directory itself.
    const objects = packs.filter(({ edits }) => edits === 0).slice(0, -1);
    const listObjectFrames = (
      kind: FramedKind,
      records: readonly PackRecord[],
      fronts: readonly Front[],
    ) => records.map((record, nth) => new ObjectFrames(kind, record, fronts[nth], scope));
    const all = [
      listObjectFrames('pack', rows, directory.packs),
      listObjectFrames('nodes', objects, directory.nodes),
    ];
    const [ofRows, ofNodes] = all as [ObjectFrames[], ObjectFrames[]];
    const isSame =
      ofRows.length === directory.packs.length && ofNodes.length === directory.nodes.length;
    const fits = isSame && all.flat().every((one) => one.fits);
    return fits ? new LayerParts(ofRows, ofNodes, directory) : undefined;
  }

  /** Returns the frames of nodes whose hashes begin with `start`. */
  nodesAt(start: number): readonly NodePlace[] {
    return this.#byStart.get(start) ?? [];
  }

  /** Returns the number of the last frame that begins at a key or before it; -1 if all begin after it. */
  frameOf(key: Uint8Array): number {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareBytes((this.rows[middle] as RowPlace).firstKey, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Returns the frames that may have edits of keys from `from` on and below `to`; `undefined` for no bound. */
  between(from: Uint8Array | undefined, to: Uint8Array | undefined): readonly RowPlace[] {
    const first = from === undefined ? 0 : Math.max(0, this.frameOf(from));
    const isBelow = ({ firstKey }: RowPlace) => to === undefined || compareBytes(firstKey, to) < 0;
    return this.rows.slice(first).filter(isBelow);
  }
}

const NO_FRONT: Front = { envelopeBytes: new Uint8Array(), lengths: [] };

/** An object of frames. The first read makes its opener. */
class ObjectFrames {
  readonly places: readonly ObjectFrame[];
  /** Whether the object has exactly these frames. */
  readonly fits: boolean;
  readonly #make: () => Promise<OpenFrame>;
  #opener: Promise<OpenFrame> | undefined;

  constructor(kind: FramedKind, record: PackRecord, front: Front = NO_FRONT, scope: Scope) {
    const path = objectPath('p', record.nameBytes);
    const { frames, end } = framesAt(kind, front, scope.suite);
    this.fits = end === record.length;
    this.#make = () => frameOpener(kind, front, scope);
    this.places = frames.map(({ at, length }: FramePlace, nth): ObjectFrame => {
      const range = { from: at, to: at + length };
      return { kind, path, range, open: async (bytes) => (await this.#open())(nth, bytes) };
    });
  }

  #open(): Promise<OpenFrame> {
    if (this.#opener === undefined) {
      const opener = this.#make();
      this.#opener = opener;
      // The app may have its key next time.
      opener.catch(() => {
        this.#opener = undefined;
      });
    }
    return this.#opener;
  }
}

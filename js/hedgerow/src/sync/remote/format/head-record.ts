/** The head of a branch: the one object of a remote that is overwritten. */

import { sameBytes } from '../../../base/bytes.js';

/** A tree of rows: its root, 32 zero bytes without rows, and the number of its rows. */
export interface RowTree {
  readonly rootBytes: Uint8Array;
  readonly count: number;
}

/** A pack as a head names it: some of the edits of a layer, in the order of their keys. */
export interface PackRecord {
  readonly nameBytes: Uint8Array;
  /** Bytes of the object. */
  readonly length: number;
  /** Rows that it puts or deletes; 0 for nodes and directories. */
  readonly edits: number;
}

/** Packs that lead from the rows of the layer before, or from no rows, to `rows`. */
export interface Layer {
  /** The head that had these rows. */
  readonly seq: number;
  readonly rows: RowTree;
  /** At least one. Their keys ascend, also from one to the next. */
  readonly packs: readonly PackRecord[];
}

/** A block of history as a head names it: an object under `d/`, which lists pushes. */
export interface BlockRecord {
  readonly nameBytes: Uint8Array;
  /** Bytes of the object. */
  readonly length: number;
  /** The number of its first push. */
  readonly seq: number;
  /** How many it lists, at least 1. */
  readonly pushes: number;
}

/** The objects that give a whole tree to a reader without rows. */
export interface Checkpoint {
  /** The head that had this tree; 0 for the empty tree that each branch begins with. */
  readonly seq: number;
  /** The nonce of that head; zeros for number 0. */
  readonly nonceBytes: Uint8Array;
  /** Lists the pushes up to this one, the oldest block first. */
  readonly history: readonly BlockRecord[];
  /** The oldest first. The last one has the rows of the checkpoint; empty if and only if there are no rows. */
  readonly layers: readonly Layer[];
}

/** The edits of one step: in the head, or a separate object under `d/`. */
export type DeltaRecord =
  | { readonly kind: 'inline'; readonly deltaBytes: Uint8Array }
  /** `length` is the object's, from 1 byte to 1 MiB. */
  | { readonly kind: 'object'; readonly nameBytes: Uint8Array; readonly length: number };

/** A step: from the rows of the entry before, or of the base, to `rows`. */
export interface TailEntry {
  /** The head that this entry came with. */
  readonly seq: number;
  /** The nonce of that head: a writer that got no answer finds its push by it. */
  readonly nonceBytes: Uint8Array;
  readonly rows: RowTree;
  readonly delta: DeltaRecord;
}

/** Entries that each lead on from the one before. */
export interface Tail {
  /** The rows before the first entry. */
  readonly base: RowTree;
  /** Ascending by `seq`. */
  readonly tail: readonly TailEntry[];
}

/** A log as a head names it: an object under `d/` with older entries, which the head had before. */
export interface LogRecord {
  readonly nameBytes: Uint8Array;
  /** Bytes of the object. */
  readonly length: number;
  /** The number of its first entry. */
  readonly seq: number;
  /** How many it has, at least 1. */
  readonly entries: number;
  /** Bytes of their deltas, wherever they are. */
  readonly deltaBytes: number;
}

/** The claim of a writer about a sum tree. */
export interface SumClaim {
  readonly name: string;
  readonly rootBytes: Uint8Array;
  readonly sum: bigint;
}

export interface HeadRecord extends Tail {
  /** The number of the key that it is encrypted with; 0 if it is not. Later heads have the same, or a higher one. */
  readonly epoch: number;
  readonly repositoryBytes: Uint8Array;
  /** 1 for the first head of a branch, and one more for each that replaces it. */
  readonly seq: number;
  /** 16 bytes that a device keeps. */
  readonly writerBytes: Uint8Array;
  /** 16 random bytes, new for each try. */
  readonly nonceBytes: Uint8Array;
  /** BLAKE3 of the bytes of the head before; zeros for the first. */
  readonly previousBytes: Uint8Array;
  /** The app's version of the rows. */
  readonly app: number;
  /** A hint: the writer is about to make a checkpoint. */
  readonly isCompacting: boolean;
  /** The rows that a reader must end at. */
  readonly rows: RowTree;
  readonly checkpoint: Checkpoint;
  /**
   * Logs of entries before `tail`, the oldest first; empty without a tail. Logs and tail have all entries after the
   * checkpoint, and may have some before it.
   */
  readonly logs: readonly LogRecord[];
  /** The rows before `tail`; the rows of the head if it is empty. */
  readonly base: RowTree;
  /** The newest entries, up to `rows`. */
  readonly tail: readonly TailEntry[];
  /** Ascending by the bytes of their names. */
  readonly sums: readonly SumClaim[];
}

/** Returns the bytes of a delta, wherever it is. */
export function deltaLength({ delta }: TailEntry): number {
  return delta.kind === 'inline' ? delta.deltaBytes.length : delta.length;
}

/** Returns the bytes of the deltas of entries, wherever they are. */
export function deltaLengths(tail: readonly TailEntry[]): number {
  return tail.reduce((sum, entry) => sum + deltaLength(entry), 0);
}

/** Returns whether both are the same tree. */
export function sameRows(a: RowTree, b: RowTree): boolean {
  return a.count === b.count && sameBytes(a.rootBytes, b.rootBytes);
}

/** A push: the head that it became. */
export interface Push {
  readonly seq: number;
  readonly nonceBytes: Uint8Array;
}

/** Returns the last push that a head has; `undefined` before the first one. */
export function lastPush({ tail, checkpoint }: HeadRecord): Push | undefined {
  const last = tail[tail.length - 1];
  if (last !== undefined) return last;
  return checkpoint.seq === 0 ? undefined : checkpoint;
}

/** The checkpoint of a branch that has had no push. */
export const NO_CHECKPOINT: Checkpoint = {
  seq: 0,
  nonceBytes: new Uint8Array(16),
  history: [],
  layers: [],
};

/** The tree of no rows. */
export const NO_ROWS: RowTree = { rootBytes: new Uint8Array(32), count: 0 };

/** Returns the rows of a checkpoint. */
export function checkpointRows({ layers }: Checkpoint): RowTree {
  return layers[layers.length - 1]?.rows ?? NO_ROWS;
}

/** Returns all packs of a checkpoint, in the order in which they are applied. */
export function packsOf({ layers }: Pick<Checkpoint, 'layers'>): PackRecord[] {
  return layers.flatMap(({ packs }) => packs);
}

/**
 * The interface of every persistence adapter. An adapter moves bytes and does not know trees: segments and their tables
 * are opaque to it. It must only ensure that a `write` happens whole or not at all.
 */
import type { Locks } from '../base/locks.js';

/** When a write counts as done. */
export type Durability = 'relaxed' | 'strict';

/** A named pointer to a commit. */
export interface Ref {
  readonly name: string;
  /** Hash of the commit chunk, 32 bytes. */
  readonly commitBytes: Uint8Array;
  /** Number of moves of the ref; 1 after the first. */
  readonly generation: number;
  /** Version of the store's format, see `docs/format.md`. */
  readonly format: number;
}

/** Where a ref stood when it was read before. */
export type Since = Pick<Ref, 'name' | 'generation'>;

/** A request to move a ref, granted only if it still stands where expected. */
export interface RefMove extends Ref {
  /** The generation that the ref must still have; 0 if it must not exist yet. */
  readonly expected: number;
}

/** A request to delete a ref, granted as a move is. Segments of its moves stay. */
export interface RefDrop {
  readonly name: string;
  readonly expected: number;
  readonly isDropped: true;
}

/** A segment to write, with the table that lists its chunks. */
export interface SegmentRecord {
  /** Unique for ever in this store; a whole number up to 2^53 - 1. */
  readonly id: number;
  readonly segmentBytes: Uint8Array;
  readonly tableBytes: Uint8Array;
}

/** The table of one stored segment. */
export interface TableRecord {
  readonly id: number;
  readonly tableBytes: Uint8Array;
  /** The segment itself, if it came at no cost. */
  readonly segmentBytes?: Uint8Array;
}

/** The data of a write in one transaction. */
export interface WriteBatch {
  readonly segments: readonly SegmentRecord[];
  readonly move?: RefMove;
  /** Other refs to move or delete: all requests are granted, or the write has no effect. */
  readonly also?: readonly (RefMove | RefDrop)[];
  readonly durability: Durability;
  /**
   * Whether the change makes space, and may use the space that an adapter keeps for that. Copies make space `'later'`, if
   * ever, by the deletion of their source: they may use half of it.
   */
  readonly freesSpace?: boolean | 'later';
}

/** Where a ref must stand for a deletion. */
export type Fence = Pick<Ref, 'name' | 'commitBytes'>;

/** A part of a segment: its bytes from `from` up to `to`. */
export interface SegmentPart {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

/** A request to read a segment, by its id, or a part of one. */
export type SegmentRequest = number | SegmentPart;

/** Returns the id of the segment of a request. */
export function segmentOf(wanted: SegmentRequest): number {
  return typeof wanted === 'number' ? wanted : wanted.id;
}

/** Cuts the wanted bytes from a segment, up to its end. */
export function cutSegment(wanted: SegmentRequest, segmentBytes: Uint8Array): Uint8Array {
  if (typeof wanted === 'number') return segmentBytes;
  // Not by `slice`, which does not copy a Node `Buffer`.
  return new Uint8Array(segmentBytes.subarray(wanted.from, wanted.to));
}

/** The contents of a store, read in one transaction. */
export interface StoreContents {
  readonly refs: readonly Ref[];
  /** In ascending order of `id`. */
  readonly tables: readonly TableRecord[];
  /** The ids of all stored segments, known or not, in ascending order; absent with `since`. */
  readonly ids?: readonly number[];
}

/** One open store. */
export interface SegmentStore {
  /**
   * Reads all refs, and the tables of all segments except the segments in `known`, from one consistent state. With
   * `since`, the result may leave out refs that do not stand there or further on, and segments that were written with
   * earlier moves of these refs. Without both, tables may come from copies for openings; with an empty `since` they
   * come from their own records.
   */
  load(known?: ReadonlySet<number>, since?: readonly Since[]): Promise<StoreContents>;
  /**
   * Reserves a number that no other caller ever gets from this store: 1, 2, 3, ... It may be for a change that makes
   * space.
   */
  reserve(freesSpace?: boolean): Promise<number>;
  /**
   * Reads segments, and parts of segments. The result has one member for each of `wanted`, in that order; `undefined`
   * if there is no such segment. A segment that ends before the end of a part gives the bytes up to its end, and an
   * unreadable segment gives no bytes: the core finds that they are wrong, and looks for another copy. The caller owns
   * the bytes.
   */
  // A property: as a method, a function that only takes ids would compile.
  readonly read: (wanted: readonly SegmentRequest[]) => Promise<(Uint8Array | undefined)[]>;
  /**
   * The cost of a request for a part, as the number of bytes that a read gets in the same time: by that the core
   * requests parts of a segment, or all of it. Absent if it was not measured.
   */
  readonly requestCost?: number;
  /**
   * Writes all of `batch` in one transaction, or nothing. Resolves to `true` when it is as durable as asked, or to
   * `false`, without a write, if `expected` of `move`, or of one of `also`, is not the generation of the ref. The store
   * keeps the bytes: the caller may not change them any more.
   */
  write(batch: WriteBatch): Promise<boolean>;
  /**
   * Reads the last moves of a ref, newest first: where it stands, then where it stood before. Returns at least
   * `MIN_HISTORY` moves if there were so many, at most `MAX_HISTORY`. The segments of older commits may be gone. The
   * caller owns the bytes.
   */
  history(name: string): Promise<Ref[]>;
  /**
   * Deletes segments with their tables; ignores unknown ids. A failed deletion may have deleted some of them. With a
   * fence it resolves to `false` unless the ref stands where it should in each transaction that deletes something.
   */
  delete(ids: readonly number[], fence?: Fence): Promise<boolean>;
  /**
   * Releases, until the next call, what others could wait for, since the page may be suspended. Calls under way go on
   * when the page does. Absent in an adapter that others never wait for.
   */
  rest?(): void;
  /** Loads the code of writes, for which the first write would wait. Absent in an adapter that has it. */
  prepareWrites?(): void;
  /**
   * Cares for the store; one of all handles calls it now and then. Where storage may be full it keeps some space for
   * changes that make space, in proportion to the stored bytes; at rest, after a while without writes, it may prepare
   * the next opening. Without space it rejects, and no data are lost.
   */
  upkeep?(storedBytes: number, isAtRest: boolean): Promise<void>;
  /** Whether a strict write waits for the disk, if the adapter knows. */
  readonly honoursStrict?: boolean;
  /** Releases the store. Calls under way settle; later calls fail with `closed`. Idempotent. */
  close(): Promise<void>;
}

/** Options of the opening of a store. */
export interface StoreOptions {
  /** Fail with `not-found/store` if it does not exist, instead of creating it. */
  readonly mustExist?: boolean | undefined;
  /**
   * Called at most once, when the adapter finds that the open store was deleted, maybe by the browser. All later calls
   * fail with `closed`, even if there is a new store of that name.
   */
  readonly onGone?: (() => void) | undefined;
  /** Called when another handle has moved a ref, by adapters that find out by themselves. */
  readonly onMoved?: (() => void) | undefined;
  /** Called when there was no space for a change, even if it succeeded in the end. */
  readonly onFull?: (() => void) | undefined;
}

/**
 * How long storage keeps data: until the page or the process ends; as long as the browser keeps the data of the origin;
 * until its deletion.
 */
export type Lifetime = 'session' | 'origin' | 'permanent';

/** A kind of storage: opens stores by name. */
export interface Storage {
  /** How long it keeps data; absent in an adapter that does not know. */
  readonly lifetime?: Lifetime;
  /** Resolves to whether this is a private window, which deletes its storage at its end; `undefined` if unknown. */
  isPrivate?(): Promise<boolean | undefined>;
  /** Whether other tabs may have the same store open. */
  readonly isShared?: boolean;
  /** The locks by which all handles of a store announce what they use. */
  readonly locks?: Locks | undefined;
  /** Opens the store `name`. Rejects with `unsupported` only where storage is impossible: see `fallback`. */
  open(name: string, options?: StoreOptions): Promise<SegmentStore>;
  /** Deletes the store `name` and all its data; resolves even if it does not exist. */
  destroy(name: string): Promise<void>;
}

/** Encryption of stored data, made by `atRest` of `hedgerow/encryption`. */
export interface Encryption {
  /** Returns the same storage, but with sealed data. */
  over(storage: Storage): Storage;
}

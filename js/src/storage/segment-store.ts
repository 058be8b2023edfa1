/**
 * The interface of every persistence adapter. An adapter moves bytes and knows
 * nothing of trees: segments and their tables are opaque to it, and the one thing
 * that it must get right is that a `write` happens whole or not at all.
 */
import type { Locks } from '../base/locks.js';

/** When a write counts as done. */
export type Durability = 'relaxed' | 'strict';

/** A named pointer to a commit. */
export interface Ref {
  readonly name: string;
  /** Hash of the commit chunk, 32 bytes. */
  readonly commitBytes: Uint8Array;
  /** Number of times that the ref was moved; 1 after its first move. */
  readonly generation: number;
  /** Version of the store's format, see `docs/format.md`. */
  readonly format: number;
}

/** Where a ref stood when it was read before. */
export type Since = Pick<Ref, 'name' | 'generation'>;

/** A request to move a ref, granted only when it still stands where expected. */
export interface RefMove extends Ref {
  /** The generation that the ref must still have; 0 when it must not exist yet. */
  readonly expected: number;
}

/** A request to delete a ref, granted as a move is. Segments that came with its moves stay. */
export interface RefDrop {
  readonly name: string;
  readonly expected: number;
  readonly isDropped: true;
}

/** A segment to be written, with the table that tells which chunks it holds. */
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
  /** The segment itself, when it came at no cost. */
  readonly segmentBytes?: Uint8Array;
}

/** What is written in one transaction. */
export interface WriteBatch {
  readonly segments: readonly SegmentRecord[];
  readonly move?: RefMove;
  /** Other refs to be moved or deleted: all requests are granted, or nothing is written. */
  readonly also?: readonly (RefMove | RefDrop)[];
  readonly durability: Durability;
  /**
   * The change makes room: it may use the room that an adapter keeps for that. Copies make room `'later'`, if ever, by
   * the deletion of what was copied: they may use half of it.
   */
  readonly makesRoom?: boolean | 'later';
}

/** Where a ref must stand for a deletion. */
export type Fence = Pick<Ref, 'name' | 'commitBytes'>;

/** A part of a segment: its bytes from `from` up to `to`. */
export interface SegmentPart {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

/** What is read: a segment, by its id, or a part of one. */
export type SegmentRequest = number | SegmentPart;

/** The segment that is read, or of which a part is. */
export function segmentOf(wanted: SegmentRequest): number {
  return typeof wanted === 'number' ? wanted : wanted.id;
}

/** What is wanted of the bytes of a segment; of one that ends earlier, what there is. */
export function cutSegment(wanted: SegmentRequest, segmentBytes: Uint8Array): Uint8Array {
  if (typeof wanted === 'number') return segmentBytes;
  // Not `slice`, which copies nothing when it is a Node `Buffer`'s.
  return new Uint8Array(segmentBytes.subarray(wanted.from, wanted.to));
}

/** What a store holds, read in one transaction. */
export interface StoreContents {
  readonly refs: readonly Ref[];
  /** In ascending order of `id`. */
  readonly tables: readonly TableRecord[];
  /** Of all segments that are stored, known or not, in ascending order; left out with `since`. */
  readonly ids?: readonly number[];
}

/** One open store. */
export interface SegmentStore {
  /**
   * Reads all refs, and the tables of all segments except those in `known`, from
   * one consistent state. With `since`, refs that do not stand there or further on may be left
   * out, and so may segments that were written with earlier moves of these refs. Without both, tables may come from
   * copies that were made for openings; with an empty `since` they are read as they are stored.
   */
  load(known?: ReadonlySet<number>, since?: readonly Since[]): Promise<StoreContents>;
  /**
   * A number that no other caller ever gets from this store: 1, 2, 3, ... It may be for a change that
   * makes room.
   */
  reserve(makesRoom?: boolean): Promise<number>;
  /**
   * Reads segments, and parts of segments. The result has one member for each of `wanted`, in that order;
   * `undefined` where there is no such segment. A segment that is shorter than a part of it gives the bytes that it
   * has: the core finds that they are not those that it needs, and looks for another copy. So it does where a
   * segment is there and its bytes cannot be read: then there are none. The caller owns the bytes.
   */
  // A property: as a method, one that takes ids alone would compile.
  readonly read: (wanted: readonly SegmentRequest[]) => Promise<(Uint8Array | undefined)[]>;
  /**
   * What a request for a part costs, as the number of bytes that are read in the same time: by that the core
   * decides whether it asks for parts of a segment, or for all of it. Absent where nobody has measured it.
   */
  readonly requestCost?: number;
  /**
   * Writes all of `batch` in one transaction, or nothing. Resolves to `true` when it
   * is as durable as asked, to `false` (with nothing written) when `expected` of `move`, or of one
   * of `also`, is not the generation of the ref. The store keeps the bytes: nobody may change them any more.
   */
  write(batch: WriteBatch): Promise<boolean>;
  /**
   * The last moves of a ref, newest first: where it stands, then where it stood before. At least
   * `MIN_HISTORY` of them if there were so many, at most `MAX_HISTORY`. The segments of older
   * commits may be gone. The caller owns the bytes.
   */
  history(name: string): Promise<Ref[]>;
  /**
   * Deletes segments with their tables; unknown ids are ignored. A deletion that fails may have deleted
   * some of them. With a fence it is refused, with `false`, unless that stands where it should in each
   * transaction that deletes something.
   */
  delete(ids: readonly number[], fence?: Fence): Promise<boolean>;
  /**
   * The page may be suspended: lets go of what others could wait for, until the next call.
   * Calls under way go on when the page does. Absent where nothing is in anybody's way.
   */
  rest?(): void;
  /**
   * Called now and then, by one handle of all. Where storage may be full it keeps some room for changes that make room, in
   * proportion to the bytes that are stored; at rest, when nobody has written for a while, it may prepare the next
   * opening. Where there is no room left it rejects, and nothing is lost by that.
   */
  upkeep?(storedBytes: number, isAtRest: boolean): Promise<void>;
  /** Whether a strict write waits for the disk, where the adapter knows. */
  readonly honoursStrict?: boolean;
  /** Releases the store. Calls under way settle; later calls fail with `closed`. Idempotent. */
  close(): Promise<void>;
}

/** How a store is opened. */
export interface StoreOptions {
  /** Fail with `store-not-found` when it does not exist, instead of creating it. */
  readonly mustExist?: boolean | undefined;
  /**
   * Called at most once, when it is found that the open store is gone: deleted by somebody, or
   * by the browser. All later calls fail with `closed`, also when there is a new store of that
   * name.
   */
  readonly onGone?: (() => void) | undefined;
  /** Called when another handle has moved a ref, by adapters that find out by themselves. */
  readonly onMoved?: (() => void) | undefined;
  /** Called when there was no room for a change, also when it was made in the end. */
  readonly onFull?: (() => void) | undefined;
}

/**
 * How long storage keeps what is written: until the page or the process ends; as long as the browser keeps the data
 * of the origin; until somebody deletes it.
 */
export type Lifetime = 'session' | 'origin' | 'permanent';

/** A kind of storage: opens stores by name. */
export interface Storage {
  /** How long it keeps what is written; absent in an adapter that does not know. */
  readonly lifetime?: Lifetime;
  /** Whether this is a private window, whose storage is deleted with it; `undefined` where that cannot be known. */
  isPrivate?(): Promise<boolean | undefined>;
  /** Other tabs may have the same store open. */
  readonly isShared?: boolean;
  /** What all who may have the same store open have in common, to tell what they use. */
  readonly locks?: Locks | undefined;
  /** Opens the store `name`. Rejects with `unsupported` only where nothing can be stored at all: see `fallback`. */
  open(name: string, options?: StoreOptions): Promise<SegmentStore>;
  /** Deletes the store `name` and all that it holds; resolves when there is none, too. */
  destroy(name: string): Promise<void>;
}

/** Seals what is stored: made by `atRest` of `hedgerow/encryption`. */
export interface Encryption {
  /** The same storage, in which what this seals is kept. */
  over(storage: Storage): Storage;
}

/**
 * Storage that passes every call on to another, and records the traffic: an adapter as apps may write them. It sees
 * each segment with its table, and each move of a branch, so that every commit can be drawn, also later.
 */

import type { Storage } from 'hedgerow';
import { hex } from '../../js/hedgerow/src/base/hex.js';
import { readSegmentLength } from '../../js/hedgerow/src/base/read-segment-table.js';
import {
  type Chunk,
  readTableEntries,
  storedChunkOf,
} from '../../js/inspector/src/model/chunk-parser.js';

type SegmentStore = Awaited<ReturnType<Storage['open']>>;
type WriteBatch = Parameters<SegmentStore['write']>[0];

/** A commit of a branch of a store. */
export interface Recorded {
  readonly store: string;
  readonly branch: string;
  readonly root: string;
  /** The commit of the branch before; `undefined` for its first one. */
  readonly before: string | undefined;
}

export interface RecordedChunk extends Chunk {
  /** The bytes in its segment: less than its own bytes if it is packed there. */
  readonly storedBytes: number;
}

export interface RecordedSegment {
  readonly id: number;
  readonly bytes: number;
  readonly chunks: readonly string[];
  /** The number of recorded commits when it was written, and when it was deleted. */
  readonly since: number;
  until: number;
}

/** The most bytes to read of a store that was there before. */
const MOST_READ_BYTES = 64 << 20;

/** The records of one store. */
export class Book {
  readonly store: string;
  readonly chunks = new Map<string, RecordedChunk>();
  readonly segments = new Map<number, RecordedSegment>();
  /** The heads of the branches. */
  readonly heads = new Map<string, string>();
  /** Whether the store was too large to be read when it was opened. */
  isPartial = false;

  constructor(store: string) {
    this.store = store;
  }

  add(id: number, tableBytes: Uint8Array, segmentBytes: Uint8Array, since: number): void {
    if (this.segments.has(id)) return;
    const chunks: string[] = [];
    for (const entry of readTableEntries(tableBytes)) {
      const { hash, from, to } = entry;
      chunks.push(hash);
      const chunk = storedChunkOf(segmentBytes.subarray(from, to), entry);
      this.chunks.set(hash, { ...chunk, storedBytes: to - from });
    }
    const bytes = segmentBytes.length;
    this.segments.set(id, { id, bytes, chunks, since, until: Number.POSITIVE_INFINITY });
  }
}

/** Returns the branch of a ref; `undefined` for refs that are no branches. */
function branchOf(ref: string): string | undefined {
  if (ref === 'main') return ref;
  const [kind, name] = ref.split(/\/(.*)/s);
  if (kind !== 'branch' || name === undefined) return undefined;
  const branch = decodeURIComponent(name);
  return branch.startsWith('remote/') ? undefined : branch;
}

export class Recorder {
  readonly books = new Map<string, Book>();
  readonly commits: Recorded[] = [];
  readonly #onCommit: (commit: Recorded) => void;

  constructor(onCommit: (commit: Recorded) => void) {
    this.#onCommit = onCommit;
  }

  /** Returns the same storage, recorded. */
  over(storage: Storage): Storage {
    return Object.create(storage, {
      open: {
        value: async (...[name, options]: Parameters<Storage['open']>) => {
          const inner = await storage.open(name, options);
          const book = this.books.get(name) ?? new Book(name);
          this.books.set(name, book);
          await this.#readAll(book, inner);
          return this.#recorded(book, inner);
        },
      },
      destroy: {
        value: async (name: string) => {
          await storage.destroy(name);
          this.books.delete(name);
        },
      },
    }) as Storage;
  }

  /** Reads the existing contents of a store, which are never written through here. */
  async #readAll(book: Book, inner: SegmentStore): Promise<void> {
    const { refs, tables } = await inner.load();
    const unknown = tables.filter(({ id }) => !book.segments.has(id));
    const bytes = unknown.reduce((sum, { tableBytes }) => sum + readSegmentLength(tableBytes), 0);
    book.isPartial = bytes > MOST_READ_BYTES || book.isPartial;
    if (book.isPartial) return;
    const read = await inner.read(unknown.map(({ id }) => id));
    for (const [nth, { id, tableBytes }] of unknown.entries()) {
      const segmentBytes = read[nth];
      if (segmentBytes !== undefined) book.add(id, tableBytes, segmentBytes, this.commits.length);
    }
    for (const { name, commitBytes } of refs) this.#move(book, name, commitBytes, true);
  }

  #recorded(book: Book, inner: SegmentStore): SegmentStore {
    const own: Partial<SegmentStore> = {
      write: async (batch) => {
        const isWritten = await inner.write(batch);
        if (isWritten) this.#note(book, batch);
        return isWritten;
      },
      delete: async (ids, fence) => {
        const isDone = await inner.delete(ids, fence);
        for (const id of isDone ? ids : []) {
          const segment = book.segments.get(id);
          if (segment !== undefined) segment.until = this.commits.length;
        }
        return isDone;
      },
    };
    return new Proxy(inner, {
      get: (target, name) => {
        const member = Reflect.get(own, name) ?? Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  #note(book: Book, { segments, move, also = [] }: WriteBatch): void {
    for (const { id, tableBytes, segmentBytes } of segments) {
      book.add(id, tableBytes, segmentBytes, this.commits.length);
    }
    for (const ref of [...(move === undefined ? [] : [move]), ...also]) {
      if ('commitBytes' in ref) this.#move(book, ref.name, ref.commitBytes);
      else book.heads.delete(branchOf(ref.name) ?? '');
    }
  }

  /** Records a move. A commit that was there already, or on another branch, has no new chunks. */
  #move(book: Book, ref: string, commitBytes: Uint8Array, wasThere = false): void {
    const branch = branchOf(ref);
    const root = hex(commitBytes);
    const last = branch && book.heads.get(branch);
    if (branch === undefined || last === root) return;
    const isKnown = wasThere || [...book.heads.values()].includes(root);
    const before = last ?? (isKnown ? root : undefined);
    book.heads.set(branch, root);
    const commit = { store: book.store, branch, root, before };
    this.commits.push(commit);
    this.#onCommit(commit);
  }
}

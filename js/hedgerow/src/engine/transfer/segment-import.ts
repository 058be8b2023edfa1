import { sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { FORMAT, SEGMENTS_PER_WRITER, WRITE_BYTES } from '../../base/limits.js';
import type {
  Durability,
  Ref,
  RefDrop,
  RefMove,
  SegmentRecord,
  SegmentStore,
} from '../../storage/segment-store.js';
import { IMPORT_REF } from '../history/known-segments-and-refs.js';
import { writeRefs } from '../history/ref-write.js';
import type { Header } from './format.js';

interface Progress {
  readonly writer: number;
  readonly offset: number;
  readonly ordinal: number;
  readonly checksum: number;
}

const MAX_WRITER = Math.floor(Number.MAX_SAFE_INTEGER / SEGMENTS_PER_WRITER) - 1;

/**
 * The segments that an import has stored under its writer number, which no commit reaches yet, and the ref `import`,
 * whose 32 bytes are
 *
 *     writer : f64 | offset : f64 | segments : f64 | checksum of the header : f64
 *
 * All `segments` of the export before `offset` are stored.
 */
export class SegmentImport {
  readonly #segments: SegmentStore;
  readonly #durability: Durability;
  readonly #firstId: number;
  readonly #writer: number;
  /** The tables of segments that are stored or about to be, by `keyOf`. */
  readonly #tables = new Map<string, Uint8Array[]>();
  readonly #ids: number[] = [];
  #progress: Progress;
  #generation: number;
  #held: SegmentRecord[] = [];
  #heldBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #nextId: number;
  /** The number of segments that were stored before this import, and since its start. */
  readonly before: number;
  stored = 0;

  private constructor(
    segments: SegmentStore,
    durability: Durability,
    progress: Progress,
    generation: number,
    tables: readonly { readonly id: number; readonly tableBytes: Uint8Array }[],
  ) {
    this.#segments = segments;
    this.#durability = durability;
    this.#progress = progress;
    this.#generation = generation;
    this.#writer = progress.writer;
    this.#firstId = progress.writer * SEGMENTS_PER_WRITER;
    this.#nextId = this.#firstId;
    for (const { id, tableBytes } of tables) {
      this.#ids.push(id);
      this.#know(tableBytes);
      this.#nextId = Math.max(this.#nextId, id + 1);
    }
    this.before = tables.length;
  }

  /** Begins an import, or continues the import of the ref `import`, which ends at this moment. */
  static async begin(
    segments: SegmentStore,
    ref: Ref | undefined,
    durability: Durability,
  ): Promise<SegmentImport> {
    const before = ref && progressOf(ref);
    const writer = before?.writer ?? (await segments.reserve());
    const progress = before ?? { writer, offset: 0, ordinal: 0, checksum: 0 };
    const generation = ref?.generation ?? 0;
    const landing = new SegmentImport(segments, durability, progress, generation, []);
    if (!(await landing.#write([], progress))) throw toConcurrentImportError();
    // Load only now: before the move another import could still store segments.
    const { tables } = await segments.load();
    const end = landing.#firstId + SEGMENTS_PER_WRITER;
    const own = tables.filter(({ id }) => id >= landing.#firstId && id < end);
    // If some were deleted, read the export from its start to find which.
    const isComplete = own.length >= progress.ordinal;
    const from = isComplete ? progress : { writer, offset: 0, ordinal: 0, checksum: 0 };
    return new SegmentImport(segments, durability, from, landing.#generation, own);
  }

  /** The ids of all stored segments. */
  get ids(): readonly number[] {
    return this.#ids;
  }

  /** The number of segments of the export before its offset. */
  get ordinal(): number {
    return this.#progress.ordinal;
  }

  /** Returns the offset from which to read the export with this header; 0 for its start. */
  offsetOf({ checksum, length }: Header): number {
    const { checksum: known, offset } = this.#progress;
    return known === checksum && offset > length ? offset : 0;
  }

  /** Reports whether a segment with this table is stored. */
  has(tableBytes: Uint8Array): boolean {
    const found = this.#tables.get(keyOf(tableBytes)) ?? [];
    return found.some((known) => sameBytes(known, tableBytes));
  }

  #know(tableBytes: Uint8Array): void {
    const key = keyOf(tableBytes);
    this.#tables.set(key, [...(this.#tables.get(key) ?? []), tableBytes]);
  }

  /**
   * Adds a checked segment. It ends at `offset` of the export, and `ordinal` segments end there. Skips a segment that
   * is already stored.
   */
  async take(
    { tableBytes, segmentBytes }: Omit<SegmentRecord, 'id'>,
    { checksum }: Header,
    offset: number,
    ordinal: number,
  ): Promise<void> {
    if (!this.has(tableBytes)) {
      if (this.#nextId === this.#firstId + SEGMENTS_PER_WRITER) {
        throw new HedgerowError('invalid-data/export', `more than ${SEGMENTS_PER_WRITER} segments`);
      }
      // A copy, since storage keeps the bytes that it gets.
      this.#know(new Uint8Array(tableBytes));
      this.#held.push({ id: this.#nextId++, tableBytes, segmentBytes });
      this.#heldBytes += tableBytes.length + segmentBytes.length;
    }
    this.#progress = { writer: this.#writer, offset, ordinal, checksum };
    if (this.#heldBytes >= WRITE_BYTES) await this.#flush();
  }

  /** Begins to write the held segments, after the write before has ended. */
  async #flush(): Promise<void> {
    const held = this.#held;
    const progress = this.#progress;
    this.#held = [];
    this.#heldBytes = 0;
    await this.#writing;
    this.#writing = this.#write(held, progress).then((isWritten) => {
      if (!isWritten) throw toConcurrentImportError();
      this.stored += held.length;
      for (const { id } of held) this.#ids.push(id);
    });
    // The next `#flush` or `settle` awaits it and reports a failure.
    this.#writing.catch(() => {});
  }

  /** Resolves when all added segments are stored. */
  async settle(): Promise<void> {
    if (this.#held.length > 0) await this.#flush();
    await this.#writing;
  }

  async #write(segments: readonly SegmentRecord[], progress: Progress): Promise<boolean> {
    const expected = this.#generation;
    const move = moveTo(progress, expected);
    // In `also`: a segment that `move` carries would be lost with the record of `import`.
    const also = [move];
    const batch = { segments, also, durability: this.#durability };
    const isWritten = (await writeRefs(this.#segments, batch)) !== false;
    if (isWritten) this.#generation = move.generation;
    return isWritten;
  }

  /** Returns a read-only view of the store, with only the segments of this import. */
  own(): SegmentStore {
    const ids = new Set(this.#ids);
    const segments = this.#segments;
    const refuse = () => Promise.reject(new HedgerowError('blocked', 'nothing is written here'));
    return {
      load: async (known) => {
        const { tables } = await segments.load(known);
        return { refs: [], tables: tables.filter(({ id }) => ids.has(id)), ids: [...ids] };
      },
      read: (wanted) => segments.read(wanted),
      history: async () => [],
      reserve: refuse,
      write: refuse,
      delete: refuse,
      close: async () => {},
    };
  }

  /** Moves refs to the imported commits; `false` if another writer has moved one of them. */
  async finish(moves: readonly RefMove[], deletes: readonly number[]): Promise<boolean> {
    const [move, ...others] = moves;
    const also = [...others, this.#drop()];
    const durability = this.#durability;
    const batch = { segments: [], ...(move && { move }), also, durability };
    if (!(await writeRefs(this.#segments, batch))) return false;
    await this.#delete(deletes);
    return true;
  }

  /** Deletes all stored segments, unless another import continues with them. */
  async undo(): Promise<void> {
    const also = [this.#drop()];
    const batch = { segments: [], also, durability: 'relaxed', freesSpace: true } as const;
    await writeRefs(this.#segments, batch);
    await this.#delete(this.#ids);
  }

  /** Deletes segments and ignores failures: segments that stay take space until they are collected. */
  async #delete(ids: readonly number[]): Promise<void> {
    if (ids.length > 0) await this.#segments.delete(ids).catch(() => {});
  }

  #drop(): RefDrop {
    return { name: IMPORT_REF, expected: this.#generation, isDropped: true };
  }
}

function toConcurrentImportError(): HedgerowError {
  return new HedgerowError(
    'conflict',
    'another import into this store has begun: only one can go on',
  );
}

/** Returns a key of a table: the count of chunks, and half of the first hash. Only forged tables share a key. */
function keyOf(tableBytes: Uint8Array): string {
  return tableBytes.subarray(8, 28).join();
}

function moveTo({ writer, offset, ordinal, checksum }: Progress, expected: number): RefMove {
  const numbers = Float64Array.of(writer, offset, ordinal, checksum);
  const commitBytes = new Uint8Array(32);
  const view = new DataView(commitBytes.buffer);
  for (const [at, number] of numbers.entries()) view.setFloat64(8 * at, number, true);
  const generation = expected + 1;
  return { name: IMPORT_REF, commitBytes, generation, format: FORMAT, expected };
}

/** Reads the progress from the bytes of a ref; `undefined` if they are malformed. */
function progressOf({ commitBytes: { buffer, byteOffset, length } }: Ref): Progress | undefined {
  const view = new DataView(buffer, byteOffset, length);
  const [writer = 0, offset = 0, ordinal = 0, checksum = 0] = [0, 8, 16, 24].map((at) =>
    view.getFloat64(at, true),
  );
  const isWhole = [writer, offset, ordinal, checksum].every(
    (number) => Number.isSafeInteger(number) && number >= 0,
  );
  if (!isWhole || writer === 0 || writer > MAX_WRITER || ordinal > SEGMENTS_PER_WRITER) {
    return undefined;
  }
  return { writer, offset, ordinal, checksum };
}

/**
 * Reads an export into an empty store.
 *
 * Segments are checked and then stored under a writer number of their own. The ref `import` has this number and the
 * progress of the import. Each write moves the ref: the later of two imports continues, and the earlier one fails. When
 * all segments are stored, the import verifies the commits from storage, with only these segments. Then one transaction
 * moves the refs and drops `import`. Until then the store is empty, and no collection deletes the segments, so that
 * another import can continue with them.
 */

import { checkSignal, committing, until } from '../../base/abort-signal.js';
import type { ByteSource } from '../../base/byte-source.js';
import { sameBytes } from '../../base/bytes.js';
import { notify } from '../../base/call-callback-safely.js';
import { checkStoreName } from '../../base/check-options.js';
import { HedgerowError, kindOfError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { FORMAT } from '../../base/limits.js';
import { isRevoked } from '../../base/runtime-type-checks.js';
import { idb } from '../../storage/idb/idb.js';
import type {
  Durability,
  Ref,
  RefMove,
  SegmentStore,
  Storage,
} from '../../storage/segment-store.js';
import { TabMessages } from '../../storage/tabs/tab-messages.js';
import { firstGeneration } from '../history/branch-refs.js';
import { endCollections } from '../history/garbage-collection-fence.js';
import { BRANCH_REF, EMPTY_COMMIT, IMPORT_REF, REF } from '../history/known-segments-and-refs.js';
import { checkFormat } from '../verify/check-format.js';
import { errorKindOf, Inspection } from '../verify/verify-commit.js';
import { ByteReader } from './byte-reader.js';
import { holding, rootsOf } from './export.js';
import { type Header, invalid, readFrame, readHeader } from './format.js';
import type { ImportOptions } from './import-options.js';
import { ImportedSegmentChecker } from './imported-segment-checker.js';
import { SegmentImport } from './segment-import.js';

/** The source of an export: bytes, or a function that returns them from an offset on. */
export type ImportSource = ByteSource | ((offset: number) => ByteSource | Promise<ByteSource>);

/** The result of an import. */
export interface ImportResult {
  /** The root of the store, in hexadecimal: the exported one. */
  readonly root: string;
  /** The names of the store's other branches. */
  readonly branches: readonly string[];
  readonly rows: number;
  readonly stats: {
    /** The number of segments that this call stored, and that an earlier import had stored. */
    readonly segments: number;
    readonly segmentsBefore: number;
    readonly ms: number;
  };
}

/** The share of storing in the progress; verifying is the rest. */
const STORING = 0.8;

/** The store that an import writes. */
interface TargetStore {
  readonly name: string;
  readonly storage: Storage;
  readonly segments: SegmentStore;
}

/** See `importStore` in `index.ts`, which checks options and rejects at once when the signal is aborted. */
export async function runStoreImport(
  name: string,
  source: ImportSource,
  options: ImportOptions = {},
): Promise<ImportResult> {
  checkStoreName(name);
  const { storage: place = idb(), encryption, sliceMs = 8, signal } = options;
  const storage = encryption?.over(place) ?? place;
  checkSignal(signal);
  const give = giver(source);
  const read = (source: ByteSource, at: number) => ByteReader.open(source, at, signal, sliceMs);
  const open: Opens = async (at) => {
    // Ends a source that arrives after an abort.
    const late = (source: ByteSource) => {
      read(source, at).then(
        (reader) => reader.end(),
        () => {},
      );
    };
    return read(await until(give.give(at), signal, late), at);
  };
  const reader = await open(0);
  let segments: SegmentStore | undefined;
  try {
    // Read the header before `open`, which creates the store: a source that is no export must not create one.
    const header = await readHeader(reader);
    segments = await storage.open(name);
    const job = new Import({ name, storage, segments }, sliceMs, options);
    return await job.run(header, reader, give.canSeek ? open : undefined);
  } finally {
    reader.end();
    await segments?.close();
  }
}

class Import {
  readonly #startMs = performance.now();
  readonly #place: TargetStore;
  readonly #sliceMs: number;
  readonly #options: ImportOptions;
  readonly #durability: Durability;
  #bytes = 0;
  #rows = 0;

  constructor(place: TargetStore, sliceMs: number, options: ImportOptions) {
    this.#place = place;
    this.#sliceMs = sliceMs;
    this.#options = options;
    this.#durability = options.durability ?? 'relaxed';
  }

  /** Reads the parts after the header, from the offset of an earlier import if the source can `open` there. */
  async run(header: Header, reader: ByteReader, open: Opens | undefined): Promise<ImportResult> {
    const { segments } = this.#place;
    const { refs: found } = await segments.load();
    const refs = new Map(found.map((ref) => [ref.name, ref]));
    if (standingOf(refs, header) === 'done') {
      // Check the export all the same: a damaged one must fail.
      await this.#store(reader, header);
      return this.#reportExisting(header);
    }
    const landing = await SegmentImport.begin(segments, refs.get(IMPORT_REF), this.#durability);
    const offset = landing.offsetOf(header);
    if (offset === 0 || open === undefined) await this.#store(reader, header, landing);
    else {
      reader.end();
      const further = await open(offset);
      await this.#store(further, header, landing).finally(() => further.end());
    }
    return this.#finish(header, landing, refs);
  }

  /** Returns the result for a store that already equals the export. */
  async #reportExisting(header: Header): Promise<ImportResult> {
    const { branchHead } = await Inspection.of(this.#place.segments, this.#sliceMs);
    this.#rows = (await branchHead.shared.openView(mainOf(header))).rows;
    return this.#result(header, 0, 0);
  }

  /** Reads and checks all segments, and stores them if `landing` is given. */
  async #store(reader: ByteReader, header: Header, landing?: SegmentImport): Promise<void> {
    const checker = await ImportedSegmentChecker.create(this.#sliceMs);
    const isTable = (tableBytes: Uint8Array) => checker.isTable(tableBytes);
    let mayRestart = reader.at > header.length;
    let ordinal = mayRestart ? (landing?.ordinal ?? 0) : 0;
    try {
      for (;;) {
        checkSignal(this.#options.signal);
        const start = reader.at;
        const frame = await readFrame(reader, ordinal, isTable, mayRestart);
        this.#tell(header, reader.at);
        if (frame.kind === 'end') break;
        if (frame.kind === 'header') {
          // The source should have begun further on, but began at its start.
          const { length, checksum } = frame.header;
          reader.restartAt(length);
          if (checksum !== header.checksum) throw invalid('another export than before', 0);
          ordinal = 0;
        } else {
          const { tableBytes, segmentBytes } = frame;
          if (!landing?.has(tableBytes)) {
            if (!(await checker.isWhole(tableBytes, segmentBytes))) {
              throw new HedgerowError(
                'corrupt-chunk',
                `segment ${ordinal} of the export is damaged: export again`,
                {
                  offset: start,
                },
              );
            }
          }
          ordinal += 1;
          await landing?.take(frame, header, reader.at, ordinal);
        }
        mayRestart = false;
      }
      if (!(await reader.isAtEnd())) throw invalid('bytes follow the end', reader.at);
    } catch (cause) {
      // Store the sound segments for the next import.
      await landing?.settle().catch(() => {});
      throw cause;
    }
    await landing?.settle();
  }

  /** Verifies the stored segments, then moves the refs to them, or deletes them. */
  async #finish(
    header: Header,
    landing: SegmentImport,
    refs: ReadonlyMap<string, Ref>,
  ): Promise<ImportResult> {
    // Collections that began before the ref `import` existed might still delete its segments.
    await endCollections(this.#place.segments);
    if (!(await this.#isStill(refs.get(REF), landing))) throw await this.#beaten(landing);
    let deletes: number[];
    try {
      const live = new Set(await this.#verify(header, landing));
      deletes = landing.ids.filter((id) => !live.has(id));
    } catch (cause) {
      if (isRefusal(cause)) await landing.undo().catch(() => {});
      throw cause;
    }
    const moves = movesOf(header, refs);
    const undo = committing(this.#options.signal);
    if (!(await landing.finish(moves, deletes))) {
      undo();
      throw await this.#beaten(landing);
    }
    this.#announce(moves);
    return this.#result(header, landing.stored, landing.before);
  }

  /** Resolves to whether the main branch has not moved: else a collection may have deleted the stored segments. */
  async #isStill(main: Ref | undefined, landing: SegmentImport): Promise<boolean> {
    const { refs } = await this.#place.segments.load(new Set(landing.ids));
    return refs.find(({ name }) => name === REF)?.generation === main?.generation;
  }

  /** Gives up, since the store is not empty any more, or another import is in progress. Returns the error. */
  async #beaten(landing: SegmentImport): Promise<HedgerowError> {
    await landing.undo().catch(() => {});
    const message =
      'another tab has written to the store, or imports into it: import into another name';
    return new HedgerowError('conflict', message);
  }

  /** Verifies the imported commits; resolves to the ids of the segments that they need. */
  async #verify(header: Header, landing: SegmentImport): Promise<number[]> {
    const { signal, checkIndexes } = this.#options;
    const roots = rootsOf(header.refs);
    const inspection = await Inspection.of(landing.own(), this.#sliceMs);
    for (const [nth, commitBytes] of roots.entries()) {
      // A main branch without rows is no root.
      const isMain = sameBytes(commitBytes, mainOf(header));
      const verification = await inspection.verify(commitBytes, {
        signal,
        checkIndexes,
        onProgress: ({ rows, fraction }) => {
          if (isMain) this.#rows = rows;
          this.#tell(header, this.#bytes, (nth + fraction) / roots.length);
        },
      });
      const [first] = verification.faults;
      if (first !== undefined) {
        const { chunk, kind } = first;
        const what = kind === 'form' ? 'in the form that this library writes' : 'whole';
        throw new HedgerowError(errorKindOf(first), `the export is not ${what}`, { chunk });
      }
      if (isMain) this.#rows = verification.rows;
    }
    return holding(inspection.host, roots);
  }

  #tell(header: Header, bytes: number, verified?: number): void {
    this.#bytes = bytes;
    const { onProgress } = this.#options;
    if (onProgress === undefined) return;
    // If the exporting store was compacted during the export, the export is longer, or shorter.
    const read = verified === undefined ? Math.min(1, bytes / header.bytes) || 0 : 1;
    const fraction = STORING * read + (1 - STORING) * (verified ?? 0);
    notify(onProgress, { bytes, rows: this.#rows, fraction });
  }

  #announce(moves: readonly RefMove[]): void {
    const { name, storage } = this.#place;
    if (storage.isShared !== true) return;
    const tabs = new TabMessages(name);
    for (const move of moves) tabs.announce(move.name, move.generation);
    tabs.close();
  }

  #result(header: Header, segments: number, segmentsBefore: number): ImportResult {
    const names = header.refs.map(({ name }) => name).filter((name) => name.startsWith(BRANCH_REF));
    return {
      root: hex(mainOf(header)),
      branches: names.map((name) => name.slice(BRANCH_REF.length)),
      rows: this.#rows,
      stats: { segments, segmentsBefore, ms: performance.now() - this.#startMs },
    };
  }
}

/** Opens the source from an offset on. */
type Opens = (offset: number) => Promise<ByteReader>;

function mainOf({ refs }: Header): Uint8Array {
  return refs[0]?.commitBytes ?? EMPTY_COMMIT;
}

interface Giver {
  readonly canSeek: boolean;
  give(offset: number): ByteSource | Promise<ByteSource>;
}

function giver(source: ImportSource): Giver {
  if (typeof source === 'function') return { canSeek: true, give: source };
  if (isRevoked(source)) {
    throw new HedgerowError('invalid-argument', 'the source must be an iterable, or bytes');
  }
  if (typeof Blob !== 'undefined' && source instanceof Blob) {
    return { canSeek: true, give: (offset) => source.slice(offset) };
  }
  return { canSeek: false, give: () => source };
}

/** Reports whether a store is empty, or already equals the export; throws for any other store. */
function standingOf(refs: ReadonlyMap<string, Ref>, header: Header): 'empty' | 'done' {
  const hexOf = (name: string) => {
    const ref = refs.get(name);
    return ref && hex(ref.commitBytes);
  };
  const none = '0'.repeat(64);
  const isSame = header.refs.every(
    ({ name, commitBytes }) => (hexOf(name) ?? none) === hex(commitBytes),
  );
  const allExist = header.refs.every(({ name }) => refs.has(name));
  if (isSame && allExist) return 'done';
  const main = refs.get(REF);
  if (main !== undefined) checkFormat(main.format);
  const isEmpty = (hexOf(REF) ?? none) === none;
  const taken = header.refs.slice(1).find(({ name }) => refs.has(name));
  if (isEmpty && taken === undefined) return 'empty';
  const what = taken === undefined ? 'this one holds rows' : `this one has ${taken.name}`;
  throw new HedgerowError(
    'invalid-argument',
    `importStore needs an empty store, and ${what}: destroy() it, or take another name`,
  );
}

function movesOf(header: Header, refs: ReadonlyMap<string, Ref>): RefMove[] {
  return header.refs.map(({ name, commitBytes }) => {
    const expected = refs.get(name)?.generation ?? 0;
    const generation = name === REF ? expected + 1 : firstGeneration();
    return { name, commitBytes, generation, format: FORMAT, expected };
  });
}

/** Reports whether the export is at fault, instead of storage or the caller. */
function isRefusal(cause: unknown): boolean {
  const codes: readonly unknown[] = ['corrupt-chunk', 'missing-chunk', 'newer-version/format'];
  return codes.includes(kindOfError(cause));
}

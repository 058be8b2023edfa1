/**
 * Exports all that the head of a store reaches, and wanted branches, as a stream of bytes that `import.ts` reads
 * elsewhere.
 *
 * It holds the commits, not the segments: a collection of another handle may move chunks to new segments during the
 * export. If a segment was deleted before it was exported, the new ones follow at the end.
 */

import * as CollectFlag from '../../base/abi/collect-flag.js';
import { checkSignal, until } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { disposable } from '../../base/disposable.js';
import { HedgerowError, isMissing } from '../../base/errors.js';
import { ReleaseRegistry } from '../../base/finalization-registry.js';
import { hex } from '../../base/hex.js';
import { readSegmentLength } from '../../base/read-segment-table.js';
import {
  collectCommit,
  readCollectReply,
  startCollection,
} from '../../core/calls/garbage-collection-calls.js';
import { stepToEnd } from '../../core/count-reachable-bytes.js';
import type { Host } from '../../core/operation-host.js';
import type { Ref, TableRecord } from '../../storage/segment-store.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead } from '../history/branch-head.js';
import { findStoredRef, forkOf, holdBranch, MUTATORS_REF } from '../history/branch-refs.js';
import { BRANCH_REF, EMPTY_COMMIT, FORK_REF, REF } from '../history/known-segments-and-refs.js';
import type { ExportOptions } from './export-options.js';
import { type ExportedRef, endOf, frameLength, frameOf, headerOf, MAX_REFS } from './format.js';
import { ImportedSegmentChecker } from './imported-segment-checker.js';

/** The most passes over the segments of an export while collections delete some of them. */
const MAX_TRIES = 16;

const isEmpty = (commitBytes: Uint8Array) => commitBytes.every((byte) => byte === 0);

const copies = new ReleaseRegistry<readonly Hold[]>(releaseAll);

/** A copy of a store as bytes, which can be read once. Made by `db.backup.export()`. */
export class Export implements AsyncIterable<Uint8Array> {
  /** The root that the copy will have, in hexadecimal. */
  readonly root: string;
  /** The names of the copy's other branches. */
  readonly branches: readonly string[];
  /** The number of bytes from `from` on; more if the store is compacted during the export. */
  readonly bytes: number;
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #header: Uint8Array;
  readonly #roots: readonly Uint8Array[];
  readonly #holds: readonly Hold[];
  readonly #signal: AbortSignal | undefined;
  readonly #check: () => void;
  #tables: readonly TableRecord[];
  /** Bytes that are still to be left out. */
  #skipped: number;
  #isTaken = false;

  /** As `close`, for `using`. */
  declare readonly [Symbol.dispose]: () => void;

  /** Call `exportStore`. */
  constructor(
    branchHead: BranchHead,
    refs: readonly ExportedRef[],
    tables: readonly TableRecord[],
    holds: readonly Hold[],
    { from = 0, signal }: ExportOptions,
    check: () => void,
  ) {
    const names = refs.map(({ name }) => name).filter((name) => name.startsWith(BRANCH_REF));
    this.root = hex(refs[0]?.commitBytes ?? EMPTY_COMMIT);
    this.branches = names.map((name) => name.slice(BRANCH_REF.length));
    this.#host = branchHead.shared.host;
    this.#branchHead = branchHead;
    this.#tables = tables;
    this.#holds = holds;
    this.#signal = signal;
    this.#check = check;
    this.#roots = rootsOf(refs);
    const segmentBytes = tables.reduce((sum, one) => sum + frameLength(one.tableBytes), 0);
    this.#header = headerOf(refs, segmentBytes);
    const length = this.#header.length + segmentBytes + endOf(0).length;
    this.#skipped = Math.min(from, length);
    this.bytes = length - this.#skipped;
    copies.add(this, holds);
    disposable(Export.prototype, 'dispose', Export.prototype.close);
  }

  /** Yields the bytes in parts of up to about 600 KiB, and reads each part from storage on demand. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array, undefined> {
    if (this.#isTaken)
      throw new HedgerowError(
        'closed',
        'this export was read already: call db.backup.export() again',
      );
    this.#isTaken = true;
    const parts = this.#parts();
    const iterator: AsyncIterableIterator<Uint8Array, undefined> = {
      next: () => until(parts.next(), this.#signal),
      return: async () => {
        await parts.return(undefined);
        // If the export was never read, the generator has not released the holds.
        this.close();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /** Returns the bytes as a stream, which reads storage only as fast as it is consumed. */
  stream(): ReadableStream<Uint8Array> {
    const parts = this[Symbol.asyncIterator]();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await parts.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        cancel: async () => {
          await parts.return?.();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Releases the commits of an export that is not read to its end. Idempotent. */
  close(): void {
    this.#isTaken = true;
    copies.delete(this);
    releaseAll(this.#holds);
  }

  async *#parts(): AsyncGenerator<Uint8Array, undefined, undefined> {
    try {
      yield* this.#takeUnskipped(this.#header);
      const segments = yield* this.#frames();
      yield* this.#takeUnskipped(endOf(segments));
      return undefined;
    } finally {
      this.close();
    }
  }

  /** Yields the bytes of `part` after the ones to leave out. */
  *#takeUnskipped(part: Uint8Array): Generator<Uint8Array, void, undefined> {
    const skipped = Math.min(this.#skipped, part.length);
    this.#skipped -= skipped;
    if (skipped < part.length) yield part.subarray(skipped);
  }

  /** Yields all segments with their tables; returns the number of segments. */
  async *#frames(): AsyncGenerator<Uint8Array, number, undefined> {
    const checker = await ImportedSegmentChecker.create(this.#host.sliceMs);
    const sent = new Set<number>();
    let isWhole = false;
    for (let tries = 0; !isWhole; tries++) {
      if (tries === MAX_TRIES)
        throw new HedgerowError(
          'conflict',
          'segments kept moving while they were exported: try again when less is written',
        );
      if (tries > 0) {
        await this.#branchHead.inventory.load();
        this.#tables = await tablesOf(this.#branchHead, this.#roots);
      }
      isWhole = true;
      const left = this.#tables.filter(({ id }) => !sent.has(id));
      let ahead: Promise<Uint8Array | undefined> | undefined;
      for (const [at, { id, tableBytes }] of left.entries()) {
        checkSignal(this.#signal);
        this.#check();
        const length = frameLength(tableBytes);
        if (length <= this.#skipped) {
          this.#skipped -= length;
          sent.add(id);
          continue;
        }
        const segmentBytes = await (ahead ?? this.#read(id));
        const next = left[at + 1];
        ahead = next && this.#read(next.id);
        // The next turn of the loop awaits it and reports a failure.
        ahead?.catch(() => {});
        if (segmentBytes === undefined) {
          isWhole = false;
          continue;
        }
        await checkSegment(checker, tableBytes, segmentBytes);
        yield* this.#takeUnskipped(frameOf(sent.size, tableBytes));
        yield* this.#takeUnskipped(segmentBytes);
        sent.add(id);
      }
    }
    return sent.size;
  }

  async #read(id: number): Promise<Uint8Array | undefined> {
    return (await this.#host.segments.read([id]))[0];
  }
}

function releaseAll(holds: readonly Hold[]): void {
  for (const hold of holds) hold.release();
}

async function checkSegment(
  checker: ImportedSegmentChecker,
  tableBytes: Uint8Array,
  segmentBytes: Uint8Array,
): Promise<void> {
  const isLong = segmentBytes.length === readSegmentLength(tableBytes);
  if (isLong && (await checker.isWhole(tableBytes, segmentBytes))) return;
  throw new HedgerowError(
    'corrupt-chunk',
    'what is stored is damaged: see db.health.verify() and db.health.repair()',
  );
}

/** Returns the commits that refs name, each once. */
export function rootsOf(refs: readonly ExportedRef[]): Uint8Array[] {
  const roots = new Map(refs.map(({ commitBytes }) => [hex(commitBytes), commitBytes]));
  return [...roots.values()].filter((commitBytes) => !isEmpty(commitBytes));
}

/** Finds the ids of the segments with chunks that commits reach, in ascending order. */
export async function holding(host: Host, roots: readonly Uint8Array[]): Promise<number[]> {
  if (roots.length === 0) return [];
  const { engine } = host;
  const op = startCollection(engine, CollectFlag.survey | CollectFlag.full, 0);
  try {
    for (const commitBytes of roots) collectCommit(engine, op, commitBytes);
    return await stepToEnd(host, op, () => readCollectReply(engine).segments);
  } finally {
    engine.free(op);
  }
}

async function tablesOf(
  { shared }: BranchHead,
  roots: readonly Uint8Array[],
): Promise<readonly TableRecord[]> {
  const { host, inventory } = shared;
  if (!host.engine.isReady) await shared.ready();
  for (let tries = 1; ; tries++) {
    try {
      const ids = new Set(await holding(host, roots));
      const others = new Set([...inventory.known].filter((id) => !ids.has(id)));
      const { tables } = await host.segments.load(others);
      // If a segment is deleted later, its read reports that.
      return tables.filter(({ id }) => ids.has(id));
    } catch (cause) {
      if (!isMissing(cause) || tries === MAX_TRIES) throw cause;
      // Another handle has moved the missing chunk.
      await inventory.load();
    }
  }
}

/** Holds the heads of the other branches, and the commits of their forks. */
async function holdOthers(
  branchHead: BranchHead,
  wanted: ExportOptions['branches'],
  holds: Hold[],
): Promise<ExportedRef[]> {
  if (wanted === undefined || wanted === false) return [];
  const refs = await branchHead.shared.queueWork(() => branchHead.inventory.look());
  // The queue of mutators belongs to this device: two devices with one queue would give their calls the same ids.
  const all = [...refs.keys()].filter(
    (name) => name.startsWith(BRANCH_REF) && !name.startsWith(MUTATORS_REF),
  );
  const names = wanted === true ? all.map((name) => name.slice(BRANCH_REF.length)) : wanted;
  // This branch becomes the main branch of the copy.
  const others = new Set([...names].filter((name) => name !== branchHead.branchName));
  if (others.has(REF)) {
    throw new HedgerowError(
      'invalid-argument',
      `${REF} cannot come along: in the copy ${branchHead.branchName} becomes ${REF}`,
    );
  }
  const found: ExportedRef[] = [];
  for (const name of others) {
    const { commitBytes, release } = await holdBranch(branchHead, name);
    holds.push({ release });
    found.push({ name: BRANCH_REF + name, commitBytes });
  }
  // Leave out forks of this branch, unless it is the main one: in the copy it has another name.
  const known = [...others, ...(branchHead.ref === REF ? [REF] : [])];
  const forks = new Set(known.flatMap((one) => known.map((parent) => forkOf(one, parent))));
  for (const name of refs.keys()) {
    if (!name.startsWith(FORK_REF) || !forks.has(name)) continue;
    const held = await holdRef(branchHead, name);
    if (held === undefined) continue;
    holds.push(held.hold);
    found.push({ name, commitBytes: held.ref.commitBytes });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Holds the commit of a ref; `undefined` if the ref does not exist. */
async function holdRef(
  branchHead: BranchHead,
  name: string,
): Promise<{ ref: Ref; hold: Hold } | undefined> {
  for (;;) {
    const ref = await findStoredRef(branchHead, name);
    if (ref === undefined) return undefined;
    const hold = await branchHead.shared.hold(ref.commitBytes);
    // All chunks of the commit are stored if the ref still points to it: see `tabs/pins.ts`.
    const again = await findStoredRef(branchHead, name);
    if (again !== undefined && sameBytes(again.commitBytes, ref.commitBytes)) return { ref, hold };
    hold.release();
  }
}

/** See `db.backup.export()`; `check` throws when the store is closed. */
export async function exportStore(
  branchHead: BranchHead,
  options: ExportOptions,
  check: () => void,
): Promise<Export> {
  const { from = 0, branches, signal } = options;
  if (!(Number.isSafeInteger(from) && from >= 0)) {
    throw new HedgerowError(
      'invalid-argument',
      'backup.export: from must be a whole number of bytes',
    );
  }
  if (branches !== undefined && typeof branches !== 'boolean' && !Array.isArray(branches)) {
    throw new HedgerowError(
      'invalid-argument',
      'backup.export: branches must be an array of names, or true for all',
    );
  }
  const holds: Hold[] = [];
  try {
    const { head, release } = await branchHead.holdHead();
    holds.push({ release });
    const main = { name: REF, commitBytes: head.commitBytes };
    const refs = [main, ...(await holdOthers(branchHead, branches, holds))];
    if (refs.length > MAX_REFS) {
      throw new HedgerowError('invalid-argument', `an export has ${MAX_REFS} branches at most`);
    }
    const tables = await tablesOf(branchHead, rootsOf(refs));
    checkSignal(signal);
    check();
    return new Export(branchHead, refs, tables, holds, options, check);
  } catch (cause) {
    releaseAll(holds);
    throw cause;
  }
}

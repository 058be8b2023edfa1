/**
 * Reads from storage and checks all that a commit reaches, and does not stop at the first fault.
 *
 * Uses a core of its own: verified chunks in the memory of the store's core prove no chunk in storage, and a
 * verification would fill that memory.
 */

import * as Level from '../../base/abi/fault-level.js';
import * as Status from '../../base/abi/status.js';
import { checkSignal } from '../../base/abort-signal.js';
import { notify } from '../../base/call-callback-safely.js';
import type { ErrorKind, HedgerowError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import type { KeyRange } from '../../base/range.js';
import { readSegmentLength } from '../../base/read-segment-table.js';
import { turn } from '../../base/slice-queue.js';
import { indexCount } from '../../core/calls/indexes.js';
import { output, total } from '../../core/calls/read-calls.js';
import { addTable, reserve } from '../../core/calls/segment-calls.js';
import { type SumTreeCalls, sumTreeCalls } from '../../core/calls/sum-tree-calls.js';
import { type VerificationCalls, verificationCalls } from '../../core/calls/verification-calls.js';
import type { Op } from '../../core/engine.js';
import { Host } from '../../core/operation-host.js';
import { startEngine } from '../../core/start-host.js';
import { fail } from '../../core/status-errors.js';
import { toldDefinition } from '../../core/sum-tree-root.js';
import type { Ref, SegmentStore } from '../../storage/segment-store.js';
import { Pins } from '../../storage/tabs/pins.js';
import { BranchHead } from '../history/branch-head.js';
import { REF } from '../history/known-segments-and-refs.js';
import { SharedStore } from '../history/state-shared-by-branches.js';
import { checkFormat } from './check-format.js';
import { checkIndex } from './index-check.js';
import { checking, type SegmentFault } from './segment-check.js';
import type { VerifyOptions } from './verify-options.js';

export type { SegmentFault } from './segment-check.js';

/** A chunk that cannot be read, and the losses; or a chunk that is not in its form. */
export interface ChunkFault {
  /** `newer-version` for a chunk that a later version of this library has written. */
  readonly code: 'corrupt-chunk' | 'missing-chunk' | 'newer-version';
  /** The hash of the chunk, in hexadecimal. */
  readonly chunk: string;
  /**
   * `commit`: the commit itself. `node`: a node of the tree of rows. `value`: a large value, or a part of one. `index`:
   * a node of an index, or, with `checkIndexes`, the root of an index that does not match the rows. `sum`: a part of a
   * sum tree; only the first fault of each tree is listed. `form`: a node or a value that can be read, but not in the
   * form that this library writes, so that stores of the same rows have different roots.
   *
   * The last three lose no row. After a repair, indexes and sum trees that follow rows are built again. A repair does
   * not change a chunk with only another form: for that, put the rows into another store.
   */
  readonly kind: 'commit' | 'node' | 'value' | 'index' | 'sum' | 'form';
  /** The name of a sum tree. */
  readonly tree?: string;
  /** Whether the sum tree follows rows. */
  readonly follows?: boolean;
  /** The level of a node, 0 for a leaf, if its parent says it. */
  readonly level?: number;
  /** The keys that the chunk covers: `{ gt, lte }`, without `gt` at the start; one key; or all, `{}`. */
  readonly range: Pick<KeyRange, 'gt' | 'gte' | 'lte'>;
  /**
   * The number of rows in that range, by the parent; `undefined` for a commit, an index and a sum tree. The rows are
   * lost, unless `kind` is `form`.
   */
  readonly rows?: number;
}

/** The faults of a ref other than the main branch. */
export interface RefFaults {
  /** `branch/<name>`, or `fork/<branch>/<parent>`, percent-encoded. */
  readonly ref: string;
  readonly faults: readonly ChunkFault[];
}

/** The result of a verification. */
export interface Verification {
  /** The verified commit: the newest in storage. */
  readonly root: string;
  /** Whether all rows, indexes and sum trees can be read and are in their form: `faults` and `others` are empty. */
  readonly ok: boolean;
  /** The sound parts: rows, nodes of all trees, large values, and the bytes of all of these, unpacked. */
  readonly rows: number;
  readonly nodes: number;
  readonly values: number;
  readonly bytes: number;
  /** Rows of a lazy clone that are only at the remote: they are no fault, and were not read. */
  readonly remoteRows: number;
  /** Faults of rows in the order of keys, then faults of indexes, then faults of sum trees. */
  readonly faults: readonly ChunkFault[];
  /** The other refs that have faults: branches, their forks, and the copies that connections keep of remotes. */
  readonly others: readonly RefFaults[];
  /** All malformed tables, and the damaged ones of the segments that were read. */
  readonly segmentFaults: readonly SegmentFault[];
}

/** Bytes of segments that a verification keeps in memory: as many as it prefetches. */
const CACHE_BYTES = 24 << 20;

/** Members of a fault in the output of the core; see `crate/src/wasm/faults.rs`. */
const FAULT_MEMBERS = 7;

/** A core with empty memory, which reads the present state of storage. */
export class Inspection {
  readonly host: Host;
  readonly branchHead: BranchHead;
  /** The ref of the main branch; `undefined` before its first commit. */
  readonly ref: Ref | undefined;
  /** All refs. */
  readonly refs: readonly Ref[];
  readonly #ids: ReadonlySet<number>;
  readonly #segmentFaults: Map<number, SegmentFault>;

  private constructor(
    host: Host,
    ref: Ref | undefined,
    refs: readonly Ref[],
    ids: ReadonlySet<number>,
    faults: Map<number, SegmentFault>,
  ) {
    this.host = host;
    this.branchHead = new BranchHead(new SharedStore(host, Pins.unseen()));
    this.ref = ref;
    this.refs = refs;
    this.#ids = ids;
    this.#segmentFaults = faults;
  }

  /** Loads the tables of all segments. `at` is the ref of the main branch, by default as storage has it. */
  static async of(segments: SegmentStore, sliceMs: number, at?: Ref): Promise<Inspection> {
    const [engine, { refs, tables }] = await Promise.all([
      startEngine(CACHE_BYTES),
      // Do not load joined tables, which an adapter may have for openings.
      segments.load(undefined, []),
    ]);
    const ref = at ?? refs.find(({ name }) => name === REF);
    if (ref !== undefined) checkFormat(ref.format);
    const faults = new Map<number, SegmentFault>();
    const lengths = new Map<number, number>();
    reserve(engine, tables);
    let start = performance.now();
    for (const { id, tableBytes } of tables) {
      if (performance.now() - start > sliceMs / 2) {
        await turn();
        start = performance.now();
      }
      if (addTable(engine, id, tableBytes)) lengths.set(id, readSegmentLength(tableBytes));
      else faults.set(id, { segment: id, what: 'table' });
    }
    const host = new Host(engine, checking(segments, lengths, faults), sliceMs);
    return new Inspection(host, ref, refs, new Set(tables.map(({ id }) => id)), faults);
  }

  /** Resolves to whether storage has another head, or new segments, since this inspection began. */
  async isOutdated(): Promise<boolean> {
    const { refs, tables } = await this.host.segments.load(this.#ids);
    const ref = refs.find(({ name }) => name === REF);
    return tables.length > 0 || ref?.generation !== this.ref?.generation;
  }

  /** Returns the faults of stored records, without segments that a collection has deleted during the inspection. */
  async #faultsOfSegments(): Promise<SegmentFault[]> {
    const faults = [...this.#segmentFaults.values()];
    if (!faults.some(({ what }) => what === 'gone')) return faults;
    const stored = new Set((await this.host.segments.load(this.#ids)).ids);
    return faults.filter(({ segment, what }) => what !== 'gone' || stored.has(segment));
  }

  /** Verifies a commit; with `isTrial` it stops at the first loss: see `isLoss`. */
  async verify(
    commitBytes: Uint8Array,
    { signal, onProgress, checkIndexes = false }: VerifyOptions,
    isTrial = false,
  ): Promise<Verification> {
    const root = hex(commitBytes);
    const found = { rows: 0, nodes: 0, values: 0, bytes: 0, remoteRows: 0 };
    const toVerification = async (faults: readonly ChunkFault[]): Promise<Verification> => {
      const segmentFaults = await this.#faultsOfSegments();
      return { root, ok: faults.length === 0, ...found, faults, others: [], segmentFaults };
    };
    let opened: { view: number; rows: number };
    try {
      opened = await this.branchHead.shared.openView(commitBytes);
    } catch (cause) {
      const fault = commitFault(root, cause);
      if (fault === undefined) throw cause;
      return toVerification([fault]);
    }
    const { engine } = this.host;
    const faults: ChunkFault[] = [];
    try {
      const trees = 1 + indexCount(engine, opened.view);
      for (let nth = 0; nth < trees && !(isTrial && faults.some(isLoss)); nth++) {
        const before = { ...found };
        await this.#tree(
          opened.view,
          nth,
          isTrial,
          signal,
          (more, { rows, nodes, values, bytes, remoteRows }) => {
            faults.push(...(nth === 0 ? more : more.map(ofIndex)));
            if (nth === 0) [found.rows, found.remoteRows] = [rows, remoteRows];
            found.nodes = before.nodes + nodes;
            found.values = before.values + values;
            found.bytes = before.bytes + bytes;
            const lost = faults.reduce(
              (sum, { kind, rows: ofFault = 0 }) => sum + (kind === 'form' ? 0 : ofFault),
              0,
            );
            const done =
              nth > 0 || opened.rows === 0
                ? nth
                : Math.min(1, (rows + remoteRows + lost) / opened.rows);
            notify(onProgress, { rows: found.rows, bytes: found.bytes, fraction: done / trees });
          },
        );
      }
      const sums = await sumTreeCalls(this.host);
      for (const name of sums.names(opened.view)) {
        if (isTrial && faults.some(isLoss)) break;
        checkSignal(signal);
        const fault = await this.#sumTree(sums, opened.view, name, signal, found);
        if (fault !== undefined) faults.push(fault);
      }
      for (let nth = 1; checkIndexes && !faults.some(isLoss) && nth < trees; nth++) {
        const chunk = await checkIndex(this.host, opened.view, nth, signal);
        if (chunk !== undefined) {
          faults.push({ code: 'corrupt-chunk', chunk, kind: 'index', range: {} });
        }
      }
      notify(onProgress, { rows: found.rows, bytes: found.bytes, fraction: 1 });
    } finally {
      engine.closeView(opened.view);
    }
    checkSignal(signal);
    return toVerification(faults);
  }

  /** Verifies a sum tree, up to its first fault. */
  async #sumTree(
    sums: SumTreeCalls,
    view: number,
    tree: string,
    signal: AbortSignal | undefined,
    found: { nodes: number; values: number },
  ): Promise<ChunkFault | undefined> {
    const before = { ...found };
    try {
      for await (const { pieces, values } of sums.verify(this.host, view, tree)) {
        found.nodes = before.nodes + pieces;
        found.values = before.values + values;
        checkSignal(signal);
      }
      return undefined;
    } catch (cause) {
      const { chunk } = cause as HedgerowError;
      const code = faultCode(cause);
      if (code === undefined || chunk === undefined) throw cause;
      const follows = toldDefinition(total(this.host.engine, view, tree)) !== '';
      return { code, chunk, kind: 'sum', tree, follows, range: {} };
    }
  }

  /** Verifies the tree of rows (0), or the nth index; with `isTrial` it stops at the first loss. */
  async #tree(
    view: number,
    nth: number,
    isTrial: boolean,
    signal: AbortSignal | undefined,
    report: (faults: ChunkFault[], tally: ReturnType<VerificationCalls['tally']>) => void,
  ): Promise<void> {
    const { engine } = this.host;
    const checks = await verificationCalls(this.host);
    const op = checks.verify(view, nth);
    const run = (budget: number) => checks.step(op, budget);
    try {
      for (let status: number = Status.yield; status !== Status.done; ) {
        await turn();
        checkSignal(signal);
        status = await this.#slice(op, run);
        if (status === Status.need) continue;
        const faults = faultsOf(output(engine));
        report(faults, checks.tally());
        if (isTrial && faults.some(isLoss)) break;
        if (status === Status.yield) this.host.prefetch(checks.ahead(op));
      }
    } finally {
      checks.free(op);
    }
  }

  async #slice(op: Op, run: (budget: number) => number): Promise<number> {
    const status = this.host.step(op, performance.now(), run);
    if (status === Status.need) await this.host.load(this.host.engine.readNeededParts());
    else if (status !== Status.done && status !== Status.yield) fail(this.host.engine, status);
    return status;
  }
}

function commitFault(chunk: string, cause: unknown): ChunkFault | undefined {
  const code = faultCode(cause);
  return code && { code, chunk, kind: 'commit', range: {} };
}

/** Reports whether a chunk is unreadable or wrong. A chunk with only another form can be read. */
export function isLoss({ kind }: ChunkFault): boolean {
  return kind !== 'form';
}

/** Reports whether an error is the fault of a chunk. */
export function isChunkFault(cause: unknown): boolean {
  return faultCode(cause) !== undefined;
}

/** Returns the code of an error, if it is the fault of a chunk. */
function faultCode(cause: unknown): ChunkFault['code'] | undefined {
  const { code, detail } = cause as HedgerowError;
  if (code === 'newer-version') return detail === 'format' ? code : undefined;
  return code === 'corrupt-chunk' || code === 'missing-chunk' ? code : undefined;
}

/** Returns the kind of the error of a fault. */
export function errorKindOf({ code }: ChunkFault): ErrorKind {
  return code === 'newer-version' ? 'newer-version/format' : code;
}

/** Returns the fault of a chunk of an index: it covers entries, not rows. */
function ofIndex({ code, chunk, level }: ChunkFault): ChunkFault {
  return { code, chunk, kind: 'index', ...(level !== undefined && { level }), range: {} };
}

const CODES = new Map<unknown, ChunkFault['code']>([
  [Status.missingChunk, 'missing-chunk'],
  [Status.unsupportedFormat, 'newer-version'],
]);

function faultsOf(members: readonly unknown[]): ChunkFault[] {
  return Array.from({ length: members.length / FAULT_MEMBERS }, (_, index) => {
    const at = index * FAULT_MEMBERS;
    const [chunk, status, level, rows, isIncluded, lower, upper] = members.slice(
      at,
      at + FAULT_MEMBERS,
    ) as [string, number, number | null, number, 0 | 1, string | null, string | null];
    const range = {
      ...(lower !== null && (isIncluded ? { gte: lower } : { gt: lower })),
      ...(upper !== null && { lte: upper }),
    };
    const code = CODES.get(status) ?? 'corrupt-chunk';
    if (level === Level.value) return { code, chunk, kind: 'value', range, rows };
    if (level === Level.form) return { code, chunk, kind: 'form', range, rows };
    return { code, chunk, kind: 'node', ...(level !== null && { level }), range, rows };
  });
}

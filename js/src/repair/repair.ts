/**
 * Repairs a damaged store: moves it back to the newest commit that verifies. If there is none, and the
 * caller says so, keeps what is left of the newest one.
 */

import { HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import { FORMAT } from '../base/limits.js';
import { encodeRange } from '../base/range.js';
import { committing } from '../base/signal.js';
import { sumEngine } from '../core/sum-engine.js';
import type { BranchHead } from '../history/branch-head.js';
import { endCollections } from '../history/fence.js';
import { REF } from '../history/inventory.js';
import { unknownLeftovers } from '../history/leftovers.js';
import { writeRefs } from '../history/ref-write.js';
import type { Durability, Ref, SegmentStore } from '../storage/segment-store.js';
import type { Hold } from '../tabs/pins.js';
import { inspect, type Pin } from '../verify/inspect.js';
import {
  type ChunkFault,
  type Inspection,
  isLoss,
  type Verification,
  type VerifyOptions,
} from '../verify/verify.js';
import { guarded, Ingest } from '../write/ingest.js';

/** Keys that a repair gave up. */
export type LostRange = ChunkFault['range'];

/** Options of a repair. */
export interface RepairOptions extends VerifyOptions {
  /**
   * If no commit verifies wholly, delete the key ranges that the damaged chunks cover, and keep the
   * rest. Without this option the repair then fails and changes nothing.
   */
  readonly salvage?: boolean | undefined;
}

/**
 * Fetches chunks that an inspection has found damaged, and stores them. Resolves to how many there were: a new inspection
 * finds them.
 */
export type Mend = (inspection: Inspection, faults: readonly ChunkFault[]) => Promise<number>;

/** The result of a repair. */
export interface RepairResult {
  /** The root of the store now, in hexadecimal. */
  readonly root: string;
  /** Commits that were given up: 0 for a sound store, and if `lost` lists all losses. */
  readonly commitsDropped: number;
  /** What was wrong with the newest commit. */
  readonly faults: readonly ChunkFault[];
  /** The key ranges that a salvage deleted, in order, and the rows that were in them. */
  readonly lost: readonly LostRange[];
  readonly rowsLost: number;
  /** Damaged chunks that came from the remote; undefined for a repair without one. */
  readonly fetched?: number | undefined;
}

/** Most attempts at a repair while other tabs commit. */
const MAX_TRIES = 8;

interface Job extends RepairOptions {
  readonly sliceMs: number;
  readonly durability: Durability;
  readonly pin: Pin;
  /** Called with the generation that the repair made. */
  readonly onCommit: (generation: number) => void;
  /** What can be fetched is not given up. */
  readonly mend?: Mend | undefined;
}

/** See `db.repair()`; `onCommit` is called with the generation that it made. */
export async function repairOpen(
  branchHead: BranchHead,
  options: RepairOptions,
  onCommit: (generation: number) => void,
  mend?: Mend,
): Promise<RepairResult> {
  const { pins, shared } = branchHead;
  const { segments, sliceMs } = shared.host;
  const repair = async () => {
    const pin: Pin = (commitBytes) => pins.use(commitBytes);
    const job = { ...options, sliceMs, durability: 'strict', pin, onCommit, mend } as const;
    const result = await repairStore(segments, job);
    // What was fetched came with no commit.
    if (result.fetched) await shared.inventory.load();
    // The older commit may have indexes and sum trees that no handle names now.
    if (result.faults.length > 0) {
      for (const one of shared.branchHeads) one.leftovers = unknownLeftovers();
    }
    await shared.keepUp();
    return result;
  };
  return branchHead.exclusively(repair, options.signal);
}

/** Repairs a store. Run it exclusively: no other call of this tab may commit meanwhile. */
export async function repairStore(segments: SegmentStore, job: Job): Promise<RepairResult> {
  let fetched = job.mend && 0;
  let mended: readonly ChunkFault[] = [];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { inspection, verification } = await inspect(segments, job.sliceMs, job.pin, job);
    const head = inspection.ref;
    const { root } = verification;
    const first = verification.faults.find(isLoss);
    const told = fetched === undefined ? {} : { fetched };
    const faults = [...mended, ...verification.faults];
    if (first === undefined || head === undefined) {
      return { root, commitsDropped: 0, faults, lost: [], rowsLost: 0, ...told };
    }
    const come = await job.mend?.(inspection, verification.faults);
    if (come) {
      fetched = (fetched ?? 0) + come;
      mended = faults;
      continue;
    }
    // This is no damage: to cut it out would destroy what a later version of this library has written.
    const later = verification.faults.find(({ code }) => code === 'unsupported-format');
    if (later !== undefined) {
      const message = 'written by a newer version of Hedgerow: update the app';
      throw new HedgerowError('unsupported-format', message, { chunk: later.chunk });
    }
    const repair = new Repair(inspection, head, verification, job);
    const result = await repair.make();
    if (result === 'beaten') continue;
    if (result !== undefined) return { ...result, ...told };
    const what = first.kind === 'commit' ? 'the newest commit' : 'a chunk of the newest commit';
    throw new HedgerowError(
      first.code,
      `${what} is damaged, and no earlier commit is sound: repair({ salvage: true }) keeps what can be read`,
      {
        chunk: first.chunk,
      },
    );
  }
  throw new HedgerowError(
    'conflict',
    `another tab wrote during each of ${MAX_TRIES} repairs: close other tabs, or try again`,
  );
}

class Repair {
  readonly #inspection: Inspection;
  readonly #head: Ref;
  readonly #verification: Verification;
  readonly #job: Job;

  constructor(inspection: Inspection, head: Ref, verification: Verification, job: Job) {
    this.#inspection = inspection;
    this.#head = head;
    this.#verification = verification;
    this.#job = job;
  }

  /** Resolves to `undefined` when nothing can be done, to `'beaten'` when another tab has moved the ref. */
  async make(): Promise<RepairResult | 'beaten' | undefined> {
    // If only what follows from the rows is damaged, drop it: later commits build it again.
    const isDerived = ({ kind, follows }: ChunkFault) => kind === 'index' || follows === true;
    if (this.#verification.faults.filter(isLoss).every(isDerived)) {
      return this.#salvage(this.#head, this.#verification);
    }
    const older = await this.#older();
    const holds: Hold[] = [];
    try {
      // Nothing else pins them. Ending all collections makes sure that later ones see these pins.
      for (const { commitBytes } of older) holds.push(await this.#job.pin(commitBytes));
      if (older.length > 0) await endCollections(this.#inspection.host.segments);
      return await this.#goBack(older);
    } finally {
      for (const { release } of holds) release();
    }
  }

  async #goBack(older: readonly Ref[]): Promise<RepairResult | 'beaten' | undefined> {
    for (const ref of older) {
      const { faults } = await this.#inspection.verify(ref.commitBytes, this.#job, true);
      if (!faults.some(isLoss)) return this.#dropTo(ref);
    }
    if (this.#job.salvage !== true) return undefined;
    for (const ref of [this.#head, ...older]) {
      const found =
        ref === this.#head
          ? this.#verification
          : await this.#inspection.verify(ref.commitBytes, this.#job);
      // If the commit or the root node is damaged, nothing is left.
      if (found.rows > 0) return this.#salvage(ref, found);
    }
    return undefined;
  }

  /** The commits before the head, newest first, each once, without empty ones. */
  async #older(): Promise<Ref[]> {
    const seen = new Set([hex(this.#head.commitBytes)]);
    const history = await this.#inspection.host.segments.history(REF);
    return history.filter(({ commitBytes, generation, format }) => {
      const root = hex(commitBytes);
      if (seen.has(root) || generation >= this.#head.generation || format > FORMAT) return false;
      seen.add(root);
      return commitBytes.some((byte) => byte !== 0);
    });
  }

  async #dropTo({ commitBytes, generation }: Ref): Promise<RepairResult | 'beaten'> {
    const { generation: expected } = this.#head;
    const move = { name: REF, commitBytes, generation: expected + 1, format: FORMAT, expected };
    const { durability, onCommit } = this.#job;
    const { segments } = this.#inspection.host;
    const undo = committing(this.#job.signal);
    if (!(await writeRefs(segments, { segments: [], move, durability }))) {
      undo();
      return 'beaten';
    }
    onCommit(move.generation);
    return this.#result(hex(commitBytes), generation, [], 0);
  }

  /**
   * Deletes the damaged ranges in one commit, from right to left: the deletion of a range reads
   * only what is to its right, which is sound by then.
   */
  async #salvage(ref: Ref, found: Verification): Promise<RepairResult | 'beaten'> {
    const { host, branchHead } = this.#inspection;
    const { durability, signal, onCommit } = this.#job;
    await branchHead.moveTo(ref.commitBytes, this.#head.generation);
    const { rows } = branchHead.head;
    const lost = together(found.faults.filter(isOfRows));
    await branchHead.shared.prepareIds();
    const sums = await sumEngine(host);
    host.bringSums = async (op) => sums.begin(op, true);
    const ingest = new Ingest(host, branchHead, durability, { signal, isUpkeep: true });
    const committed = await guarded(ingest, async () => {
      // Drops all indexes: to update them, the damaged rows would have to be read.
      ingest.extendIndexes(true, 0);
      sums.extend(ingest.op);
      for (const { tree } of found.faults) if (tree !== undefined) sums.drop(ingest.op, tree);
      for (const range of [...lost].reverse()) await ingest.drop(encodeRange(range));
      return ingest.commitNow();
    });
    onCommit(branchHead.head.generation);
    return this.#result(hex(committed.commitBytes), ref.generation, lost, rows - found.rows);
  }

  #result(
    root: string,
    generation: number,
    lost: readonly LostRange[],
    rowsLost: number,
  ): RepairResult {
    const commitsDropped = this.#head.generation - generation;
    return { root, commitsDropped, faults: this.#verification.faults, lost, rowsLost };
  }
}

/** Whether rows are lost with this fault. */
function isOfRows(fault: ChunkFault): boolean {
  return isLoss(fault) && fault.kind !== 'index' && fault.kind !== 'sum';
}

/** The ranges of faults, which are in order; ranges that touch are joined. */
function together(faults: readonly ChunkFault[]): LostRange[] {
  const ranges: LostRange[] = [];
  for (const { range } of faults) {
    const last = ranges[ranges.length - 1];
    const isSame = last !== undefined && range.gte !== undefined && last.lte === range.gte;
    const touches = last?.lte !== undefined && last.lte === range.gt;
    if (touches) ranges[ranges.length - 1] = { ...last, ...(range.lte && { lte: range.lte }) };
    else if (!isSame) ranges.push(range);
  }
  return ranges;
}

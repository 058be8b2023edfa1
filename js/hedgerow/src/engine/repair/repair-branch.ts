/** Repairs one branch: moves it back to its newest sound commit, or keeps the readable rows of the newest one. */

import { committing } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { FORMAT } from '../../base/limits.js';
import { encodeRange } from '../../base/range.js';
import { sumTreeCalls } from '../../core/calls/sum-tree-calls.js';
import type { Ref, RefDrop, RefMove } from '../../storage/segment-store.js';
import type { Hold } from '../../storage/tabs/pins.js';
import { BranchHead } from '../history/branch-head.js';
import { endCollections } from '../history/garbage-collection-fence.js';
import { BRANCH_REF, EMPTY_COMMIT, FORK_REF } from '../history/known-segments-and-refs.js';
import { writeRefs } from '../history/ref-write.js';
import {
  type ChunkFault,
  errorKindOf,
  type Inspection,
  isLoss,
  type Verification,
} from '../verify/verify-commit.js';
import { abandonOnError, Ingest } from '../write/ingest.js';
import type { LostRange, RepairJob, RepairResult } from './types.js';

type RepairFindings = Pick<Verification, 'faults' | 'rows'>;

/** A repair of one branch. */
export class Repair {
  readonly #inspection: Inspection;
  readonly #head: Ref;
  readonly #verification: RepairFindings;
  readonly #job: RepairJob;
  /** The head of the branch to repair. */
  readonly #branchHead: BranchHead;

  constructor(inspection: Inspection, head: Ref, verification: RepairFindings, job: RepairJob) {
    this.#inspection = inspection;
    this.#branchHead = new BranchHead(inspection.branchHead.shared, head.name);
    this.#head = head;
    this.#verification = verification;
    this.#job = job;
  }

  /** Resolves to `undefined` when it found no repair, to `'beaten'` when another tab has moved the ref. */
  async make(): Promise<RepairResult | 'beaten' | undefined> {
    // If only trees that follow from the rows are damaged, drop them: later commits build them again.
    const isDerived = ({ kind, follows }: ChunkFault) => kind === 'index' || follows === true;
    if (this.#verification.faults.filter(isLoss).every(isDerived)) {
      return this.#salvage(this.#head, this.#verification);
    }
    const older = await this.#older();
    const holds: Hold[] = [];
    try {
      // No other pin holds these commits. Ending all collections makes sure that later ones see these pins.
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
      // If the commit or the root node is damaged, no row is left.
      if (found.rows > 0) return this.#salvage(ref, found);
    }
    return undefined;
  }

  /** Returns the commits before the head, newest first, each once, without empty ones. */
  async #older(): Promise<Ref[]> {
    const seen = new Set([hex(this.#head.commitBytes)]);
    const history = await this.#inspection.host.segments.history(this.#head.name);
    return history.filter(({ commitBytes, generation, format }) => {
      const root = hex(commitBytes);
      if (seen.has(root) || generation >= this.#head.generation || format > FORMAT) return false;
      seen.add(root);
      return commitBytes.some((byte) => byte !== 0);
    });
  }

  async #dropTo({ commitBytes, generation }: Ref): Promise<RepairResult | 'beaten'> {
    const { generation: expected } = this.#head;
    const { name } = this.#head;
    const move = { name, commitBytes, generation: expected + 1, format: FORMAT, expected };
    const { durability, announce } = this.#job;
    const { segments } = this.#inspection.host;
    if (!(await this.#part(generation))) return 'beaten';
    const undo = committing(this.#job.signal);
    if (!(await writeRefs(segments, { segments: [], move, durability }))) {
      undo();
      return 'beaten';
    }
    announce(name, move.generation);
    return this.#result(hex(commitBytes), generation, [], 0);
  }

  /**
   * Deletes the damaged ranges in one commit, from right to left: the deletion of a range reads only chunks to its
   * right, which are sound by then.
   */
  async #salvage(ref: Ref, found: RepairFindings): Promise<RepairResult | 'beaten'> {
    const { host } = this.#inspection;
    const branchHead = this.#branchHead;
    const { durability, signal, announce } = this.#job;
    await branchHead.moveTo(ref.commitBytes, this.#head.generation);
    const { rows } = branchHead.head;
    const lost = together(found.faults.filter(isOfRows));
    const isWhole = lost.length === 0 && ref === this.#head;
    if (!isWhole && !(await this.#part(0))) return 'beaten';
    await branchHead.shared.prepareIds();
    const sums = await sumTreeCalls(host);
    host.bringSums = async (op) => sums.begin(op, true);
    const ingest = new Ingest(host, branchHead, durability, { signal, isUpkeep: true });
    const committed = await abandonOnError(ingest, async () => {
      // Drop all indexes: an update of them would read the damaged rows.
      ingest.extendIndexes(true, 0);
      sums.extend(ingest.op);
      for (const { tree } of found.faults) if (tree !== undefined) sums.drop(ingest.op, tree);
      for (const range of [...lost].reverse()) await ingest.drop(encodeRange(range));
      return ingest.commitNow();
    });
    announce(this.#head.name, branchHead.head.generation);
    return this.#result(hex(committed.commitBytes), ref.generation, lost, rows - found.rows);
  }

  /**
   * Cuts the common history of this branch and its forks, except forks at a commit that the branch keeps, of
   * `generation` or before: else a merge would delete the lost rows at the other side. `false` if a ref has moved.
   */
  async #part(generation: number): Promise<boolean> {
    const { refs, host } = this.#inspection;
    const { branchName, ref } = this.#branchHead;
    const history = await host.segments.history(ref);
    const isKept = ({ commitBytes }: Ref) =>
      history.some(
        (one) => one.generation <= generation && sameBytes(one.commitBytes, commitBytes),
      );
    const name = encodeURIComponent(branchName);
    const apart = refs.filter(
      (one) =>
        one.name.startsWith(FORK_REF) && one.name.split('/').includes(name, 1) && !isKept(one),
    );
    const also = apart.flatMap((fork): (RefMove | RefDrop)[] => {
      const { name: forkName, generation: expected } = fork;
      const move = { name: forkName, commitBytes: EMPTY_COMMIT, generation: expected + 1 };
      // A push without an answer would become the fork.
      const pushing = refs.find((one) => one.name === pushingOf(forkName));
      const drop = pushing && { name: pushing.name, expected: pushing.generation };
      return [
        { ...move, format: FORMAT, expected },
        ...(drop ? [{ ...drop, isDropped: true as const }] : []),
      ];
    });
    if (also.length === 0) return true;
    const { durability } = this.#job;
    return (await writeRefs(host.segments, { segments: [], also, durability })) !== false;
  }

  #result(
    root: string,
    generation: number,
    lost: readonly LostRange[],
    rowsLost: number,
  ): RepairResult {
    const commitsDropped = this.#head.generation - generation;
    return { root, commitsDropped, faults: this.#verification.faults, lost, rowsLost, others: [] };
  }
}

/** Makes the error for a branch without a sound commit. */
export function toUnsoundError(fault: ChunkFault, branch?: string): HedgerowError {
  const { kind, chunk } = fault;
  const newest = `the newest commit${branch === undefined ? '' : ` of the branch ${branch}`}`;
  const what = kind === 'commit' ? newest : `a chunk of ${newest}`;
  const message = `${what} is damaged, and no earlier commit is sound: repair({ salvage: true }) keeps what can be read`;
  return new HedgerowError(errorKindOf(fault), message, { chunk });
}

/** Reports whether this fault loses rows. */
function isOfRows(fault: ChunkFault): boolean {
  return isLoss(fault) && fault.kind !== 'index' && fault.kind !== 'sum';
}

/** Joins the ranges of faults, which are in order, where they touch. */
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

/** Returns the ref of the pending push from a remote's branch, for the ref of a fork. */
function pushingOf(fork: string): string {
  const [, one = ''] = fork.split('/');
  return `${BRANCH_REF}${decodeURIComponent(one)}/pushing`;
}

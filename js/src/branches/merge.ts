/**
 * Merges one branch into another: the result has what either has changed since their last common
 * ancestor, by two diffs. A ref names the ancestor. A merge moves it to the commit that was merged in,
 * which both branches now contain, so that nothing is merged twice.
 *
 * The two diffs are read in parallel, to find conflicts and resolve them. Then the core copies the
 * changed rows as they are stored, in one commit.
 */

import { sameBytes } from '../base/bytes.js';
import { type Conflict, HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import { compareKeys } from '../base/key.js';
import { FORMAT } from '../base/limits.js';
import { encodeRange } from '../base/range.js';
import { sameValue } from '../base/same-value.js';
import { turn } from '../base/scheduler.js';
import { checkSignal, committing, until } from '../base/signal.js';
import { untilWon } from '../base/timeout.js';
import { keptValue } from '../base/value.js';
import * as reads from '../core/calls/reads.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import { forkOf, holdBranch } from '../history/branch-refs.js';
import { writeRefs } from '../history/ref-write.js';
import { type Change, changesOf } from '../read/diff.js';
import { blocks } from '../read/scan.js';
import type { Durability, Ref } from '../storage/segment-store.js';
import type { Hold } from '../tabs/pins.js';
import { guarded, Ingest } from '../write/ingest.js';
import { RowGatherer } from '../write/row-gatherer.js';

/** The outcome of a conflict: a value, or `undefined` for no row. */
export type Resolution = unknown;

/** Options of a merge. */
export interface MergeOptions {
  /**
   * Returns the value that a key gets, `undefined` to delete it, or a promise of these. The promise is awaited before
   * the next call. It may be called again for the same key, when another writer was first. When it throws, or the
   * promise rejects, nothing is merged.
   */
  readonly onConflict?: ((conflict: Conflict) => Resolution | PromiseLike<Resolution>) | undefined;
  /** Instead of the store's. */
  readonly durability?: Durability | undefined;
  /** Ends the merge with `aborted`; the store is then as it was. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a merge. */
export interface MergeResult {
  /** The new root of the branch that was merged into, in hexadecimal. */
  readonly root: string;
  /** Rows that changed in it. */
  readonly applied: number;
  /** Keys that both branches had changed, to different values. */
  readonly conflicts: number;
}

interface Job extends MergeOptions {
  readonly durability: Durability;
  /** Called before the commit, when all that `onConflict` was asked is decided. */
  readonly onDecided?: (() => Promise<void>) | undefined;
}

/** Most conflicts that an error lists, and most keys in its message. */
const LISTED = 100;
const LISTED_KEYS = 5;

/** The outcome of a resolved conflict: a key, and its value, or `undefined` to delete the row. */
type Resolved = readonly [key: string, value: unknown];

/** How a conflict was resolved, in case the merge meets it again. */
interface Decision {
  readonly ours: unknown;
  readonly theirs: unknown;
  readonly value: unknown;
}

/** Merges the branch `name` into that of `branchHead`. */
export async function mergeBranch(
  branchHead: BranchHead,
  name: string,
  job: Job,
): Promise<MergeResult> {
  const decisions = new Map<string, Decision>();
  return untilWon(async (tries) => {
    checkSignal(job.signal);
    // `onConflict` must not be asked about an outdated head.
    await branchHead.shared.queued(() => branchHead.refresh());
    const theirs = await holdBranch(branchHead, name);
    try {
      const merge = new Merge(branchHead, name, theirs.commitBytes, job, decisions);
      // Other writers may keep winning: then they wait for the merge, but never for `onConflict`.
      return await (tries < 2 || tries % 2 === 1 ? merge.run() : merge.runAlone());
    } finally {
      theirs.release();
    }
  });
}

class Merge {
  readonly #branchHead: BranchHead;
  readonly #name: string;
  readonly #theirs: Uint8Array;
  readonly #job: Job;
  readonly #decisions: Map<string, Decision>;
  readonly #resolved: Resolved[] = [];
  readonly #unresolved: Conflict[] = [];
  #mayAsk = true;
  #isUndecided = false;
  #applied = 0;
  #conflicts = 0;

  constructor(
    branchHead: BranchHead,
    name: string,
    theirs: Uint8Array,
    job: Job,
    decisions: Map<string, Decision>,
  ) {
    this.#branchHead = branchHead;
    this.#name = name;
    this.#theirs = theirs;
    this.#job = job;
    this.#decisions = decisions;
    if (branchHead.branchName !== name) return;
    throw new HedgerowError('invalid-argument', 'a branch cannot be merged into itself');
  }

  /** Resolves to `undefined` when it must run again, since a ref has moved. */
  async run(): Promise<MergeResult | undefined> {
    const branchHead = this.#branchHead;
    const fork = await this.#heldFork();
    if (fork === undefined) return undefined;
    const held = await branchHead.holdHead();
    try {
      const change = await this.#prepare(fork.ref, held);
      await this.#job.onDecided?.();
      return await branchHead.exclusively(change, this.#job.signal);
    } finally {
      held.release();
      this.#end(fork);
    }
  }

  /** As `run`, while other writers of this tab wait; does not call `onConflict`. */
  async runAlone(): Promise<MergeResult | undefined> {
    this.#mayAsk = false;
    const fork = await this.#heldFork();
    if (fork === undefined) return undefined;
    const change = async () => {
      const held = await this.#branchHead.holdNow();
      try {
        const commit = await this.#prepare(fork.ref, held);
        return await commit();
      } finally {
        held.release();
      }
    };
    try {
      return await this.#branchHead.exclusively(change, this.#job.signal);
    } finally {
      this.#end(fork);
    }
  }

  readonly #views: number[] = [];

  #end(fork: Hold): void {
    for (const view of this.#views) this.#branchHead.shared.host.engine.closeView(view);
    fork.release();
  }

  async #open(commitBytes: Uint8Array): Promise<number> {
    const { view } = await this.#branchHead.shared.openView(commitBytes);
    this.#views.push(view);
    return view;
  }

  /** Compares the branches. Resolves to a function that commits, if the branch has not moved since. */
  async #prepare(fork: Ref, { head }: HeldHead): Promise<() => Promise<MergeResult | undefined>> {
    const branchHead = this.#branchHead;
    if (sameBytes(fork.commitBytes, this.#theirs)) {
      return async () => ({ root: hex(head.commitBytes), applied: 0, conflicts: 0 });
    }
    const [base, theirs] = [await this.#open(fork.commitBytes), await this.#open(this.#theirs)];
    await this.#compare(base, head.view, theirs);
    if (this.#unresolved.length > 0) {
      const conflicts = this.#unresolved;
      const keys = conflicts.slice(0, LISTED_KEYS).map(({ key }) => JSON.stringify(key));
      if (this.#conflicts > LISTED_KEYS) keys.push('...');
      const message = `${this.#conflicts} keys were changed in both branches: ${keys.join(', ')}`;
      throw new HedgerowError('conflict', message, { conflicts });
    }
    return async () => {
      // The commit must build on the head that was compared.
      const isSame = branchHead.head.generation === head.generation && !this.#isUndecided;
      return isSame ? this.#commit(fork, head, base, theirs) : undefined;
    };
  }

  /** The last common ancestor, held. */
  async #heldFork(): Promise<(Hold & { readonly ref: Ref }) | undefined> {
    const { shared, inventory } = this.#branchHead;
    const ref = this.#fork();
    const { release } = await shared.hold(ref.commitBytes);
    // It is whole if it is still the ancestor: see `tabs/pins.ts`.
    const refs = await shared.queued(() => inventory.look());
    if (refs.get(ref.name)?.generation === ref.generation) return { ref, release };
    release();
    return undefined;
  }

  /** The ref of the last common ancestor, as last read. */
  #fork(): Ref {
    const { inventory, branchName } = this.#branchHead;
    const { refs } = inventory;
    const fork =
      refs.get(forkOf(this.#name, branchName)) ?? refs.get(forkOf(branchName, this.#name));
    if (fork !== undefined) return fork;
    const message = `cannot merge: neither of ${branchName} and ${this.#name} was forked from the other`;
    throw new HedgerowError('invalid-argument', message);
  }

  async *#changes(from: number, to: number): AsyncGenerator<Change, void, void> {
    const { host } = this.#branchHead.shared;
    const start = () => ({ op: reads.diff(host.engine, from, to, encodeRange({})) });
    // `runAlone` holds the queue in which a new instance would be started: waiting for it would never end.
    if (!this.#mayAsk && !host.engine.isReady) {
      throw new HedgerowError('crashed', 'the core has crashed, and starts again: try again');
    }
    for await (const members of blocks(host, start, this.#job.signal)) yield* changesOf(members);
  }

  /** Finds what both branches have changed, and resolves conflicts. */
  async #compare(base: number, ours: number, theirs: number): Promise<void> {
    const own = this.#changes(base, ours);
    const others = this.#changes(base, theirs);
    try {
      let mine = await own.next();
      for await (const change of others) {
        while (mine.done !== true && compareKeys(mine.value.key, change.key) < 0) {
          mine = await own.next();
        }
        if (mine.done === true || mine.value.key !== change.key) this.#applied += 1;
        else await this.#both(mine.value, change);
      }
    } finally {
      await own.return();
    }
  }

  async #both(mine: Change, other: Change): Promise<void> {
    const [ours, theirs] = [newValueOf(mine), newValueOf(other)];
    if (sameValue(ours, theirs)) return;
    this.#conflicts += 1;
    const { key } = other;
    const base = 'oldValue' in other ? other.oldValue : undefined;
    const { onConflict } = this.#job;
    if (onConflict === undefined) {
      if (this.#unresolved.length < LISTED) this.#unresolved.push({ key, base, ours, theirs });
      return;
    }
    let decision = this.#decisions.get(key);
    if (!decision || !sameValue(decision.ours, ours) || !sameValue(decision.theirs, theirs)) {
      if (!this.#mayAsk) {
        this.#isUndecided = true;
        return;
      }
      const resolved = await until(onConflict({ key, base, ours, theirs }), this.#job.signal);
      const value = normal(key, resolved);
      decision = { ours, theirs, value };
      this.#decisions.set(key, decision);
    }
    const { value } = decision;
    if (!sameValue(value, ours)) this.#applied += 1;
    // A value of theirs needs no put: it comes with their other changes, as it is stored.
    if (!sameValue(value, theirs)) this.#resolved.push([key, value]);
  }

  async #commit(
    fork: Ref,
    head: Head,
    base: number,
    theirs: number,
  ): Promise<MergeResult | undefined> {
    const branchHead = this.#branchHead;
    const { host, writerQueue } = branchHead.shared;
    const { durability, signal } = this.#job;
    const { name, generation: expected } = fork;
    const commitBytes = this.#theirs;
    const move = { name, commitBytes, generation: expected + 1, format: FORMAT, expected };
    const also = [move];
    await branchHead.shared.prepareIds();
    const held = { head, release: () => {} };
    const ingest = new Ingest(host, branchHead, durability, { signal, also }, held);
    const committed = await guarded(ingest, async () => {
      await this.#feed(ingest);
      await ingest.bringIn(base, theirs);
      return ingest.commitOnce();
    });
    if (committed === undefined) {
      writerQueue.noteRace();
      await ingest.abandon();
      return undefined;
    }
    // If there was nothing to commit, only the ref of the ancestor moves.
    const isAlone = branchHead.head.generation === head.generation;
    const undo = isAlone ? committing(signal) : () => {};
    const batch = { segments: [], also, durability };
    if (isAlone && !(await writeRefs(host.segments, batch))) {
      undo();
      return undefined;
    }
    branchHead.inventory.moved(also);
    const [applied, conflicts] = [this.#applied, this.#conflicts];
    return { root: hex(committed.commitBytes), applied, conflicts };
  }

  async #feed(ingest: Ingest): Promise<void> {
    const { sliceMs } = this.#branchHead.shared.host;
    const isDelete = ([, value]: Resolved) => value === undefined;
    const puts = new RowGatherer<Resolved>('pairs', undefined, sliceMs);
    const deletes = new RowGatherer<string>('deletes', undefined, sliceMs);
    const feed = async (gatherer: {
      readonly rows: number;
      take(): Parameters<Ingest['feed']>[0];
    }) => {
      if (gatherer.rows === 0) return;
      await turn();
      await ingest.feed(gatherer.take(), performance.now());
    };
    for (const row of this.#resolved) {
      if (isDelete(row) ? deletes.add(row[0]) : puts.add(row)) {
        await feed(isDelete(row) ? deletes : puts);
      }
    }
    await feed(puts);
    await feed(deletes);
  }
}

/** The resolution of a conflict as a read would return it; throws `invalid-value` if it cannot be stored. */
function normal(key: string, resolved: unknown): unknown {
  if (resolved === undefined) return undefined;
  try {
    const kept = keptValue(resolved);
    return typeof kept === 'string' ? JSON.parse(kept) : kept;
  } catch (cause) {
    const { code, message, pointer } = cause as HedgerowError;
    const text = `onConflict, of ${JSON.stringify(key)}: ${message}`;
    throw new HedgerowError(code, text, { cause, pointer });
  }
}

function newValueOf(change: Change): unknown {
  return change.op === 'del' ? undefined : change.newValue;
}

/**
 * A three-way merge: brings the change from one commit to another (`base`, `theirs`) into the head (`ours`). It
 * compares the changed rows with the head, to find conflicts and resolve them. Then the core copies the changed rows in
 * their stored form, in one commit.
 */

import { checkSignal, committing, until } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { keptValue } from '../../base/check-value.js';
import { type Conflict, HedgerowError, kindOfError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { encodeRange } from '../../base/range.js';
import { sameValue } from '../../base/same-value.js';
import { turn } from '../../base/slice-queue.js';
import * as reads from '../../core/calls/read-calls.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import type { Sides } from '../history/branch-refs.js';
import { writeRefs } from '../history/ref-write.js';
import { type Change, changesOf } from '../read/decode-diff.js';
import { blocks } from '../read/scan.js';
import { abandonOnError, Ingest } from '../write/ingest.js';
import { RowGatherer } from '../write/row-gatherer.js';
import type { MergeOptions } from './merge-options.js';

/** A changed row, and its value in the head if this differs from the value in the base. */
export type Pair = readonly [change: Change, ours: { readonly value: unknown } | undefined];

/** The views of the three commits, and the ways to read them. */
export interface MergeViews {
  readonly host: Host;
  readonly base: number;
  readonly ours: number;
  readonly theirs: number;
  /** Reads the changes between two views, in blocks. */
  changes(from: number, to: number): AsyncGenerator<Change[], void, void>;
  /** Throws when no read would end. */
  check(): void;
}

/** The parts of a three-way merge that differ between a merge and a revert. */
export interface MergeStrategy {
  /** Resolves to `undefined` when a ref moved: begin again. */
  hold(): Promise<Sides | undefined>;
  /** Finds all rows that the change touched. */
  pairs(reading: MergeViews): AsyncGenerator<Pair, void, void>;
  /** The outcome of a conflict without `onConflict`. */
  readonly otherwise: 'fail' | 'ours';
}

/** The result of a three-way merge. */
export interface Outcome {
  readonly root: string;
  readonly rows: number;
  readonly conflicts: number;
  /** The keys of conflicts whose rows keep their value of the head. */
  readonly kept: readonly string[];
}

/** The effect that a three-way merge would have. */
export interface Preview {
  readonly changes: readonly Change[];
  readonly changed: number;
  readonly conflicts: readonly Conflict[];
}

export interface MergeJob extends MergeOptions {
  readonly durability: Durability;
  /** Called before the commit, when `onConflict` has decided all conflicts. */
  readonly onDecided?: (() => Promise<void>) | undefined;
}

/** The most conflicts that an error lists, and the most keys in its message. */
const LISTED = 100;
const LISTED_KEYS = 5;

/** A resolved conflict: a key and its value, or `undefined` to delete the row. */
type ResolvedConflict = readonly [key: string, value: unknown];

/** The resolution of a conflict, in case the merge meets the conflict again. */
export interface Decision {
  readonly ours: unknown;
  readonly theirs: unknown;
  readonly value: unknown;
}

/** The decisions of `onConflict` until now, by key, for the next try. */
export type ConflictDecisions = Map<string, Decision>;

/** One try of a merge, on the current head. */
export class ThreeWay {
  readonly #branchHead: BranchHead;
  readonly #way: MergeStrategy;
  readonly #job: MergeJob;
  readonly #decisions: ConflictDecisions;
  readonly #resolved: ResolvedConflict[] = [];
  readonly #unresolved: Conflict[] = [];
  #mayAsk = true;
  #isUndecided = false;
  readonly #kept: string[] = [];
  #rows = 0;
  #conflicts = 0;

  constructor(
    branchHead: BranchHead,
    way: MergeStrategy,
    job: MergeJob,
    decisions: ConflictDecisions,
  ) {
    this.#branchHead = branchHead;
    this.#way = way;
    this.#job = job;
    this.#decisions = decisions;
  }

  /** Resolves to `undefined` when a ref has moved and the merge must run again. */
  async run(): Promise<Outcome | undefined> {
    const branchHead = this.#branchHead;
    const sides = await this.#way.hold();
    if (sides === undefined) return undefined;
    const held = await branchHead.holdHead();
    try {
      const change = await this.#prepare(sides, held);
      await this.#job.onDecided?.();
      return await branchHead.exclusively(change, this.#job.signal);
    } finally {
      held.release();
      this.#end(sides);
    }
  }

  /** As `run`, while other writers of this tab wait; does not call `onConflict`. */
  async runAlone(): Promise<Outcome | undefined> {
    this.#mayAsk = false;
    const sides = await this.#way.hold();
    if (sides === undefined) return undefined;
    const change = async () => {
      const held = await this.#branchHead.holdNow();
      try {
        const commit = await this.#prepare(sides, held);
        return await commit();
      } finally {
        held.release();
      }
    };
    try {
      return await this.#branchHead.exclusively(change, this.#job.signal);
    } finally {
      this.#end(sides);
    }
  }

  readonly #views: number[] = [];

  #end(sides: Hold): void {
    for (const view of this.#views) this.#branchHead.shared.host.engine.closeView(view);
    sides.release();
  }

  async #open(commitBytes: Uint8Array): Promise<number> {
    const { view } = await this.#branchHead.shared.openView(commitBytes);
    this.#views.push(view);
    return view;
  }

  /** Compares the three commits. Resolves to a function that commits if the branch has not moved since. */
  async #prepare(sides: Sides, { head }: HeldHead): Promise<() => Promise<Outcome | undefined>> {
    const branchHead = this.#branchHead;
    const { baseBytes, theirsBytes } = sides;
    if (sameBytes(baseBytes, theirsBytes)) return async () => this.#outcome(head.commitBytes);
    const [base, theirs] = [await this.#open(baseBytes), await this.#open(theirsBytes)];
    await this.#compare(base, head.view, theirs);
    if (this.#unresolved.length > 0) {
      const conflicts = this.#unresolved;
      const keys = conflicts.slice(0, LISTED_KEYS).map(({ key }) => JSON.stringify(key));
      if (this.#conflicts > LISTED_KEYS) keys.push('...');
      const message = `${this.#conflicts} keys were changed in both branches: ${keys.join(', ')}`;
      throw new HedgerowError('conflict', message, { conflicts });
    }
    return async () => {
      // The commit must build on the compared head.
      const isSame = branchHead.head.generation === head.generation && !this.#isUndecided;
      return isSame ? this.#commit(sides, head, base, theirs) : undefined;
    };
  }

  #outcome(commitBytes: Uint8Array): Outcome {
    const [rows, conflicts, kept] = [this.#rows, this.#conflicts, this.#kept];
    return { root: hex(commitBytes), rows, conflicts, kept };
  }

  async *#changes(from: number, to: number): AsyncGenerator<Change[], void, void> {
    const { host } = this.#branchHead.shared;
    const start = () => ({ op: reads.diffViews(host.engine, from, to, encodeRange({})) });
    this.#check();
    for await (const members of blocks(host, start, this.#job.signal)) {
      yield [...changesOf(members)];
    }
  }

  #check(): void {
    const { engine } = this.#branchHead.shared.host;
    checkSignal(this.#job.signal);
    // `runAlone` holds the queue that would start a new instance: waiting for it would never end.
    if (!this.#mayAsk && !engine.isReady) {
      throw new HedgerowError(
        'unavailable/crashed',
        'the core has crashed, and starts again: try again',
      );
    }
  }

  #pairs(base: number, ours: number, theirs: number): AsyncGenerator<Pair, void, void> {
    const { host } = this.#branchHead.shared;
    const changes = (from: number, to: number) => this.#changes(from, to);
    const check = () => this.#check();
    return this.#way.pairs({ host, base, ours, theirs, changes, check });
  }

  /** Finds the changes of both sides, and resolves conflicts. */
  async #compare(base: number, ours: number, theirs: number): Promise<void> {
    for await (const [change, mine] of this.#pairs(base, ours, theirs)) {
      const conflict = mine && conflictOf(change, mine.value);
      if (conflict !== undefined) await this.#decide(conflict);
      else if (mine === undefined) this.#rows += 1;
    }
  }

  /** Finds the effect that `run` would have now; keeps `most` of the changes and writes no data. */
  async preview(most: number): Promise<Preview | undefined> {
    const sides = await this.#way.hold();
    if (sides === undefined) return undefined;
    const held = await this.#branchHead.holdHead();
    const { view } = held.head;
    const found = { changes: [] as Change[], changed: 0, conflicts: [] as Conflict[] };
    try {
      if (sameBytes(sides.baseBytes, sides.theirsBytes)) return found;
      const base = await this.#open(sides.baseBytes);
      const theirs = await this.#open(sides.theirsBytes);
      for await (const [change, mine] of this.#pairs(base, view, theirs)) {
        const conflict = mine && conflictOf(change, mine.value);
        if (conflict !== undefined) found.conflicts.push(conflict);
        if (mine !== undefined) continue;
        found.changed += 1;
        if (found.changed <= most) found.changes.push(change);
      }
      return found;
    } finally {
      held.release();
      this.#end(sides);
    }
  }

  async #decide(conflict: Conflict): Promise<void> {
    this.#conflicts += 1;
    const { key, ours, theirs } = conflict;
    const { onConflict } = this.#job;
    if (onConflict === undefined && this.#way.otherwise === 'ours') {
      return this.#resolve(key, ours, ours, theirs);
    }
    if (onConflict === undefined) {
      if (this.#unresolved.length < LISTED) this.#unresolved.push(conflict);
      return;
    }
    let decision = this.#decisions.get(key);
    if (!decision || !sameValue(decision.ours, ours) || !sameValue(decision.theirs, theirs)) {
      if (!this.#mayAsk) {
        this.#isUndecided = true;
        return;
      }
      const resolved = await until(onConflict(conflict), this.#job.signal);
      const value = normal(key, resolved);
      decision = { ours, theirs, value };
      this.#decisions.set(key, decision);
    }
    this.#resolve(key, decision.value, ours, theirs);
  }

  #resolve(key: string, value: unknown, ours: unknown, theirs: unknown): void {
    if (sameValue(value, ours)) this.#kept.push(key);
    else this.#rows += 1;
    // A value of theirs needs no put: the core copies it in its stored form.
    if (!sameValue(value, theirs)) this.#resolved.push([key, value]);
  }

  async #commit(
    { also }: Sides,
    head: Head,
    base: number,
    theirs: number,
  ): Promise<Outcome | undefined> {
    const branchHead = this.#branchHead;
    const { host, writerQueue } = branchHead.shared;
    const { durability, signal } = this.#job;
    await branchHead.shared.prepareIds();
    const held = { head, release: () => {} };
    const ingest = new Ingest(host, branchHead, durability, { signal }, held);
    const committed = await abandonOnError(ingest, async () => {
      await this.#feed(ingest);
      await ingest.bringIn(base, theirs);
      return ingest.commitOnce({ also });
    });
    if (committed === undefined) {
      writerQueue.noteRace();
      await ingest.abandon();
      return undefined;
    }
    // Without changes to commit, only the other refs move.
    const isAlone = also.length > 0 && branchHead.head.generation === head.generation;
    const undo = isAlone ? committing(signal) : () => {};
    const batch = { segments: [], also, durability };
    if (isAlone && !(await writeRefs(host.segments, batch))) {
      undo();
      return undefined;
    }
    branchHead.inventory.noteMoves(also);
    return this.#outcome(committed.commitBytes);
  }

  async #feed(ingest: Ingest): Promise<void> {
    const { sliceMs } = this.#branchHead.shared.host;
    const isDelete = ([, value]: ResolvedConflict) => value === undefined;
    const puts = new RowGatherer<ResolvedConflict>('pairs', undefined, sliceMs);
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

/**
 * Returns the resolution of a conflict in the form of a read; throws `invalid-argument/value` for a value that has no
 * stored form.
 */
function normal(key: string, resolved: unknown): unknown {
  if (resolved === undefined) return undefined;
  try {
    const kept = keptValue(resolved);
    return typeof kept === 'string' ? JSON.parse(kept) : kept;
  } catch (cause) {
    const { message, pointer } = cause as HedgerowError;
    const text = `onConflict, of ${JSON.stringify(key)}: ${message}`;
    throw new HedgerowError(kindOfError(cause as HedgerowError), text, { cause, pointer });
  }
}

/**
 * Returns the conflict of a row with the value `ours` in the head; `undefined` if the change gave the row the same
 * value.
 */
function conflictOf(change: Change, ours: unknown): Conflict | undefined {
  const theirs = newValueOf(change);
  if (sameValue(ours, theirs)) return undefined;
  const base = 'oldValue' in change ? change.oldValue : undefined;
  return { key: change.key, base, ours, theirs };
}

/** Returns the value of a row after a change. */
export function newValueOf(change: Change): unknown {
  return change.op === 'delete' ? undefined : change.newValue;
}

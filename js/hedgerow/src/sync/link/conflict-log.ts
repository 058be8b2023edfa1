/** The log of conflicts: rows of a separate branch, written before the merge that decided them. */

import type { Conflict } from '../../base/errors.js';
import { hex, unhex } from '../../base/hex.js';
import { listOf } from '../../base/key.js';
import { encodeRange } from '../../base/range.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import { changesOf, startDiff } from '../../engine/read/decode-diff.js';
import { blocks } from '../../engine/read/scan.js';
import { putMany } from '../../engine/write/bulk-change.js';
import type { Durability } from '../../storage/segment-store.js';
import type { ConflictDecision } from './conflict-policy.js';
import type { SyncRefs } from './link-state.js';

/** A decided conflict. A row that was absent, or was deleted, is `undefined`. */
export interface LoggedConflict extends Conflict {
  /** Orders the entries of a log, and names this one in `forgetConflicts`. */
  readonly id: string;
  readonly result: unknown;
  /** The fields that both sides had changed, with the policy `fields` and two objects. */
  readonly fields?: readonly string[] | undefined;
  /** The number of the head that brought it. */
  readonly seq: number;
}

/** JSON has no bytes, and no value for an absent row. */
type LogValue = { readonly value: unknown } | { readonly bytes: string } | undefined;

const encodeLogValue = (value: unknown): LogValue => {
  if (value === undefined) return undefined;
  return value instanceof Uint8Array ? { bytes: hex(value) } : { value };
};

function decodeLogValue(value: LogValue): unknown {
  if (value === undefined) return undefined;
  if ('value' in value) return value.value;
  return unhex(value.bytes);
}

type Entry = Record<'base' | 'ours' | 'theirs' | 'result', LogValue> &
  Pick<LoggedConflict, 'fields' | 'seq' | 'key'>;

const idOf = (seq: number, nth: number): string =>
  `${String(seq).padStart(16, '0')}/${String(nth).padStart(8, '0')}`;

/** The decisions of one pull that are not logged yet. */
export class DecisionLog {
  readonly #seq: number;
  readonly #numbers = new Map<string, number>();
  #rows: [string, Entry][] = [];

  /** `seq` is the number of the pulled head. */
  constructor(seq: number) {
    this.#seq = seq;
  }

  /** Adds a decision, in the place of an earlier one about the same key. */
  add({ key, base, ours, theirs }: Conflict, { value, fields }: ConflictDecision): void {
    const number = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, number);
    const sides = {
      base: encodeLogValue(base),
      ours: encodeLogValue(ours),
      theirs: encodeLogValue(theirs),
      result: encodeLogValue(value),
    };
    this.#rows.push([idOf(this.#seq, number), { key, seq: this.#seq, fields, ...sides }]);
  }

  /** Takes the rows that are not written yet. */
  take(): [string, Entry][] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  get size(): number {
    return this.#numbers.size;
  }
}

/** The log of a remote. Its branch is made when the first entry is written. */
export class ConflictLog {
  readonly #shared: SharedStore;
  readonly #refs: SyncRefs;
  readonly #durability: Durability;

  constructor(shared: SharedStore, refs: SyncRefs, durability: Durability) {
    this.#shared = shared;
    this.#refs = refs;
    this.#durability = durability;
  }

  async #with<T>(work: (branchHead: BranchHead) => Promise<T>): Promise<T> {
    await this.#refs.look();
    if (!this.#shared.inventory.refs.has(this.#refs.names.log)) {
      await this.#refs.move({ log: EMPTY_COMMIT }, this.#durability);
    }
    const branchHead = new BranchHead(this.#shared, this.#refs.names.log);
    branchHead.isBare = true;
    try {
      await this.#shared.queueWork(() => branchHead.refresh());
      return await work(branchHead);
    } finally {
      branchHead.leave();
    }
  }

  /** Writes the decisions. */
  async write(decisions: DecisionLog): Promise<void> {
    const rows = decisions.take();
    if (rows.length === 0) return;
    const [{ host }, durability] = [this.#shared, this.#durability];
    await this.#with((branchHead) => putMany(host, branchHead, rows, { durability }));
  }

  /** Yields all entries, the oldest first. */
  async *entries(signal?: AbortSignal): AsyncGenerator<LoggedConflict, void, void> {
    await this.#refs.look();
    const ref = this.#shared.inventory.refs.get(this.#refs.names.log);
    if (ref === undefined) return;
    const { host } = this.#shared;
    const start = async () => {
      const branchHead = new BranchHead(this.#shared, ref.name);
      try {
        await this.#shared.queueWork(() => branchHead.refresh());
        const { head, release } = await branchHead.holdHead();
        const range = encodeRange({});
        const op = await startDiff(host, branchHead, EMPTY_COMMIT, head.commitBytes, range);
        return { op, end: release };
      } finally {
        branchHead.leave();
      }
    };
    for await (const members of blocks(host, start, signal)) {
      for (const change of changesOf(members)) {
        if (change.op !== 'insert') continue;
        const { base, ours, theirs, result, ...facts } = change.newValue as Entry;
        const sides = [base, ours, theirs, result].map(decodeLogValue);
        const [was, own, other, made] = sides;
        yield { id: change.key, ...facts, base: was, ours: own, theirs: other, result: made };
      }
    }
  }

  /** Deletes these entries. */
  async forget(given: Iterable<string>): Promise<void> {
    const ids = listOf('forgetConflicts', given);
    const [{ host }, durability] = [this.#shared, this.#durability];
    await this.#with((branchHead) => putMany(host, branchHead, ids, { durability, deletes: true }));
  }
}

/**
 * The queue of calls, and the record of the server: rows of a branch of its own, which moves in one transaction with
 * the rows that it is about. One row is the record, the others are calls, and rejections that the app has not dismissed:
 *
 *     record             { record: MutatorServerRecord }
 *     call/<place>       { call: StoredCall }
 *     rejected/<place>   { rejected: StoredRejection }
 *
 * Members lie one level down, so that no index of the app has entries of them.
 */
import { sameBytes } from '../../base/bytes.js';
import { HedgerowError, isMissing } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { untilWon } from '../../base/pauses.js';
import { encodeRange } from '../../base/range.js';
import { forEachInSlices } from '../../core/for-each-in-slices.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import type { JointWrite, Partner } from '../../engine/history/joint-moves.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import { changesOf, startDiff } from '../../engine/read/decode-diff.js';
import { blocks } from '../../engine/read/scan.js';
import { OwnEdits } from '../../engine/transaction/edits.js';
import type { Durability, RefMove } from '../../storage/segment-store.js';
import { commitCarried, commitTogether } from '../link/joint-commits.js';
import type { PendingCall } from './types.js';

/** The record of the server. */
export interface MutatorServerRecord {
  readonly profileID: string;
  readonly clientGroupID: string;
  /** All tabs are one client: the queue gives the ids, so that they have no gaps. */
  readonly clientID: string;
  /** The id of the next call. */
  readonly nextID: number;
  readonly nextPlace: number;
  /** The last id that may have reached the server. */
  readonly sent: number;
  /** The last place of a call that may have reached a server, also one that has forgotten this store since. */
  readonly reached: number;
  /** Counts the requests of pushes. */
  readonly pushes: number;
  /** The last id that the server has acknowledged. */
  readonly acknowledged: number;
  /** The cookie of the rows of the server's branch. */
  readonly cookie: unknown;
  /** Whether these rows have ever come. */
  readonly isFilled: boolean;
  /** Counts the changes of that branch. */
  readonly pulls: number;
  /** The count of changes up to which the queue is replayed. */
  readonly replayed: number;
}

/** A call as it is stored. */
export interface StoredCall {
  readonly id: number;
  readonly name: string;
  readonly args: unknown;
  readonly timestamp: number;
}

/** A call, and its place in the queue. */
export interface QueuedCall extends StoredCall {
  readonly place: number;
}

/** A call without an effect, as it is stored until the app dismisses it. */
export interface StoredRejection {
  readonly call: QueuedCall;
  readonly clientID: string;
  readonly isSent: boolean;
  /** The message of the error. */
  readonly message: string;
  /** The answer of a server that has refused the call; absent if the call failed here. */
  readonly why?: unknown;
}

/** A row of the queue's branch, which has one of these members. */
interface QueueRow {
  readonly record: MutatorServerRecord;
  readonly call: StoredCall;
  readonly rejected: StoredRejection;
}

/** Copies arguments for code of the app, which may change them. */
export const copyOf = (args: unknown): unknown => JSON.parse(JSON.stringify(args));

/** The changes of the queue. */
export interface QueueEdits {
  readonly record: MutatorServerRecord;
  readonly puts?: readonly QueuedCall[];
  readonly drops?: readonly number[];
  /** Calls without an effect, and the places of such calls that the app dismisses. */
  readonly rejects?: readonly StoredRejection[];
  readonly forgets?: readonly number[];
  /** Refs that move with the queue. */
  readonly along?: readonly RefMove[];
}

/** The function that makes the edits of the queue as it is now. It throws if they no longer apply. */
export type EditQueue = (queue: Queue) => QueueEdits;

const RECORD_KEY = 'record';
const CALL_PREFIX = 'call/';
const REJECTED_PREFIX = 'rejected/';
const digitsOf = (place: number): string => String(place).padStart(16, '0');
const keyOf = (place: number): string => CALL_PREFIX + digitsOf(place);
const rejectedKeyOf = (place: number): string => REJECTED_PREFIX + digitsOf(place);

/** Returns an id of 32 digits: back ends keep ids in columns of 36. */
const unique = (): string => hex(crypto.getRandomValues(new Uint8Array(16)));

/** Makes the record of a store that the server has never seen, or no longer knows. */
export function freshRecord(before?: MutatorServerRecord): MutatorServerRecord {
  const counts = { nextID: 1, sent: 0, acknowledged: 0, cookie: null };
  const first = {
    profileID: `p${unique()}`,
    nextPlace: 1,
    reached: 0,
    pushes: 0,
    pulls: 0,
    replayed: 0,
    isFilled: false,
  };
  return { ...(before ?? first), clientGroupID: unique(), clientID: unique(), ...counts };
}

export class Queue {
  readonly head: BranchHead;
  readonly #shared: SharedStore;
  readonly #durability: Durability;
  #record: MutatorServerRecord | undefined;
  #calls = new Map<number, StoredCall>();
  #rejected = new Map<number, StoredRejection>();
  /** The commit that these were read from. */
  #at: Uint8Array = EMPTY_COMMIT;

  constructor(shared: SharedStore, ref: string, durability: Durability) {
    this.#shared = shared;
    this.#durability = durability;
    this.head = new BranchHead(shared, ref);
    this.head.isBare = true;
  }

  get record(): MutatorServerRecord {
    if (this.#record === undefined) throw new Error('the queue was not read');
    return this.#record;
  }

  get isNew(): boolean {
    return this.#record === undefined;
  }

  /** Whether another tab has moved the queue since it was read. */
  get isBehind(): boolean {
    return !sameBytes(this.head.head.commitBytes, this.#at);
  }

  /** Yields the calls of a range of places that the server has not acknowledged, in their order. */
  *waiting(after = 0, upTo = Number.POSITIVE_INFINITY): Generator<QueuedCall, void, void> {
    const { acknowledged } = this.record;
    for (const [place, call] of this.#calls) {
      if (place > upTo) return;
      if (place > after && call.id > acknowledged) yield { place, ...call };
    }
  }

  /** Lists the calls of `waiting` for the app. */
  pending(): PendingCall[] {
    return [...this.waiting()].map((call) => this.toPendingCall(call));
  }

  toPendingCall(call: QueuedCall): PendingCall {
    const { clientID, reached } = this.record;
    return { ...call, args: copyOf(call.args), clientID, isSent: call.place <= reached };
  }

  get size(): number {
    // Ids have no gaps.
    return this.record.nextID - 1 - this.record.acknowledged;
  }

  /** Lists the places of acknowledged calls, which are the first ones. */
  listAcknowledgedPlaces(): number[] {
    return [...this.#calls.keys()].slice(0, this.#calls.size - this.size);
  }

  /** Lists the rejections of calls that have left the queue. */
  listSettledRejections(): StoredRejection[] {
    const { acknowledged } = this.record;
    const isGone = (call: StoredCall | undefined) => call === undefined || call.id <= acknowledged;
    return [...this.#rejected.values()].filter(({ call }) => isGone(this.#calls.get(call.place)));
  }

  rejection(place: number): StoredRejection | undefined {
    return this.#rejected.get(place);
  }

  /** Makes the edits that take out calls which the server has not got: later calls get other ids, without gaps. */
  without(places: readonly number[]) {
    const { record } = this;
    const gone = new Set(places);
    const drops: number[] = [];
    const puts: QueuedCall[] = [];
    for (const call of this.waiting(record.reached)) {
      if (gone.has(call.place)) drops.push(call.place);
      else if (drops.length > 0) puts.push({ ...call, id: call.id - drops.length });
    }
    return { record: { ...record, nextID: record.nextID - drops.length }, puts, drops };
  }

  call(place: number): QueuedCall | undefined {
    const call = this.#calls.get(place);
    return call && { place, ...call };
  }

  /** Reads the changes of other tabs. Run it exclusively. */
  async look(): Promise<void> {
    await this.head.refresh();
    if (!this.isBehind) return;
    const { head, release } = await this.head.holdNow();
    try {
      await this.#read(this.#at, head.commitBytes).catch((cause: unknown) => {
        // The commit before may be collected by now.
        if (!isMissing(cause)) throw cause;
        return this.#read(EMPTY_COMMIT, head.commitBytes);
      });
    } finally {
      release();
    }
  }

  async #read(from: Uint8Array, to: Uint8Array): Promise<void> {
    const { host } = this.#shared;
    const isWhole = !from.some(Boolean);
    let record = isWhole ? undefined : this.#record;
    const calls = new Map(isWhole ? [] : this.#calls);
    const rejected = new Map(isWhole ? [] : this.#rejected);
    const start = async () => {
      // A new instance would wait for the queue in which this runs.
      if (!host.engine.isReady)
        throw new HedgerowError('unavailable/crashed', 'the core starts again');
      return { op: await startDiff(host, this.head, from, to, encodeRange({})) };
    };
    for await (const members of blocks(host, start, undefined)) {
      for (const change of changesOf(members)) {
        const { key } = change;
        const isCall = key.startsWith(CALL_PREFIX);
        const place = Number(key.slice((isCall ? CALL_PREFIX : REJECTED_PREFIX).length));
        if (change.op === 'delete') (isCall ? calls : rejected).delete(place);
        else {
          const row = change.newValue as QueueRow;
          if (isCall) calls.set(place, row.call);
          else if (key === RECORD_KEY) record = row.record;
          else rejected.set(place, row.rejected);
        }
      }
    }
    this.#record = record;
    this.#calls = calls;
    this.#rejected = rejected;
    this.#at = to;
  }

  /** Moves the queue together with what `commit` makes of a head; alone if that does not move. */
  together<T>(
    head: BranchHead,
    edit: EditQueue,
    commit: (partner: Partner) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const isStill = () => {
      const found = head.inventory.refs.get(head.ref)?.generation ?? 0;
      return found === head.head.generation;
    };
    const move = (write?: JointWrite) =>
      write === undefined ? this.alone(edit) : this.#moveWith(edit, isStill, write);
    return commitTogether(move, commit);
  }

  /** Changes the queue alone. Run it exclusively. */
  alone(edit: EditQueue): Promise<boolean> {
    return this.#moveWith(edit, () => true);
  }

  /** Moves the queue, by `write` or alone, again while only the queue has moved. */
  #moveWith(edit: EditQueue, isStill: () => boolean, write?: JointWrite): Promise<boolean> {
    return untilWon(async () => {
      if (await this.#commit(edit, write)) return true;
      await this.look();
      return isStill() ? undefined : false;
    });
  }

  async #commit(edit: EditQueue, write?: JointWrite): Promise<boolean> {
    // The head follows other tabs, so what was read of the queue may be older.
    if (this.isBehind) return false;
    const { record, puts = [], drops = [], rejects = [], forgets = [], along = [] } = edit(this);
    const own = new OwnEdits(this.head);
    own.put(RECORD_KEY, { record });
    await forEachInSlices(this.#shared.host, puts, ({ place, ...call }) =>
      own.put(keyOf(place), { call }),
    );
    await forEachInSlices(this.#shared.host, drops, (place) => own.delete(keyOf(place)));
    for (const rejected of rejects) own.put(rejectedKeyOf(rejected.call.place), { rejected });
    for (const place of forgets) own.delete(rejectedKeyOf(place));
    const commitBytes = await commitCarried(this.head, own, this.#durability, write, along);
    if (commitBytes === undefined) return false;
    this.#record = record;
    for (const { place, ...call } of puts) this.#calls.set(place, call);
    for (const place of drops) this.#calls.delete(place);
    for (const one of rejects) this.#rejected.set(one.call.place, one);
    for (const place of forgets) this.#rejected.delete(place);
    this.#at = commitBytes;
    return true;
  }
}

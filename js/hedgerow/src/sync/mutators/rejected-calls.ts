/** The calls without an effect, as the state of a connection lists them. */
import type { Queue, StoredRejection } from './queue.js';
import { toRejectedCall } from './rejections.js';
import type { Rejection } from './replay.js';
import type { RejectedCall } from './types.js';

/** A call that has left the queue: its stored form, and the form that the app sees. */
interface SettledCall {
  readonly stored: StoredRejection;
  readonly call: RejectedCall;
}

export class RejectedCalls {
  readonly #queue: Queue;
  /** Errors of this session, by the places of calls. Storage has their messages alone. */
  readonly #errors = new Map<number, unknown>();
  /** Calls that have left the queue, by their places. */
  #settled = new Map<number, SettledCall>();
  /** Calls that failed in the last replay, and are still in the queue, by their places. */
  #pending = new Map<number, RejectedCall>();
  #list: readonly RejectedCall[] = [];

  constructor(queue: Queue) {
    this.#queue = queue;
  }

  /**
   * Returns the list in the order of the calls: the same list until a call in it changes. A pull that has rejected calls
   * does not change it before the rows are without the effects of these calls.
   */
  get list(): readonly RejectedCall[] {
    const queue = this.#queue;
    if (queue.record.replayed !== queue.record.pulls) return this.#list;
    this.#settled = new Map(
      queue.listSettledRejections().map((stored) => [stored.call.place, this.#settle(stored)]),
    );
    const settled = [...this.#settled.values()].map(({ call }) => call);
    const isWaiting = ({ place }: RejectedCall) =>
      !this.#settled.has(place) && queue.call(place) !== undefined;
    const pending = [...this.#pending.values()].filter(isWaiting);
    const list = [...settled, ...pending].sort((a, b) => a.place - b.place);
    const old = this.#list;
    if (list.length !== old.length || list.some((call, at) => call !== old[at])) {
      this.#list = Object.freeze(list);
    }
    return this.#list;
  }

  #settle(stored: StoredRejection): SettledCall {
    const { place } = stored.call;
    const known = this.#settled.get(place);
    if (known?.stored === stored) return known;
    return { stored, call: toRejectedCall(stored, this.#errors.get(place)) };
  }

  /** Takes the calls that failed when the whole queue ran again: some of them are still in it. */
  take(rejections: readonly Rejection[]): void {
    const before = this.#pending;
    this.#pending = new Map();
    for (const { call, error } of rejections) {
      const { place } = call;
      if (this.#queue.call(place) === undefined) continue;
      const made = { ...this.#queue.toPendingCall(call), error, isPending: true };
      this.#pending.set(place, before.get(place) ?? made);
    }
  }

  /** Keeps the error of a call that is about to leave the queue. */
  noteError(place: number, error: unknown): void {
    this.#errors.set(place, error);
  }

  forget(place: number): void {
    this.#errors.delete(place);
  }
}

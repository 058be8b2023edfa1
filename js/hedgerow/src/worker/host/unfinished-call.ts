/** A call of a page, until it ends. */

import type { MessageQueue } from '../message-queue.js';
import * as Tag from '../protocol.js';
import { type IsText, ListSender } from './list-batch-sender.js';
import { toMessage } from './to-message.js';

export class UnfinishedCall {
  readonly id: number;
  readonly post: MessageQueue['post'];
  readonly #abort = new AbortController();
  readonly #outlets = new Set<ListSender>();
  /** For each callback that runs, a function that goes on once it has settled. */
  readonly #settled = new Map<number, () => void>();
  /** For each callback that gets only the newest arguments, a function that sends those it still lacks. */
  readonly #lasts: (() => void)[] = [];
  /** The numbers of its sources. */
  readonly sources: number[] = [];
  /** Goes on with a transaction whose function has returned, or thrown. */
  ran: ((isDone: boolean) => void) | undefined;
  /** Ends a watch, an iteration or a live query. */
  stop: (() => void) | undefined;
  isOver = false;

  constructor(id: number, post: MessageQueue['post']) {
    this.id = id;
    this.post = post;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason?: unknown): void {
    this.#abort.abort(reason);
  }

  /** Goes on after the page has taken a part. */
  acknowledgePart(): void {
    for (const outlet of this.#outlets) outlet.resumeAfterPart();
  }

  /** Goes on after a callback has settled. */
  settle(which: number): void {
    this.#settled.get(which)?.();
    this.#settled.delete(which);
  }

  outlet(isText: IsText): ListSender {
    const outlet = new ListSender(this.id, this.post, isText);
    this.#outlets.add(outlet);
    return outlet;
  }

  /** Sends callbacks the arguments they still lack, before the answer. */
  tellLast(): void {
    for (const tell of this.#lasts) tell();
  }

  /**
   * Calls a callback of the page; resolves when it has settled. With `hasParts`, its first argument has gone ahead in
   * parts.
   */
  tell(which: number, args: unknown[], hasParts = false): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#settled.set(which, resolve);
      const [crossing, errors] = toMessage(args);
      this.post([Tag.TELL, this.id, which, crossing, errors, hasParts]);
    });
  }

  /** Makes a callback that sends only the newest arguments: a busy page gets no backlog. */
  makeNotifier(which: number): (...args: unknown[]) => void {
    let isBusy = false;
    let next: unknown[] | undefined;
    const send = async () => {
      isBusy = true;
      for (let now = next; now !== undefined; now = next) {
        next = undefined;
        await this.tell(which, now);
      }
      isBusy = false;
    };
    this.#lasts.push(() => {
      if (next !== undefined) void this.tell(which, next);
    });
    return (...args) => {
      next = args;
      if (!isBusy) void send();
    };
  }

  /** Ends the call: the page wants no more of it. */
  end(): void {
    this.isOver = true;
    this.stop?.();
    this.ran?.(false);
    for (const outlet of this.#outlets) outlet.end();
    for (const settle of this.#settled.values()) settle();
  }
}

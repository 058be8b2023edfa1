/** A call of a page that has not ended. */

import { type IsText, ListSender } from './list-sender.js';
import type { MessageQueue } from './message-queue.js';
import * as Tag from './protocol.js';
import { toMessage } from './to-message.js';

export class OpenCall {
  readonly id: number;
  readonly post: MessageQueue['post'];
  readonly #abort = new AbortController();
  readonly #outlets = new Set<ListSender>();
  /** For each callback that was called, what goes on once it has settled. */
  readonly #settled = new Map<number, () => void>();
  /** For each callback that is told the newest news only, how to tell what waits. */
  readonly #lasts: (() => void)[] = [];
  /** The numbers of its sources. */
  readonly sources: number[] = [];
  /** Goes on with a transaction whose function has returned, or thrown. */
  ran: ((isDone: boolean) => void) | undefined;
  /** Ends what goes on after its answer. */
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

  /** The page has taken a part. */
  acknowledgePart(): void {
    for (const outlet of this.#outlets) outlet.resumeAfterPart();
  }

  /** A callback has settled. */
  settle(which: number): void {
    this.#settled.get(which)?.();
    this.#settled.delete(which);
  }

  outlet(isText: IsText): ListSender {
    const outlet = new ListSender(this.id, this.post, isText);
    this.#outlets.add(outlet);
    return outlet;
  }

  /** Tells callbacks what they were not told yet, before the answer. */
  tellLast(): void {
    for (const tell of this.#lasts) tell();
  }

  /** Calls a callback of the page; resolves when it has settled. With `hasParts` its first argument has gone ahead. */
  tell(which: number, args: unknown[], hasParts = false): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#settled.set(which, resolve);
      const [crossing, errors] = toMessage(args);
      this.post([Tag.TELL, this.id, which, crossing, errors, hasParts]);
    });
  }

  /** A callback that is told the newest news only: a page that is busy gets no backlog. */
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

  /** Nothing more is wanted of it. */
  end(): void {
    this.isOver = true;
    this.stop?.();
    this.ran?.(false);
    for (const outlet of this.#outlets) outlet.end();
    for (const settle of this.#settled.values()) settle();
  }
}

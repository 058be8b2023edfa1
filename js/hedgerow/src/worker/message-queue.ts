import { weigh } from './estimate-message-cost.js';
import { type Message, PART_BYTES } from './protocol.js';

/** The member of a `MessagePort` that the queue uses. */
export interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void;
}

type OutboxEntry = readonly [message: Message, transfer: Transferable[]];

/** Gathers the messages of a turn: a thousand calls are few posts, each quick to read. */
export class MessageQueue {
  readonly #port: Port;
  readonly #lost: (message: Message, cause: unknown) => Message | undefined;
  #posted: OutboxEntry[] = [];
  #bytes = 0;

  /** `lost` gets messages that cannot be cloned, and may return others in their place. */
  constructor(port: Port, lost: (message: Message, cause: unknown) => Message | undefined) {
    this.#port = port;
    this.#lost = lost;
  }

  /** Adds a message of about `bytes` bytes. */
  post(message: Message, bytes = weigh(message, PART_BYTES), transfer: Transferable[] = []): void {
    if (this.#bytes + bytes > PART_BYTES) this.flush();
    if (this.#posted.length === 0) queueMicrotask(() => this.flush());
    this.#posted.push([message, transfer]);
    this.#bytes += bytes;
  }

  /** Posts the gathered messages. */
  flush(): void {
    const posted = this.#posted;
    this.#posted = [];
    this.#bytes = 0;
    if (posted.length > 0) this.#send(posted);
  }

  #send(posted: readonly OutboxEntry[]): void {
    try {
      const messages = posted.map(([message]) => message);
      this.#port.postMessage(
        messages,
        posted.flatMap(([, transfer]) => transfer),
      );
    } catch (cause) {
      const [[message, transfer]] = posted as [OutboxEntry];
      // One message cannot be cloned: the others go without it.
      if (posted.length > 1) for (const one of posted) this.#send([one]);
      else {
        const instead = this.#lost(message, cause);
        if (instead !== undefined) this.#port.postMessage([instead], transfer);
      }
    }
  }
}

/** The members of a source in the page, such as the rows of a load. The worker asks for them as it takes them. */
import { CEASE, type Message, PARTS_AHEAD, PULL } from '../protocol.js';

export class PageSource implements AsyncIterable<unknown> {
  readonly #number: number;
  readonly #post: (message: Message) => void;
  readonly #parts: (readonly unknown[])[] = [];
  #asked = 0;
  #isLast = false;
  #failure: { readonly cause: unknown } | undefined;
  #wake = () => {};

  constructor(number: number, post: (message: Message) => void) {
    this.#number = number;
    this.#post = post;
  }

  /** Takes members; throws if they were not asked for. */
  take(members: unknown, isLast: unknown): void {
    if (!Array.isArray(members) || this.#asked <= 0) throw new Error('nothing was asked for');
    this.#asked -= 1;
    this.#parts.push(members);
    this.#isLast ||= isLast === true;
    this.#wake();
  }

  fail(cause: unknown): void {
    this.#failure ??= { cause };
    this.#wake();
  }

  async #next(): Promise<readonly unknown[] | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.cause;
      while (!this.#isLast && this.#asked + this.#parts.length < PARTS_AHEAD) {
        this.#asked += 1;
        this.#post([PULL, this.#number]);
      }
      const part = this.#parts.shift();
      if (part !== undefined || this.#isLast) return part;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Reads all members. */
  async all(): Promise<unknown[]> {
    const all: unknown[] = [];
    for (let part = await this.#next(); part !== undefined; part = await this.#next()) {
      for (const one of part) all.push(one);
    }
    return all;
  }

  [Symbol.asyncIterator](): AsyncIterator<unknown, undefined> {
    let part: readonly unknown[] | undefined = [];
    let at = 0;
    const done = { done: true, value: undefined } as const;
    const next = async (): Promise<IteratorResult<unknown, undefined>> => {
      while (part !== undefined && at === part.length) {
        part = await this.#next();
        at = 0;
      }
      return part === undefined ? done : { done: false, value: part[at++] };
    };
    return {
      next,
      return: async () => {
        part = undefined;
        if (!this.#isLast) this.#post([CEASE, this.#number]);
        this.#isLast = true;
        return done;
      },
    };
  }
}

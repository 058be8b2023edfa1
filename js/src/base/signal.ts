/**
 * Abort signals: what ends a call before its time, and waiting that hears of it.
 *
 * A call that takes a signal runs by `ending`: its caller hears of an abort at once, whatever is waited for
 * within, unless a commit is with storage. What runs within ends at its next look at the signal; only where it
 * waits for code of the caller must it listen, too (`until`, `AbortableWait`).
 */
import { HedgerowError } from './errors.js';

/** Reasons of this package, which callers are told as they are. */
const own = new WeakSet<object>();

/** Ends what listens to `controller`; callers are told `reason` instead of `aborted`. */
export function endWith(controller: AbortController, reason: HedgerowError): void {
  own.add(reason);
  controller.abort(reason);
}

function abortedBy({ reason }: AbortSignal): unknown {
  if (own.has(reason)) return reason;
  return new HedgerowError('aborted', 'the signal was aborted', { cause: reason });
}

/** Throws `aborted` when the signal says so. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortedBy(signal);
}

/** Calls `listener` when the signal is aborted, at once if it is; returns how to end that. */
function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** What `promise` resolves to, unless what is listened to ends the wait. */
async function raced<T>(
  promise: T | PromiseLike<T>,
  listen: (end: (reason: unknown) => void) => () => void,
): Promise<T> {
  let stop = () => {};
  const ended = new Promise<never>((_, reject) => {
    stop = listen(reject);
  });
  return Promise.race([promise, ended]).finally(stop);
}

/** What `promise` resolves to, unless the signal ends the wait; `drop` takes what comes after that. */
export async function until<T>(
  promise: T | PromiseLike<T>,
  signal: AbortSignal | undefined,
  drop: (late: T) => void = () => {},
): Promise<T> {
  if (signal === undefined) return promise;
  return raced(promise, (end) =>
    onAbort(signal, () => {
      end(abortedBy(signal));
      Promise.resolve(promise).then(drop, () => {});
    }),
  );
}

/** Waits that end together. Not a signal: Node complains of one with many listeners. */
export class Waits {
  readonly #ends = new Set<(reason: HedgerowError) => void>();
  #reason: HedgerowError | undefined;

  /** Has `end` called when they end; returns how to take that back. */
  add(end: (reason: HedgerowError) => void): () => void {
    this.#ends.add(end);
    if (this.#reason !== undefined) end(this.#reason);
    return () => this.#ends.delete(end);
  }

  /** What `promise` resolves to, unless they end before. */
  until<T>(promise: T | PromiseLike<T>): Promise<T> {
    return raced(promise, (end) => this.add(end));
  }

  /** Ends them, and those that come later. */
  end(reason: HedgerowError): void {
    this.#reason = reason;
    for (const end of this.#ends) end(reason);
  }
}

/** The members of `source`, until the signal ends the wait for the next one. */
export async function* untilEnded<T>(
  source: AsyncGenerator<T, void, void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  try {
    for (;;) {
      const next = await until(source.next(), signal);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // It may be waiting: what it holds it lets go of when that has ended.
    const ended = source.return();
    if (signal?.aborted === true) ended.catch(() => {});
    else await ended;
  }
}

/** A call that runs by `ending`. */
interface Call {
  /** A commit of it is with storage. */
  isCommitting: boolean;
  /** Tells its caller that it was ended, if it was. */
  tell(): void;
}

const calls = new WeakMap<AbortSignal, Call>();

/**
 * Runs `work` with a signal that is aborted with the caller's, or with others; the caller hears of that at once.
 * A result that comes too late is given to `drop`. `over` settles when nothing is under way any more.
 */
export function ending<T>(
  given: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
  { drop = () => {}, others }: { drop?: (late: T) => void; others?: Waits | undefined } = {},
): { readonly result: Promise<T>; readonly over: Promise<unknown> } {
  if (given === undefined && others === undefined) {
    const result = work(undefined);
    return { result, over: result };
  }
  const controller = new AbortController();
  const { signal } = controller;
  let over: Promise<unknown> = Promise.resolve();
  const result = new Promise<T>((resolve, reject) => {
    const call: Call = {
      isCommitting: false,
      tell: () => {
        if (signal.aborted && !call.isCommitting) reject(abortedBy(signal));
      },
    };
    calls.set(signal, call);
    signal.addEventListener('abort', call.tell);
    const stop = given && onAbort(given, () => controller.abort(given.reason));
    const leave = others?.add((reason) => endWith(controller, reason));
    const made = (value: T) => {
      if (signal.aborted && !call.isCommitting) drop(value);
      resolve(value);
    };
    over = work(signal)
      .then(made, reject)
      .finally(() => {
        stop?.();
        leave?.();
      });
  });
  return { result, over };
}

/**
 * A commit of the call that `signal` may end is handed to storage in this turn: from here on its outcome decides,
 * unless the returned function is called, since it was not made. Throws when the call has ended.
 */
export function committing(signal: AbortSignal | undefined): () => void {
  checkSignal(signal);
  const call = signal && calls.get(signal);
  if (call === undefined) return () => {};
  call.isCommitting = true;
  return () => {
    call.isCommitting = false;
    call.tell();
  };
}

/**
 * Waits for promises one after the other, each until the signal is aborted. Unlike a race
 * for each of them it leaves nothing behind on a promise that outlives them all.
 */
export class AbortableWait {
  readonly #signal: AbortSignal | undefined;
  #reject: ((cause: unknown) => void) | undefined;
  #failure: unknown;
  readonly #listener = () => {
    if (this.#signal !== undefined) this.#reject?.(abortedBy(this.#signal));
  };

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#listener, { once: true });
  }

  /** Makes the wait under way, or the next one, reject with `cause`. */
  fail(cause: unknown): void {
    this.#failure = cause;
    this.#reject?.(cause);
  }

  /** What `promise` resolves to, or `aborted`. */
  for<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#signal?.aborted === true) this.#listener();
      if (this.#failure !== undefined) reject(this.#failure);
      // Also when it is refused: nobody else hears of its failure.
      promise.then(resolve, reject);
    });
  }

  /** Stops listening. */
  end(): void {
    this.#signal?.removeEventListener('abort', this.#listener);
    this.#reject = undefined;
  }
}

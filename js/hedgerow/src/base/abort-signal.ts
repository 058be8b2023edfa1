/**
 * Abort signals, and the calls and waits that they end.
 *
 * A call that takes a signal runs through `ending`: its promise rejects at once on an abort, whatever the call waits
 * for, unless storage already has its commit. The work inside ends at its next check of the signal. Work that waits for
 * code of the caller must also listen to the signal (`until`, `AbortableWait`).
 */
import { HedgerowError } from './errors.js';

/** Reasons of this package: calls reject with them instead of with `aborted`. */
const own = new WeakSet<object>();

/** Aborts `controller`; calls that it ends reject with `reason` instead of `aborted`. */
export function endWith(controller: AbortController, reason: HedgerowError): void {
  own.add(reason);
  controller.abort(reason);
}

/** Returns the error of a call whose signal is aborted. */
export function abortedBy({ reason }: AbortSignal): unknown {
  if (own.has(reason)) return reason;
  return new HedgerowError('aborted', 'the signal was aborted', { cause: reason });
}

/** Throws `aborted` if the signal is aborted. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortedBy(signal);
}

/** Calls `listener` on an abort, or at once if `signal` is aborted; returns a function that stops that. */
function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Waits for `promise`, unless the listener that `listen` adds ends the wait. */
async function raceWithListener<T>(
  promise: T | PromiseLike<T>,
  listen: (end: (reason: unknown) => void) => () => void,
): Promise<T> {
  let stop = () => {};
  const ended = new Promise<never>((_, reject) => {
    stop = listen(reject);
  });
  return Promise.race([promise, ended]).finally(stop);
}

/** Waits for `promise`, unless the signal ends the wait; then `drop` gets a late result. */
export async function until<T>(
  promise: T | PromiseLike<T>,
  signal: AbortSignal | undefined,
  drop: (late: T) => void = () => {},
): Promise<T> {
  if (signal === undefined) return promise;
  return raceWithListener(promise, (end) =>
    onAbort(signal, () => {
      end(abortedBy(signal));
      Promise.resolve(promise).then(drop, () => {});
    }),
  );
}

/** Waits that end together. They use no signal, since Node warns about a signal with many listeners. */
export class Waits {
  readonly #ends = new Set<(reason: HedgerowError) => void>();
  #reason: HedgerowError | undefined;

  /** Calls `end` when the waits end; returns a function that stops that. */
  add(end: (reason: HedgerowError) => void): () => void {
    this.#ends.add(end);
    if (this.#reason !== undefined) end(this.#reason);
    return () => this.#ends.delete(end);
  }

  /** Waits for `promise`, unless the waits end first. */
  until<T>(promise: T | PromiseLike<T>): Promise<T> {
    return raceWithListener(promise, (end) => this.add(end));
  }

  /** Ends these waits, and all later ones. */
  end(reason: HedgerowError): void {
    this.#reason = reason;
    for (const end of this.#ends) end(reason);
  }
}

/** Yields the members of `source`, until the signal ends the wait for the next one. */
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
    // After an abort, do not wait: the source releases its resources when its own wait has ended.
    const ended = source.return();
    if (signal?.aborted === true) ended.catch(() => {});
    else await ended;
  }
}

/** A call that runs through `ending`. */
interface Call {
  /** Whether storage has its commit. */
  isCommitting: boolean;
  /** Rejects the promise of an aborted call, unless storage has its commit. */
  tell(): void;
}

const calls = new WeakMap<AbortSignal, Call>();

/**
 * Runs `work` with a signal that aborts with the caller's, or with `others`. `result` rejects at once then, and `drop`
 * gets a late result. `over` settles when the work has ended.
 */
export function ending<T>(
  given: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
  {
    drop = () => {},
    others,
  }: { drop?: ((late: T) => void) | undefined; others?: Waits | undefined } = {},
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
    const deliver = (value: T) => {
      if (signal.aborted && !call.isCommitting) drop(value);
      resolve(value);
    };
    over = work(signal)
      .then(deliver, reject)
      .finally(() => {
        stop?.();
        leave?.();
      });
  });
  return { result, over };
}

/**
 * Marks that the call of `signal` hands its commit to storage in this turn: from here on the outcome of the commit
 * decides. Call the returned function if the commit fails. Throws if the call was aborted before.
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

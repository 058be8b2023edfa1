/** The calls that are valid only within one function: a transaction must not end before its calls. */
import { HedgerowError } from './errors.js';

/** Microtasks after the end of a function in which a late call of its code counts as a fault. */
const AFTER_END = 8;

/** The promise of a call. It knows when a caller hears that it has settled, since `await` calls its `then`. */
class CallPromise<T> extends Promise<T> {
  onHeard: (() => void) | undefined;
  /** Runs the code that hears that it has settled. */
  resume: (<T>(code: () => T) => T) | undefined;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise.
  override then<Result = T, Failure = never>(
    onValue?: ((value: T) => Result | PromiseLike<Result>) | null,
    onError?: ((cause: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    const runListener = <R>(code: () => R): R => {
      this.onHeard?.();
      return this.resume === undefined ? code() : this.resume(code);
    };
    return super.then(
      (value) => runListener(() => (onValue ? onValue(value) : (value as unknown as Result))),
      (cause: unknown) =>
        runListener(() => {
          if (onError) return onError(cause);
          throw cause;
        }),
    );
  }

  /** Gives up the wait for a caller: a rejection is not an unhandled one then. */
  forget(): void {
    super.then(undefined, () => {});
  }
}

/** A call that has begun. An iteration has no promise. */
interface OpenCall {
  readonly name: string;
  promise?: CallPromise<unknown>;
}

const buildClosedError = (message: string) => new HedgerowError('closed', message);

/** One run of a function, and the calls that it has begun and not yet awaited. */
export class UnawaitedCalls {
  readonly #calls = new Set<OpenCall>();
  /** Runs the code of the function that goes on after a call. */
  resume: (<T>(code: () => T) => T) | undefined;
  #hasEnded = false;
  #wasLate = false;

  /**
   * Runs the function. Rejects with `closed` if it ends before one of its calls: the work of that call would be lost. A
   * call ends when its caller goes on, so that it makes no difference whether rows are in memory or must be read.
   */
  async result<T>(body: () => T | PromiseLike<T>): Promise<T> {
    const value = await body();
    this.end();
    for (const { name } of this.#calls) throw this.#early(name);
    for (let tick = 0; tick < AFTER_END; tick++) await null;
    if (this.#wasLate) throw this.#early('a call');
    return value;
  }

  #early(name: string): HedgerowError {
    for (const { promise } of this.#calls) promise?.forget();
    return buildClosedError(
      `${name} was not awaited: the function of a transaction must await all its calls`,
    );
  }

  /** Marks the function as ended: `check` throws from now on. */
  end(): void {
    this.#hasEnded = true;
  }

  /** Throws `closed` when the function has ended. */
  check(): void {
    if (!this.#hasEnded) return;
    this.#wasLate = true;
    throw buildClosedError('the transaction has ended: await its calls within its function');
  }

  /** Makes a call, which is open until its caller has heard that it has settled. */
  add<T>(name: string, call: () => Promise<T>): Promise<T> {
    const open: OpenCall = { name };
    // Add it before the calls that it makes itself.
    this.#calls.add(open);
    const promise = new CallPromise<T>((resolve) => resolve(call()));
    promise.onHeard = () => this.#calls.delete(open);
    promise.resume = this.resume;
    open.promise = promise;
    return promise;
  }

  /** Adds an iteration, and returns the function that ends it. */
  begin(name: string): () => void {
    const open: OpenCall = { name };
    this.#calls.add(open);
    return () => this.#calls.delete(open);
  }
}

/** Keeps the calls of a store that are under way in their order. */
import { HedgerowError } from '../../../base/errors.js';

const ignore = () => {};

export class OrderedStorageCalls {
  /** Settles when the last call has reached storage. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  /** Prepares a call at once, and makes it after all earlier calls: the time to prepare must not change their order. */
  inTurn<T>(prepare: () => Promise<() => Promise<T>>): Promise<T> {
    return this.during(async () => {
      const before = this.#last;
      const made = (async () => {
        const [call] = await Promise.all([prepare(), before]);
        // In an object, so that this does not wait for the end of the call.
        return { result: call() };
      })();
      this.#last = made.catch(ignore);
      return (await made).result;
    });
  }

  /** Makes a call at once. */
  during<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) {
      return Promise.reject(new HedgerowError('closed', 'the store was closed'));
    }
    const done = call();
    const settled: Promise<unknown> = done
      .then(ignore, ignore)
      .then(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
    return done;
  }

  /** Takes no more calls, and waits for the running ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#underWay);
  }
}

/** Releases the resources of objects that callers drop without a release. */

/** A registry that releases the resources of garbage-collected objects, where `FinalizationRegistry` exists. */
export class ReleaseRegistry<Held> {
  readonly #release: (held: Held) => void;
  #registry: FinalizationRegistry<Held> | undefined;

  /** `release` must not throw. */
  constructor(release: (held: Held) => void) {
    this.#release = release;
  }

  /** Registers that `owner` holds `held`. `held` must not reference `owner`. */
  add(owner: object, held: Held): void {
    if (typeof FinalizationRegistry === 'undefined') return;
    this.#registry ??= new FinalizationRegistry(this.#release);
    this.#registry.register(owner, held, owner);
  }

  /** Registers that `owner` no longer holds anything. */
  delete(owner: object): void {
    this.#registry?.unregister(owner);
  }
}

/** A generator that is read to its end or ended. */
type OpenGenerator = AsyncGenerator<unknown, void, void>;

const readings = /* @__PURE__ */ new ReleaseRegistry<OpenGenerator>(
  (reading) => void reading.return().catch(() => {}),
);

/**
 * Returns an iterator over the generator of `read`. If a caller drops it in the middle, for example after a manual call
 * of `next`, its garbage collection ends it. `read` sets `isOver` of its argument when it no longer holds anything: an
 * iterator that ends with its first part needs no registry.
 */
export function iterateUntilDropped<T>(
  read: (state: { isOver?: boolean }) => AsyncGenerator<T, void, void>,
): AsyncIterableIterator<T, void> {
  const state: { isOver?: boolean } = {};
  const reading = read(state);
  let isKnown = false;
  const note = () => {
    if (state.isOver || isKnown) return;
    isKnown = true;
    readings.add(iterator, reading);
  };
  const iterator: AsyncIterableIterator<T, void> = {
    next: () => {
      const result = reading.next();
      if (!isKnown && !state.isOver) result.then(note, () => {});
      else if (state.isOver) readings.delete(iterator);
      return result;
    },
    return: () => {
      readings.delete(iterator);
      return reading.return();
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

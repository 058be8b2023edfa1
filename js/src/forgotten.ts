/** What is held for objects that nobody may ever give back. */

/** Releases what objects held when nobody can reach these any more, where engines tell. */
export class Forgotten<Held> {
  readonly #release: (held: Held) => void;
  #registry: FinalizationRegistry<Held> | undefined;

  /** `release` must not throw. */
  constructor(release: (held: Held) => void) {
    this.#release = release;
  }

  /** `owner` holds `held`, which must not hold `owner`. */
  add(owner: object, held: Held): void {
    if (typeof FinalizationRegistry === 'undefined') return;
    this.#registry ??= new FinalizationRegistry(this.#release);
    this.#registry.register(owner, held, owner);
  }

  /** `owner` holds nothing any more. */
  delete(owner: object): void {
    this.#registry?.unregister(owner);
  }
}

/** Something that is read to its end, or is ended. */
type Reading = AsyncGenerator<unknown, void, void>;

const readings = new Forgotten<Reading>((reading) => void reading.return().catch(() => {}));

/**
 * An iterator of what `read` yields. One that is dropped in the middle, as by who calls `next` by
 * hand, is ended when it is forgotten. `read` gets an object to set `isOver` of when it holds
 * nothing any more: what ends with its first part is in no registry.
 */
export function endedWhenForgotten<T>(
  read: (state: { isOver?: boolean }) => AsyncGenerator<T, void, void>,
): AsyncIterableIterator<T, void> {
  const state: { isOver?: boolean; isKnown?: boolean } = {};
  const reading = read(state);
  const iterator: AsyncIterableIterator<T, void> = {
    next: async () => {
      const result = await reading.next();
      if (result.done) state.isOver = true;
      if (state.isOver && state.isKnown) readings.delete(iterator);
      else if (!state.isOver && !state.isKnown) {
        state.isKnown = true;
        readings.add(iterator, reading);
      }
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

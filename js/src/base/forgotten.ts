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

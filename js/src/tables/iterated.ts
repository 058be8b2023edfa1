/** Rows one by one, of an iterator that is begun at the first call: at less cost than by a generator around another. */

/** What is iterated, and what becomes of each of its members. */
export interface Begun<To> {
  readonly source: AsyncIterator<unknown>;
  readonly make: (member: never) => To;
}

const DONE = { done: true, value: undefined } as const;

export function iterated<To>(begin: () => Promise<Begun<To>>): AsyncIterableIterator<To, void> {
  let beginning: Promise<Begun<To>> | undefined;
  let begun: Begun<To> | undefined;
  let isOver = false;
  const made = ({ done, value }: IteratorResult<unknown>): IteratorResult<To, void> => {
    if (done === true || begun === undefined) return DONE;
    try {
      return { done: false, value: begun.make(value as never) };
    } catch (cause) {
      isOver = true;
      begun.source.return?.().catch(() => {});
      throw cause;
    }
  };
  const first = async () => {
    beginning ??= begin();
    begun = await beginning;
    return isOver ? DONE : made(await begun.source.next());
  };
  const iterator: AsyncIterableIterator<To, void> = {
    next() {
      if (isOver) return Promise.resolve(DONE);
      return begun === undefined ? first() : begun.source.next().then(made);
    },
    async return() {
      isOver = true;
      if (beginning !== undefined) await (await beginning).source.return?.();
      return DONE;
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

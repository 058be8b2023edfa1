/** Iterates rows, with an iterator that begins at the first call: this costs less than a generator around another. */

/** A source, and the function that makes a row of each of its members. */
export interface RowIteration<To> {
  readonly source: AsyncIterator<unknown>;
  readonly make: (member: never) => To;
}

const DONE = { done: true, value: undefined } as const;

/** Makes an iterator. Calls `open` when it begins; `open` returns the function to call at its end. */
export function iterateRows<To>(
  begin: () => Promise<RowIteration<To>>,
  open: () => (() => void) | undefined,
): AsyncIterableIterator<To, void> {
  let beginning: Promise<RowIteration<To>> | undefined;
  let begun: RowIteration<To> | undefined;
  let isOver = false;
  let end: (() => void) | undefined;
  const over = () => {
    isOver = true;
    end?.();
  };
  const failIteration = (cause: unknown): never => {
    over();
    throw cause;
  };
  const toIteratorResult = ({ done, value }: IteratorResult<unknown>): IteratorResult<To, void> => {
    if (done === true || begun === undefined) {
      over();
      return DONE;
    }
    try {
      return { done: false, value: begun.make(value as never) };
    } catch (cause) {
      begun.source.return?.().catch(() => {});
      return failIteration(cause);
    }
  };
  const first = async () => {
    if (beginning === undefined) {
      end = open();
      beginning = begin();
    }
    begun = await beginning;
    return isOver ? DONE : toIteratorResult(await begun.source.next());
  };
  const iterator: AsyncIterableIterator<To, void> = {
    next() {
      if (isOver) return Promise.resolve(DONE);
      return begun === undefined
        ? first().catch(failIteration)
        : begun.source.next().then(toIteratorResult, failIteration);
    },
    async return() {
      over();
      if (beginning !== undefined) await (await beginning).source.return?.();
      return DONE;
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

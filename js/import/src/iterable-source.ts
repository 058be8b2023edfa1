/** Opens the entries of any iterable as a source. */

import type { OpenRecords } from './types.js';

export type Entries<Value, Key> =
  | Iterable<readonly [Key, Value]>
  | AsyncIterable<readonly [Key, Value]>
  | undefined;

export async function openEntries<Value, Key>(
  entries: () => Entries<Value, Key> | PromiseLike<Entries<Value, Key>>,
): Promise<OpenRecords<Value, Key> | undefined> {
  const first = await entries();
  if (first === undefined) return undefined;
  const toIterator = (all: NonNullable<Entries<Value, Key>>) =>
    Symbol.asyncIterator in all ? all[Symbol.asyncIterator]() : all[Symbol.iterator]();
  let taken = toIterator(first);
  let at = 0;
  // A failure to close does not matter: the entries have arrived.
  const close = () => void (async () => taken.return?.())().catch(() => {});
  return {
    count: async () => (Array.isArray(first) ? first.length : undefined),
    async read(after, limit) {
      const from = Number(after);
      if (at > from) {
        close();
        taken = toIterator((await entries()) ?? []);
        at = 0;
      }
      const records: (readonly [Key, Value])[] = [];
      while (records.length < limit) {
        const { done, value } = await taken.next();
        if (done === true) break;
        at += 1;
        if (at > from) records.push(value);
      }
      return { records, next: String(at), isLast: records.length < limit };
    },
    close,
  };
}

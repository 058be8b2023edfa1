/** What `putMany` is given, opened: rows one by one, rows as they come, or bytes of rows. */
import { type ByteSource, isPart, partsOf, streamIterator } from './bytes.js';
import { HedgerowError } from './errors.js';
import { AbortableWait } from './signal.js';

/** Where rows come from. What it throws comes through as it is. */
export type Source<Row> = Iterable<Row> | AsyncIterable<Row> | ReadableStream<Row>;

/** A source that was opened. Whoever gets it ends its iterator. */
export type OpenSource<Row> =
  | { readonly kind: 'rows'; readonly rows: Iterable<Row>; readonly total?: number }
  | { readonly kind: 'async-rows'; readonly rows: AsyncIterator<Row> }
  | {
      readonly kind: 'bytes';
      readonly parts: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
      readonly total?: number;
    };

/** Whether a source has its rows at hand, and never waits for a network or a program. */
export function isAtHand(source: unknown): boolean {
  if (typeof source !== 'object' || source === null) return false;
  if (typeof Blob !== 'undefined' && source instanceof Blob) return true;
  if (source instanceof ArrayBuffer) return true;
  return Symbol.iterator in source && !(Symbol.asyncIterator in source);
}

/** Whether all that a source gives is there already: it ends by itself, and soon. */
export function isWhole(source: unknown): boolean {
  if (Array.isArray(source) || source instanceof Map || source instanceof Set) return true;
  return ArrayBuffer.isView(source) || (isAtHand(source) && !(Symbol.iterator in Object(source)));
}

/**
 * Opens a source. Whether an iterable holds bytes is told by its first member, if that may
 * be so.
 */
export async function openSource<Row>(
  source: Source<Row> | ByteSource,
  signal: AbortSignal | undefined,
  mayBeBytes: boolean,
): Promise<OpenSource<Row>> {
  const isBytes = (member: unknown) => mayBeBytes && isPart(member);
  const bytes = partsOf(source);
  if (bytes !== undefined) return { kind: 'bytes', ...bytes };
  if (Array.isArray(source)) {
    const members: readonly unknown[] = source;
    if (!isBytes(members[0])) return { kind: 'rows', rows: source, total: source.length };
    return { kind: 'bytes', parts: (source as Uint8Array[]).values() };
  }
  const async = asyncIteratorOf<Row | Uint8Array>(source);
  if (async !== undefined) {
    const first = await firstOf(async, signal);
    const rejoined = rejoinAsync(first, async);
    return first.done !== true && isBytes(first.value)
      ? { kind: 'bytes', parts: rejoined as AsyncIterator<Uint8Array> }
      : { kind: 'async-rows', rows: rejoined as AsyncIterator<Row> };
  }
  const iterable = source as Iterable<Row>;
  if (typeof source !== 'object' || source === null || !(Symbol.iterator in source)) {
    throw new HedgerowError('invalid-argument', 'rows come from an iterable or as bytes');
  }
  const iterator = iterable[Symbol.iterator]();
  const first = iterator.next();
  const rejoined = rejoin(first, iterator);
  if (first.done !== true && isBytes(first.value)) {
    return { kind: 'bytes', parts: rejoined as Iterator<unknown> as Iterator<Uint8Array> };
  }
  const total = source instanceof Map || source instanceof Set ? { total: source.size } : {};
  return { kind: 'rows', rows: rejoined, ...total };
}

function asyncIteratorOf<T>(source: unknown): AsyncIterator<T> | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  // Not every engine can iterate a stream, and this one is cancelled alike everywhere.
  if (typeof ReadableStream !== 'undefined' && source instanceof ReadableStream) {
    return streamIterator<T>(source);
  }
  return Symbol.asyncIterator in source
    ? (source as AsyncIterable<T>)[Symbol.asyncIterator]()
    : undefined;
}

async function firstOf<T>(
  iterator: AsyncIterator<T>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<T>> {
  const wait = new AbortableWait(signal);
  let answered = false;
  try {
    return await wait.for(
      Promise.resolve(iterator.next()).finally(() => {
        answered = true;
      }),
    );
  } catch (cause) {
    if (!answered) endIterator(iterator);
    throw cause;
  } finally {
    wait.end();
  }
}

/** Ends an iterator early. It may be waiting and never answer: nobody waits for it. */
export function endIterator(iterator: AsyncIterator<unknown> | Iterator<unknown>): void {
  void Promise.resolve()
    .then(() => iterator.return?.())
    .catch(() => {});
}

/** Ends a source that was opened and not read. */
export function endSource<Row>(opened: OpenSource<Row>): void {
  if (opened.kind === 'bytes') endIterator(opened.parts);
  else if (opened.kind === 'async-rows') endIterator(opened.rows);
  else if ('return' in opened.rows) endIterator(opened.rows as unknown as Iterator<Row>);
}

function rejoin<T>(first: IteratorResult<T>, iterator: Iterator<T>): IterableIterator<T> {
  let pending: IteratorResult<T> | undefined = first;
  return {
    next() {
      if (pending === undefined) return iterator.next();
      const result = pending;
      pending = undefined;
      return result;
    },
    return: (value) => iterator.return?.(value) ?? { done: true, value },
    [Symbol.iterator]() {
      return this;
    },
  };
}

function rejoinAsync<T>(first: IteratorResult<T>, iterator: AsyncIterator<T>): AsyncIterator<T> {
  let pending: IteratorResult<T> | undefined = first;
  return {
    next() {
      if (pending === undefined) return iterator.next();
      const result = Promise.resolve(pending);
      pending = undefined;
      return result;
    },
    return: async (value) => (await iterator.return?.(value)) ?? { done: true, value },
  };
}

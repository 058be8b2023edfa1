/** Opens the sources of `putMany`: iterables of rows, asynchronous ones, or bytes of rows. */

import { AbortableWait } from '../../base/abort-signal.js';
import { type ByteSource, isPart, partsOf, streamIterator } from '../../base/byte-source.js';
import { HedgerowError } from '../../base/errors.js';
import { isBuffer } from '../../base/is-byte-array.js';
import { hasCalls, isList, isPlain, isRevoked } from '../../base/runtime-type-checks.js';

/** A source of rows. Callers get its exceptions unchanged. */
export type Source<Row> = Iterable<Row> | AsyncIterable<Row> | ReadableStream<Row>;

/** An opened source. Its owner must end its iterator. */
export type OpenSource<Row> =
  | { readonly kind: 'rows'; readonly rows: Iterable<Row>; readonly total?: number }
  | { readonly kind: 'async-rows'; readonly rows: AsyncIterator<Row> }
  | {
      readonly kind: 'bytes';
      readonly parts: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
      readonly total?: number;
    };

/** Throws `invalid-argument`. */
function refuse(): never {
  throw new HedgerowError('invalid-argument', 'the source must be an iterable, or bytes');
}

/**
 * Returns a step of an iterator. Throws `invalid-argument` for a step that is no object, since no iterator gives one.
 */
export function checkedStep<Step>(step: Step): Step {
  if (Object(step) !== step) refuse();
  return step;
}

/** Reports whether a source is in memory as a whole: it is finite and never waits. */
function isWhole(source: unknown): boolean {
  if (isRevoked(source)) refuse();
  const isBlob = typeof Blob !== 'undefined' && source instanceof Blob;
  const isBytes = isBuffer(source) || ArrayBuffer.isView(source);
  return isBlob || isBytes || Array.isArray(source) || isCollection(source);
}

/** Reports whether reading `source` runs or waits for code of the caller. `source` may also be a range of keys. */
export function isFed(source: unknown): boolean {
  return !isWhole(source) && (isList(source) || !isPlain(source));
}

function isCollection(source: unknown): source is ReadonlySet<unknown> {
  return source instanceof Map || source instanceof Set;
}

/** Reports whether a source yields its rows synchronously, without waiting for a network or other code. */
export function isAtHand(source: unknown): boolean {
  if (isWhole(source)) return true;
  if (typeof source !== 'object' || source === null) return false;
  return Symbol.iterator in source && !(Symbol.asyncIterator in source);
}

/**
 * Opens a source. If it `mayBeBytes`, the first member of an iterable decides whether it holds bytes; an empty one
 * holds bytes if a format is given (`isFormatted`).
 */
export async function openSource<Row>(
  source: Source<Row> | ByteSource,
  signal: AbortSignal | undefined,
  mayBeBytes: boolean,
  isFormatted = false,
): Promise<OpenSource<Row>> {
  if (isRevoked(source)) refuse();
  // With a format, an empty source is an empty source of bytes.
  const isBytes = ({ done, value }: IteratorResult<unknown>) =>
    mayBeBytes && (done === true ? isFormatted : isPart(value));
  const bytes = partsOf(source);
  if (bytes !== undefined) return { kind: 'bytes', ...bytes };
  if (Array.isArray(source)) {
    const first = { done: source.length === 0, value: source[0] };
    if (!isBytes(first)) return { kind: 'rows', rows: source, total: source.length };
    return { kind: 'bytes', parts: (source as Uint8Array[]).values() };
  }
  const async = asyncIteratorOf<Row | Uint8Array>(source);
  if (async !== undefined) {
    const first = await firstOf(async, signal);
    const rejoined = rejoinAsync(first, async);
    return isBytes(first)
      ? { kind: 'bytes', parts: rejoined as AsyncIterator<Uint8Array> }
      : { kind: 'async-rows', rows: rejoined as AsyncIterator<Row> };
  }
  const iterable = source as Iterable<Row>;
  if (typeof source !== 'object' || source === null || !(Symbol.iterator in source)) refuse();
  const iterator = iteratorOf<Iterator<Row>>(iterable, Symbol.iterator);
  const first = checkedStep(iterator.next());
  const rejoined = rejoin(first, iterator);
  if (isBytes(first)) {
    return { kind: 'bytes', parts: rejoined as Iterator<unknown> as Iterator<Uint8Array> };
  }
  const total = isCollection(source) ? { total: source.size } : {};
  return { kind: 'rows', rows: rejoined, ...total };
}

function asyncIteratorOf<T>(source: unknown): AsyncIterator<T> | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  // Some engines cannot iterate a stream, and this iterator cancels it in the same way in all of them.
  if (typeof ReadableStream !== 'undefined' && source instanceof ReadableStream) {
    return streamIterator<T>(source);
  }
  return Symbol.asyncIterator in source
    ? iteratorOf<AsyncIterator<T>>(source, Symbol.asyncIterator)
    : undefined;
}

function iteratorOf<Iterator>(source: object, symbol: symbol): Iterator {
  const make = (source as { [name: symbol]: unknown })[symbol];
  const made = typeof make === 'function' ? make.call(source) : undefined;
  return hasCalls(made, 'next') ? made : refuse();
}

async function firstOf<T>(
  iterator: AsyncIterator<T>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<T>> {
  const wait = new AbortableWait(signal);
  let answered = false;
  try {
    return checkedStep(
      await wait.for(
        Promise.resolve(iterator.next()).finally(() => {
          answered = true;
        }),
      ),
    );
  } catch (cause) {
    if (!answered) endIterator(iterator);
    throw cause;
  } finally {
    wait.end();
  }
}

/** Ends an iterator early, without waiting for it: it may never answer. */
export function endIterator(iterator: AsyncIterator<unknown> | Iterator<unknown>): void {
  void Promise.resolve()
    .then(() => iterator.return?.())
    .catch(() => {});
}

/** Ends an opened source that was not read. */
export function endSource<Row>(opened: OpenSource<Row>): void {
  if (opened.kind === 'bytes') endIterator(opened.parts);
  else if (opened.kind === 'async-rows') endIterator(opened.rows);
  else if ('return' in opened.rows) endIterator(opened.rows as unknown as Iterator<Row>);
}

function rejoin<T>(first: IteratorResult<T>, iterator: Iterator<T>): IterableIterator<T> {
  let pending: IteratorResult<T> | undefined = first;
  return {
    next() {
      if (pending === undefined) return checkedStep(iterator.next());
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

/** Opens the sources of `putMany`: iterables of rows, asynchronous ones, or bytes of rows. */

import { until } from '../../base/abort-signal.js';
import {
  type ByteParts,
  type ByteSource,
  partsOf,
  streamIterator,
} from '../../base/byte-source.js';
import { isPart } from '../../base/is-byte-array.js';
import { hasCalls } from '../../base/runtime-type-checks.js';
import type { AsyncSource, OpenSource, SourceKind, Step, SyncSource } from './opened-source.js';
import { checkProxy, isCollection, refuseSource, type Source } from './source-kind.js';

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
  checkProxy(source);
  const bytes = partsOf(source);
  if (bytes !== undefined) return openParts(bytes);
  const kindBy = ({ done, value }: Step<unknown>) =>
    mayBeBytes && (done === true ? isFormatted : isPart(value)) ? 'bytes' : 'rows';
  if (Array.isArray(source)) {
    return openArray(kindBy({ done: source.length === 0, value: source[0] }), source);
  }
  const async = asyncIteratorOf<Row>(source);
  if (async !== undefined) {
    const { read, ...opened } = openAsyncIterator('rows', async);
    const first = await until(read(), signal).catch((cause) => {
      opened.end();
      throw cause;
    });
    return { ...opened, kind: kindBy(first), read: prepend(Promise.resolve(first), read) };
  }
  if (typeof source !== 'object' || source === null || !(Symbol.iterator in source)) refuseSource();
  const iterator = iteratorOf<Iterator<Row>>(source, Symbol.iterator);
  const { read, ...opened } = openIterator('rows', iterator);
  const first = read();
  const kind = kindBy(first);
  const total = kind === 'rows' && isCollection(source) ? source.size : undefined;
  return { ...opened, kind, total, read: prepend(first, read) };
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
  return hasCalls(made, 'next') ? made : refuseSource();
}

/** Returns a function that returns `first` once, and then what `read` returns. */
function prepend<Answer>(first: Answer, read: () => Answer): () => Answer {
  let next: Answer | undefined = first;
  return () => {
    if (next === undefined) return read();
    const answer = next;
    next = undefined;
    return answer;
  };
}

/** Opens parts of bytes; the type of their rows is unknown. */
function openParts({ parts, total }: ByteParts): OpenSource<never> {
  return Symbol.iterator in parts
    ? openIterator('bytes', parts as Iterator<never>, total)
    : openAsyncIterator('bytes', parts as AsyncIterator<never>, total);
}

/** Opens an array. One step serves all members: a load of many rows makes no object for each. */
function openArray<T>(kind: SourceKind, members: readonly T[]): SyncSource<T> {
  const step = { done: false as const, value: undefined as T };
  let at = 0;
  const read = (): Step<T> => {
    if (at >= members.length) return { done: true, value: undefined };
    step.value = members[at++] as T;
    return step;
  };
  const total = kind === 'rows' ? members.length : undefined;
  return { kind, isAsync: false, total, read, end: () => {} };
}

function openIterator<T>(kind: SourceKind, iterator: Iterator<T>, total?: number): SyncSource<T> {
  const { check, fail, end } = followIterator<T>(iterator);
  const read = () => {
    try {
      return check(iterator.next());
    } catch (cause) {
      return fail(cause);
    }
  };
  return { kind, isAsync: false, total, read, end };
}

/** Opens an asynchronous iterator. */
export function openAsyncIterator<T>(
  kind: SourceKind,
  iterator: AsyncIterator<T>,
  total?: number,
): AsyncSource<T> {
  const { check, fail, end } = followIterator<T>(iterator);
  const read = async () => {
    try {
      return check(await iterator.next());
    } catch (cause) {
      return fail(cause);
    }
  };
  return { kind, isAsync: true, total, read, end };
}

/** Follows an iterator to its end. An iterator that throws is over, as one that is done: it gets no `return`. */
function followIterator<T>(iterator: { return?(): unknown }) {
  let isOver = false;
  return {
    /** Returns a step. Throws `invalid-argument` if the step is no object, since no iterator gives one. */
    check(step: Step<T>): Step<T> {
      if (Object(step) !== step) refuseSource();
      if (step.done) isOver = true;
      return step;
    },
    fail(cause: unknown): never {
      isOver = true;
      throw cause;
    },
    end(): void {
      if (isOver) return;
      isOver = true;
      void Promise.resolve()
        .then(() => iterator.return?.())
        .catch(() => {});
    },
  };
}

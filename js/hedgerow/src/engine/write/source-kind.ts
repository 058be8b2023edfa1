/** The kinds of sources. A write asks for the kind in the turn of its call, before the code that reads it is loaded. */
import { HedgerowError } from '../../base/errors.js';
import { isBuffer } from '../../base/is-byte-array.js';
import { isList, isPlain, isRevoked } from '../../base/runtime-type-checks.js';

/** A source of rows. Callers get its exceptions unchanged. */
export type Source<Row> = Iterable<Row> | AsyncIterable<Row> | ReadableStream<Row>;

/** Throws `invalid-argument`. */
export function refuseSource(): never {
  throw new HedgerowError('invalid-argument', 'the source must be an iterable, or bytes');
}

/** Throws `invalid-argument` for a revoked proxy. */
export function checkProxy(source: unknown): void {
  if (isRevoked(source)) refuseSource();
}

/** Reports whether a source is in memory as a whole: it is finite and never waits. */
function isWhole(source: unknown): boolean {
  if (isBuffer(source) || ArrayBuffer.isView(source)) return true;
  checkProxy(source);
  const isBlob = typeof Blob !== 'undefined' && source instanceof Blob;
  return isBlob || Array.isArray(source) || isCollection(source);
}

/** Reports whether reading `source` runs or waits for code of the caller. `source` may also be a range of keys. */
export function isFed(source: unknown): boolean {
  return !isWhole(source) && (isList(source) || !isPlain(source));
}

/** Reports whether a source is a `Map` or a `Set`. */
export function isCollection(source: unknown): source is ReadonlySet<unknown> {
  return source instanceof Map || source instanceof Set;
}

/** Reports whether a source yields its rows synchronously, without waiting for a network or other code. */
export function isAtHand(source: unknown): boolean {
  if (isWhole(source)) return true;
  if (typeof source !== 'object' || source === null) return false;
  return Symbol.iterator in source && !(Symbol.asyncIterator in source);
}

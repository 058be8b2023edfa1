/**
 * Turns each failure of IndexedDB into a `HedgerowError`, by its text, which begins with its name: an error of another
 * realm, such as a frame, is no `DOMException` of this one.
 */
import { type ErrorKind, HedgerowError } from '../../base/errors.js';

/**
 * Returns whether a new opening of the database may help: the connection is closed, its transactions were aborted, not
 * by us, or the engine does not know what happened. Many of WebKit's `UnknownError`s say that its database process is
 * gone, in texts that change from version to version. Firefox throws `InvalidStateError`, once, for the next `put`
 * after a transaction that found no space.
 */
export function isLost(cause: unknown): boolean {
  return /^(InvalidState|Abort|Unknown|TransactionInactive)Error/.test(String(cause));
}

/** Builds the error of requests that the engine will never answer. */
export function buildLostError(): DOMException {
  return new DOMException('Connection lost', 'AbortError');
}

export function buildBlockedError(): HedgerowError {
  return new HedgerowError('blocked', 'another connection holds the store: close it');
}

function buildDeniedError(cause: unknown): HedgerowError {
  const message =
    'the browser denies storage: blocked cookies, a sandboxed frame or a private window';
  return new HedgerowError('unsupported', message, { cause });
}

/**
 * Returns the error of an opening, after all attempts. If a preference says so, Firefox refuses IndexedDB in a private
 * window with an `InvalidStateError`.
 */
export function atOpening(failure: HedgerowError): HedgerowError {
  return /^InvalidState/.test(String(failure.cause)) ? buildDeniedError(failure.cause) : failure;
}

/** Returns the error for the caller. */
export function toIdbError(cause: unknown): HedgerowError {
  if (cause instanceof HedgerowError) return cause;
  const text = String(cause);
  const toError = (kind: ErrorKind, message: string) => new HedgerowError(kind, message, { cause });
  if (isLost(cause) && /^(?!Unknown)|connection|lost/i.test(text)) {
    return toError('unavailable/disconnected', 'the connection to IndexedDB was lost');
  }
  // In a frame of another site, if the user blocks cookies of other sites, Chromium answers with an `UnknownError`:
  // `The user denied permission to access the database.`
  if (/^Security|denied perm/.test(text)) return buildDeniedError(cause);
  if (/^Quota/.test(text)) return toError('quota-exceeded', 'no space left for this origin');
  if (/^Version/.test(text)) {
    return toError('newer-version/format', 'written by a newer version: update the app');
  }
  return toError('unavailable/storage', `IndexedDB failed: ${text}`);
}

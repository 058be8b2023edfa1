/** What a failure of IndexedDB means: each leaves the adapter as a `HedgerowError`. */
import { HedgerowError } from '../../base/errors.js';

/** By its name: an error of another realm, such as that of a frame, is no `DOMException` of this one. */
function nameOf(cause: unknown): string {
  return (cause as { name?: string } | undefined)?.name ?? '';
}

/**
 * Whether opening the database again may help: the connection is closed, its transactions were aborted,
 * and not by us, or the engine does not know what happened. Of WebKit's `UnknownError`s many say
 * that its database process is gone, in texts that change from version to version. Firefox throws
 * `InvalidStateError`, once, for the next `put` after a transaction that found no room.
 */
export function isLost(cause: unknown): boolean {
  return /^(InvalidState|Abort|Unknown|TransactionInactive)Error$/.test(nameOf(cause));
}

/** What is under way is never answered. */
export function lost(): DOMException {
  return new DOMException('Connection lost', 'AbortError');
}

export function blocked(): HedgerowError {
  return new HedgerowError('blocked', 'another connection holds the store: close it');
}

function denied(cause: unknown): HedgerowError {
  const message =
    'the browser denies storage to this page: blocked cookies, a sandboxed frame, a private window';
  return new HedgerowError('unsupported', message, { cause });
}

/**
 * The error of an opening, of all attempts. Firefox refuses IndexedDB in a private window, where a preference
 * says so, with an `InvalidStateError`.
 */
export function atOpening(failure: HedgerowError): HedgerowError {
  return nameOf(failure.cause) === 'InvalidStateError' ? denied(failure.cause) : failure;
}

/** The error that a caller gets. */
export function typed(cause: unknown): HedgerowError {
  if (cause instanceof HedgerowError) return cause;
  const name = nameOf(cause);
  const text = String(cause);
  if (isLost(cause) && (name !== 'UnknownError' || /connection|lost/i.test(text))) {
    return new HedgerowError('disconnected', 'the connection to IndexedDB was lost', { cause });
  }
  switch (name) {
    case 'SecurityError':
      return denied(cause);
    case 'QuotaExceededError':
      return new HedgerowError('quota-exceeded', 'no room left for this origin', {
        cause,
      });
    case 'VersionError':
      return new HedgerowError('unsupported-format', 'written by a newer version: update the app', {
        cause,
      });
    default:
      return new HedgerowError('storage', `IndexedDB failed: ${text}`, { cause });
  }
}

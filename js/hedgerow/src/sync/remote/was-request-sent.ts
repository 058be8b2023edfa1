/** Checks whether a failed request has left this device. */
import type { HedgerowError } from '../../base/errors.js';

/** Returns whether the browser reports that its device has no network. */
export function hasNoLine(): boolean {
  return (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false;
}

/** Returns whether a failed call has surely sent no request. In doubt it may have sent one. */
export function isUnsent(failure: unknown, wasAborted: boolean, hadNoLine: boolean): boolean {
  const { code, detail, isSent, cause } = Object(failure) as Partial<HedgerowError>;
  if (code === 'invalid-argument') return detail === undefined;
  if (code === 'aborted') return wasAborted;
  if (code !== 'offline') return false;
  return isSent === false || hadNoLine || isUnconnected(Object(cause).cause);
}

/** Returns whether no connection was made, by the error of Node's `fetch`. Pages do not learn it. */
function isUnconnected(cause: unknown): boolean {
  const { code, syscall, errors } = Object(cause) as Record<string, unknown>;
  // One for each address that was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnconnected);
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
}

/** Whether a request that failed has left this device. */
import type { HedgerowError } from '../../base/errors.js';

/** Whether a page is told that its device has no network. */
export function hasNoLine(): boolean {
  return (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false;
}

/** Whether a call that failed has surely sent nothing. What nobody knows may have been sent. */
export function isUnsent(failure: unknown, wasAborted: boolean, hadNoLine: boolean): boolean {
  const { code, isSent, cause } = Object(failure) as Partial<HedgerowError>;
  if (code === 'invalid-argument') return true;
  if (code === 'aborted') return wasAborted;
  if (code !== 'offline') return false;
  return isSent === false || hadNoLine || isUnconnected(Object(cause).cause);
}

/** Whether no connection was made, by what `fetch` of Node tells. Pages are not told. */
function isUnconnected(cause: unknown): boolean {
  const { code, syscall, errors } = Object(cause) as Record<string, unknown>;
  // Of each address that was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnconnected);
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
}

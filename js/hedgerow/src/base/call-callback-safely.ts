/** Calls callbacks of callers, and reports their exceptions, which never change the outcome of a call. */

/** Reports an error that no caller waits for, like an uncaught one. */
export function report(error: unknown): void {
  // Node has no `reportError`, and an uncaught exception would end it.
  if (typeof reportError === 'function') reportError(error);
  else console.error(error);
}

/** Calls `callback` with `value`; reports its exception, or the rejection of its promise. */
export function notify<Value>(
  callback: ((value: Value) => unknown) | undefined,
  value: Value,
): void {
  try {
    const result = callback?.(value) as PromiseLike<unknown> | undefined;
    if (typeof result?.then === 'function') Promise.resolve(result).catch(report);
  } catch (cause) {
    report(cause);
  }
}

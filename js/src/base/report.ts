/** Callbacks that callers gave: what they throw is theirs, and changes nothing here. */

/** Tells of an error that no caller waits for. */
export function report(error: unknown): void {
  // Node has no `reportError`, and an exception that nobody catches would end it.
  if (typeof reportError === 'function') reportError(error);
  else console.error(error);
}

/** Calls `callback`; reports what it throws, or what its promise rejects with. */
export function notify<Told>(callback: ((told: Told) => unknown) | undefined, told: Told): void {
  try {
    const result = callback?.(told) as PromiseLike<unknown> | undefined;
    if (typeof result?.then === 'function') Promise.resolve(result).catch(report);
  } catch (cause) {
    report(cause);
  }
}

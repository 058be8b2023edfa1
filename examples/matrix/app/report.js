// Reports the result of a run to the runner, which waits for `matrixResults` of the page.

/** Makes an outcome that can cross to the runner, with the names and messages of an error and of its causes. */
export const outcome = (run) =>
  run.then(
    (result) => ({ ok: true, ...result }),
    (error) => ({
      ok: false,
      name: error?.name,
      code: error?.code,
      detail: error?.detail,
      error: `${error}${error?.cause ? ` (${error.cause})` : ''}`,
      stack: error?.stack,
    }),
  );

const waiting = [];

/** Notes a result under a name. */
export function note(name, result) {
  globalThis.matrixResults = { ...globalThis.matrixResults, [name]: result };
  for (const wake of waiting.splice(0)) wake();
}

/** Resolves when the first result is noted. */
export const firstNoted = () => new Promise((wake) => waiting.push(wake));

/** Returns the requests of the page so far, with its document; bytes as on the wire, without headers. */
export function fetched() {
  const entries = [
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource'),
  ];
  const bytes = entries.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  return { requests: entries.length, bytes };
}

// How functions of a test run in a page, whatever the protocol: as text that comes to JSON.

/**
 * The source of an expression that calls `fn` with `args` and comes to a promise of JSON: its value,
 * or its error as `{ name, message, code, stack }`.
 */
export function sourceOf(fn, args) {
  const list = args.map((arg) => JSON.stringify(arg) ?? 'undefined').join(',');
  return `(async () => {
    try {
      return JSON.stringify({ value: await (${fn})(${list}) });
    } catch (e) {
      const { name, message, code, stack } = e ?? {};
      return JSON.stringify({ error: { name, message: message ?? String(e), code, stack } });
    }
  })()`;
}

/** What the expression of `sourceOf` came to: its value, or its error thrown. */
export function resultOf(text) {
  const { value, error } = JSON.parse(text);
  if (error === undefined) return value;
  throw Object.assign(new Error(error.message), error);
}

/** Runs before the scripts of a page: collects what is thrown and not caught, for `uncaught`. */
export const COLLECT_ERRORS = `
  globalThis.__uncaught = [];
  addEventListener('error', (e) => __uncaught.push(String(e.error ?? e.message)));
  addEventListener('unhandledrejection', (e) => __uncaught.push(String(e.reason)));
`;

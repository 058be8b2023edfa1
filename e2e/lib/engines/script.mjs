// Runs functions of a test in a page, over any protocol: arguments and results are text.

/**
 * Writes and reads JSON that also holds `undefined`, numbers that are not finite, big integers and bytes. It runs here
 * and in the page, so it uses no variable from outside.
 */
function codec() {
  const TAG = '$of';
  const tagged = (of, text) => ({ [TAG]: of, text });
  const pack = (value) => {
    if (value === undefined || typeof value === 'function') return tagged('undefined');
    if (typeof value === 'bigint') return tagged('bigint', String(value));
    if (typeof value === 'number') {
      return Number.isFinite(value) ? value : tagged('number', String(value));
    }
    if (value instanceof Uint8Array) {
      return tagged('bytes', Array.from(value, (byte) => String.fromCharCode(byte)).join(''));
    }
    if (value instanceof Error) return tagged('error', `${value.name}: ${value.message}`);
    if (Array.isArray(value)) return value.map(pack);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => typeof member !== 'function')
        .map(([name, member]) => [name, pack(member)]),
    );
  };
  const open = {
    undefined: () => undefined,
    bigint: (text) => BigInt(text),
    number: (text) => Number(text),
    bytes: (text) => Uint8Array.from(text, (char) => char.charCodeAt(0)),
    error: (text) => new Error(text),
  };
  const unpack = (value) => {
    if (Array.isArray(value)) return value.map(unpack);
    if (value === null || typeof value !== 'object') return value;
    if (Object.hasOwn(value, TAG)) return open[value[TAG]](value.text);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, unpack(member)]),
    );
  };
  return {
    write: (value) => JSON.stringify(pack(value)),
    read: (text) => unpack(JSON.parse(text)),
  };
}

const { write, read } = codec();

/**
 * Returns the source of an expression that calls `fn`, a function or the text of one, with `args`, or evaluates `fn`,
 * when it is the text of another expression. It evaluates to a promise of text: the value, or the error as `{ name,
 * message, code, detail, stack, cause }`.
 */
export function sourceOf(fn, args) {
  return `(async () => {
    const { write, read } = (${codec})();
    try {
      const made = (${fn});
      const value = typeof made === 'function' ? await made(...read(${JSON.stringify(write(args))})) : await made;
      return write({ value });
    } catch (e) {
      const { name, message, code, detail, stack, cause } = e ?? {};
      const why = cause && { message: String(cause), stack: cause.stack };
      return write({ error: { name, message: message ?? String(e), code, detail, stack, cause: why } });
    }
  })()`;
}

/** Reads the text of an expression of `sourceOf`: returns its value, or throws its error. */
export function resultOf(text) {
  const { value, error } = read(text);
  if (error === undefined) return value;
  throw Object.assign(new Error(error.message), error);
}

/** Runs before the scripts of a page: collects uncaught errors, for `uncaught`. */
export const COLLECT_ERRORS = `
  globalThis.__uncaught = [];
  addEventListener('error', (e) => __uncaught.push(String(e.error ?? e.message)));
  addEventListener('unhandledrejection', (e) => __uncaught.push(String(e.reason)));
`;

/** Support for `using`, even where a polyfill that is loaded late defines its symbols. */

type Name = 'dispose' | 'asyncDispose';

/**
 * Makes `using` (or `await using`) call `release` on objects with this prototype. Call it in the
 * constructor: a class body reads the symbol too early, and may define a method named "undefined".
 */
export function disposable<T extends object>(
  prototype: T,
  name: Name,
  release: (this: T) => unknown,
  symbols: { readonly [Symbol in Name]?: symbol } = Symbol,
): void {
  // Compilers fall back to this symbol.
  const symbol = symbols[name] ?? Symbol.for(`Symbol.${name}`);
  if (symbol in prototype) return;
  Object.defineProperty(prototype, symbol, { value: release, configurable: true, writable: true });
}

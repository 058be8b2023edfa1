/** What `using` calls, also where the symbols for it come with a polyfill, which may be loaded late. */

type Name = 'dispose' | 'asyncDispose';

/**
 * Has `using` (`await using`) call `release` on what has this prototype. Call it when an instance is
 * made: a class body would ask for the symbol too early, and make a method named "undefined".
 */
export function disposable<T extends object>(
  prototype: T,
  name: Name,
  release: (this: T) => unknown,
  symbols: { readonly [Symbol in Name]?: symbol } = Symbol,
): void {
  // Compilers look for this one where there is none.
  const symbol = symbols[name] ?? Symbol.for(`Symbol.${name}`);
  if (symbol in prototype) return;
  Object.defineProperty(prototype, symbol, { value: release, configurable: true, writable: true });
}

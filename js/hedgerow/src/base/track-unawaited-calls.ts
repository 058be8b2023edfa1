/** Makes calls part of a function, which must await them. */
import type { UnawaitedCalls } from './unawaited-calls.js';

/** The calls of a function, and the name of their object in errors. */
type CallScope = readonly [calls: UnawaitedCalls, name: string];

/**
 * Makes calls of a class, which return promises, part of the function that `of` returns, if any. Call it in a static
 * member of the class: Metro, the bundler of React Native, knows no static blocks.
 */
export function trackUnawaitedCalls<Self>(
  type: { readonly prototype: Self },
  names: string,
  of: (self: Self) => CallScope | undefined,
): void {
  const members = type.prototype as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of names.split(' ')) {
    const call = members[name] as (typeof members)[string];
    members[name] = function (this: Self, ...args) {
      const place = of(this);
      if (place === undefined) return call.apply(this, args);
      const [calls, self] = place;
      return calls.add(`${self}.${name}`, () => call.apply(this, args));
    };
  }
}

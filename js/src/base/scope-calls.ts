/** Calls that are part of a function. */
import type { FunctionCalls } from './function-calls.js';

/** The calls of a function, and how errors name the object that has them. */
type CallScope = readonly [calls: FunctionCalls, name: string];

/**
 * Makes calls of a class, which return promises, part of the function that `of` tells; if there is one. Call it for a static
 * member of the class: Metro, which bundles for React Native, knows no static blocks.
 */
export function scopeCalls<Self>(
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

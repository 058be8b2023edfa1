/** Arguments that may be functions, and states whose members are followed where they are read. */

import type { Args } from './observed-query.js';

/** Returns the present values of the arguments. */
export const readArgs = (args: Args): Args =>
  args.map((given) => (typeof given === 'function' ? given() : given));

/** Makes an object with the members of `like`, which reads each member from `get()` when it is read. */
export function trackMembers<State extends object>(like: State, get: () => State): State {
  const own = {} as State;
  for (const name of Object.keys(like) as (keyof State)[]) {
    Object.defineProperty(own, name, { get: () => get()[name], enumerable: true });
  }
  return own;
}

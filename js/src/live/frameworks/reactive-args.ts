/** Arguments that may be functions, and states whose members are followed where they are read. */

import type { Args } from './observed.js';

/** The arguments as they are now. */
export const readArgs = (args: Args): Args =>
  args.map((given) => (typeof given === 'function' ? given() : given));

/** An object whose members are those of what `get` returns whenever they are read. */
export function trackMembers<State extends object>(like: State, get: () => State): State {
  const own = {} as State;
  for (const name of Object.keys(like) as (keyof State)[]) {
    Object.defineProperty(own, name, { get: () => get()[name], enumerable: true });
  }
  return own;
}

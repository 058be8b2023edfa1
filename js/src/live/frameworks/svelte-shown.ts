/** What a component of Svelte shows. */

import { createSubscriber } from 'svelte/reactivity';
import type { Told } from '../types.js';
import { read, reading } from './given.js';
import { type Args, Held, type Kind } from './held.js';

/** The state to show. On a server it is `loading`. */
export function shown<State extends Told>(kind: Kind<State>, args: Args): State {
  const { loading } = kind;
  if (typeof window === 'undefined') return loading;
  let held = Held.of(kind);
  let state = loading;
  /** Follows what is held now. */
  let follow = () => {};
  const subscribe = createSubscriber((update) => {
    let followed: Held<State> | undefined;
    let stop = () => {};
    follow = () => {
      if (followed === held) return;
      stop();
      followed = held;
      stop = held.subscribe(update);
      if (held.get() !== state) update();
    };
    follow();
    return () => {
      follow = () => {};
      stop();
    };
  });
  const get = () => {
    const next = held.next(read(args));
    if (next !== held) {
      held = next;
      // Not in this turn: a template may change nothing that others show.
      queueMicrotask(() => follow());
    }
    subscribe();
    state = held.get();
    return state;
  };
  return reading(loading, get);
}

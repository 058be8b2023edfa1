/** The state that a Svelte component shows. */

import { createSubscriber } from 'svelte/reactivity';
import type { LiveStatus } from '../types.js';
import { type Args, type LiveCall, ObservedQuery } from './observed-query.js';
import { readArgs, trackMembers } from './reactive-args.js';

/** Returns the state to show, which is `loading` on a server. */
export function createSvelteState<State extends LiveStatus>(
  kind: LiveCall<State>,
  args: Args,
): State {
  const { loading } = kind;
  if (typeof window === 'undefined') return loading;
  let held = ObservedQuery.of(kind);
  let state = loading;
  /** Follows the present query. */
  let follow = () => {};
  const subscribe = createSubscriber((update) => {
    let followed: ObservedQuery<State> | undefined;
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
    const next = held.next(readArgs(args));
    if (next !== held) {
      held = next;
      // Not in this turn: a template must not change state that others show.
      queueMicrotask(() => follow());
    }
    subscribe();
    state = held.get();
    return state;
  };
  return trackMembers(loading, get);
}

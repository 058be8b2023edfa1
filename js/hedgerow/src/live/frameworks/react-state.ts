/** The state that a React component shows. */

import { useEffect, useState, useSyncExternalStore } from 'react';
import { later } from '../../base/timeout.js';
import type { LiveStatus } from '../types.js';
import { type Args, type LiveCall, ObservedQuery } from './observed-query.js';

/**
 * Returns the query of a component, the same one for equal arguments. It is replaced once a render is committed, so
 * that renders may be dropped.
 */
function useObserved<State extends LiveStatus>(
  kind: LiveCall<State>,
  args: Args,
): ObservedQuery<State> {
  const [last] = useState(() => ({ held: ObservedQuery.of(kind), args: [] as Args }));
  const isSame = args.every((one, at) => Object.is(one, last.args[at]));
  const held = isSame && args.length === last.args.length ? last.held : last.held.next(args);
  useEffect(() => {
    last.held = held;
    last.args = args;
  });
  return held;
}

/** Returns the state to show, which is `loading` on a server and until hydration has ended. */
export function useLiveState<State extends LiveStatus>(kind: LiveCall<State>, args: Args): unknown {
  const { subscribe, get } = useObserved(kind, args);
  return useSyncExternalStore(subscribe, get, () => kind.loading);
}

/**
 * Returns the state to show; suspends until there is one. Throws the error of the state. On a server React throws, and
 * sends the fallback, since there is no state for servers.
 */
export function useReady<State extends LiveStatus>(kind: LiveCall<State>, args: Args): unknown {
  const { subscribe, get, renew } = useObserved(kind, args);
  const state = useSyncExternalStore(subscribe, get);
  if (state.status === 'error') {
    // After this turn, in which React renders again.
    later(renew, 0);
    throw state.error;
  }
  if (state.status === 'loading') throw awaitLoaded(subscribe, get);
  return state;
}

/** Resolves when the state is no longer `loading`. */
function awaitLoaded(
  subscribe: (listener: () => void) => () => void,
  get: () => LiveStatus,
): Promise<void> {
  return new Promise((resolve) => {
    let stop = () => {};
    const look = () => {
      if (get().status === 'loading') return;
      stop();
      resolve();
    };
    stop = subscribe(look);
    look();
  });
}

/** The state that a Solid component shows. */

import { createEffect, createMemo, createSignal, onCleanup, onMount, sharedConfig } from 'solid-js';
import { isServer } from 'solid-js/web';
import type { LiveStatus } from '../types.js';
import { type Args, type LiveCall, ObservedQuery } from './observed-query.js';
import { readArgs, trackMembers } from './reactive-args.js';

/** Returns the state to show, which is `loading` on a server and until hydration has ended. */
export function createSolidState<State extends LiveStatus>(
  kind: LiveCall<State>,
  args: Args,
): State {
  const { loading } = kind;
  if (isServer) return loading;
  const [isWaiting, wait] = createSignal(sharedConfig.context !== undefined);
  if (isWaiting()) onMount(() => wait(false));
  const [changes, tell] = createSignal(undefined, { equals: false });
  const held = createMemo(
    (last: ObservedQuery<State>) => (isWaiting() ? last : last.next(readArgs(args))),
    ObservedQuery.of(kind),
  );
  createEffect(() => {
    onCleanup(held().subscribe(tell));
    tell();
  });
  const state = createMemo(() => {
    changes();
    return held().get();
  });
  return trackMembers(loading, state);
}

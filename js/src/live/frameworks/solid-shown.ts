/** What a component of Solid shows. */

import { createEffect, createMemo, createSignal, onCleanup, onMount, sharedConfig } from 'solid-js';
import { isServer } from 'solid-js/web';
import type { Told } from '../types.js';
import { read, reading } from './given.js';
import { type Args, Held, type Kind } from './held.js';

/** The state to show. On a server, and until what that has rendered is taken over, it is `loading`. */
export function shown<State extends Told>(kind: Kind<State>, args: Args): State {
  const { loading } = kind;
  if (isServer) return loading;
  const [isWaiting, wait] = createSignal(sharedConfig.context !== undefined);
  if (isWaiting()) onMount(() => wait(false));
  const [changes, tell] = createSignal(undefined, { equals: false });
  const held = createMemo(
    (last: Held<State>) => (isWaiting() ? last : last.next(read(args))),
    Held.of(kind),
  );
  createEffect(() => {
    onCleanup(held().subscribe(tell));
    tell();
  });
  const state = createMemo(() => {
    changes();
    return held().get();
  });
  return reading(loading, state);
}

/** The state that an Angular component shows. */

import {
  assertInInjectionContext,
  computed,
  effect,
  Injector,
  inject,
  PLATFORM_ID,
  type Signal,
  signal,
  untracked,
} from '@angular/core';
import type { LiveStatus } from '../types.js';
import { type Args, type LiveCall, ObservedQuery } from './observed-query.js';
import { readArgs } from './reactive-args.js';

/** The injector to use outside of an injection context. */
export interface Within {
  readonly injector: Injector;
}

/** Returns the state to show, which is `loading` on a server. */
export function createAngularState<State extends LiveStatus>(
  call: object,
  kind: LiveCall<State>,
  all: Args,
): Signal<never> {
  const { injector: within } = Object(all.length > 1 && all.at(-1)) as Partial<Within>;
  if (within === undefined) assertInInjectionContext(call as () => void);
  const args = within === undefined ? all : all.slice(0, -1);
  const injector = within ?? inject(Injector);
  if (injector.get(PLATFORM_ID) === 'server') return computed(() => kind.loading as never);
  const changes = signal(0);
  const tell = () => changes.update((count) => count + 1);
  let last = ObservedQuery.of(kind);
  const held = computed(() => {
    last = last.next(readArgs(args));
    return last;
  });
  effect(
    (onCleanup) => {
      const { subscribe } = held();
      untracked(() => {
        onCleanup(subscribe(tell));
        tell();
      });
    },
    { injector },
  );
  return computed(() => {
    changes();
    return held().get() as never;
  });
}

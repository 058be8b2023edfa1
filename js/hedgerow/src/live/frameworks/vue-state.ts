/** The state that a Vue component shows. */

import {
  type ComputedRef,
  computed,
  getCurrentInstance,
  hasInjectionContext,
  inject,
  onMounted,
  shallowRef,
  ssrContextKey,
  toValue,
  watch,
} from 'vue';
import type { LiveStatus } from '../types.js';
import { type Args, type LiveCall, ObservedQuery } from './observed-query.js';

/** Returns the state to show, which is `loading` on a server and until hydration has ended. */
export function createVueState<State extends LiveStatus>(
  kind: LiveCall<State>,
  args: Args,
): ComputedRef<never> {
  const isServer = hasInjectionContext() && inject(ssrContextKey, undefined) !== undefined;
  const isTakenOver = getCurrentInstance()?.vnode.el != null;
  const isWaiting = shallowRef(isServer || isTakenOver);
  if (isTakenOver) {
    onMounted(() => {
      isWaiting.value = false;
    });
  }
  const changes = shallowRef(0);
  let last = ObservedQuery.of(kind);
  const held = computed(() => {
    if (!isWaiting.value) last = last.next(args.map((one) => toValue(one)));
    return last;
  });
  watch(
    held,
    ({ subscribe }, _, onCleanup) => {
      onCleanup(subscribe(() => void changes.value++));
      changes.value++;
    },
    { immediate: true },
  );
  return computed(() => {
    void changes.value;
    return held.value.get() as never;
  });
}

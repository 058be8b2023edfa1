/** Mounts components of Svelte. */
import { mount, unmount } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import {
  useConnection,
  useLive,
  useLiveCount,
  useLiveRow,
} from '../../../src/live/frameworks/svelte.js';
import type { Call, Framework, State } from './framework.js';
import Shown from './Shown.svelte';

type Use = (...args: unknown[]) => State;
export const USE = {
  rows: useLive,
  row: useLiveRow,
  count: useLiveCount,
  connection: useConnection,
} as unknown as Record<Call, Use>;

const mounted = new Set<Record<string, unknown>>();

export const svelte: Framework = {
  name: 'Svelte',
  clear() {
    for (const one of mounted) void unmount(one);
    mounted.clear();
  },
  mount(call, ...first) {
    const states: State[] = [];
    const given = new SvelteMap<string, unknown[]>([['args', first]]);
    const target = document.createElement('div');
    const props = {
      use: () => USE[call](...[0, 1].map((at) => () => given.get('args')?.[at])),
      noted: (state: State) => void states.push(state),
    };
    const component = mount(Shown, { target, props });
    mounted.add(component);
    return {
      states,
      text: () => target.textContent ?? '',
      set: (...next) => void given.set('args', next),
      unmount() {
        mounted.delete(component);
        void unmount(component);
      },
    };
  },
};

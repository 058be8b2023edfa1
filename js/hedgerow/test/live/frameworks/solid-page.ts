/** Mounts components of Solid. */
import { createEffect, createSignal } from 'solid-js';
import { createComponent, insert, render } from 'solid-js/web';
import {
  useConnection,
  useLive,
  useLiveCount,
  useLiveRow,
} from '../../../src/live/frameworks/solid.js';
import type { Call, Framework, State } from './framework.js';

type Use = (...args: unknown[]) => State;
export const USE = {
  rows: useLive,
  row: useLiveRow,
  count: useLiveCount,
  connection: useConnection,
} as unknown as Record<Call, Use>;

const disposals = new Set<() => void>();

export const solid: Framework = {
  name: 'Solid',
  clear() {
    for (const dispose of disposals) dispose();
    disposals.clear();
  },
  mount(call, ...first) {
    const states: State[] = [];
    const [args, set] = createSignal<unknown[]>(first);
    const container = document.createElement('div');
    const Shown = () => {
      const shown = USE[call](...[0, 1].map((at) => () => args()[at]));
      createEffect(() => states.push({ ...shown }));
      const p = document.createElement('p');
      insert(p, () => JSON.stringify(shown));
      return p;
    };
    const dispose = render(() => createComponent(Shown, {}), container);
    disposals.add(dispose);
    return {
      states,
      text: () => container.textContent ?? '',
      set: (...next) => void set(next),
      unmount() {
        disposals.delete(dispose);
        dispose();
      },
    };
  },
};

/** Mounts components of Vue. */
import { type App, type ComputedRef, createApp, h, shallowRef, watch } from 'vue';
import {
  useConnection,
  useLive,
  useLiveCount,
  useLiveRow,
} from '../../../src/live/frameworks/vue.js';
import type { Call, Framework, State } from './framework.js';

type Use = (...args: unknown[]) => ComputedRef<State>;
export const USE = {
  rows: useLive,
  row: useLiveRow,
  count: useLiveCount,
  connection: useConnection,
} as unknown as Record<Call, Use>;

const apps = new Set<App>();

/**
 * A component that shows a live call, and notes its states. The arguments are getters: as many as there are at first.
 */
export const shownBy = (call: Call, args: () => unknown[], noted: (state: State) => void) => ({
  setup() {
    const state = USE[call](...[0, 1].map((at) => () => args()[at]));
    watch(state, noted, { immediate: true, flush: 'post' });
    return () => h('p', JSON.stringify(state.value));
  },
});

export const vue: Framework = {
  name: 'Vue',
  clear() {
    for (const app of apps) app.unmount();
    apps.clear();
  },
  mount(call, ...first) {
    const states: State[] = [];
    const args = shallowRef<unknown[]>(first);
    const container = document.createElement('div');
    const app = createApp(
      shownBy(
        call,
        () => args.value,
        (state) => states.push(state),
      ),
    );
    apps.add(app);
    app.mount(container);
    return {
      states,
      text: () => container.textContent ?? '',
      set(...next) {
        args.value = next;
      },
      unmount() {
        apps.delete(app);
        app.unmount();
      },
    };
  },
};

/** Mounts components of React. */
import { createElement, type ReactNode, StrictMode, useEffect } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import {
  useConnection,
  useLive,
  useLiveCount,
  useLiveRow,
} from '../../../src/live/frameworks/react.js';
import type { Call, Framework, Page, State } from './framework.js';

type Use = (...args: unknown[]) => State;
export const USE = {
  rows: useLive,
  row: useLiveRow,
  count: useLiveCount,
  connection: useConnection,
} as unknown as Record<Call, Use>;

const roots = new Set<Root>();

/** Unmounts all. */
export function clear(): void {
  for (const root of roots) flushSync(() => root.unmount());
  roots.clear();
}

/** Renders an element in a place of its own. */
export function rendered(element: ReactNode, hydrated?: (container: Element) => Root) {
  const container = document.createElement('div');
  const root = hydrated?.(container) ?? createRoot(container);
  roots.add(root);
  const render = (now: ReactNode) => flushSync(() => root.render(now));
  if (hydrated === undefined) render(element);
  return { container, render, unmount: () => flushSync(() => root.unmount()) };
}

/** A component that notes its renders. */
export function Shown({ call, args, noted }: { call: Call; args: unknown[]; noted: State[] }) {
  const state = USE[call](...args);
  useEffect(() => {
    noted.push(state);
  });
  return createElement('p', null, JSON.stringify(state));
}

export const reactOf = (name: string, isStrict: boolean): Framework => ({
  name,
  clear,
  mount(call, ...args): Page {
    const states: State[] = [];
    const element = (args: unknown[]) => {
      const own = createElement(Shown, { call, args, noted: states });
      return isStrict ? createElement(StrictMode, null, own) : own;
    };
    const { container, render, unmount } = rendered(element(args));
    return {
      states,
      text: () => container.textContent ?? '',
      set: (...next) => render(element(next)),
      unmount,
    };
  },
});

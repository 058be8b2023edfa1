/** A page of happy-dom for each test, and what is rendered there. */
import { Window } from 'happy-dom';
import { createElement, useEffect } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, vi } from 'vitest';
import { rest } from './watching.js';

/** What is unmounted when the test has ended. */
export const roots: Root[] = [];
const saved = { window: globalThis.window, document: globalThis.document };

beforeEach(() => {
  const window = new Window();
  Object.assign(globalThis, { window, document: window.document });
});

afterEach(async () => {
  for (const root of roots.splice(0)) root.unmount();
  await rest(2);
  Object.assign(globalThis, saved);
  vi.restoreAllMocks();
});

/** Renders an element. */
export function mount(element: Parameters<Root['render']>[0]) {
  const container = document.createElement('div');
  const root = createRoot(container);
  roots.push(root);
  const render = (now: typeof element) => flushSync(() => root.render(now));
  render(element);
  return { container, render, unmount: () => flushSync(() => root.unmount()) };
}

/** A component that notes each state with which it was rendered. */
export function noting<State>(use: () => State) {
  const states: State[] = [];
  const Component = () => {
    const state = use();
    useEffect(() => void states.push(state));
    return null;
  };
  return { states, last: () => states.at(-1) as State, element: createElement(Component) };
}

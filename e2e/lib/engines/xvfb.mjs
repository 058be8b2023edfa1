// A screen that nobody sees, for browsers that cannot do without one: one for this process.

import { ProcessGroup } from './process.mjs';

let screen;

/** The `DISPLAY` of a screen; starts it when it is first asked for. */
export function display() {
  screen ??= start();
  return screen;
}

async function start() {
  const args = ['-displayfd', '2', '-screen', '0', '1024x768x24', '-nolisten', 'tcp', '-noreset'];
  const group = new ProcessGroup('Xvfb', 'Xvfb', args);
  const [, number] = await group.said(/^(\d+)$/);
  group.unref();
  return `:${number}`;
}

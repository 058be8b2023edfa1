// Starts an invisible screen, for browsers that need one: one for this process.

import { ProcessGroup } from './process.mjs';

let screen;

/** Returns the `DISPLAY` of a screen; the first call starts it. */
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

// Shares code among scripts that measure.

import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Measures the longest wait of the event loop during `run`, in milliseconds. */
export async function longestGapOf(run) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await run();
  // One more turn: the last wait counts only once the timer fires.
  await new Promise((resolve) => setTimeout(resolve, 3));
  delay.disable();
  return delay.max / 1e6;
}

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

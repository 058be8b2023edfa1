import { turn } from '../base/slice-queue.js';

/**
 * Does work in slices of `sliceMs`, with a turn of the event loop after each. Returns a promise only if one slice does
 * not suffice. Calls `onBreak` at the end of each slice.
 */
export function runInSlices(
  work: Iterator<void, unknown>,
  sliceMs: number,
  onBreak: () => void,
): Promise<void> | undefined {
  const endMs = performance.now() + sliceMs;
  while (!work.next().done) {
    if (performance.now() < endMs) continue;
    onBreak();
    return turn().then(() => runInSlices(work, sliceMs, onBreak));
  }
  onBreak();
  return undefined;
}

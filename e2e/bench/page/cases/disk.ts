import { pause } from '../measure.js';

/**
 * Returns the MiB of the origin by the browser's own figure, NaN where it has none; the runner adds the size of the
 * files.
 */
export async function bytesOnDisk(): Promise<number> {
  // The size of files that a worker just closed includes their reserved space.
  await pause(500);
  const { usage = Number.NaN } = (await navigator.storage?.estimate()) ?? {};
  return usage / 2 ** 20;
}

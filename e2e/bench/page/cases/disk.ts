import { pause } from '../measure.js';

/** MiB that the origin takes by the browser's own figure, NaN where it has none; the runner adds the size of the files. */
export async function bytesOnDisk(): Promise<number> {
  // Files that a worker just closed count with what was reserved for them.
  await pause(500);
  const { usage = Number.NaN } = (await navigator.storage?.estimate()) ?? {};
  return usage / 2 ** 20;
}

/**
 * How the next task is asked for in React Native. Its `setImmediate` will not do: all immediates, and
 * those that they ask for, run before anything else does, so that a long load would hold the thread
 * to its end. A timer of 0 ms is queued at once, without waiting for a frame, behind what is due.
 */

/** What asks for a task of its own in which `run` is called. */
export function poster(run: () => void): () => void {
  return () => void setTimeout(run, 0);
}

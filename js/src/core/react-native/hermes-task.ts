/**
 * How to post a task in React Native. Not with its `setImmediate`: all immediates, including those
 * that they post, run before anything else, so that a long load would block the thread to its end. A
 * timer of 0 ms is queued at once behind the tasks that are due, without waiting for a frame.
 */

/** Returns a function that posts a task, which calls `run`. */
export function poster(run: () => void): () => void {
  return () => void setTimeout(run, 0);
}

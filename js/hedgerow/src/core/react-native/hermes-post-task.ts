/**
 * Posts tasks in React Native, without `setImmediate`: all immediates, and the immediates that they post, run before
 * anything else, so that a long load would block the thread to its end. A timer of 0 ms goes at once behind the tasks
 * that are due, without a wait for a frame.
 */

/** Returns a function that posts a task, which calls `run`. */
export function poster(run: () => void): () => void {
  return () => void setTimeout(run, 0);
}

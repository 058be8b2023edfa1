/** How to post a task. `react-native/task.ts` replaces this file in React Native. */
const FIRST = 0;
const SECOND = 1;

/** The part of Node's globals that is used. */
interface Node {
  readonly process?: { readonly versions?: { readonly node?: string } };
  readonly setImmediate?: (run: () => void) => unknown;
}

/** Returns a function that posts a task, which calls `run`. It never calls `run` itself. */
export function poster(run: () => void): () => void {
  // In Node use `setImmediate`: a message port would keep Node alive. Elsewhere it is a polyfill. Avoid
  // that of fake timers, which has a clock: it runs only when a test advances it.
  const { process, setImmediate: immediate } = globalThis as Node;
  if (process?.versions?.node && immediate && !('clock' in immediate)) {
    return () => void immediate(run);
  }
  if (typeof MessageChannel === 'undefined') return () => void setTimeout(run, 0);
  const { port1, port2 } = new MessageChannel();
  // Post two messages for each turn. A timer that became due during a slice is queued only when the
  // next task is chosen; behind a single message it would wait for another slice.
  port1.onmessage = ({ data }) => (data === FIRST ? port2.postMessage(SECOND) : run());
  // In Node with fake timers, do not keep the process alive.
  for (const port of [port1, port2] as { unref?(): void }[]) port.unref?.();
  return () => port2.postMessage(FIRST);
}

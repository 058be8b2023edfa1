/** How the next task is asked for. `react-native/task.ts` stands in for it in React Native. */
const FIRST = 0;
const SECOND = 1;

/** As much of Node as is used. */
interface Node {
  readonly process?: { readonly versions?: { readonly node?: string } };
  readonly setImmediate?: (run: () => void) => unknown;
}

/** What asks for a task of its own in which `run` is called; it has not been called when that returns. */
export function poster(run: () => void): () => void {
  // A message port would keep Node alive. Elsewhere it is a stand-in; and that of fake timers, which
  // have a clock, comes only when a test moves it.
  const { process, setImmediate: immediate } = globalThis as Node;
  if (process?.versions?.node && immediate && !('clock' in immediate)) {
    return () => void immediate(run);
  }
  if (typeof MessageChannel === 'undefined') return () => void setTimeout(run, 0);
  const { port1, port2 } = new MessageChannel();
  // Two messages a turn: a timer that fell due during a slice joins the queue only when the
  // next task is chosen, and so would wait for one slice more behind a single message.
  port1.onmessage = ({ data }) => (data === FIRST ? port2.postMessage(SECOND) : run());
  // In Node, beside fake timers.
  for (const port of [port1, port2] as { unref?(): void }[]) port.unref?.();
  return () => port2.postMessage(FIRST);
}

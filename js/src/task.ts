/** How the next task is asked for. `react-native/task.ts` stands in for it in React Native. */
const FIRST = 0;
const SECOND = 1;

/** What asks for a task of its own in which `run` is called; it has not been called when that returns. */
export function poster(run: () => void): () => void {
  // Node has it; a message port would keep the process alive.
  const immediate = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate;
  // Tests may put one in its place whose clock stands still.
  if (immediate !== undefined && !('clock' in immediate)) return () => void immediate(run);
  if (typeof MessageChannel === 'undefined') return () => void setTimeout(run, 0);
  const { port1, port2 } = new MessageChannel();
  // Two messages a turn: a timer that fell due during a slice joins the queue only when the
  // next task is chosen, and so would wait for one slice more behind a single message.
  port1.onmessage = ({ data }) => (data === FIRST ? port2.postMessage(SECOND) : run());
  return () => port2.postMessage(FIRST);
}

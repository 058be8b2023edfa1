/** Posts tasks. `core/react-native/hermes-post-task.ts` replaces this file in React Native. */
import { whenDrawn } from './let-firefox-draw.js';

const FIRST = 0;
const SECOND = 1;

/** The used part of Node's globals. */
interface Node {
  readonly process?: { readonly versions?: { readonly node?: string } };
  readonly setImmediate?: (run: () => void) => unknown;
}

/** Returns a function that posts a task, which calls `run`. It never calls `run` itself. */
export function poster(run: () => void): () => void {
  // In Node use `setImmediate`: a message port would keep Node alive. Elsewhere it is a polyfill. Avoid the
  // `setImmediate` of fake timers, which has a clock: it runs only when a test advances it.
  const { process, setImmediate: immediate } = globalThis as Node;
  if (process?.versions?.node && immediate && !('clock' in immediate)) {
    return () => void immediate(run);
  }
  if (typeof MessageChannel === 'undefined') return () => void setTimeout(run, 0);
  const messages = new Messages(run);
  return () => messages.post();
}

/** How long a message may be under way before a second one, in milliseconds. */
const LOST_MS = 1000;

/**
 * Tasks that are messages of the page to itself. WebKit loses the messages under way when its network process ends, as
 * iOS may end it: all work in slices would wait for ever. So a timer checks them.
 */
class Messages {
  readonly #run: () => void;
  #channel = new MessageChannel();
  /** Whether a task is under way. */
  #isPosted = false;
  #isWatched = false;
  /** How many tasks have run. */
  #tasks = 0;

  constructor(run: () => void) {
    this.#run = run;
    this.#listen();
  }

  post(): void {
    this.#isPosted = true;
    whenDrawn(this.#send);
    if (!this.#isWatched) this.#watch();
  }

  readonly #send = () => this.#channel.port2.postMessage(FIRST);

  #listen(): void {
    const channel = this.#channel;
    const { port1, port2 } = channel;
    // Post two messages for each turn. The engine queues a timer that became due during a slice only when it chooses
    // the next task: behind a single message it would wait for another slice.
    port1.onmessage = ({ data }) => {
      // Firefox also delivers the messages under way of a closed port.
      if (channel !== this.#channel) return;
      if (data === FIRST) return port2.postMessage(SECOND);
      this.#isPosted = false;
      this.#tasks += 1;
      this.#run();
    };
    // In Node with fake timers, do not keep the process alive.
    for (const port of [port1, port2]) unref(port);
  }

  /** Starts one timer for all tasks of a second. */
  #watch(): void {
    this.#isWatched = this.#isPosted;
    if (!this.#isPosted) return;
    const before = this.#tasks;
    const look = () => {
      if (this.#isPosted && this.#tasks === before) this.#again();
      this.#watch();
    };
    unref(setTimeout(look, LOST_MS));
  }

  #again(): void {
    this.#channel.port1.close();
    this.#channel = new MessageChannel();
    this.#listen();
    this.#send();
  }
}

function unref(of: unknown): void {
  (of as { unref?(): void }).unref?.();
}

/** The wire between a device and the server: it can be pulled out, and notes its traffic. */
import { HedgerowError } from 'hedgerow';
import { type Remote, type RemoteHead, serverPokes } from 'hedgerow/sync';

/** One call of the remote, when its answer came. */
export interface WireCall {
  readonly atMs: number;
  /** The call as a person reads it: `PUT head`. */
  readonly what: string;
  readonly isWrite: boolean;
  /** Bytes of bodies. */
  readonly sent: number;
  readonly received: number;
  readonly outcome: 'answered' | 'unchanged' | 'lost' | 'cut';
}

/** Calls to keep: more than are ever plotted or listed. */
const KEPT = 400;

export class Wire {
  readonly #url: string;
  readonly #onCall: (call: WireCall) => void;
  readonly #plugs = new Set<() => void>();
  calls: readonly WireCall[] = [];
  #isPlugged: boolean;

  /** The wire to the server at `url`. */
  constructor(url: string, isPlugged: boolean, onCall: (call: WireCall) => void) {
    this.#url = url;
    this.#isPlugged = isPlugged;
    this.#onCall = onCall;
  }

  get isPlugged(): boolean {
    return this.#isPlugged;
  }

  set isPlugged(value: boolean) {
    if (value === this.#isPlugged) return;
    this.#isPlugged = value;
    for (const listener of this.#plugs) listener();
  }

  /** News of the server, for `link.sync`. They come while the wire is plugged in; plugging it in is news, too. */
  readonly pokes = (poke: () => void): (() => void) => {
    let stop: (() => void) | undefined;
    const follow = () => {
      stop?.();
      stop = this.#isPlugged ? serverPokes(this.#url)(poke) : undefined;
    };
    const listener = () => {
      follow();
      poke();
    };
    follow();
    this.#plugs.add(listener);
    return () => {
      this.#plugs.delete(listener);
      stop?.();
    };
  };

  /** Returns the remote at the end of the wire. */
  through(remote: Remote): Remote {
    return {
      readHead: (...call) => this.#carry('GET head', 0, () => remote.readHead(...call), ofHead),
      readHeadSince: (...call) =>
        this.#carry('GET head', 0, () => remote.readHeadSince(...call), ofHead),
      swapHead: (...call) =>
        this.#carry(
          'PUT head',
          call[2].length,
          () => remote.swapHead(...call),
          (swap) => (swap.state === 'lost' ? ofHead(swap.head) : 0),
        ),
      get: (...call) =>
        this.#carry(
          `GET ${kindOf(call[0])}`,
          0,
          () => remote.get(...call),
          (bytes) => bytes?.length ?? 0,
        ),
      put: (...call) =>
        this.#carry(`PUT ${kindOf(call[0])}`, call[1].length, () => remote.put(...call)),
      remove: (...call) => this.#carry('DELETE', 0, () => remote.remove(...call)),
      list: (...call) => this.#carry('GET list', 0, () => remote.list(...call)),
    };
  }

  async #carry<T>(
    what: string,
    sent: number,
    call: () => Promise<T>,
    lengthOf: (answer: T) => number = () => 0,
  ): Promise<T> {
    const isWrite = what.startsWith('PUT');
    const note = (outcome: WireCall['outcome'], received = 0) => {
      const one = { atMs: performance.now(), what, isWrite, sent, received, outcome };
      this.calls = [...this.calls, one].slice(-KEPT);
      this.#onCall(one);
    };
    // The device sends no byte, so the wire notes no call, and the link counts none.
    if (!this.#isPlugged) throw unplugged({ isSent: false });
    let answer: T;
    try {
      answer = await call();
    } catch (cause) {
      note('cut');
      throw cause;
    }
    // The request may have taken effect; its answer has no reader.
    if (!this.#isPlugged) {
      note('cut');
      throw unplugged();
    }
    note(outcomeOf(answer), lengthOf(answer));
    return answer;
  }
}

const unplugged = (facts?: { isSent: false }) =>
  new HedgerowError('offline', 'the plug of this device is pulled', facts);

const ofHead = (head: RemoteHead | 'unchanged' | undefined): number =>
  typeof head === 'object' ? head.bytes.length : 0;

function kindOf(name: string): string {
  return name.startsWith('p/') ? 'pack' : name.startsWith('d/') ? 'delta' : 'repository';
}

function outcomeOf(answer: unknown): WireCall['outcome'] {
  if (answer === 'unchanged') return 'unchanged';
  const { state } = (answer ?? {}) as { state?: string };
  return state === 'lost' ? 'lost' : state === 'unknown' ? 'cut' : 'answered';
}

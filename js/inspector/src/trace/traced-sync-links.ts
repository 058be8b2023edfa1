/** The connections that a handle has opened, and their states. */

import type { TracedLink } from './cross-window-trace-types.js';
import { LINK_CALLS, MeasuredCalls } from './measured-calls.js';
import type { Bars } from './timing-recorder.js';

/** The members that a trace reads of a connection. */
interface ObservedLink {
  readonly name: string;
  readonly state: { readonly status: string };
  readonly traffic?: {
    readonly requests: number;
    readonly sentBytes: number;
    readonly receivedBytes: number;
  };
}

export class Links {
  readonly #all = new Set<ObservedLink>();
  readonly #undo: (() => void)[] = [];
  readonly #bars: Bars;

  constructor(bars: Bars) {
    this.#bars = bars;
  }

  add(link: ObservedLink): void {
    this.#all.add(link);
    const onResult = (name: string) => {
      if (name === 'close') this.#all.delete(link);
    };
    const calls = new MeasuredCalls(this.#bars, `${link.name}.`);
    this.#undo.push(calls.measure(link, LINK_CALLS, onResult));
  }

  list(): TracedLink[] {
    return [...this.#all].map(({ name, state, traffic }) => ({
      name,
      status: state.status,
      requests: traffic?.requests,
      sentBytes: traffic?.sentBytes,
      receivedBytes: traffic?.receivedBytes,
    }));
  }

  stop(): void {
    for (const one of this.#undo.splice(0)) one();
    this.#all.clear();
  }
}

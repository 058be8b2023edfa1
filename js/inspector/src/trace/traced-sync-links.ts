/** The remotes that a handle has opened, and the loops that keep them in sync. */

import type { TracedLink } from './cross-window-trace-types.js';
import { LINK_CALLS, MeasuredCalls } from './measured-calls.js';
import { replaceMethod } from './replace-method.js';
import type { Bars } from './timing-recorder.js';

/** The members that a trace reads of a link to a remote, or to an app's own server. */
interface ObservedLink {
  readonly name?: unknown;
  readonly traffic?: {
    readonly requests: number;
    readonly sentBytes: number;
    readonly receivedBytes: number;
  };
}

/** An app's own server has no name. */
const titleOf = ({ name }: ObservedLink) => (typeof name === 'string' ? name : 'own server');

export class Links {
  readonly #all = new Map<
    ObservedLink,
    { readonly state?: { readonly status?: string } } | undefined
  >();
  readonly #undo: (() => void)[] = [];
  readonly #bars: Bars;

  constructor(bars: Bars) {
    this.#bars = bars;
  }

  add(link: ObservedLink): void {
    this.#all.set(link, undefined);
    const onResult = (name: string) => {
      if (name === 'close') this.#all.delete(link);
    };
    this.#undo.push(
      new MeasuredCalls(this.#bars, `${titleOf(link)}.`).measure(link, LINK_CALLS, onResult),
      replaceMethod(link, 'sync', (sync) => (...args) => {
        const loop = sync(...args);
        this.#all.set(link, loop as object);
        return loop;
      }),
    );
  }

  list(): TracedLink[] {
    return [...this.#all].map(([link, loop]) => ({
      name: titleOf(link),
      status: loop?.state?.status ?? 'no loop',
      requests: link.traffic?.requests,
      sentBytes: link.traffic?.sentBytes,
      receivedBytes: link.traffic?.receivedBytes,
    }));
  }

  stop(): void {
    for (const one of this.#undo.splice(0)) one();
    this.#all.clear();
  }
}

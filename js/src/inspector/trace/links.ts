/** The remotes that a handle has opened, and the loops that keep them in sync. */

import type { Bars } from './bars.js';
import { Calls, LINK_CALLS } from './calls.js';
import { shadow } from './shadow.js';
import type { TracedLink } from './traced.js';

/** What is looked at of a link to a remote, or to an app's own server. */
interface Seen {
  readonly name?: unknown;
  readonly traffic?: {
    readonly requests: number;
    readonly sentBytes: number;
    readonly receivedBytes: number;
  };
}

export class Links {
  readonly #all = new Map<Seen, { readonly state?: { readonly status?: string } } | undefined>();
  readonly #undo: (() => void)[] = [];
  readonly #bars: Bars;

  constructor(bars: Bars) {
    this.#bars = bars;
  }

  add(link: Seen): void {
    this.#all.set(link, undefined);
    const title = typeof link.name === 'string' ? link.name : 'server';
    const onResult = (name: string) => {
      if (name === 'close') this.#all.delete(link);
    };
    this.#undo.push(
      new Calls(this.#bars, `${title}.`).measure(link, LINK_CALLS, onResult),
      shadow(link, 'sync', (sync) => (...args) => {
        const loop = sync(...args);
        this.#all.set(link, loop as object);
        return loop;
      }),
    );
  }

  list(): TracedLink[] {
    return [...this.#all].map(([{ name, traffic }, loop]) => ({
      name: typeof name === 'string' ? name : 'own server',
      status: loop?.state?.status ?? 'no loop',
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

/**
 * What components show of a store, kept up to date once for all that show the same. A store's
 * subscriptions are found by their names, and live as long as somebody listens.
 */

/** Keeps a state up to date: calls `set` with each new one, until it is stopped. */
export type Follow<State> = (set: (state: State) => void) => () => void;

class Subscription<State> {
  /** `undefined` before there is one. */
  state: State | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  readonly #onIdle: () => void;

  constructor(follow: Follow<State>, onIdle: () => void) {
    this.#onIdle = onIdle;
    this.#stop = follow((state) => {
      this.state = state;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  add(listener: () => void): () => void {
    // One of its own for each call: two components may share a function.
    const own = () => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
      // React lets go and takes hold again in one turn: in StrictMode, and when a key moves.
      queueMicrotask(() => {
        if (this.#listeners.size > 0) return;
        this.#stop();
        this.#onIdle();
      });
    };
  }
}

const stores = new WeakMap<object, Map<string, Subscription<unknown>>>();

/** The state of a subscription; `undefined` when there is none, or it has none yet. */
export function stateOf<State>(store: object | undefined, name: string): State | undefined {
  const named = store && stores.get(store)?.get(name);
  return named?.state as State | undefined;
}

/** Listens to the subscription `name`, which is begun with `follow` when there is none. */
export function subscribe<State>(
  store: object,
  name: string,
  follow: Follow<State>,
  listener: () => void,
): () => void {
  const named = stores.get(store) ?? new Map<string, Subscription<unknown>>();
  stores.set(store, named);
  let subscription = named.get(name);
  if (subscription === undefined) {
    const onIdle = () => {
      if (named.get(name) === subscription) named.delete(name);
    };
    subscription = new Subscription(follow as Follow<unknown>, onIdle);
    named.set(name, subscription);
  }
  return subscription.add(listener);
}

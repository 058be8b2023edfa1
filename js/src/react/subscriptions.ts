/**
 * What components show of a store, kept up to date once for all that show the same. A store's
 * subscriptions are found by their names, and live as long as somebody listens.
 */

/** What every state tells. */
export interface Status {
  readonly status: string;
}

/**
 * Keeps a state up to date: calls `set` with each new one, until it is stopped. `before` is the last state, if
 * it is begun again after a failure.
 */
export type Follow<State> = (set: (state: State) => void, before?: State) => () => void;

/** A store, of which some tell when what has failed may be read again. */
export interface Followed {
  onRecovery?(listener: () => void): () => void;
}

class Subscription<State extends Status> {
  /** `undefined` before there is one. */
  state: State | undefined;
  readonly #follow: Follow<State>;
  readonly #listeners = new Set<() => void>();
  #stop: () => void;
  readonly #forget: () => void;
  readonly #onIdle: () => void;

  constructor(store: Followed, follow: Follow<State>, onIdle: () => void) {
    this.#follow = follow;
    this.#onIdle = onIdle;
    this.#stop = this.#begin();
    this.#forget = store.onRecovery?.(() => this.again()) ?? (() => {});
  }

  #begin(): () => void {
    return this.#follow((state) => {
      this.state = state;
      for (const listener of [...this.#listeners]) listener();
    }, this.state);
  }

  /** Reads again what could not be read. */
  again(): void {
    if (this.state?.status !== 'error') return;
    this.#stop();
    this.#stop = this.#begin();
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
        this.#forget();
        this.#onIdle();
      });
    };
  }
}

const stores = new WeakMap<object, Map<string, Subscription<Status>>>();

/** The state of a subscription; `undefined` when there is none, or it has none yet. */
export function stateOf<State>(store: object | undefined, name: string): State | undefined {
  const named = store && stores.get(store)?.get(name);
  return named?.state as State | undefined;
}

/** Listens to the subscription `name`, which is begun with `follow` when there is none. */
export function subscribe<State extends Status>(
  store: Followed,
  name: string,
  follow: Follow<State>,
  listener: () => void,
): () => void {
  const named = stores.get(store) ?? new Map<string, Subscription<Status>>();
  stores.set(store, named);
  let subscription = named.get(name);
  if (subscription === undefined) {
    const onIdle = () => {
      if (named.get(name) === subscription) named.delete(name);
    };
    subscription = new Subscription(store, follow as unknown as Follow<Status>, onIdle);
    named.set(name, subscription);
  } else {
    subscription.again();
  }
  return subscription.add(listener);
}

/**
 * Subscriptions to data of a store. Components that show the same data share one, which they find
 * by its name. It ends with its last listener.
 */

/** The common part of all states. */
export interface Status {
  readonly status: string;
}

/**
 * Keeps a state up to date: calls `set` with each new state; returns a function that stops that. After a
 * failure it begins again, with the last state as `before`.
 */
export type Follow<State> = (set: (state: State) => void, before?: State) => () => void;

/** A store. It may report when a failed read may succeed again. */
export interface Followed {
  onRecovery?(listener: () => void): () => void;
}

class Subscription<State extends Status> {
  /** `undefined` until there is a state. */
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

  /** After an error, begins again. */
  again(): void {
    if (this.state?.status !== 'error') return;
    this.#stop();
    this.#stop = this.#begin();
  }

  add(listener: () => void): () => void {
    // A function of its own for each call: two components may pass the same one.
    const own = () => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
      // React may unsubscribe and subscribe again in one turn: in StrictMode, and when a `key` moves.
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

/** The state of a subscription; `undefined` if the subscription or its state does not exist yet. */
export function stateOf<State>(store: object | undefined, name: string): State | undefined {
  const named = store && stores.get(store)?.get(name);
  return named?.state as State | undefined;
}

/** Adds a listener to the subscription `name`. If it does not exist, `follow` begins it. */
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

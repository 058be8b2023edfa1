import { notify } from '../base/call-callback-safely.js';
import { disposable } from '../base/disposable.js';
import { HedgerowError } from '../base/errors.js';
import type { LiveFollower, LiveStatus } from './types.js';

/** A function that makes a follower; `before` is the last one. */
export type Make<State extends LiveStatus, Args extends unknown[]> = (
  before: LiveFollower | undefined,
  ...args: Args
) => LiveFollower<State>;

/** A live query, row or count, as a component holds it. */
export class LiveView<State extends LiveStatus, Args extends unknown[]> {
  readonly #make: Make<State, Args>;
  #follower: LiveFollower<State>;
  #state: State;
  /** Whether `#state` has a result to show. */
  #isLoaded = false;
  readonly #listeners = new Set<() => void>();
  #stop: (() => void) | undefined;
  #isClosed = false;
  declare readonly [Symbol.dispose]: () => void;

  constructor(make: Make<State, Args>, args: Args, before?: LiveFollower) {
    this.#make = make;
    this.#follower = this.#findOrMake(before, args);
    this.#state = this.#follower.state;
    disposable(
      LiveView.prototype as LiveView<LiveStatus, never>,
      'dispose',
      LiveView.prototype.close,
    );
  }

  #findOrMake(before: LiveFollower | undefined, args: Args): LiveFollower<State> {
    const made = this.#make(before, ...args);
    const { hub, name } = made.wanted;
    return (hub.find(name) as LiveFollower<State> | undefined) ?? made;
  }

  readonly get = (): State => {
    if (!this.#isClosed) {
      this.#find();
      this.#follower.touch();
      this.#update();
    }
    return this.#state;
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#checkOpen();
    // A function of its own for each call: two callers may pass the same one.
    const own = () => notify(listener, undefined);
    if (this.#stop === undefined) this.#listen();
    else this.#follower.retry();
    this.#listeners.add(own);
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#stop?.();
      if (this.#listeners.size === 0) this.#stop = undefined;
    };
  };

  change(...args: Args): void {
    this.#checkOpen();
    const next = this.#findOrMake(this.#follower, args);
    if (next === this.#follower) return;
    this.#stop?.();
    this.#follower = next;
    if (this.#stop !== undefined) this.#listen();
    const before = this.#state;
    this.#update();
    if (this.#state !== before) this.#tell();
  }

  /** Returns a view of other arguments, or this one if both show the same. This view does not change. */
  next(...args: Args): LiveView<State, Args> {
    const next = new LiveView(this.#make, args, this.#follower);
    const [one, other] = [this.#follower.wanted, next.#follower.wanted];
    if (one.hub === other.hub && one.name === other.name) return this;
    next.#state = this.#state;
    next.#isLoaded = this.#isLoaded;
    next.#update();
    return next;
  }

  /** See `Reader.__v_skip`. */
  protected __v_skip(): void {}

  /** Begins again after a failure: at once if there are listeners, otherwise when it is shown next. */
  renew(): void {
    this.#follower.release();
    if (!this.#follower.isOver) this.#follower.retry();
  }

  close(): void {
    this.#isClosed = true;
    this.#stop?.();
    this.#listeners.clear();
    this.#follower.release();
  }

  #checkOpen(): void {
    if (!this.#isClosed) return;
    throw new HedgerowError('closed', 'what is live was closed: make another one');
  }

  #listen(): void {
    this.#find();
    this.#stop = this.#follower.listen(() => {
      this.#update();
      this.#tell();
    });
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener();
  }

  /** Finds the follower that another view may have begun since this one ended. */
  #find(): void {
    const { wanted, isOver } = this.#follower;
    const { hub, name } = wanted;
    if (isOver)
      this.#follower = (hub.find(name) as LiveFollower<State> | undefined) ?? this.#follower;
  }

  #update(): void {
    const { state, isLoaded } = this.#follower;
    if (isLoaded || !this.#isLoaded) {
      this.#state = state;
      this.#isLoaded = isLoaded;
      return;
    }
    // The last result stays until there is a new one.
    const status = state.status === 'loading' ? 'ready' : state.status;
    const old = this.#state;
    if (old.isStale && old.status === status && old.error === state.error) return;
    this.#state = { ...old, status, error: state.error, isStale: true };
  }
}

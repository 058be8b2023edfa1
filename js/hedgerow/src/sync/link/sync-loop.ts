/** Keeps a store in sync: decides when to pull and to push, and reports its state. */

import { type ErrorKind, HedgerowError, kindOfError } from '../../base/errors.js';
import type { ConnectionState, StartOptions } from './connection-state.js';

/** The members of the state that a loop knows. */
export type LoopState = Omit<ConnectionState, 'isFilled'>;

/** The state as tabs send it to each other: its error is a plain object. */
type ToldState = Omit<LoopState, 'error' | 'isLeader'> & {
  readonly error:
    | (Pick<HedgerowError, 'message' | 'status'> & { readonly kind: ErrorKind })
    | undefined;
};

export const FIRST_STATE: LoopState = {
  status: 'waiting',
  isPending: false,
  isLeader: false,
  error: undefined,
  retryAt: undefined,
};

/** Returns whether `other` has all members of `one`. */
export const isSameState = <State extends object>(one: State, other: Partial<State> | undefined) =>
  Object.entries(one).every(([name, value]) => other?.[name as keyof State] === value);

/** A call of the loop. */
interface LoopJob {
  readonly signal?: AbortSignal | undefined;
}

/** The result of one round. */
export interface RoundResult {
  /** Something has changed, here or there. */
  readonly hasNews: boolean;
  readonly isPending: boolean;
}

/** The connection, as its loop uses it. */
export interface LoopHost {
  isPending(): Promise<boolean>;
  /** Pushes if something is pending, and else pulls if `mustPull`: always, except after a commit when all was well. */
  work(isPending: boolean, mustPull: boolean, job: LoopJob): Promise<RoundResult>;
  onCommit(listener: () => void): () => void;
  /**
   * Runs the loop in one tab at a time. `lost` is aborted when another one has taken over. While this tab waits, passes
   * the messages of the tab at work to `onTold`.
   */
  hold(
    work: (lost: AbortSignal) => Promise<void>,
    signal: AbortSignal,
    onTold: (told: unknown) => void,
  ): Promise<void>;
  /** Sends a message to the tabs that wait. */
  say(told: unknown): void;
  /** Pokes the tab at work. */
  pass(): void;
  /** Hears that the state has changed. */
  show(): void;
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly chance: () => number;
}

/** After a change, the next pull comes this soon; then the wait doubles up to `everyMs`. */
const FIRST_WAIT_MS = 2000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** The wait after a failure. */
interface Retry {
  readonly ms: number;
  /** The part of the wait that no commit or poke ends: the server has asked for it. */
  readonly heldMs: number;
}

/** The loop that keeps a store in sync. `connection.start()` makes it. */
export class SyncLoop {
  readonly #host: LoopHost;
  #options: StartOptions;
  readonly #controller = new AbortController();
  #unsubscribe: () => void = () => {};
  #unfollow: () => void = () => {};
  #state = FIRST_STATE;
  #retryMs = FIRST_RETRY_MS;
  /** Ends the wait. */
  #wake: () => void = () => {};
  /** Aborted when another tab has taken over. */
  #lost: AbortSignal | undefined;
  #isPoked = true;
  #isAtWork = false;
  /** Whether only a commit woke the loop, which is no news of the remote. */
  #isCommit = false;
  /** Settles when the loop has ended. */
  readonly over: Promise<void>;
  #isOver = false;

  constructor(host: LoopHost, options: StartOptions) {
    this.#host = host;
    this.#options = options;
    this.over = this.#begin().finally(() => {
      this.#isOver = true;
      this.#tell({ status: 'stopped', retryAt: undefined, isLeader: false });
    });
  }

  get state(): LoopState {
    return this.#state;
  }

  /** Whether it has ended, or is about to. */
  get isEnding(): boolean {
    return this.#isOver || this.#signal.aborted;
  }

  /** Takes other options, and begins a round. */
  take(options: StartOptions): void {
    const { subscribe } = this.#options;
    this.#options = options;
    if (this.#isAtWork && options.subscribe !== subscribe) this.#subscribe();
    this.poke();
  }

  /** Subscribes to news of the other side, in the place of an earlier subscription. */
  #subscribe(): void {
    this.#unsubscribe();
    this.#unsubscribe = this.#options.subscribe?.(this.poke) ?? (() => {});
  }

  /** Pulls and pushes now, in the tab that syncs. */
  readonly poke = (): void => {
    if (!this.#isAtWork) this.#host.pass();
    this.#isCommit = false;
    this.#isPoked = true;
    this.#wake();
  };

  readonly #noteCommit = (): void => {
    if (!this.#isPoked) this.#isCommit = true;
    this.#isPoked = true;
    this.#wake();
  };

  /** Ends the loop, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#controller.abort(new HedgerowError('aborted', 'the sync was stopped'));
    this.#wake();
    await this.over;
  }

  get #signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Changes the state, and reports it; returns whether it has changed. */
  #tell(change: Partial<ConnectionState>): boolean {
    const state = { ...this.#state, ...change };
    if (isSameState(state, this.#state)) return false;
    this.#state = state;
    this.#host.show();
    return true;
  }

  /** Changes the state of this tab, which is at work, and sends it to the others. */
  #work(change: Partial<ConnectionState>): void {
    if (!this.#tell({ retryAt: undefined, ...change, isLeader: true })) return;
    const { isLeader: _, error, ...state } = this.#state;
    const { message, status } = error ?? {};
    this.#host.say({ ...state, error: error && { kind: kindOfError(error), message, status } });
  }

  /** Takes the state of the tab at work; `undefined` until that tab has one. */
  readonly #hear = (told: unknown): void => {
    if (told === undefined) return;
    const { error, ...state } = told as ToldState;
    const { kind, message, status } = error ?? {};
    const before = this.#state.error;
    const isSame = kindOfError(before) === kind && before?.message === message;
    const known =
      kind === undefined ? undefined : new HedgerowError(kind, message as string, { status });
    this.#tell({ ...state, error: isSame ? before : known, isLeader: false });
  };

  async #begin(): Promise<void> {
    // Not in the turn of the call, which may have more to do.
    await null;
    const target = globalThis as Partial<EventTarget> & { document?: Document };
    // A tab that waits listens, too: the one at work may be hidden.
    const stop = [this.#on(target, 'online'), this.#on(target.document, 'visibilitychange')];
    try {
      while (!this.#signal.aborted) await this.#turn();
    } finally {
      for (const one of stop) one();
    }
  }

  #on(target: Partial<EventTarget> | undefined, event: string): () => void {
    target?.addEventListener?.(event, this.poke);
    return () => target?.removeEventListener?.(event, this.poke);
  }

  /** Waits for its turn, and works until it ends. */
  async #turn(): Promise<void> {
    try {
      await this.#host.hold((lost) => this.#run(lost), this.#signal, this.#hear);
    } catch (cause) {
      if (!this.#signal.aborted) throw cause;
    } finally {
      this.#isAtWork = false;
      this.#unsubscribe();
      this.#unfollow();
      [this.#unsubscribe, this.#unfollow] = [() => {}, () => {}];
    }
    // Another tab has taken over, while this one was suspended.
    if (!this.#signal.aborted) this.#tell(FIRST_STATE);
  }

  async #run(lost: AbortSignal): Promise<void> {
    this.#isAtWork = true;
    this.#lost = lost;
    this.#subscribe();
    this.#unfollow = this.#host.onCommit(this.#noteCommit);
    lost.addEventListener('abort', () => this.#wake());
    let waitMs = FIRST_WAIT_MS;
    while (!this.#signal.aborted && !lost.aborted) {
      const isCommit = this.#isCommit;
      [this.#isPoked, this.#isCommit] = [false, false];
      const result = await this.#once(isCommit);
      if (typeof result === 'object') {
        await this.#wait(result.heldMs, true);
        await this.#wait(result.ms - result.heldMs, false);
        continue;
      }
      const { everyMs = 60_000, pauseMs = 1000 } = this.#options;
      this.#retryMs = FIRST_RETRY_MS;
      waitMs = result === 'news' ? FIRST_WAIT_MS : Math.min(2 * waitMs, everyMs);
      await this.#wait(pauseMs, true);
      if (!this.#isPoked && !lost.aborted)
        await this.#wait(Math.max(0, Math.min(waitMs, everyMs) - pauseMs), false);
    }
  }

  /** Runs one round. Resolves to the wait after a failure. */
  async #once(isCommit: boolean): Promise<'news' | 'quiet' | Retry> {
    const job = { signal: this.#signal };
    try {
      const isPending = await this.#host.isPending();
      const { status, isLeader } = this.#state;
      // A look while all is well is not reported.
      const wasWell = status === 'synced' && isLeader;
      if (!wasWell || isPending) this.#work({ isPending, status: 'syncing' });
      const mustPull = !isCommit || !wasWell;
      const { hasNews, ...left } = await this.#host.work(isPending, mustPull, job);
      this.#work({ status: 'synced', ...left, error: undefined });
      return hasNews ? 'news' : 'quiet';
    } catch (cause) {
      if (this.#signal.aborted) return { ms: 0, heldMs: 0 };
      const error =
        cause instanceof HedgerowError
          ? cause
          : new HedgerowError('remote/response', `pull or push has thrown ${String(cause)}`, {
              cause,
            });
      // The jitter keeps devices apart that went offline together.
      const heldMs = error.retryAfterMs ?? 0;
      const ms = Math.max(heldMs, this.#retryMs * (0.5 + this.#host.chance() / 2));
      this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
      const status = error.code === 'offline' ? 'offline' : 'failing';
      this.#work({ status, error, retryAt: Date.now() + ms });
      return { ms, heldMs };
    }
  }

  /** Waits, until it is poked unless it must wait. */
  async #wait(ms: number, must: boolean): Promise<void> {
    if (ms <= 0 || this.#signal.aborted || (!must && this.#isPoked)) return;
    const stop = new AbortController();
    this.#wake = () => {
      if (!must || this.#signal.aborted || this.#lost?.aborted) stop.abort();
    };
    await this.#host.sleep(ms, stop.signal).catch(() => {});
    this.#wake = () => {};
  }
}

/** Keeps a store in sync: decides when to pull and to push, and reports its state. */

import { notify } from '../../base/call-callback-safely.js';
import { optionsOf } from '../../base/check-options.js';
import { type ErrorKind, HedgerowError, kindOfError } from '../../base/errors.js';
import type { PullResult, SyncJob, SyncProgress } from './link-context.js';
import type { CollectOptions, CollectResult } from './remote-garbage-types.js';

/**
 * The states of a sync, as a person may see them:
 * - `waiting`: another tab syncs, and has not reported its state
 * - `syncing`: at work
 * - `synced`: the remote has all commits of this store, and the store has all of the remote
 * - `offline`: no answer comes; goes on by itself
 * - `failing`: the remote refuses, or is not what it was: see `error`. Goes on after a wait, which doubles
 */
export type SyncStatus = 'waiting' | 'syncing' | 'synced' | 'offline' | 'failing' | 'stopped';

export interface SyncState {
  readonly status: SyncStatus;
  /** Whether the remote lacks a commit of this store. */
  readonly isPending: boolean;
  readonly error: HedgerowError | undefined;
  /** After a failure: the latest time of the next try, in milliseconds since 1970. */
  readonly retryAt: number | undefined;
  /** Another tab syncs, and has reported this state. */
  readonly isElsewhere: boolean;
}

/** The state as tabs send it to each other: its error is a plain object. */
type ToldState = Omit<SyncState, 'error' | 'isElsewhere'> & {
  readonly error:
    | (Pick<HedgerowError, 'message' | 'status'> & { readonly kind: ErrorKind })
    | undefined;
};

const FIRST_STATE: SyncState = {
  status: 'waiting',
  isPending: false,
  error: undefined,
  retryAt: undefined,
  isElsewhere: false,
};

/** Returns whether `other` has all members of `one`. */
export const isSameState = <State extends object>(one: State, other: Partial<State> | undefined) =>
  Object.entries(one).every(([name, value]) => other?.[name as keyof State] === value);

export interface SyncOptions {
  /** Longest time between two pulls, in milliseconds, from 1,000; 60,000 by default. */
  readonly everyMs?: number | undefined;
  /** Shortest time between two pushes, in milliseconds; 1,000 by default. Commits between them go together. */
  readonly pauseMs?: number | undefined;
  /** Subscribes to news of the remote by calls of `poke`; returns a function that unsubscribes. See `serverPokes`. */
  readonly pokes?: ((poke: () => void) => () => void) | undefined;
  /** Called with the first state, which is `waiting`, soon after the call; then with each change. */
  readonly onState?: ((state: SyncState) => void) | undefined;
  /** Called when rows have come in, or conflicts were decided: by a pull, or by the pulls of a push. */
  readonly onPull?: ((result: PullResult) => void) | undefined;
  /** Called as packs come and go, like `onProgress` of `pull` and `push`. */
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
  /** Whether this device collects the garbage of the remote about once a day: see `collect`. Not by default. */
  readonly collect?: boolean | Pick<CollectOptions, 'graceMs'> | undefined;
  /** Called after each such collection. An error of it does not disturb the sync. */
  readonly onCollect?: ((outcome: CollectResult | HedgerowError) => void) | undefined;
}

/** The result of one round. */
export interface RoundResult {
  /** Something has changed, here or there. */
  readonly hasNews: boolean;
  readonly isPending: boolean;
}

/** The link, as a loop uses it. */
export interface LoopHost {
  isPending(): Promise<boolean>;
  /** Pushes if something is pending, and else pulls if `mustPull`: always, except after a commit when all was well. */
  work(isPending: boolean, mustPull: boolean, job: SyncJob): Promise<RoundResult>;
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

/** The loop that keeps a store in sync. Made by `link.sync()`. */
export class SyncLoop {
  readonly #host: LoopHost;
  readonly #options: SyncOptions;
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];
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

  constructor(host: LoopHost, options: SyncOptions) {
    this.#host = host;
    this.#options = optionsOf(
      'sync',
      options,
      'everyMs pauseMs pokes onState onPull onProgress collect onCollect',
    );
    for (const ms of [options.everyMs, options.pauseMs]) {
      if (ms === undefined || (typeof ms === 'number' && ms >= 0)) continue;
      throw new HedgerowError('invalid-argument', 'sync: everyMs and pauseMs are milliseconds');
    }
    this.over = this.#begin().finally(() => {
      this.#isOver = true;
      this.#tell({ status: 'stopped', retryAt: undefined, isElsewhere: false });
    });
  }

  get state(): SyncState {
    return this.#state;
  }

  get isOver(): boolean {
    return this.#isOver;
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
  #tell(change: Partial<SyncState>): boolean {
    const state = { ...this.#state, ...change };
    if (isSameState(state, this.#state)) return false;
    this.#state = state;
    if (this.#options.onState) notify(this.#options.onState, state);
    return true;
  }

  /** Changes the state of this tab, which is at work, and sends it to the others. */
  #work(change: Partial<SyncState>): void {
    if (!this.#tell({ retryAt: undefined, ...change, isElsewhere: false })) return;
    const { isElsewhere: _, error, ...state } = this.#state;
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
    this.#tell({ ...state, error: isSame ? before : known, isElsewhere: true });
  };

  async #begin(): Promise<void> {
    // Not in the turn of the call: a listener may use the returned loop.
    await null;
    if (this.#options.onState) notify(this.#options.onState, this.#state);
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
      for (const undo of this.#undo.splice(0)) undo();
    }
    // Another tab has taken over, while this one was suspended.
    if (!this.#signal.aborted) this.#tell(FIRST_STATE);
  }

  async #run(lost: AbortSignal): Promise<void> {
    this.#isAtWork = true;
    this.#lost = lost;
    const { pokes } = this.#options;
    if (pokes !== undefined) this.#undo.push(pokes(this.poke));
    this.#undo.push(this.#host.onCommit(this.#noteCommit));
    lost.addEventListener('abort', () => this.#wake());
    const { everyMs = 60_000, pauseMs = 1000 } = this.#options;
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
      this.#retryMs = FIRST_RETRY_MS;
      waitMs = result === 'news' ? FIRST_WAIT_MS : Math.min(2 * waitMs, everyMs);
      await this.#wait(pauseMs, true);
      if (!this.#isPoked && !lost.aborted)
        await this.#wait(Math.max(0, Math.min(waitMs, everyMs) - pauseMs), false);
    }
  }

  /** Runs one round. Resolves to the wait after a failure. */
  async #once(isCommit: boolean): Promise<'news' | 'quiet' | Retry> {
    const { onPull, onProgress } = this.#options;
    const job = { signal: this.#signal, onProgress, onPull };
    try {
      const isPending = await this.#host.isPending();
      const { status, isElsewhere } = this.#state;
      // A look while all is well is not reported.
      const wasWell = status === 'synced' && !isElsewhere;
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

/** The calls that connections of all kinds share: their loop, their state, their listeners and their end. */

import { notify } from '../../base/call-callback-safely.js';
import { optionsOf } from '../../base/check-options.js';
import { disposable } from '../../base/disposable.js';
import { HedgerowError } from '../../base/errors.js';
import { Listeners } from '../../base/listeners.js';
import { sleep } from '../../base/pauses.js';
import {
  type CallOptions,
  type ConnectionState,
  type PullOptions,
  START_OPTIONS,
  type StartOptions,
} from './connection-state.js';
import { CallQueue } from './exclusive-link-calls.js';
import type { SyncHost } from './linked-store-types.js';
import {
  FIRST_STATE,
  isSameState,
  type LoopState,
  type RoundResult,
  SyncLoop,
} from './sync-loop.js';
import { Leases } from './tab-leases.js';

/** A call of the app, or of the loop, whose news go to the listeners, too. */
export interface ConnectionCall<Pulled, Steps> {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (progress: Steps) => void;
  readonly onPull: (pulled: Pulled) => void;
}

const STOPPED: LoopState = { ...FIRST_STATE, status: 'stopped' };

/**
 * A store and the other side that it syncs with: `db.connect` makes it. Its calls run one after the other, in all tabs;
 * each may be made again after any failure.
 */
// biome-ignore lint/suspicious/noExplicitAny: connections of all kinds are a `Connection`
export abstract class Connection<Pulled = any, Pushed = any, Steps = any> {
  /** The store's name for the other side. */
  readonly name: string;
  /** As `close`, for `await using`. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;
  protected readonly host: SyncHost;
  /** Without these locks the work of tabs would be right, but done twice. */
  readonly #leases: Leases;
  readonly #turns: CallQueue;
  readonly #onState = new Listeners();
  readonly #onPull = new Listeners<Pulled>();
  readonly #onProgress = new Listeners<Steps>();
  #loop: SyncLoop | undefined;
  #state: ConnectionState | undefined;
  #closing: Promise<void> | undefined;

  /** Call `db.connect()`. `lock` is the name of its locks in the store. */
  constructor(host: SyncHost, name: string, lock: string) {
    this.host = host;
    this.name = name;
    const { pins } = host.shared;
    this.#leases = new Leases(pins.locks, `${pins.prefix}${lock}/`);
    this.#leases.onPoke = (one) => {
      if (one === 'loop') this.poke();
    };
    this.#turns = new CallQueue(host, this.#leases);
    const stop = () => void this.#loop?.stop();
    host.changes.closing.addEventListener('abort', stop, { once: true });
    disposable(Connection.prototype, 'asyncDispose', Connection.prototype.close);
  }

  /** Brings the changes of the other side into the local rows. */
  abstract pull(options?: PullOptions<Steps>): Promise<Pulled>;

  /** Sends the changes of the local rows to the other side. */
  abstract push(options?: CallOptions): Promise<Pushed>;

  /** Resolves to whether the other side lacks changes of this store, as far as is known here. Reads no rows. */
  isPending(): Promise<boolean> {
    return this.findPending();
  }

  /** Counts the changes that the other side lacks. */
  abstract pendingCount(options?: CallOptions): Promise<number>;

  /** The state to show to a person: a frozen object, and the same one until a member changes. */
  get state(): ConnectionState {
    this.#state ??= this.#stateNow();
    return this.#state;
  }

  /** Calls `listener` after each change of `state`; returns a function that ends the calls. */
  readonly subscribe = (listener: () => void): (() => void) => {
    // Later states are compared with this one.
    void this.state;
    return this.#onState.add('subscribe', listener);
  };

  /**
   * Calls `listener` with the result of each pull that has changed something here: a pull of the app, of the loop, or of
   * a push that may yet fail. Returns a function that ends the calls.
   */
  onPull(listener: (pulled: Pulled) => void): () => void {
    return this.#onPull.add('onPull', listener);
  }

  /** Calls `listener` with the progress of each pull and push; returns a function that ends the calls. */
  onProgress(listener: (progress: Steps) => void): () => void {
    return this.#onProgress.add('onProgress', listener);
  }

  /**
   * Keeps the store in sync until `stop` or `close`, or until the store is closed: sends commits, and pulls at
   * intervals, when the page becomes visible or comes online, and when it is poked. One tab does it for all. If it is
   * started already, the new options replace the earlier ones, and a round begins.
   */
  start(options: StartOptions = {}): void {
    this.check();
    const wanted = this.startOptions(options);
    if (this.#loop?.isEnding === false) this.#loop.take(wanted);
    else this.#begin(wanted);
  }

  /** Begins a loop, once an earlier one that is being stopped has ended. */
  #begin(options: StartOptions): void {
    const leases = this.#leases;
    const over = this.#loop?.over.catch(() => {});
    const loop: SyncLoop = new SyncLoop(
      {
        isPending: () => this.findPending(),
        work: (isPending, mustPull, job) => this.round(isPending, mustPull, job.signal),
        onCommit: (listener) => this.onCommit(listener),
        hold: async (run, signal, onTold) => {
          await over;
          return leases.hold('loop', run, signal, onTold);
        },
        say: (told) => leases.say('loop', told),
        pass: () => leases.poke('loop'),
        show: () => {
          if (this.#loop === loop) this.show();
        },
        sleep,
        chance: Math.random,
        ...this.loopTools(),
      },
      options,
    );
    this.#loop = loop;
    this.host.changes.note(loop.over);
    this.show();
  }

  /** Ends the loop, and resolves when it has ended. */
  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  /** Pulls and pushes now, in the tab that syncs, if the connection is started. */
  poke(): void {
    if (this.#loop?.isEnding === false) this.#loop.poke();
  }

  /** Ends the connection, and its loop. The store goes on, and keeps what it knows of the other side. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#loop?.stop();
    await this.#turns.over;
    this.#leases.close();
    await this.leave();
  }

  /** Throws if the connection or its store is closed. */
  protected check(): void {
    this.host.check();
    if (this.#closing === undefined) return;
    throw new HedgerowError('closed', `the connection ${this.name} is closed`);
  }

  /** Runs work after all earlier calls, in this tab and in others. */
  protected run<T>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    this.check();
    return this.#turns.run(signal, work);
  }

  /** Returns a call whose news go to its own callback and to the listeners. */
  protected makeCall(
    signal: AbortSignal | undefined,
    onProgress?: (progress: Steps) => void,
  ): ConnectionCall<Pulled, Steps> {
    return {
      signal,
      onProgress: (progress) => {
        notify(onProgress, progress);
        this.#onProgress.tell(progress);
      },
      onPull: (pulled) => this.#onPull.tell(pulled),
    };
  }

  /** Looks whether the state has changed, and calls the listeners if it has. */
  protected show(): void {
    const before = this.#state;
    const state = this.#stateNow();
    if (before !== undefined && isSameState(state, before)) return;
    this.#state = state;
    this.#onState.tell();
  }

  #stateNow(): ConnectionState {
    const loop = this.#loop?.state ?? STOPPED;
    return Object.freeze({ ...loop, ...this.describeState(loop) });
  }

  /** Checks the options of `start`. */
  protected startOptions(options: StartOptions, checks = START_OPTIONS): StartOptions {
    const { everyMs, pauseMs, subscribe, ...others } = optionsOf('start', options, checks);
    for (const ms of [everyMs, pauseMs]) {
      if (ms === undefined || (typeof ms === 'number' && ms >= 0)) continue;
      throw new HedgerowError('invalid-argument', 'start: everyMs and pauseMs are milliseconds');
    }
    if (subscribe !== undefined && typeof subscribe !== 'function') {
      throw new HedgerowError('invalid-argument', 'start: subscribe is a function');
    }
    return { everyMs, pauseMs, subscribe, ...others };
  }

  /** Functions of the loop that tests replace. */
  protected loopTools(): object {
    return {};
  }

  /** Returns the members of the state that the loop does not know. */
  protected abstract describeState(
    loop: LoopState,
  ): Pick<ConnectionState, 'isFilled'> & Partial<ConnectionState>;

  /** Implements `isPending`, also for the loop. */
  protected abstract findPending(): Promise<boolean>;

  /** Pushes if something is pending, and else pulls if `mustPull`. */
  protected abstract round(
    isPending: boolean,
    mustPull: boolean,
    signal: AbortSignal | undefined,
  ): Promise<RoundResult>;

  /** Calls `listener` when there is something to push; returns a function that ends the calls. */
  protected abstract onCommit(listener: () => void): () => void;

  /** Leaves the branches of the store, at the end. */
  protected abstract leave(): void | Promise<void>;
}
